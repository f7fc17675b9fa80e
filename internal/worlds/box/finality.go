package box

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// finality follows the blocks that the validators made final, each height once.
type finality struct {
	final func(*ledger.Result) // the network's operator is told first

	mu          sync.Mutex
	height      types.Height
	at          time.Time // when the height became final here
	subscribers map[int]func(types.Height)
	watchers    map[int]func()
	last        int // id given to a subscriber or a watcher
}

func newFinality() *finality {
	return &finality{at: time.Now(), subscribers: map[int]func(types.Height){}, watchers: map[int]func(){}}
}

// observeFinal is called by each validator, in the order of its heights.
func (f *finality) observeFinal(seen validators.FinalBlocks) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, each := range f.watchers {
		each()
	}
	for _, result := range seen.Results {
		height := result.Block.Header.Height
		if height <= f.height {
			continue
		}
		f.height, f.at = height, time.Now()
		f.final(result)
		for id := 1; id <= f.last; id++ {
			if each := f.subscribers[id]; each != nil {
				each(height)
			}
		}
	}
}

// doBetweenBlocks does something before the next block becomes final here, by the first
// height at which that may be.
func (f *finality) doBetweenBlocks(do func(next types.Height)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f.height + 1)
}

// sinceLastFinal is how long ago a block became final here last.
func (f *finality) sinceLastFinal() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.at)
}

func (f *finality) subscribeHeights(each func(types.Height)) (cancel func()) {
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

func (f *finality) watchValidators(each func()) (cancel func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	id := f.last
	f.watchers[id] = each
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, id)
	}
}

func (f *finality) closeSubscriptions() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.subscribers)
}
