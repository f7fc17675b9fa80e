package box

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// What /ready, status and the terminal of up say of a network that makes no
// blocks: at once that none can be made, and what would change that.
func TestANetworkWithoutBlocksSaysWhy(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	if l := n.Liveness(); l.Stalled() || l.Blocked {
		t.Errorf("%+v", l)
	}
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	if l := n.Liveness(); !l.Blocked || l.Cause != "the network is paused" || !strings.Contains(l.Hint, "resume") {
		t.Errorf("%+v", l)
	}
	if err := n.Resume(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v2", "v3"} {
		if err := n.Stop(name); err != nil {
			t.Fatal(err)
		}
	}
	if l := n.Liveness(); !l.Blocked || l.Cause != "no quorum: 2 of 4 validators run, 3 are needed" {
		t.Errorf("%+v", l)
	}
	if err := do(n, fault.Restart, "v2"); err != nil {
		t.Fatal(err)
	}
	if l := n.Liveness(); l.Blocked {
		t.Errorf("%+v", l)
	}
}

// The devnet's own partition is the first thing that is said of a network without blocks: who
// reaches whom counts, and not who runs. So it is with links that lose everything.
func TestAPartitionIsNamedAsTheCause(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	for _, c := range []struct {
		orders []fault.Order
		cause  string // of a network that is blocked; "" of one that is not
	}{
		{[]fault.Order{{Verb: fault.Partition, Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}}},
			"partition v0,v1 / v2,v3 is in force: at most 2 of 4 validators reach each other, 3 are needed"},
		{[]fault.Order{{Verb: fault.Partition, Groups: [][]string{{"v0"}, {}}}}, ""},
		{[]fault.Order{{Verb: fault.Bridge, Node: "v0", Left: []string{"v1"}, Right: []string{"v2", "v3"}}}, ""},
		{[]fault.Order{{Verb: fault.SetLink, A: "v0", B: "v1", Link: fault.Link{Loss: 1}},
			{Verb: fault.SetLink, A: "v2", B: "v3", Link: fault.Link{Loss: 1}},
			{Verb: fault.SetLink, A: "v0", B: "v2", Link: fault.Link{Loss: 1, OneWay: true}},
			{Verb: fault.SetLink, A: "v1", B: "v3", Link: fault.Link{Loss: 1}}},
			"link v1 v3 loss 1, link v0 v2 loss 1, one way, link v2 v3 loss 1, 1 more are in force: " +
				"at most 2 of 4 validators reach each other, 3 are needed"},
	} {
		for _, o := range c.orders {
			done(t, order(n, o))
		}
		if l := n.Liveness(); l.Blocked != (c.cause != "") || c.cause != "" && (l.Cause != c.cause || l.Hint != "Run devnet heal.") {
			t.Errorf("%v: %+v", c.orders, l)
		}
		done(t, do(n, fault.Heal, ""))
	}
	done(t, order(n, fault.Order{Verb: fault.Misbehave, Node: "v3", Kind: "withhold_votes"}))
	cause := (&observation{faults: n.Standing(), nullified: 7}).slowCause()
	if cause != "misbehave v3 withhold_votes is in force; 7 views were nullified since the start" {
		t.Error(cause)
	}
}

// Who is asked for figures tells which views it gave up, and why; a network that
// stands still says the last of them in words.
func TestViewsThatAreGivenUpAreCountedByCause(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	if err := n.Stop("v3"); err != nil {
		t.Fatal(err)
	}
	await(t, n, n.Best().finalHeight()+12)
	given := map[string]uint64{}
	for _, node := range n.Nodes() {
		for _, c := range node.Counts {
			given[c.Of+" "+c.What] += c.N
			if node.Name == "v3" {
				t.Errorf("v3 does not run, and counts %+v", c)
			}
		}
	}
	if given["given_up leader_unheard"] == 0 {
		t.Errorf("%v", given)
	}
	for _, what := range []string{"given_up too_few_votes", "refused frames", "refused peers", "refused executions"} {
		if _, told := given[what]; !told {
			t.Errorf("%s is not counted", what)
		}
	}
	last := n.findNode("v0").Validator().Status().GaveUp
	if last == nil {
		t.Fatal("v0 gave nothing up")
	}
	if got := n.gaveUp(last); !strings.HasSuffix(got, ", which v3 led: leader unheard") &&
		!strings.HasSuffix(got, ", which v3 led: no proposal") {
		t.Error(got)
	}
}

// C7: validators whose clocks show a time before the newest block's stamp make no block
// until then. Each reports it by name.
func TestClocksThatAreSetBackAreNamed(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	if l := n.Liveness(); len(l.Troubles) != 0 {
		t.Errorf("troubles before: %q", l.Troubles)
	}
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	troubles := ""
	// A block that was under way at the pause has the clocks join it again, so they are set back once more after it.
	for back := time.Duration(1); back <= 5 && strings.Count(troubles, "the clock of") < 4; back++ {
		n.clock.SetOffset(-back * 10 * time.Minute)
		troubles = strings.Join(n.Liveness().Troubles, "\n")
	}
	for _, name := range []string{"v0", "v1", "v2", "v3"} {
		if !strings.Contains(troubles, "the clock of "+name+" is 9m5") && !strings.Contains(troubles, "the clock of "+name+" is 10m0") {
			t.Errorf("%s is not named in %q", name, troubles)
		}
	}
	n.clock.SetOffset(0)
	if address := n.findNode("v1").Address.String(); n.nameAddresses("the clock of "+address+" is ahead") != "the clock of v1 is ahead" {
		t.Errorf("v1 is told by its address: %s", n.nameAddresses("the clock of "+address))
	}
}

// A network that stopped since its disk is full says to free some space first: to start a
// validator again before that is in vain. The words of a process elsewhere count as the error does.
func TestAFullDiskIsToBeFreedFirst(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	for name, failure := range map[string]error{
		"v1": &os.PathError{Op: "write", Path: "votes.log", Err: syscall.ENOSPC},
		"v2": errors.New("the process ended by itself: exit status 1: write votes.log: no space left on device"),
		"v3": errors.New("the process ended by itself: signal: killed"),
	} {
		if err := n.Stop(name); err != nil {
			t.Fatal(err)
		}
		n.findNode(name).Fail(failure)
	}
	const want = "The disk of v1 and v2 has no room: free some space, then run devnet fault validator restart NODE for each of them."
	if l := n.Liveness(); !l.Blocked || l.Hint != want {
		t.Errorf("%+v", l)
	}
}
