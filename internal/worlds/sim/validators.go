package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// validatorNodes is the validators of a network, in their world.
type validatorNodes struct {
	*World
	*accounts
	Genesis *ledger.Genesis
	names   []string
	running map[string]*validators.Validator // looked up only
	tip     types.Height                     // highest height that any validator finalized
	tipAt   types.Time                       // when it was finalized first; until then the start
	failure error
}

// Names are the nodes' names.
func (f *validatorNodes) Names() []string { return slices.Clone(f.names) }

// Validator returns a running validator, or nil where the node is down.
func (f *validatorNodes) Validator(name string) *validators.Validator {
	if !f.Running(name) {
		return nil
	}
	return f.running[name]
}

// Tip is the highest height that any validator finalized.
func (f *validatorNodes) Tip() types.Height { return f.tip }

// Height returns a validator's highest final height; 0 if it is down.
func (f *validatorNodes) Height(name string) types.Height {
	if v := f.Validator(name); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// finalHeights is what each has finalized, for people.
func (f *validatorNodes) finalHeights() []string {
	var all []string
	for _, name := range f.names {
		all = append(all, fmt.Sprintf("%s:%d", name, f.Height(name)))
	}
	return all
}

// Submit hands a transaction to a validator; answer, which may be nil, is told
// whether it was taken. Where the validator is down it is lost.
func (f *validatorNodes) Submit(via string, tx *types.Transaction, answer func(types.Hash, error)) {
	if answer == nil {
		answer = func(types.Hash, error) {}
	}
	if v := f.Validator(via); v != nil {
		v.Submit(tx.Encode(), answer)
	}
}

// keepFailure keeps why a validator stopped by itself. A crash, or an ordered failure of
// its disk, does not count: the test caused it.
func (f *validatorNodes) keepFailure(err error) {
	if f.failure == nil && !errors.Is(err, ErrCrashed) && !errors.Is(err, ErrDiskFailed) && !errors.Is(err, ErrDamaged) {
		f.failure = fmt.Errorf("sim: seed %d: %w", f.Seed(), err)
	}
}

// nameOf is what the node of an address is called.
func (f *validatorNodes) nameOf(a types.Address) string {
	if one := f.byAddress[a]; one != nil {
		return one.name
	}
	return a.String()
}

// bestValidator is the running validator with the highest final block, or nil.
func (f *validatorNodes) bestValidator() (best *validators.Validator) {
	for _, name := range f.names {
		v := f.Validator(name)
		if v != nil && (best == nil || v.Head().Block.Header.Height > best.Head().Block.Header.Height) {
			best = v
		}
	}
	return best
}
