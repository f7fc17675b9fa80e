package validators

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// handClock shows what a test sets, and keeps what its alarms are set to.
type handClock struct {
	now types.Time
	set []types.Time
}

func (c *handClock) Now() types.Time           { return c.now }
func (c *handClock) NewAlarm(func()) env.Alarm { return c }
func (c *handClock) Set(at types.Time)         { c.set = append(c.set, at) }

type noRunners struct{}

func (noRunners) Start(func(connection.Event)) error { return nil }
func (noRunners) Do(connection.Verb)                 {}
func (noRunners) Close() error                       { return nil }

// However quickly blocks that draw runners follow one another, the first of them waits
// no longer than it would without the others.
func TestBlocksThatDrawRunnersAreWrittenInTime(t *testing.T) {
	clock := &handClock{}
	a := &archiving{v: &Validator{node: env.Validator{Base: env.Base{Clock: clock}, Connections: noRunners{}}}}
	draws := archiveRequest{Final: history.Final{Results: []*ledger.Result{{Jobs: []types.JobChange{{Kind: types.JobChangeDrawn}}}}}}
	for range 5 {
		a.receiveEvent(draws)
		clock.now = clock.now.Add(time.Millisecond)
	}
	if len(clock.set) != 1 || clock.set[0] != types.Time(0).Add(behindAnswers) {
		t.Errorf("its alarm was set to %v", clock.set)
	}
}

// Only blocks of consensus that draw runners, and only where runners are connected, wait until
// these have been told. All others are written at once: so are those of catch-up, which waits for it.
func TestOnlyBlocksThatDrawConnectedRunnersWait(t *testing.T) {
	draws := []*ledger.Result{{Jobs: []types.JobChange{{Kind: types.JobChangeDrawn}}}}
	for _, c := range []struct {
		what    string
		results []*ledger.Result
		batch   uint64
		runners bool
		waits   bool
	}{
		{"a block that draws", draws, 0, true, true},
		{"a block that draws, of catch-up", draws, 3, true, false},
		{"a block that draws none", []*ledger.Result{{}}, 0, true, false},
		{"a block that draws, without a port for runners", draws, 0, false, false},
		{"a block of catch-up that draws none", []*ledger.Result{{}}, 3, true, false},
	} {
		clock := &handClock{}
		a := &archiving{v: &Validator{node: env.Validator{Base: env.Base{Clock: clock}}}}
		if c.runners {
			a.v.node.Connections = noRunners{}
		}
		a.receiveEvent(archiveRequest{Final: history.Final{Results: c.results}, batch: c.batch})
		if waits := len(clock.set) == 1; waits != c.waits || a.posted == c.waits {
			t.Errorf("%s: it waits: %v, and is written at once: %v", c.what, waits, a.posted)
		}
	}
}

// gathering is a store that gathers commits, and counts how often it is flushed.
type gathering struct {
	env.WriteBack
	flushes int
}

func (g *gathering) Flush() error {
	g.flushes++
	return nil
}

// Decision C5: a store that gathers is written after 12 blocks, 8 MiB or half a second, and at once where blocks come more slowly.
func TestAStoreIsFlushedAtTheBoundsOfC5(t *testing.T) {
	for _, c := range []struct {
		what string
		have unflushed
		full bool
	}{
		{"11 blocks", unflushed{blocks: 11}, false}, {"12 blocks", unflushed{blocks: 12}, true},
		{"a byte below 8 MiB", unflushed{blocks: 1, bytes: 8<<20 - 1}, false}, {"8 MiB", unflushed{blocks: 1, bytes: 8 << 20}, true},
	} {
		if c.have.isFull() != c.full {
			t.Errorf("%s are flushed at once: %v", c.what, !c.full)
		}
	}
	clock, store := &handClock{now: types.Time(0).Add(time.Hour)}, &gathering{}
	v := &Validator{node: env.Validator{Base: env.Base{Clock: clock}}, config: Config{FlushDelay: DefaultFlushDelay}}
	a := &archiving{v: v, writeBack: store}
	commit := func() {
		a.unflushed.add(1, nil)
		a.scheduleFlush()
	}
	commit()
	if store.flushes != 1 || len(clock.set) != 0 {
		t.Fatalf("the first block after an hour: %d flushes, alarms %v", store.flushes, clock.set)
	}
	first := clock.now.Add(time.Millisecond)
	for range 3 {
		clock.now = clock.now.Add(time.Millisecond)
		commit()
	}
	if store.flushes != 1 || len(clock.set) != 1 || clock.set[0] != first.Add(500*time.Millisecond) {
		t.Errorf("blocks a millisecond apart: %d flushes, alarms %v, want one 500 ms after the first", store.flushes-1, clock.set)
	}
	a.flushStore()
	clock.now = clock.now.Add(500 * time.Millisecond)
	commit()
	if store.flushes != 3 {
		t.Errorf("a block after half a second without one is not flushed at once: %d flushes", store.flushes)
	}
}
