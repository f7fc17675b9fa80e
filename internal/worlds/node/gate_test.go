package node

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// A frozen node's gate keeps what its limits have room for, and counts the rest.
func TestAGateKeepsNoMoreThanItsLimits(t *testing.T) {
	for _, c := range []struct {
		name         string
		frame        []byte
		held, beyond int64
	}{
		{"frames", []byte{1}, MaxHeld, 3},
		{"bytes", make([]byte, MaxHeldBytes/4), 4, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g gate
			var counts fault.Counts
			came := int64(0)
			receive := func(types.Address, []byte) { came++ }
			g.freeze(&counts)
			for range c.held + c.beyond {
				g.arrive(receive, types.Address{}, c.frame)
			}
			if came != 0 || counts.Held.Load() != c.held || counts.Dropped.Load() != c.beyond {
				t.Errorf("%d came, %d were held, %d dropped", came, counts.Held.Load(), counts.Dropped.Load())
			}
			g.thaw()
			g.arrive(receive, types.Address{}, c.frame)
			if came != c.held+1 {
				t.Errorf("%d came", came)
			}
		})
	}
}
