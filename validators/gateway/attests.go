package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Attests says for how long a validator attests a runner, if nothing else happens.
// It is told when that changes: not at each ping.
type Attests struct {
	Index int        // of the runner's bit
	Until types.Time // the first moment at which its bit is 0; types.Never: none before the next head
}

// Attested is what a machine attests, put together from all that its outputs say:
// what a validator votes by. The zero Attested is nobody's presence.
type Attested struct {
	until []types.Time // until when each bit is attested, by index
}

// Take notes what an output says.
func (a *Attested) Take(changes []Attests) {
	for _, c := range changes {
		if c.Index >= len(a.until) {
			a.until = append(a.until, make([]types.Time, c.Index+1-len(a.until))...)
		}
		a.until[c.Index] = c.Until
	}
}

// Bitmap returns what the validator attests at a time, for a registry of so many
// runners. The index of a runner never changes (decision J12), so that the registry
// of the block voted on may have more runners than that of the head; who is beyond
// it has no bit.
//
// Spec: CIP-11 §7.2.
func (a *Attested) Bitmap(now types.Time, registered int) *selection.Bitmap {
	bitmap := selection.NewBitmap(registered)
	for i, until := range a.until[:min(registered, len(a.until))] {
		if now < until {
			bitmap.Set(i, true)
		}
	}
	return bitmap
}
