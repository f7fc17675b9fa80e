package ledger

import (
	"maps"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// BidTrial is a question to a gas bidding agent for a hypothetical timer.
type BidTrial struct {
	Bidder types.Address
	Actor  types.Address        // whose timer it would be
	Late   types.Height         // for how many blocks it would be due, at most the height
	With   map[string]types.Wei // what the agent is told instead, by the names of its context
}

// BidTried is its outcome.
type BidTried struct {
	ReadResult
	Context map[string]types.Wei // what the agent was told
	Height  types.Height         // of the block that would ask
	Tried   scheduler.Tried
	Answers bool // the output is an answer; otherwise the protocol's default agent replaces it
}

// TryBid asks an agent as the block after state would, in the lane of that state, and
// forgets it: no account is charged, and what is late ends. Its error is an *Invalid where the agent is told
// no such name, a *scheduler.Error where the policy asks none, or an *EnvironmentError.
//
// Spec: CIP-1 §7, decision T15.
func (x *Executor) TryBid(state *State, try BidTrial) (BidTried, error) {
	r := x.openBlock(state, headerOf(state, Proposal{Timestamp: state.header.Timestamp + 1}, noPresence), noPresence, program.ForRead)
	defer r.sessions.closeSession()
	r.sessions.strict = true
	trial, err := scheduler.NewTrial(r.programTimers().inBlock(r.state), state.header.CyclesUsed)
	if err != nil {
		return BidTried{}, err
	}
	out := BidTried{Height: r.header.Height}
	out.Context = trial.Context(try.Actor, out.Height-min(try.Late, out.Height))
	for name, value := range try.With { // order: each is set separately
		if _, known := out.Context[name]; !known {
			return BidTried{}, newInvalid(CodeMalformed, "T14", "an agent is told %s, and not %q",
				strings.Join(slices.Sorted(maps.Keys(out.Context)), ", "), name)
		}
		out.Context[name] = value
	}
	msg := program.Message{Kind: program.Read, Sender: types.GovernanceAddress, Self: try.Bidder, Handler: program.BidHandler,
		Payload: codec.Marshal(out.Context)}
	limit := r.params.GBACallCycles
	e, outcome, err := r.executeWithin(func() string { return "a trial of gas bidder " + try.Bidder.String() },
		actors.Cause{Origin: types.OriginTimer, ReadOnly: true}, limit, types.Cells(limit), r.deliverUnsent(msg))
	if err != nil {
		return BidTried{}, err
	}
	cycles, cells := e.Used()
	out.ReadResult = ReadResult{Outcome: outcome, Cycles: cycles, Cells: cells, Logs: e.Logs}
	if outcome.Status == types.StatusOK {
		out.Tried, out.Answers = trial.Answer(outcome.Output)
	} else {
		out.Tried, _ = trial.Answer(nil)
	}
	return out, nil
}
