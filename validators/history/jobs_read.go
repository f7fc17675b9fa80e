package history

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Job returns a job in any state, or nil.
func (a *Archive) Job(id types.Hash) (*JobRecord, error) {
	entry, err := a.store.Get(bucketJobs, id[:])
	if err != nil || entry == nil {
		return nil, err
	}
	standing, err := a.store.Get(bucketJobStandings, id[:])
	if err != nil {
		return nil, err
	}
	record := new(JobRecord)
	if err := codec.Unmarshal(entry, maxJobBytes, &record.JobEntry); err != nil {
		return nil, fmt.Errorf("the stored job %s: %w", id, err)
	}
	if err := codec.Unmarshal(standing, maxJobNoteBytes, &record.JobStanding); err != nil {
		return nil, fmt.Errorf("the stored status of job %s: %w", id, err)
	}
	if a.past != nil && !a.past.correctJob(record) {
		return nil, nil
	}
	return record, a.findLastDraw(record)
}

// findLastDraw finds when a job was drawn last.
func (a *Archive) findLastDraw(r *JobRecord) error {
	switch {
	case r.Attempts == 0:
	case len(r.Committee) > 0:
		r.DrawnAt = r.Since
	default: // it was taken from that committee, and waits or waited for another
		return a.eachNote(r.ID, true, func(n *JobNote) bool {
			r.DrawnAt = n.At
			return n.Kind != types.JobChangeDrawn
		})
	}
	return nil
}

// JobFilter selects jobs; zero fields select all.
type JobFilter struct {
	Status    types.JobStatus
	Submitter *types.Address
	Runner    *types.Address // in a committee of which it is or was
	Page
}

// Jobs lists jobs in the order they were submitted, or in the opposite one.
func (a *Archive) Jobs(f JobFilter) (records []JobRecord, err error) {
	bucket, from := bucketJobOrder, []byte{}
	switch {
	case f.Runner != nil:
		bucket, from = bucketRunnerJobs, f.Runner[:]
	case f.Submitter != nil:
		bucket, from = bucketSubmitterJobs, f.Submitter[:]
	case f.Status != "" && a.past == nil: // the index has the statuses of now
		bucket, from = bucketStatusJobs, statusKey(f.Status, 0)[:1]
	}
	skip := f.Offset
	err = a.eachOf(bucket, from, keyAfterPrefix(from), f.Newest, func(id types.Hash) (bool, error) {
		if len(records) >= f.Limit {
			return false, nil
		}
		record, err := a.Job(id)
		if err != nil || record == nil || !f.selectsJob(record) {
			return true, err
		}
		if f.Runner != nil && a.past != nil { // it may have been drawn later
			if was, err := a.wasDrawn(id, *f.Runner); err != nil || !was {
				return true, err
			}
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

// wasDrawn says whether a runner is or was in a committee of a job.
func (a *Archive) wasDrawn(id types.Hash, runner types.Address) (was bool, err error) {
	err = a.eachNote(id, false, func(n *JobNote) bool {
		was = n.Kind == types.JobChangeDrawn && slices.Contains(n.Committee, runner)
		return !was
	})
	return was, err
}

func (f *JobFilter) selectsJob(r *JobRecord) bool {
	return (f.Status == "" || r.Status == f.Status) && (f.Submitter == nil || r.Submitter == *f.Submitter)
}

// eachOf calls each for the ids of an index in order, until it returns false; each
// may use the store.
func (a *Archive) eachOf(bucket env.Bucket, from, to []byte, backwards bool, each func(types.Hash) (more bool, err error)) error {
	for {
		ids, next, err := a.indexedIDs(bucket, from, to, backwards)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if more, err := each(id); err != nil || !more {
				return err
			}
		}
		if next == nil {
			return nil
		}
		if backwards {
			to = next
		} else {
			from = next
		}
	}
}

// JobNotes lists what blocks did to a job, oldest first or newest first.
func (a *Archive) JobNotes(id types.Hash, p Page) (notes []JobNote, err error) {
	skip := p.Offset
	err = a.eachNote(id, p.Newest, func(n *JobNote) bool {
		if skip--; skip < 0 && len(notes) < p.Limit {
			notes = append(notes, *n)
		}
		return len(notes) < p.Limit
	})
	return notes, err
}

// eachNote calls each for the changes of a job by blocks until it returns false.
// each must not use the store.
func (a *Archive) eachNote(id types.Hash, backwards bool, each func(*JobNote) bool) error {
	var bad error
	err := a.store.Scan(bucketJobNotes, id[:], keyAfterPrefix(id[:]), backwards, func(_, value []byte) bool {
		var n JobNote
		bad = codec.Unmarshal(value, maxJobNoteBytes, &n)
		return bad == nil && each(&n)
	})
	if err == nil && bad != nil {
		err = fmt.Errorf("a stored note of job %s: %w", id, bad)
	}
	return err
}

// JobResult is what a runner revealed for a job in one attempt; nil where it did
// not.
func (a *Archive) JobResult(id types.Hash, attempt uint32, runner types.Address) ([]byte, error) {
	return a.store.Get(bucketJobResults, resultKey(id, attempt, runner))
}

// JobDraw is one draw of a job, and when it was made.
type JobDraw struct {
	types.JobDraw
	Attempt   uint32 // from 1
	At        types.Height
	Committee []types.Address // in the order drawn
}

// maxJobDrawBytes bounds a stored draw: a thousand candidates.
const maxJobDrawBytes = 64 << 10

// JobDraws lists all draws of a job, in their order.
func (a *Archive) JobDraws(id types.Hash) (draws []JobDraw, err error) {
	err = a.eachNote(id, false, func(n *JobNote) bool {
		if n.Kind == types.JobChangeDrawn {
			draws = append(draws, JobDraw{Attempt: n.Attempt, At: n.At, Committee: n.Committee})
		}
		return true
	})
	for i := range draws {
		if err != nil {
			break
		}
		draws[i].JobDraw, err = a.JobDraw(id, draws[i].Attempt)
	}
	return draws, err
}

// JobDraw returns the inputs of one draw of a job; zero if they are not stored.
func (a *Archive) JobDraw(id types.Hash, attempt uint32) (draw types.JobDraw, err error) {
	data, err := a.store.Get(bucketJobDraws, drawKey(id, attempt))
	if err != nil || data == nil {
		return draw, err
	}
	if err = codec.Unmarshal(data, maxJobDrawBytes, &draw); err != nil {
		err = fmt.Errorf("draw %d of job %s, as it is stored: %w", attempt, id, err)
	}
	return draw, err
}

// JobTurn is a runner of one draw, and its outcome.
type JobTurn struct {
	Attempt     uint32
	Runner      types.Address
	Commitments []JobNote    // in the order they came
	RevealedAt  types.Height // 0: not
	Refused     bool         // it gave its place back
	Agreed      bool         // its result is one of those that agree
	Judged      bool         // all results were compared with one another
	Concluded   bool         // the attempt is over, and not since the job was cancelled
}

// JobTurns lists the runners of all draws of a job, in the order drawn.
func (a *Archive) JobTurns(id types.Hash) (turns []JobTurn, err error) {
	first := 0 // of the last draw
	var bad error
	err = a.eachNote(id, false, func(n *JobNote) bool {
		switch n.Kind {
		case types.JobChangeDrawn:
			first = len(turns) - ofAttempt(turns, n.Attempt) // refusals emptied places of this attempt
			for _, runner := range n.Committee {
				if !slices.ContainsFunc(turns[first:], func(t JobTurn) bool { return t.Runner == runner }) {
					turns = append(turns, JobTurn{Attempt: n.Attempt, Runner: runner})
				}
			}
		case types.JobChangeCommitted, types.JobChangeRefused, types.JobChangeRevealed:
			i := slices.IndexFunc(turns[first:], func(t JobTurn) bool { return n.Runner != nil && t.Runner == *n.Runner })
			if i < 0 {
				bad = fmt.Errorf("a stored note of job %s at height %d names a runner outside its draw", id, n.At)
				return false
			}
			turns[first+i].addNote(n)
		case types.JobChangeRetried, types.JobChangeFailed, types.JobChangeCompleted:
			if len(n.Committee) > 0 { // otherwise no committee was drawn
				concludeAttempt(turns[first:], n)
			}
			if n.Kind == types.JobChangeCompleted {
				compareTurns(turns[:first], n)
			}
		}
		return true
	})
	if err == nil {
		err = bad
	}
	return turns, err
}

// addNote takes what a runner did.
func (t *JobTurn) addNote(n *JobNote) {
	switch n.Kind {
	case types.JobChangeRevealed:
		t.RevealedAt = n.At
	case types.JobChangeRefused:
		t.Refused = true
	default:
		t.Commitments = append(t.Commitments, *n)
	}
}

// ofAttempt counts the runners at the end of a list that were drawn in an attempt.
func ofAttempt(turns []JobTurn, attempt uint32) (n int) {
	for n < len(turns) && turns[len(turns)-1-n].Attempt == attempt {
		n++
	}
	return n
}

// compareTurns judges results of earlier attempts by the one that completed the job (decision
// J19).
func compareTurns(turns []JobTurn, n *JobNote) {
	for i := range turns {
		if turns[i].RevealedAt > 0 {
			turns[i].Judged, turns[i].Agreed = true, !slices.Contains(n.Differed, turns[i].Runner)
		}
	}
}

// concludeAttempt ends an attempt.
func concludeAttempt(turns []JobTurn, n *JobNote) {
	for i := range turns {
		turns[i].Concluded, turns[i].Judged = true, n.wasJudged()
		turns[i].Agreed = slices.Contains(n.Agreed, turns[i].Runner)
	}
}

func (a *Archive) jobMarks(h types.Height) (marks []jobMark, err error) {
	data, err := a.store.Get(bucketJobMarks, heightKey(h))
	if err != nil || data == nil {
		return nil, err
	}
	if err := codec.Unmarshal(data, maxJobMarkBytes, &marks); err != nil {
		return nil, fmt.Errorf("the stored marks of jobs of height %d: %w", h, err)
	}
	return marks, nil
}

// JobsOf lists what the block of a height did to jobs, in the order it did it: of
// jobs that are kept.
func (a *Archive) JobsOf(h types.Height) (notes []JobNote, err error) {
	marks, err := a.jobMarks(h)
	if err != nil {
		return nil, err
	}
	for i, mark := range marks {
		data, err := a.store.Get(bucketJobNotes, noteKey(mark.ID, heightKey(h), i))
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue // dropped since, or before
		}
		var n JobNote
		if err := codec.Unmarshal(data, maxJobNoteBytes, &n); err != nil {
			return nil, fmt.Errorf("a stored note of job %s: %w", mark.ID, err)
		}
		notes = append(notes, n)
	}
	return notes, nil
}
