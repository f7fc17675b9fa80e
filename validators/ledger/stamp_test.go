package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// C7: the first three blocks after genesis do not wait, and a chain that stood
// still for long does not make up for it.
func TestStamp(t *testing.T) {
	at := func(before types.Millis, blockTime params.Milliseconds, now types.Millis) types.Millis {
		s := &State{next: &params.Params{BlockTimeMS: blockTime}}
		s.header.Timestamp = before
		return Stamp(s, now)
	}
	for _, c := range []struct {
		name      string
		before    types.Millis
		blockTime params.Milliseconds
		now, want types.Millis
	}{
		{"first block", 7_000, 1_000, 10_000, 8_000},
		{"third block", 9_000, 1_000, 10_020, 10_000},
		{"in time", 10_000, 1_000, 11_000, 11_000},
		{"a little late", 10_000, 1_000, 11_300, 11_000},
		{"after a long stop", 10_000, 1_000, 99_000, 99_000},
		{"no block time", 10_000, 0, 10_050, 10_050},
		{"clock before the parent", 10_000, 1_000, 9_000, 11_000},
		{"clock a little after the parent", 10_000, 1_000, 10_300, 11_000},
		{"no block time, clock before the parent", 10_000, 0, 9_000, 10_001},
	} {
		if got := at(c.before, c.blockTime, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// C8: a skipped height takes its block time, as far as the clock goes.
func TestStampSkipping(t *testing.T) {
	for _, c := range []struct {
		name      string
		before    types.Millis
		blockTime params.Milliseconds
		skipped   uint64
		now, want types.Millis
	}{
		{"none skipped", 10_000, 1_000, 0, 99_000, 11_000},
		{"62 skipped", 10_000, 1_000, 62, 99_000, 73_000},
		{"up to the clock", 10_000, 1_000, 62, 73_000, 73_000},
		{"the clock is behind", 10_000, 1_000, 62, 50_000, 50_000},
		{"the clock is behind the parent", 10_000, 1_000, 62, 9_000, 11_000},
		{"no block time", 10_000, 0, 62, 10_050, 10_050},
		{"more than numbers hold", 10_000, 1_000, 1<<64 - 1, 99_000, 99_000},
	} {
		s := &State{next: &params.Params{BlockTimeMS: c.blockTime}}
		s.header.Timestamp = c.before
		if got := StampSkipping(s, c.skipped, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
