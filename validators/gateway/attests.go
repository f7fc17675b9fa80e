package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Attests says for how long a validator attests a runner, if nothing else happens.
// It is told when that changes: not at each ping.
type Attests struct {
	Index int          // of the runner's bit
	Since types.Height // of the runner's registration
	Until types.Time   // the first moment at which its bit is 0; types.Never: none before the next head
}

// Attested is what a machine attests, put together from all that its outputs say:
// what a validator votes by. The zero Attested attests no runner.
type Attested struct {
	bits []Attests // by index, of the runner there that registered last
}

// Take notes what an output says, unless a later runner holds the place.
func (a *Attested) Take(changes []Attests) {
	for _, c := range changes {
		if c.Index >= len(a.bits) {
			a.bits = append(a.bits, make([]Attests, c.Index+1-len(a.bits))...)
		}
		if c.Since >= a.bits[c.Index].Since {
			a.bits[c.Index] = c
		}
	}
}

// Bitmap returns the validator's attestation at a time, for a registry with the given
// number of places. The registry of the block voted on may be of a later height than
// the head. A bit is set only if the attested runner holds the place there too.
//
// Spec: CIP-11 §7.2, decision J12.
func (a *Attested) Bitmap(now types.Time, registered int, places selection.Places) *selection.Bitmap {
	bitmap := selection.NewBitmap(registered)
	for i, bit := range a.bits[:min(registered, len(a.bits))] {
		if now >= bit.Until {
			continue
		}
		if since, held := places.Since(i); held && since == bit.Since {
			bitmap.Set(i, true)
		}
	}
	return bitmap
}
