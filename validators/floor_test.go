package validators_test

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// CIP-11 §10.6, the presence floor, through whole validators: duplicate acks never clear
// a bit, an unanswered job does, and the next ping restores it at once.
func TestSection106ThePresenceFloor(t *testing.T) {
	b := newBench(t, 4, 1, params.Overrides{"cip11.presence_timeout_blocks": "100"}) // missing pings clear nothing here
	counter := b.deployed()
	hands := b.everywhere("r0")
	for _, h := range hands[1:] {
		h.twice = true
	}
	b.blocks(3)
	outcomes := func(of gateway.Outcome) (n int) {
		for _, name := range b.Names() {
			n += int(b.Validator(name).Status().Runners.Outcomes[of])
		}
		return n
	}
	const jobs = 5
	for range jobs {
		from := b.Tip() + 1
		b.submit(1, counter)
		b.blocks(6)
		for _, r := range b.final {
			if r.Block.Header.Height > from && r.Presence.Bitmap.Count() != 1 {
				t.Fatalf("r0 is absent from block %d after duplicate acks", r.Block.Header.Height)
			}
		}
		if got := b.changes(from); !slices.Contains(got, types.JobChangeCalledBack) {
			t.Fatalf("the job went %v", got)
		}
	}
	if got := outcomes(gateway.Duplicate); got != jobs*(len(hands)-1) || outcomes(gateway.HardFailure) != 0 {
		t.Fatalf("%d duplicates, %d hard failures", got, outcomes(gateway.HardFailure))
	}
	for _, h := range hands {
		h.honest = false // it pings no more, and answers nothing
	}
	b.submit(1, counter)
	b.blocks(7)
	if got := outcomes(gateway.HardFailure); got != len(hands) {
		t.Fatalf("%d hard failures on %d connections", got, len(hands))
	}
	if got := b.present(); len(got) != 0 {
		t.Fatalf("%v are present after a hard failure", got)
	}
	for _, h := range hands {
		h.ping()
	}
	b.blocks(2) // the votes on the next block have it, and the block after carries them
	if got := b.present(); !slices.Equal(got, []int{0}) {
		t.Fatalf("%v are present after a ping", got)
	}
	for _, h := range hands {
		if h.down {
			t.Errorf("a connection ended: %s", h.reason)
		}
	}
}
