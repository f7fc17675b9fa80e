package box

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

// A heartbeat in Python fires every ten blocks, counts, and pays.
func TestHeartbeatBeats(t *testing.T) {
	n := up(t, Config{Ephemeral: true})
	_, err := n.Probe()
	needed.Python(t, err)
	code, err := os.ReadFile("../../../fixtures/actors/heartbeat.py")
	if err != nil {
		t.Fatal(err)
	}
	alice := newPayer(n, "alice")
	deploy := alice.deploy(code, "heartbeat", 100*types.CBY)
	deploy.CellsLimit = 200_000
	sig := n.Key("alice").Sign(deploy.SigningDigest())
	deploy.Signature = &sig
	deployed := land(t, n, deploy)
	if deployed.Status != types.StatusOK {
		t.Fatalf("%s: %+v", deployed.Status, deployed.Error)
	}
	started := land(t, n, alice.execute(deployed.To, "start", nil))
	if started.Status != types.StatusOK {
		t.Fatalf("%s: %+v", started.Status, started.Error)
	}
	funded := n.Best().Validator().Head().State.Account(deployed.To).Balance
	// Each fire is due ten blocks after the one that scheduled it. On a machine whose other work
	// starves its host it may take eight blocks more (decision C18, 3).
	const interval, fires, mostStarved = 10, 3, 8
	await(t, n, started.Height+fires*(interval+mostStarved))
	validator := n.Best().Validator()
	view := validator.Head()
	timers, err := validator.Archive().Timers(history.TimerFilter{Actor: &deployed.To, Page: history.Page{Limit: 10}})
	if err != nil || len(timers) < fires {
		t.Fatalf("%d timers, %v", len(timers), err)
	}
	slices.SortFunc(timers, func(a, b history.TimerRecord) int { return cmp.Compare(a.Seq, b.Seq) })
	scheduled := started.Height
	for i, timer := range timers[:fires] {
		due := scheduled + interval
		if timer.Height != due || timer.EndedAt < due || timer.EndedAt > due+mostStarved {
			t.Errorf("timer %d is due at %d and ended at %d: want %d", i, timer.Height, timer.EndedAt, due)
		}
		if timer.Status != types.TimerFired || timer.Result != types.StatusOK {
			t.Errorf("timer %d: %s %s", i, timer.Status, timer.Result)
		}
		scheduled = timer.EndedAt
	}
	fired := 0
	for _, timer := range timers {
		if timer.Status == types.TimerFired && timer.EndedAt <= view.State.Height() {
			fired++
		}
	}
	if beats, _ := view.State.Storage(deployed.To, []byte("beats")); string(beats) != strconv.Itoa(fired) {
		t.Errorf("beats = %q after %d fires", beats, fired)
	}
	if paid := view.State.Account(deployed.To).Balance; !paid.Less(funded) {
		t.Errorf("the balance is %s, and was %s before three fires", paid, funded)
	}
}

// A validator that was stopped for 200 blocks does not stop the others; it
// comes back, catches up with verified blocks, and has the same roots.
func TestStoppedValidatorCatchesUp(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{BlockTime: 5 * time.Millisecond, Seed: testSeed(),
		Params: map[string]string{"chain.link_delay_ms": "5"}}, Home: t.TempDir() + "/home"})
	alice := newPayer(n, "alice")
	counter := deploySample(t, alice, "counter", "counter", 0)
	if err := n.Stop("v2"); err != nil {
		t.Fatal(err)
	}
	stopped := n.Best().finalHeight()
	begin := time.Now()
	for n.Best().finalHeight() < stopped+200 {
		land(t, n, alice.execute(counter, "increment", nil))
	}
	t.Logf("%d blocks without v2 in %v", n.Best().finalHeight()-stopped, time.Since(begin))
	if err := do(n, fault.Restart, "v2"); err != nil {
		t.Fatal(err)
	}
	target := n.Best().finalHeight() + 20
	awaitNode(t, n.List()[2], target)
	block, err := n.List()[2].Validator().Archive().Block(target)
	if err != nil || block == nil {
		t.Fatal(block, err)
	}
	awaitNode(t, n.List()[0], target)
	other, err := n.List()[0].Validator().Archive().Block(target)
	if err != nil || other == nil || other.Block.Header.StateRoot != block.Block.Header.StateRoot {
		t.Fatalf("roots at height %d differ: %v %v", target, block.Block.Header, other)
	}
}

// awaitNode waits until one node has a height; the others' blocks are the
// occasions to look.
func awaitNode(t testing.TB, node *Node, height types.Height) {
	t.Helper()
	for end := time.Now().Add(patience); node.finalHeight() < height; {
		if time.Now().After(end) {
			t.Fatalf("%s is at %d, not at %d; the best is at %d", node.Name, node.finalHeight(), height, node.network.Best().finalHeight())
		}
		await(t, node.network, node.network.Best().finalHeight()+1)
	}
}
