package history

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/scheduler"
)

// TimerRecord is a timer in any state.
type TimerRecord struct {
	types.Timer // with its expiry and its deferrals as they are now
	Status      types.TimerStatus
	DueAt       types.Height // from which it was or is due; 0 where what it watches has not changed
	EndedAt     types.Height // 0 while pending
	Reason      string       // of the last deferral or of its end
	Priority    types.Wei    // a cycle, when a block examined it last
	Weight      types.Weight // that this block gave its actor
	Examined    bool         // whether any block has, so that Priority and Weight say something
	CyclesUsed  types.Cycles
	CellsUsed   types.Cells
	FeePaid     types.Wei // all of it, tip included
	TipPaid     types.Wei
	Result      types.Status // of the handler, once fired

	firstExpiry types.Height
}

// timerEnd is the outcome of a timer. It is kept apart from the timer itself, whose
// payload may hold 1 MiB; a timer without one is pending.
type timerEnd struct {
	_          struct{} `cbor:",toarray"`
	Status     types.TimerStatus
	At         types.Height
	ExpiresAt  types.Height
	Deferrals  uint64
	Reason     string
	Priority   types.Wei
	Weight     types.Weight
	CyclesUsed types.Cycles
	CellsUsed  types.Cells
	FeePaid    types.Wei
	TipPaid    types.Wei
	Result     types.Status
}

// Note is a change of a pending timer other than being due: its expiry was moved,
// or its watched key changed.
type Note struct {
	_         struct{}     `cbor:",toarray"`
	At        types.Height // of the block
	Reason    string       // scheduler.ReasonExtended, ReasonExtendedGov or ReasonTriggered
	ExpiresAt types.Height // when it expires, from then on
}

// Triggered reports that the timer's watched key changed; otherwise its expiry was
// moved.
func (n *Note) Triggered() bool { return n.Reason == scheduler.ReasonTriggered }

// writeTimer keeps one change of a timer. Deferrals are not in a timer's own record: a
// block may make fifty thousand of them, and the lane's record has them.
func (w *writes) writeTimer(c *types.TimerChange, index int) {
	t := &c.Timer
	switch c.Kind {
	case types.ChangeScheduled:
		order := orderKey(t)
		w.putKey(bucketTimers, t.ID[:], codec.Marshal(t))
		w.putKey(bucketTimerSeqs, seqKey(t.Seq), append(append([]byte{}, t.ID[:]...), t.Actor[:]...))
		w.putKey(bucketTimerOrder, order, t.ID[:])
		w.putKey(bucketActorTimers, append(append([]byte{}, t.Actor[:]...), order...), t.ID[:])
	case types.ChangeExtended, types.ChangeTriggered:
		key := binary.BigEndian.AppendUint32(append(seqKey(t.Seq), heightKey(c.At)...), uint32(index))
		w.putKey(bucketTimerNotes, key, codec.Marshal(&Note{At: c.At, Reason: c.Reason, ExpiresAt: t.ExpiresAt}))
	case types.ChangeEnded:
		w.putKey(bucketTimerEnds, t.ID[:], codec.Marshal(&timerEnd{Status: c.Status, At: c.At, ExpiresAt: t.ExpiresAt, Deferrals: t.Deferrals,
			Reason: c.Reason, Priority: c.Priority, Weight: c.Weight, CyclesUsed: c.CyclesUsed, CellsUsed: c.CellsUsed,
			FeePaid: c.FeePaid, TipPaid: c.TipPaid, Result: c.Result}))
	}
}

func seqKey(s types.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(s)) }

// Timer returns a timer in any state, or nil.
func (a *Archive) Timer(id types.TimerID) (*TimerRecord, error) {
	r, err := a.timerReader()
	if err != nil {
		return nil, err
	}
	return r.readTimer(id)
}

// timerReader reads timers at their state after one block. It keeps the lane's
// record that it read last, for lists.
type timerReader struct {
	*Archive
	tip  types.Height
	kept Kept
	at   types.Height // of rows
	rows map[types.Seq]verdict
}

func (a *Archive) timerReader() (*timerReader, error) {
	tip, err := a.store.Get(bucketMeta, keyTip)
	if err != nil {
		return nil, err
	}
	kept, err := a.Kept()
	if err != nil {
		return nil, err
	}
	r := &timerReader{Archive: a, kept: kept}
	if tip != nil {
		r.tip = types.Height(binary.BigEndian.Uint64(tip))
	}
	return r, nil
}

func (r *timerReader) readTimer(id types.TimerID) (*TimerRecord, error) {
	data, err := r.store.Get(bucketTimers, id[:])
	if err != nil || data == nil {
		return nil, err
	}
	record := &TimerRecord{Status: types.TimerPending}
	if err := codec.Unmarshal(data, maxTimerRecordBytes, &record.Timer); err != nil {
		return nil, fmt.Errorf("the stored timer %s: %w", id, err)
	}
	record.firstExpiry = record.Timer.ExpiresAt
	notes, err := r.Notes(record.Timer.Seq)
	if err != nil {
		return nil, err
	}
	record.applyNotes(notes)
	end, err := r.store.Get(bucketTimerEnds, id[:])
	if err != nil {
		return nil, err
	}
	if end == nil {
		return record, r.readPending(record)
	}
	return record, r.readEnd(record, end)
}

// applyNotes brings a timer's expiry and due height up to date.
func (t *TimerRecord) applyNotes(notes []Note) {
	if t.Timer.Watch == nil {
		t.DueAt = t.Timer.Height
	}
	for i := range notes {
		t.Timer.ExpiresAt = notes[i].ExpiresAt
		if notes[i].Triggered() {
			t.DueAt = notes[i].At
		}
	}
}

// readPending adds the last block's result for a pending timer.
func (r *timerReader) readPending(record *TimerRecord) error {
	due := record.DueAt
	if due == 0 {
		due = record.Timer.ExpiresAt + 1 // where one that never triggered waits for the cleanup lane
	}
	if due > r.tip {
		return nil
	}
	record.Timer.Deferrals = scheduler.Deferrals(due, r.tip)
	return r.readDeferral(record, r.tip)
}

// readEnd adds the end of a timer. A fire has no reason, so the reason of the last
// deferral stays.
func (r *timerReader) readEnd(record *TimerRecord, data []byte) error {
	var end timerEnd
	if err := codec.Unmarshal(data, maxTimerRecordBytes, &end); err != nil {
		return fmt.Errorf("the stored end of timer %s: %w", record.Timer.ID, err)
	}
	record.Status, record.EndedAt, record.Reason, record.Result = end.Status, end.At, end.Reason, end.Result
	record.Timer.ExpiresAt, record.Timer.Deferrals = end.ExpiresAt, end.Deferrals
	record.CyclesUsed, record.CellsUsed, record.FeePaid, record.TipPaid = end.CyclesUsed, end.CellsUsed, end.FeePaid, end.TipPaid
	if end.Deferrals > 0 && end.Status == types.TimerFired {
		if err := r.readDeferral(record, end.At-1); err != nil {
			return err
		}
	}
	if end.Status != types.TimerCancelled {
		record.Priority, record.Weight, record.Examined = end.Priority, end.Weight, true
	}
	return nil
}

// ReasonUnexamined is why a timer waits that the block did not come to
// (decision T16).
const ReasonUnexamined = "not_examined"

// readDeferral adds the result of the block of height h, which deferred a timer.
func (r *timerReader) readDeferral(record *TimerRecord, h types.Height) error {
	if r.kept.Dropped(h) {
		return nil // the block is pruned
	}
	if r.rows == nil || r.at != h {
		r.rows, r.at = map[types.Seq]verdict{}, h
		data, err := r.store.Get(bucketLaneTimers, heightKey(h))
		if err == nil && data != nil {
			err = eachRow(data, func(seq types.Seq, v *verdict) bool {
				r.rows[seq] = *v
				return true
			})
		}
		if err != nil {
			return err
		}
	}
	said, examined := r.rows[record.Timer.Seq]
	if !examined {
		record.Reason = ReasonUnexamined
		return nil
	}
	record.Reason, record.Priority, record.Weight, record.Examined = said.Reason, said.Priority, said.Weight, true
	return nil
}

// maxNotes bounds the number of one timer's notes that are read; extending costs
// its actor cycles each time.
const maxNotes = 1024

// Notes lists what happened to a timer while it was pending, oldest first, at
// most the first 1,024.
func (a *Archive) Notes(seq types.Seq) (notes []Note, err error) {
	from := seqKey(seq)
	var bad error
	err = a.store.Scan(bucketTimerNotes, from, keyAfterPrefix(from), false, func(_, value []byte) bool {
		var n Note
		if bad = codec.Unmarshal(value, maxTimerRecordBytes, &n); bad == nil {
			notes = append(notes, n)
		}
		return bad == nil && len(notes) < maxNotes
	})
	if err == nil && bad != nil {
		err = fmt.Errorf("a stored note of the timer with sequence %d: %w", seq, bad)
	}
	return notes, err
}

// TimerFilter selects timers; zero fields select all.
type TimerFilter struct {
	Actor  *types.Address
	DueBy  *types.Height // due at this height or before
	Status types.TimerStatus
	Page   // Newest: the latest due height first
}

// Page selects a part of a list that the chain makes longer.
type Page struct {
	Newest bool // first; otherwise the oldest
	Offset int
	Limit  int
}

// Timers lists timers by due height, then insertion, or in the opposite order.
func (a *Archive) Timers(f TimerFilter) (records []TimerRecord, err error) {
	r, err := a.timerReader()
	if err != nil {
		return nil, err
	}
	bucket, from := bucketTimerOrder, []byte{}
	if f.Actor != nil {
		bucket, from = bucketActorTimers, f.Actor[:]
	}
	to := keyAfterPrefix(from)
	if f.DueBy != nil {
		to = keyAfterPrefix(append(append([]byte{}, from...), heightKey(*f.DueBy)...))
	}
	skip := f.Offset
	err = a.eachOf(bucket, from, to, f.Newest, func(id types.Hash) (bool, error) {
		if len(records) >= f.Limit {
			return false, nil
		}
		record, err := r.readTimer(id)
		if err != nil || record == nil || f.Status != "" && record.Status != f.Status {
			return true, err
		}
		if skip > 0 {
			skip--
			return true, nil
		}
		records = append(records, *record)
		return len(records) < f.Limit, nil
	})
	return records, err
}

// idChunk is how many ids are looked up between two scans: a scan's
// callback must not use the store.
const idChunk = 256

// indexedIDs returns the next ids of an index and the key to continue at, nil at
// its end: forward from there, or backwards up to it.
func (a *Archive) indexedIDs(bucket env.Bucket, from, to []byte, backwards bool) (ids []types.Hash, next []byte, err error) {
	var last []byte
	err = a.store.Scan(bucket, from, to, backwards, func(key, id []byte) bool {
		if len(ids) == idChunk {
			next = append([]byte{}, key...)
			if backwards {
				next = last
			}
			return false
		}
		ids = append(ids, types.Hash(id))
		if len(ids) == idChunk {
			last = append([]byte{}, key...)
		}
		return true
	})
	return ids, next, err
}
