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
