package scheduler

import "github.com/cowboyinc/devnet/internal/base/types"

// Written is a state that counts writes in cells: one per byte of keys and values.
// Scheduling and extending a timer charge these cells for storage. Taking a key out
// costs nothing.
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
