package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/validators/history"
)

// Orders of the owners of runners: transactions to the registry, signed by the
// devnet.
func (s *Server) registerRunnerOrders() {
	key := types.PublicKey{0: 2, 32: 7}
	serveLatest(s, operation{id: "runner_join", path: "/devnet/runner/join", tag: tagDevnet,
		client:  "JoinRunner(r RunnerRequest) registers a runner, and returns it once that is final.",
		summary: "Register a runner, and start it where it is the devnet's own; answers it once its registration is final",
		description: "With public_key it registers a runner that you start; without it the devnet starts one more. from pays fee and " +
			"stake, and owns it: less than cip2.min_stake is refused. What is left out is as of the devnet's own. " +
			"A runner with public_key signs for that account, by signed " +
			"(docs/WIRE.md). A key is registered at most once, ever.",
		errors:   []int{404, 409, 429, 504},
		request:  model.RunnerRequest{From: "alice", PublicKey: key.String(), Signed: &types.Signature{}, Capability: []string{"custom"}},
		response: exampleRunner}, s.joinRunner)
	serveLatest(s, operation{id: "runner_reload", path: "/devnet/runner/reload", tag: tagDevnet,
		client:  "ReloadRunner(runner string) makes a runner of a network of processes read its settings again.",
		summary: "Make a runner of a network of processes read its settings again, as SIGHUP does",
		description: "It says to its validators what it offers since, and what no more: changes of GET /runner/{address}. " +
			"Registry and draws do not change by that (CIP-11 6.5).",
		errors: []int{404, 409, 429}, request: model.RunnerOrder{Runner: "r0"}, response: exampleRunner}, s.reloadRunner)
	for _, one := range []struct{ verb, client, summary, description string }{
		{"leave", "LeaveRunner(runner string) deregisters a runner for its owner, permanently.",
			"Deregister a runner for its owner, permanently; answers with the runner once that is final",
			"Its stake returns to its owner cip2.stake_return_epochs epochs later, and when its last job ended if that is later: stake_returns " +
				"is the block. Then its place is given again."},
		{"pause", "PauseRunner(runner string) keeps a runner out of draws for its owner.",
			"Keep a runner out of draws for its owner; answers with the runner once that is final", "Its open jobs continue."},
		{"resume", "ResumeRunner(runner string) lets a paused runner be drawn again.",
			"Let a paused runner be drawn again; answers with the runner once that is final", ""},
	} {
		serveLatest(s, operation{id: "runner_" + one.verb, path: "/devnet/runner/" + one.verb, tag: tagDevnet,
			client: one.client, summary: one.summary, description: one.description, errors: []int{404, 409, 429, 504},
			request: model.RunnerOrder{Runner: "r0"}, response: exampleRunner},
			func(ctx context.Context, v answers.Reader, in *model.RunnerOrder) (model.Runner, error) {
				return s.orderRunner(ctx, v, one.verb, in.Runner)
			})
	}
}

// registerRunnerChanges has owners change offers and stakes.
func (s *Server) registerRunnerChanges() {
	serveLatest(s, operation{id: "runner_update", path: "/devnet/runner/update", tag: tagDevnet,
		client:      "UpdateRunner(r RunnerAmendment) changes what a runner offers, for its owner; what is left out stays.",
		summary:     "Change what a runner offers, for its owner; answers with the runner once that is final",
		description: "What is left out stays. The next draws go by it; the price of a job was settled when the job was drawn.",
		errors:      []int{404, 409, 429, 504},
		request:     model.RunnerAmendment{Runner: "r0", Rate: map[string]types.Wei{"compute_second": types.WeiOf(1000)}},
		response:    exampleRunner},
		s.updateRunner)
	serveLatest(s, operation{id: "runner_stake", path: "/devnet/runner/stake", tag: tagDevnet,
		client:      "AddStake(r RunnerAddition) adds to a runner's stake, for its owner, who pays it.",
		summary:     "Add to a runner's stake, for its owner, who pays it; answers with the runner once that is final",
		description: "A stake weighs in draws, and covers jobs up to a price.",
		errors:      []int{404, 409, 429, 504},
		request:     model.RunnerAddition{Runner: "r0", Amount: types.WeiOf(types.CBY)}, response: exampleRunner},
		func(ctx context.Context, v answers.Reader, in *model.RunnerAddition) (m model.Runner, err error) {
			if m, err = s.findRunner(v, in.Runner, "runner"); err != nil {
				return m, err
			}
			return s.orderOf(ctx, v, &m, "add_stake", codec.Marshal(system.Addition{Runner: m.Address, Amount: in.Amount}))
		})
}

// updateRunner changes the offer of a runner for its owner.
func (s *Server) updateRunner(ctx context.Context, v answers.Reader, in *model.RunnerAmendment) (m model.Runner, err error) {
	if m, err = s.findRunner(v, in.Runner, "runner"); err != nil {
		return m, err
	}
	now := system.Offer{RateCard: m.RateCard, Capabilities: m.Capabilities, Entitlements: m.Entitlements,
		MaxConcurrentJobs: m.MaxConcurrentJobs}
	change := offerOf
	if m.Name != "" {
		change = Amended
	}
	offer, err := change(&model.RunnerRequest{Capability: in.Capability, Model: in.Model, Entitlement: in.Entitlement,
		MaxConcurrent: in.MaxConcurrent, Rate: in.Rate}, now)
	if err != nil {
		return m, err
	}
	return s.orderOf(ctx, v, &m, "update", codec.Marshal(system.Amendment{Runner: m.Address, Offer: offer}))
}

// reloadRunner has a runner of the devnet's own read its settings again.
func (s *Server) reloadRunner(_ context.Context, v answers.Reader, in *model.RunnerOrder) (m model.Runner, err error) {
	if m, err = s.findRunner(v, in.Runner, "runner"); err != nil {
		return m, err
	}
	if m.Name == "" {
		return m, Refuse(http.StatusConflict, "not_own", "runner %s is not a runner that the devnet starts", m.Address).
			Hint("Send SIGHUP to its process.").At("runner")
	}
	return m, s.backend.Steer().ReloadRunner(m.Name)
}

func (s *Server) joinRunner(ctx context.Context, v answers.Reader, in *model.RunnerRequest) (m model.Runner, err error) {
	key, err := s.accountKey(cmp.Or(in.From, wallet.Users()[0]))
	if err != nil {
		return m, err
	}
	if in.PublicKey == "" {
		return s.joinOwn(ctx, v, key, in)
	}
	if in.Name != "" {
		return m, badRunner("name", "the devnet starts that runner, so it takes no public_key")
	}
	registration, err := Registration(in)
	if err != nil {
		return m, err
	}
	r, err := s.registerRunner(ctx, v, key, registration)
	if err != nil {
		return m, err
	}
	return s.runnerAfter(ctx, r, types.Address(r.Output))
}

// registerRunner has a devnet account register a runner. The registry names a refused stake
// in wei, and people give one in CBY, so the error is in CBY.
func (s *Server) registerRunner(ctx context.Context, v answers.Reader, key env.Signer, in *system.Registration) (*history.Executed, error) {
	now, err := ParamsOf(v)
	if err != nil {
		return nil, err
	}
	r, err := s.callSystemActor(ctx, v, key, types.RegistryAddress, "register", codec.Marshal(in))
	if r == nil || err == nil || r.Receipt.Error == nil {
		return r, err
	}
	switch code := r.Receipt.Error.Code; code {
	case "stake_too_low":
		err = Refuse(http.StatusConflict, code, "a stake of %s, at least %s", words.CBY(in.Stake), words.CBY(now.MinStake))
	case "insufficient_funds":
		err = Refuse(http.StatusConflict, code, "%s cannot pay a stake of %s", key.Address(), words.CBY(in.Stake))
	}
	return r, err
}

// joinOwn registers a runner of the devnet's own, and starts it.
func (s *Server) joinOwn(ctx context.Context, v answers.Reader, key env.Signer, asked *model.RunnerRequest) (m model.Runner, err error) {
	for _, one := range []struct {
		field string
		given bool
	}{{"capability", len(asked.Capability) > 0}, {"signed", asked.Signed != nil}} {
		if one.given {
			return m, badRunner(one.field, "a runner that the devnet starts offers what all of them do; one with public_key has its own")
		}
	}
	name, registration, err := s.backend.Steer().PrepareRunner(asked.Name, key.Address())
	if err != nil {
		return m, err
	}
	registration.Stake, registration.Offer, err = OwnTerms(asked, registration.Offer)
	if err != nil {
		return m, err
	}
	r, err := s.registerRunner(ctx, v, key, registration)
	if err != nil {
		return m, err
	}
	if _, err := s.readerAfter(ctx, r.Height); err != nil {
		return m, err
	}
	if err := s.backend.Steer().StartRunner(name); err != nil {
		return m, err
	}
	return s.runnerAfter(ctx, r, types.Address(r.Output))
}

// runnerAfter is a runner as the block of a receipt or a later one left it.
func (s *Server) runnerAfter(ctx context.Context, r *history.Executed, a types.Address) (m model.Runner, err error) {
	v, err := s.readerAfter(ctx, r.Height)
	if err != nil {
		return m, err
	}
	return s.findRunner(v, a.String(), "runner")
}

// runnerHandlers are the registry's handlers by the devnet's verbs.
var runnerHandlers = map[string]string{"leave": "deregister", "pause": "pause", "resume": "resume"}

// orderRunner sends an order about a runner for its owner.
func (s *Server) orderRunner(ctx context.Context, v answers.Reader, verb, name string) (m model.Runner, err error) {
	runner, err := s.findRunner(v, name, "runner")
	if err != nil {
		return m, err
	}
	return s.orderOf(ctx, v, &runner, runnerHandlers[verb], codec.Marshal(system.Naming{Runner: runner.Address}))
}

// orderOf has a runner's owner call a handler of the registry.
func (s *Server) orderOf(ctx context.Context, v answers.Reader, runner *model.Runner, handler string,
	payload []byte) (m model.Runner, err error) {
	key := s.keyOf(runner.Owner)
	if key == nil {
		return m, Refuse(http.StatusConflict, "not_owner", "runner %s belongs to %s, whose key the devnet has not", runner.Address,
			runner.Owner).Hint("Only its owner may: by calling %s of %s.", handler, types.RegistryAddress).At("runner")
	}
	r, err := s.callSystemActor(ctx, v, key, types.RegistryAddress, handler, payload)
	if err != nil {
		return m, err
	}
	return s.runnerAfter(ctx, r, runner.Address)
}
