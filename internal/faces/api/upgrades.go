package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// registerUpgrades serves upgrades of actors (decision C25). An account of the devnet
// signs them: unlike a cheat they need no system key.
func (s *Server) registerUpgrades() {
	errors := []int{404, 409, 429, 504}
	serveLatest(s, operation{id: "devnet_upgrade", path: "/devnet/upgrade", tag: tagDevnet,
		client:  "Upgrade(r UpgradeRequest) has the devnet upgrade an actor, or announce the upgrade.",
		summary: "Give an actor new code, or announce it if its terms have a delay; answers the receipt once final",
		description: "The signer is the account that the actor's terms name. Address, state, balance, name and timers stay. The new code " +
			"keeps all state as it is, or has a handler migrate, which runs once. An upgrade that is refused answers 200: its receipt has the " +
			"status and the reason.",
		errors:   errors,
		request:  model.UpgradeRequest{From: "alice", Actor: "ping", Code: "def ping(payload):\n    return b\"PONG\"\n"},
		response: exampleUpgraded}, s.upgradeActor)
	serveLatest(s, operation{id: "devnet_upgrade_apply", path: "/devnet/upgrade/apply", tag: tagDevnet,
		client:  "ApplyUpgrade(r ApplyUpgradeRequest) has the devnet apply an announced upgrade.",
		summary: "Apply an announced upgrade, from its height on; answers the receipt once final", errors: errors,
		request: model.ApplyUpgradeRequest{From: "alice", Actor: "ping"}, response: exampleUpgraded}, s.applyUpgrade)
	serveLatest(s, operation{id: "devnet_upgrade_terms", path: "/devnet/upgrade/terms", tag: tagDevnet,
		summary: "Hand the upgrades of an actor over, lengthen their delay, or end them for good",
		description: "Absent members stay as they are. A delay never becomes shorter. Any request drops an announced upgrade, even one that " +
			"changes nothing.",
		errors: errors, request: model.UpgradeTermsRequest{From: "alice", Actor: "ping", By: "bob", Delay: new(uint64(20))},
		response: model.Sent{Receipt: exampleReceipt}}, s.upgradeTerms)
}

// Upgrade is the draft of an upgrade that ends the continuations of the given names.
func Upgrade(at types.Address, from types.Hash, code, migrate []byte, end []string) wallet.Draft {
	return wallet.Draft{To: &at, Payload: types.Upgrade{Kind: types.KindUpgrade, From: from, Code: code,
		Migrate: append([]byte{}, migrate...), End: end}}
}

// ApplyUpgrade is the draft that applies an announced upgrade.
func ApplyUpgrade(at types.Address, from, to types.Hash) wallet.Draft {
	return wallet.Draft{To: &at, Payload: types.ApplyUpgrade{Kind: types.KindApply, From: from, To: to}}
}

// UpgradeTerms is the draft of other terms; nil ends upgrades for good.
func UpgradeTerms(at types.Address, terms *types.UpgradeTerms) wallet.Draft {
	return wallet.Draft{To: &at, Payload: types.SetUpgradeTerms{Kind: types.KindTerms, Terms: terms}}
}

func (s *Server) upgradeActor(ctx context.Context, v answers.Reader, in *model.UpgradeRequest) (m model.Upgraded, err error) {
	key, err := s.accountKey(in.From)
	if err != nil {
		return m, err
	}
	actor, err := s.findActor(v, in.Actor, "actor")
	if err != nil {
		return m, err
	}
	code, err := decodePayload(in.Code, "code")
	if err != nil {
		return m, err
	}
	migrate, err := s.resolvePayload(v, MigrateOf(code), in.Migrate, "migrate", in.Args)
	if err != nil {
		return m, err
	}
	from := orDefault(in.CodeHash, actor.CodeHash)
	d := Upgrade(actor.Address, from, code, migrate, in.End)
	d.Cycles, d.Cells = in.CyclesLimit, in.CellsLimit
	if _, err := s.checkRunnable(ctx, v, key, d); err != nil {
		return m, err
	}
	r, err := s.signAndAwait(ctx, v, key, d)
	if err != nil {
		return m, err
	}
	m = model.Upgraded{From: from, To: types.Keccak(code), Receipt: answers.ShowReceipt(&r.Receipt, r.Logs)}
	if r.Status == types.StatusOK && actor.Upgrades != nil && actor.Upgrades.Terms != nil && actor.Upgrades.Terms.Delay > 0 {
		m.AppliesAt = new(r.Height + types.Height(actor.Upgrades.Terms.Delay))
	}
	return m, nil
}

func (s *Server) applyUpgrade(ctx context.Context, v answers.Reader, in *model.ApplyUpgradeRequest) (m model.Upgraded, err error) {
	key, err := s.accountKey(in.From)
	if err != nil {
		return m, err
	}
	actor, err := s.findActor(v, in.Actor, "actor")
	if err != nil {
		return m, err
	}
	if actor.Upgrades == nil || actor.Upgrades.Announced == nil {
		return m, Refuse(http.StatusConflict, "not_announced", "no upgrade of %s is announced", clipText(in.Actor)).At("actor").
			Hint("POST /devnet/upgrade announces one, if the actor's terms have a delay.")
	}
	to := actor.Upgrades.Announced.To
	d := ApplyUpgrade(actor.Address, actor.CodeHash, to)
	if _, err := s.checkRunnable(ctx, v, key, d); err != nil {
		return m, err
	}
	r, err := s.signAndAwait(ctx, v, key, d)
	if err != nil {
		return m, err
	}
	return model.Upgraded{From: actor.CodeHash, To: to, Receipt: answers.ShowReceipt(&r.Receipt, r.Logs)}, nil
}

func (s *Server) upgradeTerms(ctx context.Context, v answers.Reader, in *model.UpgradeTermsRequest) (m model.Sent, err error) {
	key, err := s.accountKey(in.From)
	if err != nil {
		return m, err
	}
	actor, err := s.findActor(v, in.Actor, "actor")
	if err != nil {
		return m, err
	}
	terms := &types.UpgradeTerms{By: key.Address()}
	switch {
	case in.Never && (in.By != "" || in.Delay != nil):
		return m, Refuse(http.StatusBadRequest, "invalid_request", "never ends upgrades for good: leave out by and delay").At("never")
	case in.Never:
		terms = nil
	default:
		if actor.Upgrades != nil && actor.Upgrades.Terms != nil {
			*terms = *actor.Upgrades.Terms
		}
		if in.By != "" {
			if terms.By, err = s.resolveAddress(v, in.By, "by"); err != nil {
				return m, err
			}
		}
		terms.Delay = orDefault(in.Delay, terms.Delay)
	}
	r, err := s.signAndAwait(ctx, v, key, UpgradeTerms(actor.Address, terms))
	if err != nil {
		return m, err
	}
	m.Receipt = answers.ShowReceipt(&r.Receipt, r.Logs)
	return m, nil
}

// termsOf reads the terms of a deploy.
func (s *Server) termsOf(v answers.Reader, asked *model.UpgradeTerms) (*types.UpgradeTerms, error) {
	if asked == nil {
		return nil, nil
	}
	by, err := s.resolveAddress(v, asked.By, "upgrade.by")
	if err != nil {
		return nil, err
	}
	return &types.UpgradeTerms{By: by, Delay: asked.Delay}, nil
}

// upgradesModel shows the terms and the upgrades of an actor.
func upgradesModel(a *answers.Actor) (m model.ActorUpgrades, deployedAs types.Hash) {
	u := a.Upgrades
	if u == nil {
		return m, a.CodeHash
	}
	m.Done = u.Upgrades
	if u.Terms != nil {
		m.By, m.Delay = &u.Terms.By, u.Terms.Delay
	}
	if u.Announced != nil {
		m.Announced = &model.AnnouncedUpgrade{CodeHash: u.Announced.To, Height: u.Announced.At, Until: u.Until()}
	}
	return m, u.DeployedAs
}
