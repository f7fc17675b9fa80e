package history

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// LaneRecord is what the timer lane of a block did, and under which prices and
// bounds. It is small, so that hundreds of blocks are listed without reading them. It also
// has P of the block's parent: a separate row for that would be a twentieth of an empty
// block.
type LaneRecord struct {
	_            struct{} `cbor:",toarray"`
	Height       types.Height
	Skipped      uint64 // heights before it that have no block
	Proposer     types.Address
	Policy       string
	Free         bool      // fires cost nothing (decision T2)
	BaseFeeCycle types.Wei // as in the header, like the next two
	BaseFeeCell  types.Wei
	BaseFeeLane  types.Wei
	LanePrice    types.Wei    // price of a fire's cycle in addition to BaseFeeCycle (decision T12)
	Budget       types.Cycles // of fires
	GCBudget     types.Cycles // of the cleanup lane
	AskBudget    types.Cycles // of gas bidding agents
	FireCycles   types.Cycles // one fire may use at most
	FireCells    types.Cells
	Examined     uint64
	Cycles       types.Cycles // of fires
	GCCycles     types.Cycles // of the cleanup lane
	AskCycles    types.Cycles // of gas bidding agents
	BlockCycles  types.Cycles // of the whole block
	Scheduled    uint64
	Fired        uint64
	Expired      uint64
	Insufficient uint64
	Cancelled    uint64
	Deferred     []Reasoned // by reason, sorted
	Moved        uint64     // from tier to tier
	BurnedLane   types.Wei
	Tips         types.Wei // of fires, an auction's payments included
	Presence     presenceRecord
}

// Reasoned is the number of timers deferred for a reason.
type Reasoned struct {
	_      struct{} `cbor:",toarray"`
	Reason string
	Count  uint64
}

// Deferrals is how many due timers the block left, whatever the reason.
func (l *LaneRecord) Deferrals() (n uint64) {
	for i := range l.Deferred {
		n += l.Deferred[i].Count
	}
	return n
}

const (
	maxLaneRecordBytes = 64 << 10
	maxEventsBytes     = 64 << 20
)

// writeLane keeps what the timer lane of a block did.
func (w *writes) writeLane(result *ledger.Result) {
	height := heightKey(result.Block.Header.Height)
	record := laneOf(result)
	var examined rows
	reasons := map[string]uint64{}
	for i := range result.Timers {
		c := &result.Timers[i]
		switch c.Kind {
		case types.ChangeDeferred:
			reasons[c.Reason]++
		case types.ChangeScheduled:
			record.Scheduled++
			continue
		case types.ChangeExtended, types.ChangeTriggered:
			continue
		case types.ChangeEnded:
			if !record.countEnd(c.Status) {
				continue
			}
		default:
			panic(fmt.Sprintf("history: the change of timer %s at height %d has an unknown kind", c.Timer.ID, c.At))
		}
		examined.addRow(c.Timer.Seq, verdict{c.Status, c.Reason, c.Priority, c.Weight})
	}
	if n := result.Lane.Unexamined; n > 0 {
		reasons[ReasonUnexamined] = n
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		record.Deferred = append(record.Deferred, Reasoned{Reason: reason, Count: reasons[reason]})
	}
	w.putKey(bucketLanes, height, codec.Marshal(&record))
	if examined.count > 0 {
		w.putKey(bucketLaneTimers, height, examined.encodeRows())
	}
	w.writeMoves(height, result.Lane.Moves)
	if len(result.Events) > 0 {
		w.putKey(bucketEvents, height, codec.Marshal(result.Events))
	}
}

func (w *writes) writeMoves(height []byte, moves []types.TimerMove) {
	if len(moves) == 0 {
		return
	}
	var moved rows
	for i := range moves {
		moved.addRow(moves[i].Seq, verdict{Status: types.TimerStatus(moves[i].From), Reason: moves[i].To})
	}
	w.putKey(bucketLaneMoves, height, moved.encodeRows())
}

// countEnd counts an end, and reports whether the lane made it, and no handler or
// instruction.
func (l *LaneRecord) countEnd(s types.TimerStatus) bool {
	switch s {
	case types.TimerFired:
		l.Fired++
	case types.TimerExpired:
		l.Expired++
	case types.TimerInsufficientFunds:
		l.Insufficient++
	default:
		l.Cancelled++
		return false
	}
	return true
}

func laneOf(result *ledger.Result) LaneRecord {
	h, p := &result.Block.Header, result.State.Params()
	l := LaneRecord{Height: h.Height, Skipped: h.Skipped, Proposer: h.Proposer, Policy: p.Policy, Free: scheduler.Free(p),
		BaseFeeCycle: h.BaseFeeCycle, BaseFeeCell: h.BaseFeeCell, BaseFeeLane: h.BaseFeeLaneTimer, LanePrice: lanePrice(p, h.BaseFeeLaneTimer),
		Budget: p.LaneTimerCycles, GCBudget: p.GCCyclesPerBlock, AskBudget: p.GBABlockCycles,
		Examined: result.Lane.Examined, Cycles: result.Lane.Cycles, GCCycles: result.Lane.GCCycles, AskCycles: result.Lane.AskCycles,
		BlockCycles: h.CyclesUsed, Moved: uint64(len(result.Lane.Moves)), BurnedLane: result.Burned.LaneTimer, Tips: result.Tips.Timers,
		Presence: presenceOf(&result.Presence)}
	l.FireCycles, l.FireCells = scheduler.FireLimit(p, ^types.Cycles(0))
	return l
}

// lanePrice is the price of a fire's cycle for the lane.
func lanePrice(p *params.Params, base types.Wei) types.Wei {
	if p.Policy != scheduler.EIP1559 || scheduler.Free(p) {
		return types.Wei{}
	}
	return ledger.LaneCharge(p, base)
}

// Lane returns the record of a block's timer lane, or nil if the height has no
// block.
func (a *Archive) Lane(h types.Height) (*LaneRecord, error) {
	data, err := a.store.Get(bucketLanes, heightKey(h))
	if err != nil || data == nil {
		return nil, err
	}
	return decodeLane(heightKey(h), data)
}

func decodeLane(key, data []byte) (*LaneRecord, error) {
	l := new(LaneRecord)
	if err := codec.Unmarshal(data, maxLaneRecordBytes, l); err != nil {
		return nil, fmt.Errorf("the stored lane of height %d: %w", binary.BigEndian.Uint64(key), err)
	}
	return l, nil
}

// Lanes lists what the lanes of the last blocks up to a height did, newest last.
func (a *Archive) Lanes(upTo types.Height, last int) (lanes []LaneRecord, err error) {
	var bad error
	err = a.store.Scan(bucketLanes, nil, keyAfterPrefix(heightKey(upTo)), true, func(key, data []byte) bool {
		var l *LaneRecord
		if l, bad = decodeLane(key, data); bad == nil {
			lanes = append(lanes, *l)
		}
		return bad == nil && len(lanes) < last
	})
	if err == nil {
		err = bad
	}
	slices.Reverse(lanes)
	return lanes, err
}

// Deferred lists the timers that the block of height h examined and left, in the
// block's order. Those it did not come to (decision T16) are not among them.
func (a *Archive) Deferred(h types.Height) (marks []TimerMark, err error) {
	data, err := a.store.Get(bucketLaneTimers, heightKey(h))
	if err != nil || data == nil {
		return nil, err
	}
	var seqs []types.Seq
	err = eachRow(data, func(seq types.Seq, v *verdict) bool {
		if v.Status == types.TimerPending {
			seqs = append(seqs, seq)
			marks = append(marks, TimerMark{Status: v.Status, Reason: v.Reason})
		}
		return true
	})
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	return marks, a.nameMarks(seqs, marks)
}

// nameMarks adds to marks who the timers with these sequence numbers are. Numbers
// that lie close together are read in one pass.
func (a *Archive) nameMarks(seqs []types.Seq, marks []TimerMark) error {
	first, last := slices.Min(seqs), slices.Max(seqs)
	if uint64(last-first) > 16*uint64(len(seqs)) {
		return a.nameEach(seqs, marks)
	}
	who := make([]TimerMark, last-first+1)
	err := a.store.Scan(bucketTimerSeqs, seqKey(first), keyAfterPrefix(seqKey(last)), false, func(key, value []byte) bool {
		who[types.Seq(binary.BigEndian.Uint64(key))-first].setFrom(value)
		return true
	})
	for i, seq := range seqs {
		marks[i].ID, marks[i].Actor = who[seq-first].ID, who[seq-first].Actor
	}
	return err
}

func (a *Archive) nameEach(seqs []types.Seq, marks []TimerMark) error {
	for i, seq := range seqs {
		value, err := a.store.Get(bucketTimerSeqs, seqKey(seq))
		if err != nil {
			return err
		}
		if value != nil {
			marks[i].setFrom(value)
		}
	}
	return nil
}

func (m *TimerMark) setFrom(value []byte) {
	copy(m.ID[:], value)
	copy(m.Actor[:], value[min(len(m.ID), len(value)):])
}

// Events lists the chain's own events of a block that belong to no receipt.
func (a *Archive) Events(h types.Height) ([]types.Event, error) {
	data, err := a.store.Get(bucketEvents, heightKey(h))
	if err != nil || data == nil {
		return nil, err
	}
	return decodeEvents(heightKey(h), data)
}

func decodeEvents(key, data []byte) (events []types.Event, err error) {
	if err := codec.Unmarshal(data, maxEventsBytes, &events); err != nil {
		return nil, fmt.Errorf("the stored events of height %d: %w", binary.BigEndian.Uint64(key), err)
	}
	return events, nil
}

// rowsOf calls each for the records of a bucket in [from, to), at most limit of
// them. each must not use the store.
func (a *Archive) rowsOf(bucket env.Bucket, from, to types.Height, limit int, each func(types.Height, []byte) error) error {
	var bad error
	err := a.store.Scan(bucket, heightKey(from), heightKey(to), false, func(key, data []byte) bool {
		if limit--; limit < 0 {
			return false
		}
		bad = each(types.Height(binary.BigEndian.Uint64(key)), data)
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	return err
}
