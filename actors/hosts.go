package actors

import "github.com/cowboyinc/devnet/internal/base/params"

// StepCosts is the table by which a host charges the program's own steps in
// this block.
func (f *frame) StepCosts() params.StepCosts { return f.blockParams().StepCosts() }

// Peek is what Get would answer now, without its charge: a host may send it
// ahead of the program, and still calls Get when the program reads.
func (f *frame) Peek(key []byte) (value []byte, found bool) {
	if f.checkKey(key) != nil {
		return nil, false
	}
	return StorageOf(f.x.state, f.msg.Self, key)
}
