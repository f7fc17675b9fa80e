package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// skewed runs a network for a while in which the clocks of some validators are off, and returns
// the blocks made and the views nullified.
func skewed(t *testing.T, block, run time.Duration, by map[string]time.Duration) (n *Network, blocks types.Height, nullified uint64) {
	t.Helper()
	n = aNetwork(t, NetworkConfig{World: Config{Seed: 1, Link: Link{Latency: 20 * time.Millisecond}}, Timeless: true,
		Params: params.Overrides{"chain.block_time_ms": fmt.Sprint(block.Milliseconds())}})
	if err := n.RunToHeight(5, time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, name := range n.Names() {
		if by[name] != 0 {
			n.ClockSkew(name, by[name])
		}
	}
	before := n.Tip()
	if err := n.RunFor(run); err != nil {
		t.Fatal(err)
	}
	if err := n.Err(); err != nil {
		t.Fatal(err)
	}
	return n, n.Tip() - before, n.Validator("v0").Status().Refused.Nullified
}

// C7: clocks that are ahead do not quicken heights, which timers count. A clock that is off
// costs few views. Heights keep a block time each, except for the drift that stamps may
// have.
func TestC7ClocksAheadDoNotQuickenHeights(t *testing.T) {
	for _, c := range []struct {
		name  string
		block time.Duration
		by    map[string]time.Duration
	}{
		{"none", time.Second, nil},
		{"one 1 s ahead", time.Second, map[string]time.Duration{"v0": time.Second}},
		{"one 1 min ahead", time.Second, map[string]time.Duration{"v0": time.Minute}},
		{"two 1 s ahead", time.Second, map[string]time.Duration{"v0": time.Second, "v1": time.Second}},
		{"one 2 s behind", time.Second, map[string]time.Duration{"v0": -2 * time.Second}},
		{"one 300 ms ahead, quick blocks", 100 * time.Millisecond, map[string]time.Duration{"v0": 300 * time.Millisecond}},
		{"one 2 s ahead, quick blocks", 100 * time.Millisecond, map[string]time.Duration{"v0": 2 * time.Second}},
		{"one 1 h ahead, quick blocks", 100 * time.Millisecond, map[string]time.Duration{"v0": time.Hour}},
	} {
		run := 600 * c.block
		_, blocks, nullified := skewed(t, c.block, run, c.by)
		t.Logf("%s: %.3f s a block, %d views nullified", c.name, run.Seconds()/float64(blocks), nullified)
		if most := types.Height(run/c.block) + 10; blocks > most {
			t.Errorf("%s: %d blocks in %v, at most %d", c.name, blocks, run, most)
		}
		if least := types.Height(run/c.block) * 9 / 10; blocks < least {
			t.Errorf("%s: %d blocks in %v, at least %d", c.name, blocks, run, least)
		}
	}
}

// C7: if all clocks are set back, no block is made before the newest one's time, and each
// validator reports it. Once that time has come the chain continues.
func TestC7ClocksSetBackSayWhy(t *testing.T) {
	back := map[string]time.Duration{}
	for _, name := range []string{"v0", "v1", "v2", "v3"} {
		back[name] = -10 * time.Minute
	}
	n, blocks, _ := skewed(t, time.Second, 5*time.Minute, back)
	if blocks > 2 {
		t.Errorf("%d blocks are stamped before the newest one", blocks)
	}
	for _, name := range n.Names() {
		behind := n.Validator(name).Status().Behind
		if want := 5 * time.Minute; behind < want-2*time.Second || behind > want+2*time.Second {
			t.Errorf("%s reports a clock slow by %v, want about %v", name, behind, want)
		}
	}
	if err := n.RunToHeight(n.Tip()+5, 6*time.Minute); err != nil {
		t.Error(err)
	}
}
