package box

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// finality follows what the validators of this process made final, each height
// once, and tells those who wait.
type finality struct {
	mu          sync.Mutex
	height      types.Height
	at          time.Time // when the height became final here
	waiting     map[types.Hash][]chan ended
	subscribers map[int]func(types.Height)
	last        int // id given to a subscriber
}

// ended is how the wait for an execution ended: with its receipt, or because its
// transaction was given up.
type ended struct {
	receipt *types.Receipt
	printed []string // what the execution printed
	dropped string   // why
}

func newFinality() *finality {
	return &finality{at: time.Now(), waiting: map[types.Hash][]chan ended{}, subscribers: map[int]func(types.Height){}}
}

// observe is called by each validator, in the order of its heights.
func (f *finality) observe(seen validators.FinalBlocks) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, result := range seen.Results {
		height := result.Block.Header.Height
		if height <= f.height {
			continue
		}
		f.height, f.at = height, time.Now()
		for i := range result.Receipts {
			if hash := result.Receipts[i].Hash; len(f.waiting[hash]) > 0 {
				f.tell(hash, ended{receipt: &result.Receipts[i], printed: printed(result, hash)})
			}
		}
		for id := 1; id <= f.last; id++ {
			if each := f.subscribers[id]; each != nil {
				each(height)
			}
		}
	}
}

// between does something before the next block becomes final here, by the first
// height at which that may be.
func (f *finality) between(do func(next types.Height)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f.height + 1)
}

// since is how long ago a block became final here last.
func (f *finality) since() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.at)
}

// printed lists the lines that one execution of a block printed.
func printed(result *ledger.Result, execution types.Hash) (lines []string) {
	for i := range result.Logs {
		if result.Logs[i].Cause == execution {
			lines = append(lines, result.Logs[i].Line)
		}
	}
	return lines
}

// tell ends all waits for an execution. It is called with the lock held.
func (f *finality) tell(hash types.Hash, how ended) {
	for _, waiter := range f.waiting[hash] {
		waiter <- how // has room for the one it ever gets
	}
	delete(f.waiting, hash)
}

// drop ends the waits for a transaction that its validator gave up.
func (f *finality) drop(hash types.Hash, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell(hash, ended{dropped: why})
}

// wait returns a channel that reports when an execution is final or given up, and a
// function that gives the wait up.
func (f *finality) wait(hash types.Hash) (how <-chan ended, giveUp func()) {
	waiter := make(chan ended, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting[hash] = append(f.waiting[hash], waiter)
	return waiter, func() { f.forget(hash, waiter) }
}

func (f *finality) forget(hash types.Hash, waiter chan ended) {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := f.waiting[hash][:0]
	for _, other := range f.waiting[hash] {
		if other != waiter {
			left = append(left, other)
		}
	}
	if len(left) == 0 {
		delete(f.waiting, hash)
	} else {
		f.waiting[hash] = left
	}
}

func (f *finality) subscribe(each func(types.Height)) (cancel func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	id := f.last
	f.subscribers[id] = each
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, id)
	}
}

func (f *finality) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.subscribers)
	clear(f.waiting)
}
