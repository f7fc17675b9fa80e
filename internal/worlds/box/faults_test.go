package box

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

func quick() Config {
	return Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond, Params: map[string]string{"chain.link_delay_ms": "100"}}, Ephemeral: true}
}

// done fails the test where a verb was refused.
func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// order is why an order was not done, or nil.
func order(n *Network, o fault.Order) error {
	_, err := n.Do(o)
	return err
}

// do orders a verb that takes a node alone.
func do(n *Network, verb *fault.Verb, node string) error {
	return order(n, fault.Order{Verb: verb, Node: node})
}

// awaitFaulty waits until a node has finalized a height.
func awaitFaulty(t *testing.T, n *Network, name string, height types.Height) {
	t.Helper()
	for begin := time.Now(); n.findNode(name).finalHeight() < height; {
		if time.Since(begin) > patience {
			t.Fatalf("%s did not reach height %d but %d; the best is at %d", name, height, n.findNode(name).finalHeight(), n.Best().finalHeight())
		}
		await(t, n, n.Best().finalHeight()+1)
	}
}

// awaitConnected waits, block by block, until every node is connected with all
// others.
func awaitConnected(t *testing.T, n *Network) {
	t.Helper()
	for begin := time.Now(); ; await(t, n, n.Best().finalHeight()+1) {
		missing := 0
		for _, node := range n.List() {
			missing += len(n.List()) - 1 - len(node.Peers())
		}
		switch {
		case missing == 0:
			return
		case time.Since(begin) > patience:
			t.Fatalf("%d connections are missing", missing)
		}
	}
}

func lastFault(n *Network) fault.Effect {
	all := n.Faults()
	return all[len(all)-1]
}

// A node that is killed loses nothing that it had promised, goes on from its
// files, and after a wipe begins from genesis; the others go on meanwhile.
func TestCrashRestartAndWipe(t *testing.T) {
	config := quick()
	config.Ephemeral, config.Home = false, t.TempDir()
	n := up(t, config)
	await(t, n, 3)
	done(t, do(n, fault.Crash, "v1"))
	if n.findNode("v1").Running() {
		t.Fatal("v1 runs after its crash")
	}
	if err := do(n, fault.Crash, "v1"); err == nil {
		t.Error("it crashes twice")
	}
	await(t, n, n.Best().finalHeight()+3)
	done(t, do(n, fault.Restart, "v1"))
	if err := do(n, fault.Restart, "v1"); err == nil {
		t.Error("it starts twice")
	}
	awaitFaulty(t, n, "v1", n.Best().finalHeight())
	if r := lastFault(n); r.Verb != "crash" || r.Idle || !r.Ended || !strings.Contains(r.Did, "connections cut") {
		t.Errorf("%+v", r)
	}

	if err := do(n, fault.Wipe, "v1"); err == nil || !strings.Contains(err.Error(), "crash it first") {
		t.Errorf("wiping a node that runs: %v", err)
	}
	done(t, do(n, fault.Crash, "v1"))
	done(t, do(n, fault.Wipe, "v1"))
	if files, err := n.home.Node("v1"); err != nil {
		t.Error(err)
	} else if _, err := os.Stat(files.State); !os.IsNotExist(err) {
		t.Errorf("its state is still there: %v", err)
	}
	if r := lastFault(n); r.Verb != "wipe" || r.Idle {
		t.Errorf("%+v", r)
	}
	done(t, do(n, fault.Restart, "v1"))
	awaitFaulty(t, n, "v1", n.Best().finalHeight())
}

func TestFreezeAndThaw(t *testing.T) {
	n := up(t, quick())
	await(t, n, 3)
	done(t, do(n, fault.Freeze, "v2"))
	if err := do(n, fault.Freeze, "v2"); err == nil {
		t.Error("it freezes twice")
	}
	at := n.findNode("v2").finalHeight()
	await(t, n, n.Best().finalHeight()+6)
	if now := n.findNode("v2").finalHeight(); now > at+1 {
		t.Errorf("a frozen node went on from %d to %d", at, now)
	}
	if n.Best().Name == "v2" {
		t.Error("a frozen node answers for the network")
	}
	done(t, do(n, fault.Thaw, "v2"))
	awaitFaulty(t, n, "v2", n.Best().finalHeight())
	if r := lastFault(n); r.Idle || !r.Ended || !strings.Contains(r.Did, "frames held") {
		t.Errorf("%+v", r)
	}
	if err := do(n, fault.Thaw, "v2"); err == nil {
		t.Error("it thaws twice")
	}
	// A frozen node can be killed, and the network closed over one.
	done(t, do(n, fault.Freeze, "v2"))
	done(t, do(n, fault.Crash, "v2"))
	done(t, do(n, fault.Restart, "v2"))
	done(t, do(n, fault.Freeze, "v3"))
}

// givenUp counts how often each validator said that it gives a view up.
type givenUp struct {
	mu    sync.Mutex
	times map[types.Address]int
	news  chan struct{} // has room for one
}

// hear implements Config.Overhear.
func (g *givenUp) hear(from types.Address, frame []byte) {
	var vote types.Vote
	if codec.Unmarshal(frame[1:], env.MaxFrameBytes, &vote) != nil || vote.Kind != types.Nullify {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.times[from]++
	select {
	case g.news <- struct{}{}:
	default:
	}
}

// await waits until each of n validators said it so many times from now on.
func (g *givenUp) await(t *testing.T, n, times int) {
	t.Helper()
	g.mu.Lock()
	g.times = map[types.Address]int{}
	g.mu.Unlock()
	deadline := time.After(patience)
	for {
		g.mu.Lock()
		enough := 0
		for _, said := range g.times { // order: a count
			if said >= times {
				enough++
			}
		}
		g.mu.Unlock()
		if enough >= n {
			return
		}
		select {
		case <-g.news:
		case <-deadline:
			t.Fatalf("%d of %d validators gave a view up %d times", enough, n, times)
		}
	}
}

// Without a majority nothing becomes final, though each validator gives its view
// up and says so again and again; after the heal it goes on.
func TestPartitionAndHealOverRealQUIC(t *testing.T) {
	views := &givenUp{times: map[types.Address]int{}, news: make(chan struct{}, 1)}
	config := quick()
	config.Overhear = views.hear
	n := up(t, config)
	await(t, n, 3)
	awaitConnected(t, n)
	done(t, order(n, fault.Order{Verb: fault.Partition, Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}}))
	at := n.Best().finalHeight()
	views.await(t, 4, 9) // three times to each of three peers
	if now := n.Best().finalHeight(); now > at+1 {
		t.Errorf("two of four finalized from %d to %d", at, now)
	}
	done(t, do(n, fault.Heal, ""))
	await(t, n, n.Best().finalHeight()+3)
	r := lastFault(n)
	if r.Verb != "partition" || r.Detail != "v0,v1 / v2,v3" || r.Idle || !r.Ended || !strings.Contains(r.Did, "4 connections cut") {
		t.Errorf("%+v", r)
	}

	// A bridge joins two halves by one node that both reach.
	done(t, order(n, fault.Order{Verb: fault.Bridge, Node: "v0", Left: []string{"v1"}, Right: []string{"v2"}}))
	await(t, n, n.Best().finalHeight()+3)
	done(t, do(n, fault.Heal, ""))
}

func TestLinksLoseAndDelayRealPackets(t *testing.T) {
	n := up(t, quick())
	await(t, n, 2)
	done(t, order(n, fault.Order{Verb: fault.SetLink, A: "v0", B: "v1",
		Link: fault.Link{Latency: 10 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1}}))
	done(t, order(n, fault.Order{Verb: fault.SetLink, A: "v0", B: "v2", Link: fault.Link{Loss: 1, OneWay: true}}))
	await(t, n, n.Best().finalHeight()+10)
	for _, r := range n.Faults() {
		if r.Idle || r.Ended {
			t.Errorf("%+v", r)
		}
	}
	if first := n.Faults()[0]; !strings.Contains(first.Did, "packets delayed") || !strings.Contains(first.Did, "duplicated") {
		t.Errorf("%+v", first)
	}
	done(t, do(n, fault.Heal, ""))
	for _, r := range n.Faults() {
		if !r.Ended {
			t.Errorf("after the heal: %+v", r)
		}
	}
}

// One liar of four, in each way that needs no runners: the others go on, and agree.
// Those about runners are in the library of scenarios.
func TestOneLiveLiarBreaksNothing(t *testing.T) {
	n := up(t, quick())
	alice := newPayer(n, "alice")
	heart := deploySample(t, alice, "heartbeat", "hb", 1000*types.CBY)
	land(t, n, alice.execute(heart, "start", samples.Number(1))) // something to pass over
	for _, kind := range byzantine.Kinds() {
		if kind.AboutRunners() {
			continue
		}
		done(t, order(n, fault.Order{Verb: fault.Misbehave, Node: "v3", Kind: string(kind)}))
		if n.findNode("v3").Honest() {
			t.Error("a liar counts as honest")
		}
		await(t, n, n.Best().finalHeight()+6)
		if r := lastFault(n); r.Idle || r.Ended {
			t.Errorf("%+v", r)
		}
	}
	done(t, order(n, fault.Order{Verb: fault.Misbehave, Node: "v3", Kind: "honest"}))
	if !n.findNode("v3").Honest() || !lastFault(n).Ended {
		t.Error("it lies on")
	}
	await(t, n, n.Best().finalHeight()+2)
	height := min(n.findNode("v0").finalHeight(), n.findNode("v1").finalHeight(), n.findNode("v2").finalHeight())
	var hashes []types.Hash
	for _, name := range []string{"v0", "v1", "v2"} {
		block, err := n.findNode(name).Validator().Archive().Block(height)
		if err != nil || block == nil {
			t.Fatalf("%s has no block %d: %v", name, height, err)
		}
		hashes = append(hashes, block.Hash)
	}
	if hashes[0] != hashes[1] || hashes[1] != hashes[2] {
		t.Errorf("the honest disagree at height %d: %v", height, hashes)
	}
}

// What a process does wrong ends with it: the record says so, and the next one is sound.
func TestTheNextProcessOfALiarIsHonest(t *testing.T) {
	n := up(t, quick())
	await(t, n, 2)
	for what, end := range map[string]func() error{
		"a crash": func() error { return do(n, fault.Crash, "v3") },
		"a stop":  func() error { return n.Stop("v3") },
	} {
		done(t, order(n, fault.Order{Verb: fault.Misbehave, Node: "v3", Kind: "withhold_votes"}))
		done(t, end())
		done(t, do(n, fault.Restart, "v3"))
		if !n.findNode("v3").Honest() || !n.Faults()[0].Ended {
			t.Errorf("after %s it lies on", what)
		}
	}
}

func TestWhatALiveNetworkRefuses(t *testing.T) {
	n := up(t, quick())
	for _, o := range []fault.Order{{Verb: fault.DiskFail, Node: "v0", On: true}, {Verb: fault.ClockSkew, Node: "v0", Skew: time.Second},
		{Verb: fault.DiskSlow, Node: "v0", Delay: time.Second}, {Verb: fault.CPUSlow, Node: "v0", Delay: time.Second},
		{Verb: fault.SyncLies, Node: "v0", On: true}, {Verb: fault.CrashAmid, Node: "v0", Instant: fault.AfterSend, Times: 1}} {
		if _, err := n.Do(o); code(err) != "unsupported" {
			t.Errorf("%s: %v does not say that it is not there", &o, err)
		}
	}
	for what, o := range map[string]fault.Order{
		"v9":                       {Verb: fault.Crash, Node: "v9"},
		"named twice":              {Verb: fault.Partition, Groups: [][]string{{"v0", "v1"}, {"v1"}}},
		"itself":                   {Verb: fault.SetLink, A: "v0", B: "v0"},
		"loss":                     {Verb: fault.SetLink, A: "v0", B: "v1", Link: fault.Link{Loss: 2}},
		"v0 is not frozen":         {Verb: fault.Thaw, Node: "v0"},
		"no node is called \"v9\"": {Verb: fault.Partition, Groups: [][]string{{"v0"}, {"v9"}}},
	} {
		if _, err := n.Do(o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(n.Faults()) != 0 {
		t.Errorf("what was refused is a fault: %+v", n.Faults())
	}
}

func TestAStrictNetworkHasNoFaults(t *testing.T) {
	config := quick()
	config.Strict = true
	n := up(t, config)
	for _, o := range []fault.Order{{Verb: fault.Crash, Node: "v0"}, {Verb: fault.Freeze, Node: "v0"},
		{Verb: fault.Partition, Groups: [][]string{{"v0"}}},
		{Verb: fault.SetLink, A: "v0", B: "v1"}, {Verb: fault.Heal}, {Verb: fault.Misbehave, Node: "v0", Kind: "equivocate"}} {
		if _, err := n.Do(o); code(err) != "strict" {
			t.Errorf("%v", err)
		}
	}
	for _, row := range network.Rows {
		if err := n.Need(row.Is); code(err) != "strict" {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
}

// An instruction outlives the validator that it was handed to first: that one may be cut
// off, or stop, before it has told anybody.
func TestAnInstructionIsHandedToAll(t *testing.T) {
	n := up(t, quick())
	await(t, n, 2)
	done(t, order(n, fault.Order{Verb: fault.Partition, Groups: [][]string{{"v0"}, {"v1"}, {"v2"}, {"v3"}}}))
	set := make(chan error, 1)
	go func() {
		_, err := n.SetParam(within(t), "cip3.min_basefee", "7", 0)
		set <- err
	}()
	first := holder(t, n, wallet.AccountKey(*testSeed(), wallet.System).Address())
	done(t, do(n, fault.Crash, first))
	done(t, order(n, fault.Order{Verb: fault.Heal}))
	if err := <-set; err != nil {
		t.Error(err)
	}
}

// holder waits until a validator holds a transaction of an account, and names it.
func holder(t *testing.T, n *Network, account types.Address) string {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; {
		for _, node := range n.List() {
			final := node.Validator().Head().State.Account(account).Nonce
			next, err := network.Ask(within(t), n.scheduler, func(answer func(types.Nonce)) {
				node.Validator().NextNonce(account, final, answer)
			})
			done(t, err)
			if next > final {
				return node.Name
			}
		}
	}
	t.Fatal("nobody holds it")
	return ""
}
