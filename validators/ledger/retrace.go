package ledger

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Retraced is a final execution that was executed again.
type Retraced struct {
	Trace   *actors.Trace
	Receipt *types.Receipt
	Logs    []actors.LogLine
	Message *actors.Message  // of a delivery: what was sent, with the prices it was prepaid at
	Sent    []actors.Message // by the execution, in its order: they wait for the next block
}

// Retrace executes a block again, on the same state, and records the execution with
// the given hash: a transaction's, a fire's or a message's. It is nil where the block
// has no such execution. Its programs run where reads do. An error comes from Apply:
// an *Invalid reports that this is not the block's state.
func (x *Executor) Retrace(parent *State, block *types.Block, of types.Hash) (*Retraced, *State, error) {
	again := *x
	again.Recorder, again.purpose = x.Recorder, program.ForRead
	if again.Recorder == nil {
		again.Recorder = actors.NewRecorder(of)
	}
	result, err := again.Apply(parent, block)
	if err != nil {
		return nil, nil, err
	}
	for i := range result.Receipts {
		if result.Receipts[i].Hash == of {
			found := &Retraced{Trace: again.Recorder.Trace(), Receipt: &result.Receipts[i]}
			found.gatherOutput(parent, result, of)
			return found, result.State, nil
		}
	}
	return nil, result.State, nil
}

// Replay executes a block again, only for its state, where reads are executed.
func (x *Executor) Replay(parent *State, block *types.Block) (*State, error) {
	again := *x
	again.purpose = program.ForRead
	result, err := again.Apply(parent, block)
	if err != nil {
		return nil, err
	}
	return result.State, nil
}

// gatherOutput finds what an execution printed and sent, and of a delivery what was sent.
func (r *Retraced) gatherOutput(parent *State, result *Result, of types.Hash) {
	for _, line := range result.Logs {
		if line.Cause == of {
			r.Logs = append(r.Logs, line)
		}
	}
	if r.Receipt.Origin == types.OriginMessage {
		parent.Messages(func(m *actors.Message) bool {
			if m.Hash() == of {
				r.Message = m
			}
			return r.Message == nil
		})
	}
	result.State.Messages(func(m *actors.Message) bool {
		if m.Cause == of {
			r.Sent = append(r.Sent, *m)
		}
		return true
	})
	slices.SortFunc(r.Sent, func(a, b actors.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}
