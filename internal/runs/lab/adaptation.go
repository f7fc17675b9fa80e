package lab

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// adaptation is how a crowd's members adapt, as a file states it. It is a rule: each crowd that gets it makes its own of it.
type adaptation struct {
	memory, step int     // of best_response; 0: it is none
	raise        *uint64 // of gas_agent, in thousandths; nil: it is none
}

// String implements starlark.Value, as do the four below.
func (a *adaptation) String() string {
	return fmt.Sprintf("best_response(memory = %d, step = %d)", a.memory, a.step)
}
func (*adaptation) Type() string          { return "adaptation" }
func (*adaptation) Freeze()               {}
func (*adaptation) Truth() starlark.Bool  { return true }
func (*adaptation) Hash() (uint32, error) { return 0, errors.New("an adaptation cannot be a key") }

// Unpack implements starlark.Unpacker: None is no adaptation.
func (a *adaptation) Unpack(v starlark.Value) error {
	if v == starlark.None {
		return nil
	}
	given, is := v.(*adaptation)
	if !is {
		return fmt.Errorf("it is best_response(memory = …), gas_agent(raise_permille = …) or None; got %s", v.Type())
	}
	*a = *given
	return nil
}

// newResponse is nil where nothing adapts.
func (a *adaptation) newResponse() *crowd.BestResponse {
	if a.memory == 0 {
		return nil
	}
	return &crowd.BestResponse{Memory: a.memory, Step: uint64(a.step)}
}

// bestResponse is best_response(memory, step = 10): blocks, and thousandths between two shares.
func bestResponse(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &adaptation{step: 10}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "memory", &a.memory, "step?", &a.step); err != nil {
		return nil, err
	}
	if a.memory < 1 || a.memory > crowd.MaxMemory || a.step < 1 || a.step > 1000 {
		return nil, fmt.Errorf("best_response takes a memory of 1 to %d blocks and a step of 1 to 1000; got %d and %d", crowd.MaxMemory, a.memory,
			a.step)
	}
	return a, nil
}

// maxRaise bounds by how much an agent outbids, in thousandths.
const maxRaise = 1_000_000

// gasAgent is gas_agent(raise_permille): the chain asks the members' get_gas_bid for their tips.
func gasAgent(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var raise uint64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "raise_permille", &raise); err != nil {
		return nil, err
	}
	if raise > maxRaise {
		return nil, fmt.Errorf("gas_agent outbids the last median by 0 to %d thousandths; got %d", maxRaise, raise)
	}
	return &adaptation{raise: &raise}, nil
}

// applyTo has bids adapt, and checks that they are of the kind that can.
func (a *adaptation) applyTo(bids *crowd.Bids) error {
	bids.Adapts, bids.RaisePermille = a.newResponse(), a.raise
	switch {
	case bids.AreTips && bids.Adapts != nil:
		return errors.New("best_response chooses bids of an auction, and these are tips: give gas_agent(raise_permille = …)")
	case !bids.AreTips && bids.RaisePermille != nil:
		return errors.New("gas_agent is asked for tips, and these are bids of an auction: give tips = True or best_response(memory = …)")
	}
	return nil
}
