package history

import (
	"encoding/binary"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Until returns the archive as it was when the block of a height was its last one: what later blocks added is not there. Records of an open
// job change in place, so that standing has to say how a job stood in the state after that block; it is nil for one that was not open then.
// The height is one of a final block, or 0.
func (a *Archive) Until(tip types.Height, standing func(types.Hash) *JobStanding) *Archive {
	return &Archive{store: &pastStore{Store: a.store, tip: tip}, past: &pastJobs{tip, standing}}
}

// pastJobs says how jobs stood at a height.
type pastJobs struct {
	tip      types.Height
	standing func(types.Hash) *JobStanding
}

// correctJob gives a record what it had at the height. It returns false for a job that was submitted later.
func (p *pastJobs) correctJob(r *JobRecord) bool {
	if r.SubmittedAt > p.tip {
		return false
	}
	if r.EndedAt == 0 || r.EndedAt > p.tip {
		if then := p.standing(r.ID); then != nil {
			r.JobStanding = *then
		}
	}
	return true
}

// errReadOnly is the answer of a past store to writes.
var errReadOnly = errors.New("history: what was cannot be written")

// pastStore is a store as it was after the block of a height, for the archive. Indexes by which timers and jobs are found are left as they
// are: who follows them finds no record of what came later.
type pastStore struct {
	env.Store
	tip types.Height
}

// heightAt says where in the key of a bucket its height is, from the end if negative; and of which buckets it is in the value.
var (
	heightOfKey = map[env.Bucket]int{bucketBlocks: 0, bucketLanes: 0, bucketLaneTimers: 0, bucketLaneMoves: 0, bucketEvents: 0,
		bucketJobMarks: 0, bucketTimerNotes: -12, bucketLogs: -12, bucketJobNotes: -12}
	heightOfValue = map[env.Bucket]func(value []byte) (types.Height, error){
		bucketHashes: readHeight, bucketExecutions: readHeight,
		bucketTimers: func(value []byte) (types.Height, error) {
			var t types.Timer
			err := codec.Unmarshal(value, maxTimerRecordBytes, &t)
			return t.ScheduledAt, err
		},
		bucketTimerEnds: func(value []byte) (types.Height, error) {
			var end timerEnd
			err := codec.Unmarshal(value, maxTimerRecordBytes, &end)
			return end.At, err
		},
		bucketJobs: func(value []byte) (types.Height, error) {
			var entry JobEntry
			err := codec.Unmarshal(value, maxJobBytes, &entry)
			return entry.SubmittedAt, err
		},
	}
)

func readHeight(value []byte) (types.Height, error) {
	return types.Height(binary.BigEndian.Uint64(value)), nil
}

// existed says whether a record was there at the height.
func (s *pastStore) existed(b env.Bucket, key, value []byte) (bool, error) {
	if at, is := heightOfKey[b]; is {
		if at < 0 {
			at += len(key)
		}
		return types.Height(binary.BigEndian.Uint64(key[at:])) <= s.tip, nil
	}
	if read := heightOfValue[b]; read != nil {
		h, err := read(value)
		return h <= s.tip, err
	}
	return true, nil
}

// Get implements env.Store.
func (s *pastStore) Get(b env.Bucket, key []byte) ([]byte, error) {
	if b == bucketMeta && string(key) == string(keyTip) {
		if s.tip == 0 {
			return nil, nil
		}
		return heightKey(s.tip), nil
	}
	value, err := s.Store.Get(b, key)
	if err != nil || value == nil {
		return nil, err
	}
	was, err := s.existed(b, key, value)
	if err != nil || !was {
		return nil, err
	}
	return value, nil
}

// Scan implements env.Store.
func (s *pastStore) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	var bad error
	err := s.Store.Scan(b, from, to, backwards, func(key, value []byte) bool {
		was, err := s.existed(b, key, value)
		if bad = err; err != nil {
			return false
		}
		return !was || each(key, value)
	})
	if err == nil {
		err = bad
	}
	return err
}

// Commit implements env.Store.
func (s *pastStore) Commit([]env.Write) error { return errReadOnly }

// Close implements env.Store: what it reads is another's.
func (s *pastStore) Close() error { return nil }
