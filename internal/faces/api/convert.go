package api

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Scripts read the same fields as HTTP: the exported forms belong to the routes.

// ShowBlock is a block as GET /block shows it.
func ShowBlock(b *Block) model.Block {
	h := &b.Block.Header
	m := model.Block{
		Height: h.Height, View: h.View, Epoch: h.Epoch, Hash: b.Hash, Parent: h.Parent, Proposer: h.Proposer,
		TimestampMS: h.Timestamp, CyclesUsed: h.CyclesUsed, CellsUsed: h.CellsUsed,
		BaseFeeCycle: h.BaseFeeCycle, BaseFeeCell: h.BaseFeeCell, BaseFeeLaneTimer: h.BaseFeeLaneTimer,
		TimerCyclesUsed: h.TimerCyclesUsed, StateRoot: h.StateRoot, SubsetEpoch: h.SubsetEpoch, Skipped: h.Skipped,
		Burned:       model.Split{Cycle: b.Burned.Cycle, Cell: b.Burned.Cell, LaneTimer: b.Burned.LaneTimer},
		Passed:       passedModel(b.Block.Passed),
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

func passedModel(p *types.Passed) model.Passed {
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

func transactionModel(tx *types.Transaction, sender types.Address) model.Transaction {
	m := model.Transaction{
		Hash: tx.Hash(), Status: "pending", Sender: sender, ChainID: tx.ChainID, Nonce: tx.Nonce, To: tx.To,
		Value: tx.Value, CyclesLimit: tx.CyclesLimit, CellsLimit: tx.CellsLimit,
		MaxFeePerCycle: tx.MaxFeePerCycle, MaxFeePerCell: tx.MaxFeePerCell,
		MaxPriorityFeePerCycle: tx.MaxPriorityFeePerCycle, MaxPriorityFeePerCell: tx.MaxPriorityFeePerCell,
		Payload: types.Bytes(tx.Payload),
	}
	if tx.Signature != nil {
		m.Signature = *tx.Signature
	}
	switch in, _ := tx.Instruction(); in := in.(type) {
	case *types.Transfer:
		m.Kind = in.Kind
	case *types.Deploy:
		m.Kind = in.Kind
	case *types.Execute:
		m.Kind, m.Handler = in.Kind, in.Handler
		if in.Sponsor != nil {
			m.Sponsor = *in.Sponsor
		}
	case *types.System:
		m.Kind = in.Kind
	case *types.Upgrade:
		m.Kind = in.Kind
	case *types.ApplyUpgrade:
		m.Kind = in.Kind
	case *types.SetUpgradeTerms:
		m.Kind = in.Kind
	}
	return m
}

// statedLimit is the limit that a timer states, nil for the default.
func statedLimit(limit types.Cycles) *types.Cycles {
	if limit == types.DefaultGasLimit {
		return nil
	}
	return &limit
}

func timerModel(t *Timer) model.Timer {
	m := model.Timer{
		ID: t.ID, Actor: t.Actor, Height: t.Height, Handler: t.Handler, Payload: t.Payload, FeePayer: t.FeePayer, Sponsor: t.Sponsor,
		GasLimit: statedLimit(t.GasLimit), ExpiresAt: t.ExpiresAt, MaxFeePerCycle: t.MaxFeePerCycle,
		MaxPriorityFeePerCycle: t.MaxPriorityFeePerCycle, Bid: t.Bid, GBA: t.GBA, Status: string(t.Status),
		ScheduledAt: t.ScheduledAt, Deferrals: t.Deferrals, Reason: t.Reason, Weight: "1/1", Result: string(t.Result),
		CyclesUsed: t.CyclesUsed, CellsUsed: t.CellsUsed, FeePaid: t.FeePaid, TipPaid: t.TipPaid,
	}
	if t.EndedAt != 0 {
		m.EndedAt = &t.EndedAt
	}
	if t.Tier != "" {
		m.Tier = &t.Tier
	}
	if t.Watch != nil {
		m.Watch = &model.Watch{Actor: t.Watch.Actor, Key: t.Watch.Key}
	}
	switch {
	case t.Examined:
		m.Priority = t.Priority
	case t.MaxPriorityFeePerCycle != nil:
		m.Priority = *t.MaxPriorityFeePerCycle
	}
	if t.Weight.Den != 0 {
		m.Weight = t.Weight.String()
	}
	return m
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
