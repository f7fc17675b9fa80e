package box

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

// settable is this machine with a wall clock that a test sets.
type settable struct{ ahead atomic.Int64 }

func (m *settable) set(by time.Duration) { m.ahead.Store(int64(by)) }

func (m *settable) machine() clock.Machine {
	read := clock.ThisMachine()
	return func() (types.Time, time.Duration) {
		wall, passed := read()
		return wall.Add(time.Duration(m.ahead.Load())), passed
	}
}

// stamp is the timestamp of the newest final block.
func stamp(n *Network) types.Millis { return n.Best().Validator().Head().Block.Header.Timestamp }

// C7: while a network runs, its machine's clock is put back by an hour, and forward by two.
// Blocks go on, their stamps do not leap, and /ready says what happened.
func TestC7AStepOfTheMachinesClockHaltsNothing(t *testing.T) {
	m := &settable{}
	n := up(t, Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond}, Ephemeral: true, Machine: m.machine()})
	await(t, n, 4)
	if told := n.Liveness().Troubles; len(told) != 0 {
		t.Errorf("told before: %q", told)
	}
	for _, s := range []struct {
		by   time.Duration
		told string
	}{{-time.Hour, "was put back by 1h0m0s"}, {time.Hour, "was put forward by 2h0m0s"}} {
		before, at, began := n.Best().finalHeight(), stamp(n), time.Now()
		m.set(s.by)
		await(t, n, before+4)
		if moved, passed := stamp(n)-at, time.Since(began); moved < 0 || moved > types.Millis(passed.Milliseconds())+1000 {
			t.Errorf("%v: stamps went %d ms in %v", s.by, moved, passed)
		}
		if told := strings.Join(n.Liveness().Troubles, "\n"); !strings.Contains(told, s.told) {
			t.Errorf("%v: told is %q", s.by, told)
		}
	}
}

// C7: a clock that was put back by an hour while the network was down costs no more than a block
// time, and says so.
func TestC7ANetworkStartsFromItsNewestStamp(t *testing.T) {
	m, dir := &settable{}, t.TempDir()
	m.set(time.Hour)
	n := up(t, Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond}, Home: dir, Machine: m.machine()})
	await(t, n, 5)
	at := stamp(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	m.set(0)
	again := up(t, Config{Home: dir, Machine: m.machine()})
	await(t, again, again.Best().finalHeight()+4)
	if moved := stamp(again) - at; moved < 0 || moved > 60_000 {
		t.Errorf("stamps moved by %d ms over a restart", moved)
	}
	if told := strings.Join(again.Liveness().Troubles, "\n"); !strings.Contains(told, "earlier than the newest block at the start") {
		t.Errorf("told is %q", told)
	}
	auditAll(t, again, dir)
}

// C8: a network that is stopped while it travels goes on to the goal at its next start: block
// times and heights belong together all the way, as if nobody had stopped it.
func TestC8AStopDuringAnAdvanceLosesNothing(t *testing.T) {
	dir := t.TempDir()
	n := up(t, Config{Plan: setup.Plan{BlockTime: time.Second, Params: map[string]string{"chain.link_delay_ms": "50"}}, Home: dir})
	alice := newPayer(n, "alice")
	heart := deploySample(t, alice, "heartbeat", "heart", 900_000_000_000)
	land(t, n, alice.execute(heart, "start", samples.Number(1))) // a timer at every height
	from := n.Best().finalHeight()
	began := stamp(n)
	ctx, cut := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() {
		_, err := n.Advance(ctx, history.Target{Blocks: 600})
		ended <- err
	}()
	await(t, n, from+20)
	cut()
	if err := <-ended; code(err) != "travelling" || !strings.Contains(err.Error(), "not final yet") {
		t.Errorf("a cut advance says %v", err)
	}
	goal := n.UnderWay()
	if goal != from+600 && goal != from+601 {
		t.Fatalf("from %d it travels to %d", from, goal)
	}
	if l := n.Liveness(); l.TravelsTo != goal {
		t.Errorf("/ready says it travels to %d, not %d", l.TravelsTo, goal)
	}
	if _, err := n.Advance(within(t), history.Target{Blocks: 5}); code(err) != "advancing" {
		t.Errorf("a second advance on the way: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Home: dir})
	if again.Best().finalHeight() >= goal {
		t.Fatal("it had arrived before it was stopped")
	}
	if l := again.Liveness(); l.TravelsTo != goal {
		t.Errorf("after the restart /ready says it travels to %d, not %d", l.TravelsTo, goal)
	}
	receipt := travel(t, again, history.Target{To: goal})
	if receipt.To != goal || receipt.Clock != 0 {
		t.Errorf("joined: %+v", receipt)
	}
	if blocks, moved := goal-from, stamp(again)-began; moved < types.Millis(blocks-30)*1000 || moved > types.Millis(blocks+30)*1000 {
		t.Errorf("%d heights took %d ms of the network's time", blocks, moved)
	}
	at, last := stamp(again), again.Best().finalHeight()
	await(t, again, last+5)
	if moved := stamp(again) - at; moved > 60_000 {
		t.Errorf("after the travel the stamps leap by %d ms", moved)
	}
	if again.UnderWay() != 0 {
		t.Error("it still travels")
	}
	if _, err := again.Advance(within(t), history.Target{Stop: true}); code(err) != "not_advancing" {
		t.Error(err)
	}
	auditAll(t, again, dir)
}

// C8: an advance that is ended on the way leaves a clock that fits the heights, at once and
// after a restart, and whoever waited for it is told how far it came.
func TestC8AnAdvanceCanBeEnded(t *testing.T) {
	dir := t.TempDir()
	n := up(t, Config{Plan: setup.Plan{BlockTime: time.Second, Params: map[string]string{"chain.link_delay_ms": "50"}}, Home: dir})
	alice := newPayer(n, "alice")
	heart := deploySample(t, alice, "heartbeat", "heart", 900_000_000_000)
	land(t, n, alice.execute(heart, "start", samples.Number(1)))
	from, began := n.Best().finalHeight(), stamp(n)
	type outcome struct {
		receipt *history.Advance
		err     error
	}
	ended := make(chan outcome, 1)
	go func() {
		receipt, err := n.Advance(within(t), history.Target{Blocks: 100_000})
		ended <- outcome{receipt, err}
	}()
	await(t, n, from+20)
	receipt := travel(t, n, history.Target{Stop: true})
	waited := <-ended
	if waited.err != nil || waited.receipt.To < from+20 || waited.receipt.To > receipt.To+10 {
		t.Errorf("who waited is told %+v, %v; it ended at %d", waited.receipt, waited.err, receipt.To)
	}
	check := func(n *Network) {
		t.Helper()
		await(t, n, n.Best().finalHeight()+3)
		heights, moved := n.Best().finalHeight()-from, stamp(n)-began
		if moved < types.Millis(heights-10)*1000 || moved > types.Millis(heights)*1000+60_000 {
			t.Errorf("%d heights took %d ms of the network's time", heights, moved)
		}
	}
	check(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Home: dir})
	if again.UnderWay() != 0 {
		t.Error("after a restart it travels again")
	}
	check(again)
	auditAll(t, again, dir)
}

// C8: a record of time travel that a power loss emptied stops no start: the clock goes on from
// the newest block.
func TestC8AnEmptyRecordOfTravelStopsNoStart(t *testing.T) {
	dir := t.TempDir()
	n := up(t, Config{Plan: setup.Plan{BlockTime: time.Second, Params: map[string]string{"chain.link_delay_ms": "50"}}, Home: dir})
	await(t, n, 2)
	travel(t, n, history.Target{Blocks: 3600})
	at := stamp(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "{", `{"offset_ns":"x"}`} {
		if err := os.WriteFile(filepath.Join(dir, "clock.json"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		again := up(t, Config{Home: dir})
		await(t, again, again.Best().finalHeight()+2)
		if moved := stamp(again) - at; moved < 0 || moved > 120_000 {
			t.Errorf("%q: stamps moved by %d ms", broken, moved)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The record of earlier versions has no goal.
func TestTheRecordOfTravelIsReadAsEarlierVersionsWroteIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock.json")
	if err := home.WriteFile(path, []byte(`{"offset_ns":5000000000}`), 0); err != nil {
		t.Fatal(err)
	}
	if have, err := readTravel(path); err != nil || have.Clock != 5*time.Second || have.Goal.Height != 0 {
		t.Error(have, err)
	}
}

// tired is a host of one program on a machine that is slow: start schedules timers, and a fire
// takes the time of the block's proposer.
type tired struct{ passed *atomic.Int64 }

func (h tired) Open(program.Purpose) (program.Session, error) { return tiredSession(h), nil }

type tiredSession struct{ passed *atomic.Int64 }

func (tiredSession) Bound(program.Bounds) {}

func (tiredSession) Inspect(program.Code) (program.Description, error) {
	return program.Description{Handlers: []program.Handler{{Name: "start"}}}, nil
}

func (tiredSession) Close() {}

// dueTogether is how many timers are due at one height.
const dueTogether = 4

func (s tiredSession) Handle(ctx program.Context, _ program.Code, msg program.Message) (program.Outcome, error) {
	switch {
	case msg.Handler == "start":
		for range dueTogether {
			if _, err := ctx.ScheduleTimer(program.TimerRequest{Height: ctx.Block().Height + 30}); err != nil {
				return program.Outcome{}, err
			}
		}
	case msg.Kind != program.Init:
		s.passed.Add(int64(400 * time.Millisecond))
	}
	return program.Outcome{Status: types.StatusOK}, nil
}

// N4: an advance to the next timer ends when what was due there has fired, also where the machine
// is late with it. Another advance names what it leaves.
func TestAnAdvanceToATimerEndsWhenItHasFired(t *testing.T) {
	for _, next := range []bool{true, false} {
		var passed atomic.Int64
		read := clock.ThisMachine()
		machine := func() (types.Time, time.Duration) {
			wall, since := read()
			return wall.Add(time.Duration(passed.Load())), since + time.Duration(passed.Load())
		}
		n := up(t, Config{Plan: setup.Plan{Validators: 1, BlockTime: 50 * time.Millisecond}, Ephemeral: true, Programs: tired{&passed},
			Machine: machine})
		alice := newPayer(n, "alice")
		actor := land(t, n, alice.deploy([]byte("tires"), "tired", 900_000_000_000)).To
		started := land(t, n, alice.execute(actor, "start", nil))
		if err := n.Pause(); err != nil {
			t.Fatal(err)
		}
		due := started.Height + 30
		if next {
			receipt := travel(t, n, history.Target{NextTimer: true})
			if receipt.Fired != dueTogether || len(receipt.Left) > 0 || receipt.To <= due {
				t.Errorf("%d of %d fired at %d, due at %d; left: %v", receipt.Fired, dueTogether, receipt.To, due, receipt.Left)
			}
			continue
		}
		receipt := travel(t, n, history.Target{To: due})
		if receipt.To != due || receipt.Fired+uint64(len(receipt.Waiting)) != dueTogether || len(receipt.Waiting) == 0 || len(receipt.Left) != 1 {
			t.Fatalf("%+v", receipt)
		}
		if w, l := receipt.Waiting[0], receipt.Left[0]; w.Due != due || w.Reason != "not_begun" || l.Count != uint64(len(receipt.Waiting)) {
			t.Errorf("%+v %+v", w, l)
		}
	}
}
