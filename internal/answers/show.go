package answers

import (
	"time"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// ShowBlock is a block as GET /block shows it.
func ShowBlock(b *Block) model.Block {
	h := &b.Block.Header
	m := model.Block{
		Height: h.Height, View: h.View, Epoch: h.Epoch, Hash: b.Hash, Parent: h.Parent, Proposer: h.Proposer,
		TimestampMS: h.Timestamp, CyclesUsed: h.CyclesUsed, CellsUsed: h.CellsUsed,
		BaseFeeCycle: h.BaseFeeCycle, BaseFeeCell: h.BaseFeeCell, BaseFeeLaneTimer: h.BaseFeeLaneTimer,
		TimerCyclesUsed: h.TimerCyclesUsed, StateRoot: h.StateRoot, SubsetEpoch: h.SubsetEpoch, Skipped: h.Skipped,
		Burned:       model.Split{Cycle: b.Burned.Cycle, Cell: b.Burned.Cell, LaneTimer: b.Burned.LaneTimer},
		Passed:       ShowPassed(b.Block.Passed),
		Tips:         model.Tips{Transactions: b.Tips.Transactions, Timers: b.Tips.Timers},
		Transactions: []types.Hash{}, TimersFired: []types.Hash{}, TimersDeferred: []types.Hash{},
		TimersExpired: []types.Hash{}, TimersInsufficient: []types.Hash{}, Events: []model.Event{}, Votes: []model.Vote{},
	}
	for i := range b.Block.Transactions {
		m.Transactions = append(m.Transactions, b.Block.Transactions[i].Hash())
	}
	for _, mark := range b.Timers {
		switch {
		case mark.Status == types.TimerFired:
			m.TimersFired = append(m.TimersFired, mark.ID)
		case mark.Status == types.TimerExpired:
			m.TimersExpired = append(m.TimersExpired, mark.ID)
		case mark.Status == types.TimerInsufficientFunds:
			m.TimersInsufficient = append(m.TimersInsufficient, mark.ID)
		}
	}
	for _, mark := range b.Deferred {
		m.TimersDeferred = append(m.TimersDeferred, mark.ID)
	}
	for _, e := range b.Events {
		m.Events = append(m.Events, model.Event{Actor: e.Actor, Name: e.Name, Data: e.Data})
	}
	if b.Block.Parent != nil {
		m.Votes = ShowVotes(b.Block.Parent.Votes)
	}
	return m
}

// ShowVotes returns the votes of a certificate in the form of blocks and presence: a
// bitmap without its length, which is a separate field.
func ShowVotes(votes []types.CertificateVote) []model.Vote {
	out := make([]model.Vote, len(votes))
	for i, v := range votes {
		out[i] = model.Vote{Validator: v.Validator, Bitmap: types.Bytes{}}
		if bitmap, err := selection.ParseBitmap(v.Bitmap); err == nil && bitmap.Len() > 0 {
			out[i].BitLength, out[i].Bitmap = bitmap.Len(), types.Bytes(v.Bitmap[len(v.Bitmap)-(bitmap.Len()+7)/8:])
		}
	}
	return out
}

// ShowPassed is what a block passed over as GET /block shows it.
func ShowPassed(p *types.Passed) model.Passed {
	m := model.Passed{Timers: []types.TimerID{}, Messages: []types.Seq{}, Agents: []model.Asked{}, Late: []model.Late{}, Stopped: []string{}}
	if p == nil {
		return m
	}
	m.Timers, m.Messages = append(m.Timers, p.Fires.Failed...), append(m.Messages, p.Messages.Failed...)
	for _, q := range p.Questions.Failed {
		m.Agents = append(m.Agents, model.Asked{Bidder: q.Bidder, Actor: q.Actor, TriggerHeight: q.Trigger})
	}
	for _, kind := range []struct {
		name    string
		begun   *uint64
		skipped []types.Skip
	}{{"agents", p.Questions.Begun, p.Questions.Skipped}, {"timers", p.Fires.Begun, p.Fires.Skipped},
		{"messages", p.Messages.Begun, p.Messages.Skipped}} {
		if kind.begun != nil {
			m.Stopped = append(m.Stopped, kind.name)
		}
		for _, s := range kind.skipped {
			m.Waiting += s.Count
		}
	}
	for _, l := range p.Late {
		m.Late = append(m.Late, model.Late{Sender: l.Sender, Nonce: l.Nonce, CPU: l.CPU})
	}
	return m
}

// ShowReceipt is a receipt as GET /transaction/{hash}/receipt shows it.
func ShowReceipt(r *types.Receipt, printed []string) model.Receipt {
	m := model.Receipt{
		Hash: r.Hash, Origin: string(r.Origin), Height: r.Height, Index: r.Index, Sender: r.Sender, To: r.To,
		Handler: r.Handler, Status: string(r.Status), Cycles: r.Cycles, Cells: r.Cells,
		CyclesUsed: r.Cycles, CellsUsed: r.Cells, Fee: r.Fee, Tip: r.Tip,
		Error: ShowError(r.Error), Output: r.Output, Events: []model.Event{}, Logs: append([]string{}, printed...),
	}
	for _, e := range r.Events {
		m.Events = append(m.Events, model.Event{Actor: e.Actor, Name: e.Name, Data: e.Data})
	}
	return m
}

// ShowError is why something failed, as receipts and jobs show it; nil of nil.
func ShowError(f *types.Fault) *model.Fault {
	if f == nil {
		return nil
	}
	return &model.Fault{Code: f.Code, Message: f.Message}
}

// ShowLog is a printed line as GET /actor/{address}/logs shows it.
func ShowLog(l history.LogLine) model.LogLine {
	return model.LogLine{Actor: l.Actor, Height: l.Height, Hash: l.Cause, Line: l.Line}
}

// ShowValidator is a validator as GET /validators shows it; index is its
// position in the set by address.
func ShowValidator(index int, n Node) model.Validator {
	return model.Validator{Index: index, Name: n.Name, Address: n.Validator.Address,
		PublicKey: n.Validator.PublicKey, QUICAddress: n.Validator.Endpoint, Height: n.Height, StateRoot: n.StateRoot,
		View: n.View, Status: n.Status, Running: n.Running, Elsewhere: n.Elsewhere,
		Connections: n.Connections, Runners: len(n.Runners), DeadLetters: n.DeadLetters, Restarted: n.Restarted}
}

// ShowResult is the answer of a read-only call as POST /actor/read shows it.
func ShowResult(height types.Height, r ledger.ReadResult) model.ReadResult {
	return model.ReadResult{Height: height, Status: string(r.Outcome.Status), Output: r.Outcome.Output,
		Text: model.Text(r.Outcome.Output), Cycles: r.Cycles, Cells: r.Cells, Error: ShowError(r.Outcome.Fault),
		Logs: Printed(r.Logs)}
}

// Printed is the text of printed lines.
func Printed(lines []actors.LogLine) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].Line
	}
	return out
}

// ShowRule returns the effect of a fault of a link, in the form of the API.
func ShowRule(l fault.Link) *model.LinkRule {
	return &model.LinkRule{Latency: ShowDuration(l.Latency), Jitter: ShowDuration(l.Jitter), Loss: l.Loss, Duplicate: l.Duplicate,
		Reorder:   l.Reorder,
		Bandwidth: l.Bandwidth}
}

// ShowDuration writes a duration; 0 becomes the empty string.
func ShowDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
