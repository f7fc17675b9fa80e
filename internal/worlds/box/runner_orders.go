package box

import (
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/runners/selection"
)

// AnswerJob implements api.Steering.
func (h operator) AnswerJob(job types.Hash, given execution.Given) (answered []types.Address, err error) {
	if err := h.network.strict("answering jobs by hand"); err != nil {
		return nil, err
	}
	var refused error
	for _, r := range h.network.RunnerList() {
		manual := r.Manual()
		if manual == nil || !slices.Contains(manual.Waiting(), job) {
			continue
		}
		if err := manual.Answer(job, given); err != nil {
			refused = api.Refuse(http.StatusConflict, "bad_result", "%s: %v", r.Name, err).At(api.GivenField(given))
			continue
		}
		answered = append(answered, r.Address)
	}
	if len(answered) == 0 {
		return nil, refused
	}
	return answered, nil
}

// PrepareRunner implements api.Steering. Names are r0, r1, … without a gap, by which a
// network that continues finds its runners again.
func (h operator) PrepareRunner(name string, owner types.Address) (p api.PreparedRunner, err error) {
	n := h.network
	if err := n.strict("starting runners"); err != nil {
		return p, err
	}
	if err := n.elsewhere("a runner without its own key"); err != nil {
		return p, err
	}
	next := wallet.RunnerName(len(n.RunnerList()))
	if name == "" {
		name = next
	}
	state := n.state()
	identities := 0
	switch r := n.findRunner(name); {
	case r == nil && name != next:
		return p, unknownNext(name, next)
	case r == nil && len(n.RunnerList()) >= MaxRunners:
		return p, tooManyRunners()
	case r != nil:
		for state.Runner(wallet.RunnerIdentity(n.seed, name, identities).Address()) != nil {
			identities++
		}
		if registered := state.Runner(r.Address); registered == nil || registered.Health != selection.Deregistered {
			return p, alreadyRunner(name)
		}
	}
	key := wallet.RunnerIdentity(n.seed, name, identities)
	return api.PreparedRunner{Name: name, PublicKey: key.PublicKey(), Offer: OwnOffer(),
		Signed: key.Sign(types.RegistrationDigest(n.genesis.ChainID, owner, key.PublicKey()))}, nil
}

// StartRunner implements api.Steering.
func (h operator) StartRunner(name string) error {
	n := h.network.registration
	return n.roster.alone(func() error {
		key := n.keyOf(n.nodes.state(), name)
		former := n.runners.findRunner(name)
		if former == nil {
			return n.begin(name, key)
		}
		r := n.make(name, key)
		if err := former.stop(); err != nil {
			return err
		}
		n.runners.replaceRunner(r)
		return r.start()
	})
}

// ReloadRunner implements api.Steering.
func (h operator) ReloadRunner(name string) error {
	return h.network.runnerList.reload(name)
}

// The refusals of runners that are to be started.
func unknownNext(name, next string) error {
	return api.Refuse(http.StatusConflict, "invalid_name", "cannot start runner %q: the next free name is %s", name, next).
		Hint("Leave the name out, or give that of a runner that has left.").At("name")
}

func tooManyRunners() error {
	return api.Refuse(http.StatusConflict, "too_many_runners", "a network in one process has at most %d runners", MaxRunners)
}

func alreadyRunner(name string) error {
	return api.Refuse(http.StatusConflict, "already_runner", "%s is a runner already", name).At("name")
}
