package lab

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// adaptation is how a crowd's members adapt, as a file states it. It is a rule: each crowd that gets it makes its own of it.
type adaptation struct{ memory, step int }

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
		return fmt.Errorf("it is best_response(memory = …) or None; got %s", v.Type())
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
