package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// C7: the first three blocks after genesis do not wait, and a chain that stood
// still for long does not make up for it.
func TestStamp(t *testing.T) {
	at := func(before types.Millis, blockTime uint64, now types.Millis) types.Millis {
		s := &State{next: &params.Params{BlockTimeMS: blockTime}}
		s.header.Timestamp = before
		return Stamp(s, now)
	}
	for _, c := range []struct {
		name      string
		before    types.Millis
		blockTime uint64
		now, want types.Millis
	}{
		{"first block", 7_000, 1_000, 10_000, 8_000},
		{"third block", 9_000, 1_000, 10_020, 10_000},
		{"in time", 10_000, 1_000, 11_000, 11_000},
		{"a little late", 10_000, 1_000, 11_300, 11_000},
		{"after a long stop", 10_000, 1_000, 99_000, 99_000},
		{"no block time", 10_000, 0, 10_050, 10_050},
		{"clock behind the parent", 10_000, 1_000, 9_000, 10_001},
	} {
		if got := at(c.before, c.blockTime, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
