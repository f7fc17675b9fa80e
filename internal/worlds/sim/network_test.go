package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func aNetwork(t testing.TB, c NetworkConfig) *Network {
	t.Helper()
	n, err := NewNetwork(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func quick(seed uint64) Config {
	return Config{Seed: seed, Link: Link{Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond}}
}

// Four validators, a heartbeat every 5 blocks, transfers and a failing call: all
// of it agreed on, paid to the wei, and judged.
func TestANetworkFinalizesAndFiresTimers(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(1)})
	deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(100).Mul(types.CBY))
	var refused []error
	note := func(_ types.Hash, err error) {
		if err != nil {
			refused = append(refused, err)
		}
	}
	n.Submit("v0", deploy, note)
	if err := n.RunToHeight(4, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Submit("v1", n.Execute("alice", heart, "start", samples.Number(5)), note)
	n.Submit("v2", n.Transfer("bob", n.Key("alice").Address(), types.WeiOf(7)), note)
	n.Submit("v3", n.Execute("bob", heart, "nothing", nil), note)
	if err := n.RunToHeight(40, 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	counts := n.Judge.Counts()
	t.Logf("%+v, %d steps", counts, n.Steps())
	if len(refused) > 0 || counts.Ended < 6 || counts.Scheduled != counts.Ended+1 || counts.Receipts < 4 || counts.Summed == 0 ||
		counts.Rehashed < 8 || n.Judge.Tip() < 40 {
		t.Errorf("refused %v; judged up to %d: %+v", refused, n.Judge.Tip(), counts)
	}
}

// One of four is down for 200 blocks; the others keep a quarter of their rate at
// least, and it catches up with verified blocks.
func TestAValidatorThatWasDownFor200BlocksCatchesUp(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(2)})
	if err := n.RunToHeight(10, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Crash("v3")
	start, at := n.Now(), n.Tip()
	if err := n.RunToHeight(at+200, 4*200*time.Second); err != nil {
		t.Fatal(err)
	}
	t.Logf("200 blocks without one of four took %v", n.Now().Sub(start))
	if err := n.Boot("v3"); err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(n.Tip()+3, time.Minute); err != nil {
		t.Fatal(err)
	}
	down, up := n.Validator("v3").Head(), n.Validator("v0").Head()
	if down.Block.Header.Height == up.Block.Header.Height && down.State.Root() != up.State.Root() {
		t.Errorf("v3 has another root than v0 at height %d", up.Block.Header.Height)
	}
}

// More than f down: no block is final. One back: blocks are final again.
func TestWithoutAQuorumNothingIsFinal(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(3)})
	if err := n.RunToHeight(5, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Partition([]string{"v0", "v1"})
	letRun(t, n.World, 5*time.Second)
	stuck := n.Tip()
	letRun(t, n.World, 5*time.Minute)
	if n.Tip() != stuck {
		t.Fatalf("two of four finalized %d blocks", n.Tip()-stuck)
	}
	n.Heal()
	if err := n.RunToHeight(stuck+liveBlocks, bound); err != nil {
		t.Fatal(err)
	}
}

// A validator whose disk fails stops, and no vote of its leaves; the rest go on.
func TestAFailingDiskStopsItsValidator(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(4)})
	if err := n.RunToHeight(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	r := n.DiskFail("v2", true)
	letRun(t, n.World, 10*time.Second)
	if r.Refused() == 0 {
		t.Fatal("nobody used the failing disk")
	}
	n.DiskFail("v2", false)
	n.Crash("v2")
	if err := n.Boot("v2"); err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(n.Tip()+3, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkNetwork is simulated blocks of four idle validators a second, with
// each switch of what makes it fast turned off.
func BenchmarkNetwork(b *testing.B) {
	for _, c := range []struct {
		name string
		c    NetworkConfig
	}{
		{"as it is", NetworkConfig{}},
		{"each executes", NetworkConfig{Apart: true}},
		{"real signatures", NetworkConfig{Real: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.c.World = quick(1)
			n := aNetwork(b, c.c)
			b.ResetTimer()
			if err := n.RunToHeight(types.Height(b.N), time.Duration(b.N+10)*4*time.Second); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
		})
	}
}

// A receiver that takes the message of its sender does what one does that decodes its frame: the runs are one.
func TestFramesTakenAsTheyWereSentChangeNoRun(t *testing.T) {
	for seed := range uint64(3) {
		var digests []types.Hash
		for _, decodes := range []bool{false, true} {
			world := quick(seed + 1)
			world.Link.Loss, world.Link.Duplicate = 0.05, 0.02
			n := aNetwork(t, NetworkConfig{World: world, decodes: decodes})
			if err := n.RunToHeight(10, time.Minute); err != nil {
				t.Fatal(err)
			}
			n.Crash("v1")
			if err := n.RunToHeight(20, 2*time.Minute); err != nil {
				t.Fatal(err)
			}
			if err := n.Boot("v1"); err != nil {
				t.Fatal(err)
			}
			if err := n.RunToHeight(40, 2*time.Minute); err != nil {
				t.Fatal(err)
			}
			digests = append(digests, n.Digest())
		}
		if digests[0] != digests[1] {
			t.Errorf("seed %d: %s as sent, %s decoded", seed+1, digests[0], digests[1])
		}
	}
}
