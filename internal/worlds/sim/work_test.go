package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators"
)

// A role that works is away until its time is over, and what it tells others then
// comes to them no earlier; nobody else waits.
func TestWorkTakesVirtualTime(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 1, Work: Work{Cycles: time.Millisecond}}, 2)
	start := w.Now()
	var seen []string
	note := func(what string, y *toy) { seen = append(seen, fmt.Sprint(what, " ", y.Clock.Now().Sub(start))) }
	do("n0", func(y *toy) {
		note("begin", y)
		y.Work.Did(env.Cycles, 10_000)
		note("end", y)
		y.send("n1", "late")
		do("n1", func(y *toy) { note("told", y) })
	})
	do("n0", func(y *toy) { note("next", y) })
	do("n1", func(y *toy) { note("other", y) })
	w.After(5*time.Millisecond, func() {
		if len(*heard) > 0 {
			t.Errorf("a frame left before the work was done: %v", *heard)
		}
	})
	letRun(t, w, time.Second)
	want := []string{"begin 0s", "end 10ms", "other 0s", "next 10ms", "told 10ms"}
	if !reflect.DeepEqual(slices.Sorted(slices.Values(seen)), slices.Sorted(slices.Values(want))) ||
		!reflect.DeepEqual(*heard, []string{"n1<n0:late"}) || w.Worked() != 10*time.Millisecond {
		t.Errorf("%q, heard %q, worked %v; want %q", seen, *heard, w.Worked(), want)
	}
}

// What a process was at work with when it died nobody hears of.
func TestWorkThatACrashCutsShortIsNotHeardOf(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 1, Work: Work{Cycles: time.Millisecond}}, 2)
	do("n0", func(y *toy) {
		y.Work.Did(env.Cycles, 10_000)
		y.send("n1", "never")
		y.inbox.Post(order(func(*toy) { t.Error("the dead told themselves something") }))
	})
	w.After(5*time.Millisecond, func() { w.Crash("n0") })
	letRun(t, w, time.Second)
	if len(*heard) > 0 {
		t.Errorf("heard %v", *heard)
	}
}

func TestLittleWorkGathers(t *testing.T) {
	w, _, do := puppets(t, Config{Seed: 1, Work: Work{Recovery: 100 * time.Microsecond, Quantum: time.Millisecond}}, 1)
	start := w.Now()
	for range 25 {
		do("n0", func(y *toy) { y.Work.Did(env.Recoveries, 1) })
	}
	var done time.Duration
	do("n0", func(y *toy) { done = y.Clock.Now().Sub(start) })
	letRun(t, w, time.Second)
	if done != 2*time.Millisecond || w.Worked() != 2*time.Millisecond {
		t.Errorf("25 recoveries of 100 µs in quanta of 1 ms took %v", done)
	}
	if got := scaleDuration(time.Hour, 1<<63, 1); got != maxWork {
		t.Errorf("endless work takes %v", got)
	}
	if got := scaleDuration(20*time.Microsecond, 1_250, 1000); got != 25*time.Microsecond {
		t.Errorf("1,250 cycles take %v", got)
	}
}

// transfers submits so many at one validator.
func transfers(n *Network, count int) {
	for range count {
		n.Submit("v0", n.Transfer("alice", n.Key("bob").Address(), types.WeiOf(1)), nil)
	}
}

// mostInABlock is the largest number of transactions in one block so far.
func mostInABlock(t *testing.T, n *Network) (most, all int) {
	t.Helper()
	for h := types.Height(1); h <= n.Height("v0"); h++ {
		stored, err := n.Validator("v0").Archive().Block(h)
		if err != nil {
			t.Fatal(err)
		}
		if stored != nil {
			most = max(most, len(stored.Block.Transactions))
			all += len(stored.Block.Transactions)
		}
	}
	return most, all
}

// Decision C4: a proposer stops filling a block when a quarter of the leader
// timeout, here 375 ms, is spent on it, or half a second if that is more. A transfer
// of 1,200 cycles takes 24 ms of a machine a thousand times slower than the one
// measured.
func TestASlowProposerStopsFillingItsBlock(t *testing.T) {
	const count = 60
	slow := MeasuredWork
	slow.Cycles *= 1000
	for name, test := range map[string]struct {
		config NetworkConfig
		full   bool
	}{
		"measured": {NetworkConfig{World: quick(1)}, true},
		"slow":     {NetworkConfig{World: Config{Seed: 1, Link: quick(1).Link, Work: slow}}, false},
	} {
		n := aNetwork(t, test.config)
		transfers(n, count)
		if err := n.RunToHeight(14, 5*time.Minute); err != nil {
			t.Fatal(name, err)
		}
		most, all := mostInABlock(t, n)
		if all != count || (most == count) != test.full || !test.full && most > 22 {
			t.Errorf("%s: %d of %d transactions are final, at most %d in a block", name, all, count, most)
		}
	}
}

// Decision C4: where executing a block takes longer than a view, views are
// nullified, timeouts double, and the chain goes on.
func TestTimeoutsMeetSlowExecution(t *testing.T) {
	slow := MeasuredWork
	slow.Cycles *= 100_000 // 2.4 s a transfer
	n := aNetwork(t, NetworkConfig{World: Config{Seed: 1, Link: quick(1).Link, Work: slow}})
	transfers(n, 5)
	if err := n.RunToHeight(12, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, all := mostInABlock(t, n); all != 5 {
		t.Errorf("%d transactions of 5 are final", all)
	}
	if nullified := n.Validator("v0").Status().Refused.Nullified; nullified == 0 {
		t.Error("no view was nullified, though a block takes longer than a view")
	}
}

// A role that is slower than what comes in has its mailbox fill, and says so to who
// sends more.
func TestMailboxesFill(t *testing.T) {
	submit := func(c NetworkConfig) (refused int) {
		n := aNetwork(t, c)
		tx := n.Transfer("alice", n.Key("bob").Address(), types.WeiOf(1))
		for i := range 20 {
			n.After(time.Duration(i)*100*time.Millisecond, func() {
				for range 1000 {
					n.Submit("v0", tx, func(_ types.Hash, err error) {
						if errors.Is(err, validators.ErrBusy) {
							refused++
						}
					})
				}
			})
		}
		letRun(t, n.World, 3*time.Second)
		return refused
	}
	work := MeasuredWork
	work.Recovery = 10 * time.Millisecond
	if n := submit(NetworkConfig{World: Config{Seed: 1, Link: quick(1).Link, Work: work}}); n < 3000 {
		t.Errorf("%d submissions of 20,000 in 2 s were refused by a validator that checks a hundred a second", n)
	}
	if n := submit(NetworkConfig{World: quick(1), Timeless: true}); n != 0 {
		t.Errorf("%d submissions were refused where work takes no time", n)
	}
}
