package scheduler

import "github.com/cowboyinc/devnet/internal/base/types"

// Written is a state that counts what is written through it: a cell for every
// byte of keys and values, which is what scheduling and extending a timer charge
// for what it keeps. Taking a key out costs nothing.
//
// Spec: CIP-5 §6.1, decision T29. Vectors: fixtures/vectors/cip5/6.1-cells.json.
type Written struct {
	KV
	Cells types.Cells
}

// Set implements KV.
func (w *Written) Set(key, value []byte) {
	if value != nil {
		w.Cells += types.Cells(len(key) + len(value))
	}
	w.KV.Set(key, value)
}
