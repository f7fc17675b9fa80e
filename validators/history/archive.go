package history

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// The tables of a validator's store. State is consensus state; all others are
// derived from finalized blocks and can be made again by executing them.
const (
	bucketMeta          env.Bucket = "meta"           // "tip" → height of the last block committed; "kept" → Kept
	bucketState         env.Bucket = "state"          // key → value
	bucketBlocks        env.Bucket = "blocks"         // height → Stored
	bucketHashes        env.Bucket = "hashes"         // block hash → height
	bucketExecutions    env.Bucket = "executions"     // receipt hash → height ‖ index
	bucketTimers        env.Bucket = "timers"         // timer id → Timer, as it was scheduled
	bucketTimerSeqs     env.Bucket = "timer_seqs"     // seq → timer id ‖ actor
	bucketTimerOrder    env.Bucket = "timer_order"    // due height ‖ seq → timer id
	bucketActorTimers   env.Bucket = "actor_timers"   // actor ‖ due height ‖ seq → timer id
	bucketTimerNotes    env.Bucket = "timer_notes"    // seq ‖ height ‖ index → Note
	bucketTimerEnds     env.Bucket = "timer_ends"     // timer id → timerEnd
	bucketLanes         env.Bucket = "lanes"          // height → LaneRecord
	bucketLaneTimers    env.Bucket = "lane_timers"    // height → the timers it examined, if any
	bucketLaneMoves     env.Bucket = "lane_moves"     // height → the timers that changed their tier, if any
	bucketEvents        env.Bucket = "events"         // height → the chain's own events, if any
	bucketLogs          env.Bucket = "logs"           // actor ‖ height ‖ line number → LogLine
	bucketJobs          env.Bucket = "jobs"           // job id → JobEntry
	bucketJobStandings  env.Bucket = "job_standings"  // job id → JobStanding
	bucketJobOrder      env.Bucket = "job_order"      // seq → job id
	bucketSubmitterJobs env.Bucket = "submitter_jobs" // submitter ‖ seq → job id
	bucketRunnerJobs    env.Bucket = "runner_jobs"    // runner of a committee ‖ seq → job id
	bucketStatusJobs    env.Bucket = "status_jobs"    // number of the status ‖ seq → job id
	bucketJobNotes      env.Bucket = "job_notes"      // job id ‖ height ‖ index → JobNote
	bucketJobResults    env.Bucket = "job_results"    // job id ‖ attempt ‖ runner → the result revealed
	bucketJobDraws      env.Bucket = "job_draws"      // job id ‖ attempt → types.JobDraw
	bucketJobMarks      env.Bucket = "job_marks"      // height → what it did to jobs, where it did something
	maxStoredBytes                 = types.MaxBlockBytes + 64<<20
	maxTimerRecordBytes            = types.MaxTransactionBytes + 4096
)

var keyTip = []byte("tip")

// Archive is the finalized history of one validator, for readers: it takes no part
// in consensus. It is safe for concurrent use.
type Archive struct {
	store env.Store
	past  *pastJobs // of an archive as it was at a height; nil: it is as it is now
}

// Stored is a finalized block with all that executing it gave.
type Stored struct {
	_            struct{} `cbor:",toarray"`
	Block        *types.Block
	Hash         types.Hash
	Finalization *types.Certificate // nil where a descendant's made it final
	Notarization *types.Certificate // besides a finalization, if it was available
	Receipts     []types.Receipt
	Timers       []TimerMark
	Logs         []actors.LogLine
	Burned       ledger.Burned
	Tips         ledger.Tips
}

// TimerMark is what a block did to a timer, in the order it happened. Stored has
// none of the deferrals: Archive.Deferred lists those.
type TimerMark struct {
	_      struct{} `cbor:",toarray"`
	ID     types.TimerID
	Actor  types.Address
	Status types.TimerStatus
	Reason string
}

// LogLine is one line an actor printed.
type LogLine struct {
	Height types.Height
	actors.LogLine
}

// Of reads the history in a store, even if the validator is stopped.
func Of(store env.Store) *Archive { return &Archive{store: store} }

// ScanState calls each for all of the finalized state in a store, by key.
func ScanState(store env.Store, each func(key, value []byte)) error {
	return store.Scan(bucketState, nil, nil, false, func(key, value []byte) bool {
		each(key, value)
		return true
	})
}

// Tip is the last block committed; nil before the first. A tip that does not match
// its key is an error: a validator that continued from it would be alone
// permanently, since no block of the chain follows it.
func (a *Archive) Tip() (*Stored, error) {
	key, err := a.store.Get(bucketMeta, keyTip)
	if err != nil || key == nil {
		return nil, err
	}
	h := types.Height(binary.BigEndian.Uint64(key))
	stored, err := a.Block(h)
	if err != nil {
		return nil, err
	}
	if stored == nil || stored.Block.Header.Height != h || stored.Block.Hash() != stored.Hash {
		return nil, fmt.Errorf("the last block stored, of height %d, is damaged or gone", h)
	}
	return stored, nil
}

// Block returns the finalized block of height h, or nil.
func (a *Archive) Block(h types.Height) (*Stored, error) {
	data, err := a.store.Get(bucketBlocks, heightKey(h))
	if err != nil || data == nil {
		return nil, err
	}
	stored := new(Stored)
	if err := codec.Unmarshal(data, maxStoredBytes, stored); err != nil {
		return nil, fmt.Errorf("the stored block of height %d: %w", h, err)
	}
	return stored, nil
}

// Next returns the height of the first finalized block at or after h; 0 if there is
// none.
func (a *Archive) Next(h types.Height) (next types.Height, err error) {
	err = a.store.Scan(bucketBlocks, heightKey(h), nil, false, func(key, _ []byte) bool {
		next = types.Height(binary.BigEndian.Uint64(key))
		return false
	})
	return next, err
}

// HeightOf returns the height of a finalized block.
func (a *Archive) HeightOf(block types.Hash) (h types.Height, found bool, err error) {
	key, err := a.store.Get(bucketHashes, block[:])
	if err != nil || key == nil {
		return 0, false, err
	}
	return types.Height(binary.BigEndian.Uint64(key)), true, nil
}

// Receipt returns the receipt of a transaction, a fire or a message, or nil.
func (a *Archive) Receipt(hash types.Hash) (*types.Receipt, error) {
	stored, index, err := a.findExecution(hash)
	if err != nil || stored == nil {
		return nil, err
	}
	return &stored.Receipts[index], nil
}

// Transaction returns a finalized transaction and its receipt, or nil.
func (a *Archive) Transaction(hash types.Hash) (*types.Transaction, *types.Receipt, error) {
	stored, index, err := a.findExecution(hash)
	if err != nil || stored == nil {
		return nil, nil, err
	}
	for i := range stored.Block.Transactions {
		if tx := &stored.Block.Transactions[i]; tx.Hash() == hash {
			return tx, &stored.Receipts[index], nil
		}
	}
	return nil, nil, nil
}

func (a *Archive) findExecution(hash types.Hash) (stored *Stored, index int, err error) {
	key, err := a.store.Get(bucketExecutions, hash[:])
	if err != nil || key == nil {
		return nil, 0, err
	}
	stored, err = a.Block(types.Height(binary.BigEndian.Uint64(key)))
	if err != nil || stored == nil {
		return nil, 0, err
	}
	index = int(binary.BigEndian.Uint32(key[8:]))
	if index >= len(stored.Receipts) {
		return nil, 0, fmt.Errorf("the index names receipt %d of height %d, which has %d", index, stored.Block.Header.Height,
			len(stored.Receipts))
	}
	return stored, index, nil
}

// Printed lists the lines that one execution printed.
func (s *Stored) Printed(execution types.Hash) (lines []string) {
	for i := range s.Logs {
		if s.Logs[i].Cause == execution {
			lines = append(lines, s.Logs[i].Line)
		}
	}
	return lines
}

// PrintedBy is the printed text of each of its executions.
func (s *Stored) PrintedBy() map[types.Hash][]string {
	printed := map[types.Hash][]string{}
	for _, l := range s.Logs {
		printed[l.Cause] = append(printed[l.Cause], l.Line)
	}
	return printed
}

// Executed is the outcome of one execution, with its printed text.
type Executed struct {
	types.Receipt
	Logs []string
}

// Executed returns an execution of a block up to a height, or nil. What is above the height of a state is not shown, although the store has
// a block a moment before the state. Thus a caller that reads the state next finds the effect.
func (a *Archive) Executed(hash types.Hash, upTo types.Height) (*Executed, error) {
	stored, index, err := a.findExecution(hash)
	if err != nil || stored == nil || stored.Receipts[index].Height > upTo {
		return nil, err
	}
	return &Executed{Receipt: stored.Receipts[index], Logs: stored.Printed(hash)}, nil
}

// indexes lists the indexes of hashes, by the kind that they lead to.
var indexes = map[HashKind]env.Bucket{TimerHash: bucketTimers, JobHash: bucketJobs, ExecutionHash: bucketExecutions,
	BlockHash: bucketHashes}

// HashKind is the kind of thing that a hash identifies.
type HashKind int

const (
	TimerHash     HashKind = iota // a timer's id
	JobHash                       // a job's
	ExecutionHash                 // of a receipt
	BlockHash
)

// Hashes calls each for the hashes of a kind from first to last, in order, until
// it returns false. each must not use the archive.
func (a *Archive) Hashes(of HashKind, first, last types.Hash, each func(types.Hash) bool) error {
	return a.store.Scan(indexes[of], first[:], append(last[:], 0), false, func(key, _ []byte) bool {
		return each(types.Hash(key))
	})
}

// Logs lists the lines an actor printed, oldest first or newest first.
func (a *Archive) Logs(actor types.Address, p Page) (lines []LogLine, err error) {
	offset, limit := p.Offset, p.Limit
	var keys [][]byte
	err = a.store.Scan(bucketLogs, actor[:], keyAfterPrefix(actor[:]), p.Newest, func(key, _ []byte) bool {
		if offset > 0 {
			offset--
			return true
		}
		if len(keys) < limit {
			keys = append(keys, append([]byte{}, key[len(actor):]...))
		}
		return len(keys) < limit
	})
	if err != nil {
		return nil, err
	}
	var stored *Stored
	for _, key := range keys {
		height, index := types.Height(binary.BigEndian.Uint64(key)), int(binary.BigEndian.Uint32(key[8:]))
		if stored == nil || stored.Block.Header.Height != height {
			if stored, err = a.Block(height); err != nil {
				return nil, err
			}
		}
		if stored == nil {
			if kept, err := a.Kept(); err != nil || kept.Dropped(height) {
				if err != nil {
					return nil, err
				}
				continue // since the index was read
			}
		}
		if stored == nil || index >= len(stored.Logs) {
			return nil, fmt.Errorf("the index of lines names line %d of height %d, which does not exist", index, height)
		}
		lines = append(lines, LogLine{height, stored.Logs[index]})
	}
	return lines, err
}

// heightKey orders heights as bytes.
func heightKey(h types.Height) []byte { return binary.BigEndian.AppendUint64(nil, uint64(h)) }

// keyAfterPrefix returns the smallest key above every key that begins with prefix, or nil if
// there is none.
func keyAfterPrefix(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
