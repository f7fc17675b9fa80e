package simulated

import (
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// Mock implements bench.Network.
func (b *Bench) Mock(m bench.Mock) error {
	if b.answers == nil {
		return refusal.New("no_runners", "this network has no runners to answer").
			Hint("Give a unittest class options = {\"runners\": 2}, a test of pytest @pytest.mark.devnet(runners=2).")
	}
	if b.answers.Len() >= bench.MaxMocks {
		return refusal.New("too_many_mocks", "a network has at most %d mocks", bench.MaxMocks)
	}
	kind, err := push.ParseJobKind(m.Kind)
	if err != nil {
		return refusal.New("invalid_request", "%v", err).At("kind")
	}
	if m.Runner != "" && !b.hasRunner(m.Runner) {
		return refusal.New("unknown_runner", "there is no runner %.40q", m.Runner).At("runner")
	}
	one := sim.Answer{Kind: kind, Match: m.Match, Runner: m.Runner}
	for _, turn := range m.Answers {
		one.Turns = append(one.Turns, sim.Turn{Result: turn.Result, Fails: turn.Error})
	}
	b.answers.Give(one)
	return nil
}

func (b *Bench) hasRunner(name string) bool {
	for _, r := range b.Runners() {
		if r.Name == name {
			return true
		}
	}
	return false
}
