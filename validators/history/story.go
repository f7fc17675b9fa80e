package history

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// Story is the life of a timer, from the records of finalized blocks.
type Story struct {
	TimerRecord
	ScheduledExpiry types.Height // with which it was scheduled
	KeptFrom        types.Height // what happened to it before is no longer kept; 0 where the story is whole

	Moves    []MovedTier
	Notes    []Note
	Waits    []Wait
	Failures []BidFailure
	End      *LaneRecord  // of the block whose lane ended it; nil for a pending and for a cancelled timer
	Next     types.Height // height at which Waits continue; 0 if they are complete
}

// MovedTier is a move of a timer from one tier of the calendar to another.
type MovedTier struct {
	At       types.Height
	From, To string
}

// Wait is a row of blocks that a timer was due in and that said the same of it.
type Wait struct {
	From, To           types.Height
	Reason             string
	Examined           bool // whether Priority and Weight say something
	Priority           types.Wei
	Weight             types.Weight
	Policy             string
	FirstFee, LastFee  types.Wei // the lane's base fee in the first and in the last block
	LeastFee, MostFee  types.Wei
	Budget, LeastSpare types.Cycles  // of the lane, and the minimum that its fires left
	Proposer           types.Address // validator whose host of programs failed on it, if Reason is ReasonHostFailed; otherwise zero
}

// BidFailure is that a timer's gas bidding agent could not be asked, or gave no
// answer that counts (decision T15).
type BidFailure struct {
	At     types.Height
	Bidder types.Address
	Reason string
}

// maxMoveBlocks bounds the blocks that are searched for each of a timer's moves.
// Maintenance moves ten thousand timers a block, so a move that waited for ten
// million others is found.
const maxMoveBlocks = 1024

// Story returns the life of a timer: at most limit of the blocks that deferred it,
// from a height on; everything else whole. It returns nil if there is no such
// timer. p are the chain's parameters: of those that matter none ever changes.
func (a *Archive) Story(p *params.Params, id types.TimerID, from types.Height, limit int) (*Story, error) {
	r, err := a.timerReader()
	if err != nil {
		return nil, err
	}
	record, err := r.readTimer(id)
	if err != nil || record == nil {
		return nil, err
	}
	s := &Story{TimerRecord: *record, ScheduledExpiry: record.firstExpiry}
	if r.kept.Dropped(s.Timer.ScheduledAt) {
		s.KeptFrom = r.kept.From
	}
	if s.Notes, err = a.Notes(s.Timer.Seq); err != nil {
		return nil, err
	}
	last := r.tip
	if s.EndedAt != 0 {
		last = s.EndedAt
	}
	if err := s.addMoves(a, p, last); err != nil {
		return nil, err
	}
	if err := s.addWaits(a, max(from, s.DueAt), last, limit); err != nil {
		return nil, err
	}
	if s.EndedAt != 0 && s.Status != types.TimerCancelled {
		if s.End, err = a.Lane(s.EndedAt); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addMoves looks for the timer's moves up to a height, at the places that decision
// T7 gives them: at the first blocks of its epoch, of the epoch from which the
// epoch queue reaches it, and after its height.
func (s *Story) addMoves(a *Archive, p *params.Params, last types.Height) error {
	height := s.Timer.Height
	if s.Timer.Watch != nil {
		height = s.Timer.ExpiresAt + 1 // there it stays until its watched key changes
	}
	epoch := uint64(height) / p.CalendarEpochBlocks
	starts := []types.Height{types.Height(epoch-min(epoch, p.QueueEpochs)) * types.Height(p.CalendarEpochBlocks),
		types.Height(epoch) * types.Height(p.CalendarEpochBlocks), height}
	if s.DueAt != 0 {
		starts = append(starts, s.DueAt)
	}
	for _, start := range starts {
		start = max(start, s.Timer.ScheduledAt)
		if start > last {
			continue
		}
		err := a.rowsOf(bucketLaneMoves, start, last+1, maxMoveBlocks, func(h types.Height, data []byte) error {
			return eachRow(data, func(seq types.Seq, v *verdict) bool {
				if seq == s.Timer.Seq {
					s.Moves = append(s.Moves, MovedTier{h, string(v.Status), v.Reason})
				}
				return true
			})
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.Moves, func(a, b MovedTier) int { return cmp.Compare(a.At, b.At) })
	s.Moves = slices.Compact(s.Moves)
	return nil
}

// deferredAtEnd reports whether the block that ended the timer had deferred it
// before: its lane was over when the timer was cancelled.
func (s *Story) deferredAtEnd() bool {
	return s.Status == types.TimerCancelled && s.Timer.Deferrals > 0 && s.Timer.Deferrals == scheduler.Deferrals(s.DueAt, s.EndedAt)
}

// addWaits tells the blocks from a height up to last that deferred the timer, and
// what its bidder failed to say in them.
func (s *Story) addWaits(a *Archive, from, last types.Height, limit int) error {
	if s.DueAt == 0 || from > last {
		return nil
	}
	told, proposers := 0, map[types.Height]types.Address{}
	err := a.rowsOf(bucketLanes, from, last+1, limit+1, func(h types.Height, data []byte) error {
		if told++; told > limit {
			s.Next = h
			return nil
		}
		if h == s.EndedAt && !s.deferredAtEnd() {
			return nil
		}
		l, err := decodeLane(heightKey(h), data)
		if err != nil {
			return err
		}
		s.Waits = append(s.Waits, waitOf(l))
		proposers[h] = l.Proposer
		return nil
	})
	if err != nil {
		return err
	}
	to := last + 1
	if s.Next != 0 {
		to = s.Next
	}
	if err := s.addVerdicts(a, from, to, proposers); err != nil {
		return err
	}
	s.foldRows()
	return s.addFailures(a, from, to)
}

func waitOf(l *LaneRecord) Wait {
	return Wait{From: l.Height, To: l.Height, Reason: ReasonUnexamined, Policy: l.Policy, FirstFee: l.BaseFeeLane, LastFee: l.BaseFeeLane,
		LeastFee: l.BaseFeeLane, MostFee: l.BaseFeeLane, Budget: l.Budget, LeastSpare: l.Budget.Sub(l.Cycles)}
}

// addVerdicts adds what the blocks said, who have these proposers.
func (s *Story) addVerdicts(a *Archive, from, to types.Height, proposers map[types.Height]types.Address) error {
	at := 0
	return a.rowsOf(bucketLaneTimers, from, to, len(s.Waits)+1, func(h types.Height, data []byte) error {
		for at < len(s.Waits) && s.Waits[at].From < h {
			at++
		}
		if at == len(s.Waits) || s.Waits[at].From != h {
			return nil
		}
		w := &s.Waits[at]
		return eachRow(data, func(seq types.Seq, v *verdict) bool {
			if seq != s.Timer.Seq {
				return true
			}
			w.Examined, w.Reason, w.Priority, w.Weight = true, v.Reason, v.Priority, v.Weight
			if v.Reason == scheduler.ReasonHostFailed {
				w.Proposer = proposers[h]
			}
			return false
		})
	})
}

// foldRows makes one row of blocks that follow each other and said the same.
func (s *Story) foldRows() {
	var folded []Wait
	for _, w := range s.Waits {
		if n := len(folded); n > 0 && folded[n-1].isSame(&w) {
			folded[n-1].extendTo(&w)
			continue
		}
		folded = append(folded, w)
	}
	s.Waits = folded
}

func (w *Wait) isSame(next *Wait) bool {
	return w.To+1 == next.From && w.Reason == next.Reason && w.Examined == next.Examined && w.Priority == next.Priority &&
		w.Weight == next.Weight && w.Policy == next.Policy && w.Budget == next.Budget && w.Proposer == next.Proposer
}

func (w *Wait) extendTo(next *Wait) {
	w.To, w.LastFee = next.To, next.LastFee
	w.LeastFee, w.LeastSpare = w.LeastFee.Min(next.LeastFee), min(w.LeastSpare, next.LeastSpare)
	if w.MostFee.Less(next.MostFee) {
		w.MostFee = next.MostFee
	}
}

// maxFailures bounds the failures that a story tells.
const maxFailures = 1000

// addFailures adds the failures of the timer's bidder in [from, to). A bidder is
// asked once for all timers of an actor and a height, so a failure is theirs
// together.
func (s *Story) addFailures(a *Archive, from, to types.Height) error {
	return a.rowsOf(bucketEvents, from, to, int(to-from), func(h types.Height, data []byte) error {
		events, err := decodeEvents(heightKey(h), data)
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Name != scheduler.EventGasBidFailed || len(s.Failures) == maxFailures {
				continue
			}
			var failed scheduler.GasBidFailed
			if err := codec.UnmarshalLoose(events[i].Data, maxEventsBytes, &failed); err != nil {
				return err
			}
			if failed.Actor == s.Timer.Actor && failed.TriggerBlockHeight == s.DueAt && (s.Timer.GBA == nil || *s.Timer.GBA == failed.Bidder) {
				s.Failures = append(s.Failures, BidFailure{h, failed.Bidder, failed.Reason})
			}
		}
		return nil
	})
}
