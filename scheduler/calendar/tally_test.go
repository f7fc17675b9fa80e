package calendar

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Entries are told tier by tier: of tiers in the order of heights those of the range, of
// the others all; and no more than the limit are read.
func TestATallyReadsARange(t *testing.T) {
	kv := newMemory()
	c := Of(kv, realSizes)
	c.Maintain(5000)
	heights := []types.Height{4000, 4999, 5000, 5001, 5001, 7199, 7200, 9000, 7200 + 169*3600, maxHeight}
	for i, h := range heights {
		c.Insert(at(h, types.Seq(i)), []byte("v"))
	}
	c.Shift(at(4000, 0), 5000, []byte("v"))
	for _, one := range []struct {
		tier     Tier
		from, to types.Height
		want     int
	}{
		{Ring, 0, maxHeight, 4}, {Ring, 5001, 5001, 2}, {Ring, 7200, maxHeight, 0}, {Epoch, 0, maxHeight, 2}, {Epoch, 7201, 9000, 1},
		{Overflow, 0, maxHeight, 2}, {Overflow, 0, maxHeight - 1, 1}, {Carry, 0, 0, 1}, {Arrears, 9, 9, 1},
	} {
		told := 0
		read, whole := c.Tally(one.tier, one.from, one.to, 100, func(types.Height) { told++ })
		if byHeight := one.tier == Epoch || one.tier == Overflow; byHeight && read != told {
			t.Errorf("%s from %d to %d: %d entries are read for %d", one.tier, one.from, one.to, read, told)
		}
		if told != one.want || !whole {
			t.Errorf("%s from %d to %d: %d, whole %v, want %d", one.tier, one.from, one.to, told, whole, one.want)
		}
	}
	told := 0
	if read, whole := c.Tally(Ring, 0, maxHeight, 3, func(types.Height) { told++ }); read != 3 || told != 3 || whole {
		t.Errorf("%d read, %d told, whole %v", read, told, whole)
	}
	if read, whole := c.Tally(Ring, 0, maxHeight, 4, func(types.Height) {}); read != 4 || !whole {
		t.Errorf("%d read, whole %v", read, whole)
	}
}
