package actors

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// dispatching answers for the dispatcher: it writes, and costs what it is told.
type dispatching struct {
	effect SystemEffect
	fault  *program.Fault
}

func (dispatching) Answers(a types.Address) bool { return a == types.DispatcherAddress }

func (dispatching) Cost(m program.Message) (types.Cycles, types.Cells) {
	return 1000, types.Cells(len(m.Payload))
}

func (d dispatching) Handle(s *State, m program.Message) (SystemEffect, *program.Fault) {
	s.SetStorage(m.Self, []byte("written"), m.Payload)
	return d.effect, d.fault
}

// A job costs a call, the dispatcher's price before it begins, and the use found
// afterwards; a refused one pays the first two, and leaves no trace. Nothing of it
// is done in a read.
func TestWhatSubmittingAJobCosts(t *testing.T) {
	id := types.Hash{7}
	spec := []byte("a job")
	const call, cells = 100, types.Cells(len("submit") + 2*len("a job"))
	for name, c := range map[string]struct {
		system   dispatching
		readOnly bool
		code     string
		cycles   types.Cycles
		cells    types.Cells
	}{
		"accepted": {dispatching{effect: SystemEffect{Output: id[:], Cycles: 40, Cells: 50, Events: []types.Event{{Name: "job"}}}}, false,
			"", call + 1000 + 40, cells + 50 + types.Cells(len(id))},
		"refused": {dispatching{fault: &program.Fault{Status: types.StatusReverted, Code: "bad_spec"}}, false, "bad_spec", call + 1000,
			cells},
		"beyond cycles": {dispatching{effect: SystemEffect{Output: id[:], Cycles: 1 << 40}}, false, "out_of_cycles", 100_000, cells},
		"read-only":     {dispatching{effect: SystemEffect{Output: id[:]}}, true, "read_only", call, types.Cells(len("submit") + len("a job"))},
	} {
		t.Run(name, func(t *testing.T) {
			x, state, _, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
				got, err := ctx.SubmitJob(spec)
				var fault *program.Fault
				if errors.As(err, &fault) != (c.code != "") || fault != nil && fault.Code != c.code || c.code == "" && got != id {
					t.Errorf("%s, %v", got, err)
				}
				return fine()
			}, func(b *BlockContext, cause *Cause) { b.System, cause.ReadOnly = c.system, c.readOnly })
			if cycles, cells := x.Used(); cycles != c.cycles || cells != c.cells {
				t.Errorf("%d cycles and %d cells, want %d and %d", cycles, cells, c.cycles, c.cells)
			}
			if _, written := StorageOf(state, types.DispatcherAddress, []byte("written")); written != (c.code == "") ||
				len(x.Events) > 0 != written {
				t.Errorf("what the dispatcher wrote stayed: %t, events %v", written, x.Events)
			}
		})
	}
}

// An execution's changes of jobs are reported if they stayed, and not if they were
// reverted.
func TestWhatWasDoneToJobsIsUndoneWithTheRest(t *testing.T) {
	effect := SystemEffect{Output: make([]byte, len(types.Hash{})), Jobs: []types.JobChange{{Kind: types.JobChangeSubmitted}}}
	for _, fails := range []bool{false, true} {
		x, _, _, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
			if _, err := ctx.SubmitJob([]byte("a job")); err != nil {
				t.Error(err)
			}
			if fails {
				return program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "no"}}, nil
			}
			return fine()
		}, func(b *BlockContext, _ *Cause) { b.System = dispatching{effect: effect} })
		if told := len(x.Jobs) > 0; told == fails {
			t.Errorf("it fails: %t, and jobs are told: %t", fails, told)
		}
	}
}

// The limit that a caller gives holds for a system actor too.
func TestACallsLimitHoldsForSystemActors(t *testing.T) {
	x, _, _, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
		if _, err := ctx.Call(types.DispatcherAddress, "submit", nil, 50); err == nil {
			t.Error("a limit below the cost did not hold")
		}
		return fine()
	}, func(b *BlockContext, _ *Cause) { b.System = dispatching{} })
	if cycles, _ := x.Used(); cycles != 100+50 {
		t.Errorf("%d cycles", cycles)
	}
}
