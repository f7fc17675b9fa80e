package sim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// slowCell is a network whose links are slower than its timeouts assume, for minutes.
type slowCell struct {
	block, delay time.Duration
	loss         float64
}

func (c slowCell) String() string {
	return fmt.Sprintf("block %v, links %v, loss %.0f %%", c.block, c.delay, 100*c.loss)
}

// Terms of a slow cell, in virtual time.
const (
	quickDelay   = 20 * time.Millisecond
	delaysABlock = 12 // a block takes at most this many delays of a link, or a block time
	healedBlocks = 30 // blocks after a heal, at most, until the full rate is back
	fullRate     = 20 // blocks over which the full rate is measured
)

// allowed is the longest time that a block of the cell may take. Lost messages are sent
// again after 2Δ, so that Δ counts if it is longer than the delay.
func (c slowCell) allowed() time.Duration {
	delay := c.delay
	if c.loss > 0 {
		delay = max(delay, params.Defaults().LinkDelayMS.Duration())
	}
	return max(delaysABlock*delay, c.block+c.block/10)
}

// played is what a cell measured, in seconds of virtual time.
type played struct {
	slow   float64 // a block, over slow links
	first  float64 // from the heal to the first block
	healed float64 // a block, after healedBlocks
}

// play runs a cell: quick links, slow ones, and quick ones again.
func (c slowCell) play(t testing.TB, seed uint64, slow, heal func(*Network)) (p played) {
	t.Helper()
	n := aNetwork(t, NetworkConfig{World: Config{Seed: seed, Link: Link{Latency: quickDelay}}, Timeless: true, Params: params.Overrides{
		"chain.block_time_ms": fmt.Sprint(c.block.Milliseconds())}})
	to := func(h types.Height, within time.Duration) {
		t.Helper()
		if err := n.RunToHeight(h, within); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	}
	to(10, time.Minute)
	slow(n)
	found := n.Now().Add(max(30*time.Second, 40*c.delay))
	if err := n.RunFor(found.Sub(n.Now())); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	begun, before := n.Now(), n.Tip()
	enough := func() bool { return n.Err() != nil || n.Tip() >= before+fullRate }
	if err := n.RunUntil(enough, n.Now().Add(10*c.allowed())); n.Err() != nil {
		t.Fatalf("%v: %v, %v", c, err, n.Err())
	}
	p.slow = n.Now().Sub(begun).Seconds() / max(float64(n.Tip()-before), 0.01)
	heal(n)
	begun, before = n.Now(), n.Tip()
	to(before+1, 2*time.Minute)
	p.first = n.Now().Sub(begun).Seconds()
	to(before+healedBlocks, time.Duration(healedBlocks)*2*max(c.block, time.Second))
	begun = n.Now()
	to(before+healedBlocks+fullRate, time.Duration(fullRate)*4*max(c.block, time.Second))
	p.healed = n.Now().Sub(begun).Seconds() / fullRate
	return p
}

func (c slowCell) judge(t testing.TB, p played) {
	t.Helper()
	if p.slow > c.allowed().Seconds() {
		t.Errorf("%v: %.2f s a block, at most %v", c, p.slow, c.allowed())
	}
	if full := max(c.block, 3*quickDelay).Seconds(); p.healed > 1.1*full {
		t.Errorf("%v: %.2f s a block %d blocks after the heal, want %.2f", c, p.healed, healedBlocks, full)
	}
}

// Decision C4: whatever constant delay links have, blocks become final within a few of it.
// Once links are quick again the full rate is back. Each validator's timeouts grow until
// they suffice, although every view is notarized in the end, late. With DEVNET_SOAK the
// whole grid.
func TestSlowLinksAreFoundByDoubling(t *testing.T) {
	grid := []slowCell{{100 * time.Millisecond, 500 * time.Millisecond, 0}, {time.Second, 900 * time.Millisecond, 0},
		{500 * time.Millisecond, 1500 * time.Millisecond, 0.2}, {50 * time.Millisecond, 4 * time.Second, 0}}
	if os.Getenv("DEVNET_SOAK") != "" {
		grid = nil
		for _, block := range []int{50, 100, 500, 1000, 2000} {
			for _, delay := range []int{20, 100, 250, 500, 700, 900, 1000, 1500, 2000, 4000} {
				for _, loss := range []float64{0, 0.2} {
					grid = append(grid, slowCell{time.Duration(block) * time.Millisecond, time.Duration(delay) * time.Millisecond, loss})
				}
			}
		}
	}
	for _, c := range grid {
		p := c.play(t, 1, func(n *Network) { n.LinkAll(Link{Latency: c.delay, Loss: c.loss}) },
			func(n *Network) { n.LinkAll(Link{Latency: quickDelay}) })
		t.Logf("%v: %.2f s a block; first %.2f s after the heal, then %.2f s a block", c, p.slow, p.first, p.healed)
		c.judge(t, p)
	}
}

// Links that differ: slow one way, between one pair, and from and to one validator. The others
// are a quorum with quick links, or have to wait for one that is slow.
func TestLinksThatDifferHaltNothing(t *testing.T) {
	const slow = 1500 * time.Millisecond
	names := []string{"v0", "v1", "v2", "v3"}
	for name, set := range map[string]func(*Network){
		"one pair": func(n *Network) { n.Link("v0", "v1", Link{Latency: slow}) },
		"one to all": func(n *Network) {
			for _, other := range names[1:] {
				n.Link("v0", other, Link{Latency: slow})
			}
		},
		"one to all, another stopped": func(n *Network) {
			for _, other := range names[1:] {
				n.Link("v0", other, Link{Latency: slow})
			}
			n.Crash("v3")
		},
		"all one way": func(n *Network) {
			for i, a := range names {
				for _, b := range names[i+1:] {
					n.Link(a, b, Link{Latency: slow, OneWay: true})
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := slowCell{block: 100 * time.Millisecond, delay: slow}
			p := c.play(t, 1, set, func(n *Network) {
				n.Heal()
				n.LinkAll(Link{Latency: quickDelay})
				if !n.Running("v3") {
					if err := n.Boot("v3"); err != nil {
						t.Fatal(err)
					}
				}
			})
			t.Logf("%.2f s a block; first %.2f s after the heal, then %.2f s a block", p.slow, p.first, p.healed)
			c.judge(t, p)
		})
	}
}
