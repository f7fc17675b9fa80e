package readmodel

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/history"
)

func (v *reader) Timer(id types.TimerID) (*answers.Timer, error) {
	record, err := v.Archive.Timer(id)
	if err != nil || record == nil {
		return nil, err
	}
	return new(v.timerOf(record)), nil
}

func (v *reader) Timers(f history.TimerFilter) (out []answers.Timer, err error) {
	records, err := v.Archive.Timers(f)
	for i := range records {
		out = append(out, v.timerOf(&records[i]))
	}
	return out, err
}

func (v *reader) timerOf(r *history.TimerRecord) answers.Timer {
	t := answers.Timer{TimerRecord: *r}
	if r.Status == types.TimerPending {
		t.Tier, _ = v.state.TierOf(r.ID)
	}
	return t
}

func (v *reader) Lane(last int) (out []model.LaneBlock, err error) {
	lanes, err := v.Archive.Lanes(v.state.Height(), last)
	for i := range lanes {
		out = append(out, laneOf(&lanes[i]))
	}
	return out, err
}

// Tally implements answers.Reader.
func (v *reader) Tally(from, to, width types.Height, limit int) scheduler.Tally {
	return v.state.Tally(from, to, width, limit)
}

func laneOf(l *history.LaneRecord) model.LaneBlock {
	m := model.LaneBlock{Height: l.Height, Skipped: l.Skipped, Proposer: l.Proposer, Policy: l.Policy, BaseFeeCycle: l.BaseFeeCycle,
		BaseFeeCell: l.BaseFeeCell, BaseFeeLaneTimer: l.BaseFeeLane, Budget: l.Budget, TimerCyclesUsed: l.Cycles,
		GCBudget: l.GCBudget, GCCyclesUsed: l.GCCycles, GBABudget: l.AskBudget, GBACyclesUsed: l.AskCycles, CyclesUsed: l.BlockCycles,
		Examined: l.Examined, Scheduled: l.Scheduled, Fired: l.Fired, Deferred: l.Deferrals(), DeferredFor: []model.LaneDeferral{},
		Expired: l.Expired, Insufficient: l.Insufficient, Cancelled: l.Cancelled, Moved: l.Moved, BurnedLaneTimer: l.BurnedLane, Tips: l.Tips}
	if l.Budget > 0 {
		share, _ := types.WeiOf(uint64(l.Cycles)).MulDiv(types.WeiOf(1000), types.WeiOf(uint64(l.Budget)))
		m.Utilisation, _ = share.Uint64()
	}
	for _, d := range l.Deferred {
		m.DeferredFor = append(m.DeferredFor, model.LaneDeferral{Reason: d.Reason, Count: d.Count})
	}
	return m
}

func (v *reader) Story(id types.TimerID, from types.Height, blocks int) (*answers.Story, error) {
	s, err := v.Archive.Story(v.state.Params(), id, from, blocks)
	if err != nil || s == nil {
		return nil, err
	}
	out := &answers.Story{Timer: v.timerOf(&s.TimerRecord), Next: s.Next}
	out.Entries = append(out.Entries, newEntry(model.StoryScheduled, s.Timer.ScheduledAt))
	out.Entries[0].Tier, out.Entries[0].ExpiresAt = firstTier(v.state.Params(), s), &s.ScheduledExpiry
	if s.KeptFrom != 0 {
		gone := newEntry(model.StoryNotKept, s.Timer.ScheduledAt)
		gone.To, gone.Blocks = s.KeptFrom-1, uint64(s.KeptFrom-s.Timer.ScheduledAt)
		out.Entries = append(out.Entries, gone)
	}
	for _, m := range s.Moves {
		e := newEntry(model.StoryMoved, m.At)
		e.TierFrom, e.Tier = m.From, m.To
		out.Entries = append(out.Entries, e)
	}
	for i := range s.Notes {
		out.Entries = append(out.Entries, noteEntry(&s.Notes[i]))
	}
	for _, f := range s.Failures {
		e := newEntry(model.StoryBidFailed, f.At)
		e.Reason, e.Bidder = f.Reason, &f.Bidder
		out.Entries = append(out.Entries, e)
	}
	for i := range s.Waits {
		out.Entries = append(out.Entries, waitEntry(&s.Waits[i]))
	}
	slices.SortStableFunc(out.Entries, func(a, b model.StoryEntry) int { return cmp.Compare(a.From, b.From) })
	if s.EndedAt != 0 {
		out.Entries = append(out.Entries, endEntry(s))
	}
	return out, nil
}

func newEntry(kind string, h types.Height) model.StoryEntry {
	return model.StoryEntry{Kind: kind, From: h, To: h, Blocks: 1}
}

// firstTier is the tier into which a timer was put: the one it was moved out of
// first, or else the one where its height belonged when it was scheduled
// (decisions T7, T27).
func firstTier(p *params.Params, s *history.Story) string {
	if len(s.Moves) > 0 && s.KeptFrom == 0 {
		return s.Moves[0].From
	}
	height := s.Timer.Height
	if s.Timer.Watch != nil {
		height = s.ScheduledExpiry + 1
	}
	ahead := uint64(height)/p.CalendarEpochBlocks - uint64(s.Timer.ScheduledAt)/p.CalendarEpochBlocks
	switch {
	case ahead == 0:
		return "ring"
	case ahead <= p.QueueEpochs:
		return "epoch"
	}
	return "overflow"
}

func noteEntry(n *history.Note) model.StoryEntry {
	if n.Triggered() {
		return newEntry(model.StoryTriggered, n.At)
	}
	e := newEntry(model.StoryExtended, n.At)
	e.Reason, e.ExpiresAt = n.Reason, &n.ExpiresAt
	return e
}

func waitEntry(w *history.Wait) model.StoryEntry {
	e := model.StoryEntry{Kind: model.StoryDeferred, From: w.From, To: w.To, Blocks: uint64(w.To-w.From) + 1, Reason: w.Reason,
		Policy: w.Policy, Budget: &w.Budget, Spare: &w.LeastSpare,
		LaneFee: &model.FeeRange{First: w.FirstFee, Last: w.LastFee, Least: w.LeastFee, Most: w.MostFee}}
	if w.Examined {
		e.Priority, e.Weight = &w.Priority, w.Weight.String()
	}
	if !w.Proposer.IsZero() {
		e.Proposer = &w.Proposer
	}
	return e
}

func endEntry(s *history.Story) model.StoryEntry {
	e := newEntry(string(s.Status), s.EndedAt)
	if s.Status != types.TimerFired {
		e.Reason = s.Reason
	}
	l := s.End
	if l == nil {
		return e
	}
	e.Policy, e.Priority, e.Weight = l.Policy, &s.Priority, s.Weight.String()
	e.LaneFee = &model.FeeRange{First: l.BaseFeeLane, Last: l.BaseFeeLane, Least: l.BaseFeeLane, Most: l.BaseFeeLane}
	if s.Status == types.TimerFired {
		e.Paid = settlementOf(s)
	}
	return e
}

// settlementOf is where the money of a fire went, by the prices of its block.
func settlementOf(s *history.Story) *model.Settlement {
	l := s.End
	p := &model.Settlement{Status: string(s.Result), Payer: s.Timer.FeePayer, Proposer: l.Proposer, CyclesUsed: s.CyclesUsed,
		CellsUsed:   s.CellsUsed,
		CyclesLimit: types.FireLimit(s.Timer.GasLimit, l.FireCycles),
		CellsLimit:  l.FireCells, PerCycle: l.BaseFeeCycle, PerCycleLane: l.LanePrice,
		PerCell: l.BaseFeeCell, Tip: s.TipPaid, FeePaid: s.FeePaid}
	if l.Free {
		p.PerCycle, p.PerCell = types.Wei{}, types.Wei{}
	}
	var priority types.Wei
	if isAuction(l.Policy) {
		p.Tip, p.Payment = types.Wei{}, s.TipPaid
		p.BidReturned = s.Timer.Bid.Sub(s.TipPaid)
	} else {
		priority = s.Priority
	}
	p.Burned = model.Split{Cycle: p.PerCycle.Mul(uint64(s.CyclesUsed)), Cell: p.PerCell.Mul(uint64(s.CellsUsed)),
		LaneTimer: p.PerCycleLane.Mul(uint64(s.CyclesUsed))}
	perCycle := p.PerCycle.Add(p.PerCycleLane).Add(priority)
	p.MaxCost = perCycle.Mul(uint64(p.CyclesLimit)).Add(p.PerCell.Mul(uint64(p.CellsLimit)))
	p.Refund = p.MaxCost.Sub(p.FeePaid.Sub(p.Payment))
	return p
}

// isAuction reports whether a policy takes an auction's payment and no tips.
func isAuction(policy string) bool {
	return policy == scheduler.BiasVCG || policy == scheduler.BiasFirstPrice
}
