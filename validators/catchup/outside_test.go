package catchup

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// outsider is a world whose validator 0 is not a member of any set.
func outsider(length int) *world {
	w := newWorld(length, 0)
	w.machine = New(Config{Self: types.Address{0: 0xff}, Timeout: time.Second, Root: w.chain.root(0)})
	return w
}

// A validator that is not in the set gets no news. It asks by itself, takes the
// available blocks, and asks again, each timeout another peer, without punishing
// those that have nothing.
func TestWhoIsNoMemberAsks(t *testing.T) {
	w := outsider(350)
	w.chain.tip = 250
	w.run(20 * time.Second)
	if got := w.machine.Root().Block.Header.Height; got != 250 {
		t.Fatalf("at height %d of 250", got)
	}
	asked := w.requests
	w.run(20 * time.Second)
	more := 0
	for i := range asked {
		more += w.requests[i] - asked[i]
		if w.requests[i] == asked[i] {
			t.Errorf("peer %d is asked no more", i)
		}
	}
	if more < 18 || more > 22 {
		t.Errorf("%d requests within 20 timeouts", more)
	}
	w.chain.tip = 350
	w.run(3 * time.Second)
	if got := w.machine.Root().Block.Header.Height; got != 350 {
		t.Errorf("at height %d of 350", got)
	}
}

func TestAMemberDoesNotAskUnlessItIsBehind(t *testing.T) {
	w := newWorld(350, 0)
	if w.machine.Deadline() != types.Never {
		t.Errorf("due at %v", w.machine.Deadline())
	}
}

// C8: where more heights were skipped than a request names, the answer is the
// first block after them.
func TestServeGoesOnOverSkippedHeights(t *testing.T) {
	c := &skipping{newChain(90)}
	b := Serve(&RangeRequest{From: 3, To: 66}, c)
	if len(b.Blocks) != 1 || b.Blocks[0].Header.Height != 80 || b.Finalization == nil {
		t.Fatalf("%d blocks", len(b.Blocks))
	}
	if b := Serve(&RangeRequest{From: 81, To: 90}, c); len(b.Blocks) != 0 {
		t.Fatalf("%d blocks, want none", len(b.Blocks))
	}
}

// skipping is a chain with blocks at heights 1, 2 and 80 only.
type skipping struct{ *testChain }

func (c *skipping) Next(h types.Height) types.Height {
	for _, at := range []types.Height{1, 2, 80} {
		if h <= at {
			return at
		}
	}
	return 0
}

func (c *skipping) Tip() types.Height { return 80 }

func (c *skipping) First() types.Height { return 1 }

func (c *skipping) Finalization(h types.Height) *types.Certificate {
	return testCertificate(types.Finalize, &c.blocks[h].Header, c.hashes[h])
}
