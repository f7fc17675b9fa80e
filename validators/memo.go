package validators

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// memoResults bounds the results a Memo keeps: more blocks than the validators
// of one process are ever apart by in normal running.
const memoResults = 64

// Memo shares the results of executing blocks between the validators of one
// process: executing is pure, so one of them does it for all, and so is what a
// result leaves in a store, and what a frame says. It is safe for concurrent
// use; whoever asks for a result that another is computing waits for it.
type Memo struct {
	mu      sync.Mutex
	entries map[memoKey]*memoEntry
	order   []memoKey // oldest first
	left    map[*ledger.Result]*leftEntry
	leaving []*ledger.Result // the keys of left, oldest first
	heard   readings
	sets    []simplex.Sets // known last, each once
	first   birth
}

// memoKey names what was executed: a state and a whole block. The block's hash
// covers its header alone, so that bodies are told apart by all their bytes.
type memoKey struct{ parentRoot, block types.Hash }

func keyOf(parentRoot types.Hash, block *types.Block) memoKey {
	return memoKey{parentRoot, types.Keccak(codec.Marshal(block))}
}

type memoEntry struct {
	once   sync.Once
	result *ledger.Result
	err    error
	lives  []*life // who executed it or was given it, and runs still
}

// life is one run of a validator, from Start to its stop or crash. What a Memo
// knows through lives that are over it forgets, as the memory of a process ends
// with it: who boots after a crash finds what others know, and not what only his
// own past life did.
type life struct{ over bool }

// end takes a life from all results, and forgets those that nobody else has.
func (m *Memo) end(l *life) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l.over = true
	kept := m.order[:0]
	for _, key := range m.order {
		entry := m.entries[key]
		if entry == nil {
			continue
		}
		entry.lives = slices.DeleteFunc(entry.lives, func(one *life) bool { return one == l })
		if len(entry.lives) == 0 {
			delete(m.entries, key)
			continue
		}
		kept = append(kept, key)
	}
	clear(m.order[len(kept):])
	m.order = kept
}

// birth is what a chain begins with.
type birth struct {
	once  sync.Once
	of    *ledger.Genesis
	state *ledger.State
	block *types.Block
	err   error
}

// genesis returns the state and the block that a genesis makes; validators of
// one process mostly have one.
func (m *Memo) genesis(g *ledger.Genesis) (*ledger.State, *types.Block, error) {
	if m == nil {
		return g.State()
	}
	b := &m.first
	b.once.Do(func() {
		b.of = g
		b.state, b.block, b.err = g.State()
	})
	if b.of != g {
		return g.State()
	}
	return b.state, b.block, b.err
}

// leftEntry is what a shared result leaves in a store.
type leftEntry struct {
	once sync.Once
	left *history.Remains
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{entries: map[memoKey]*memoEntry{}, left: map[*ledger.Result]*leftEntry{}, heard: readings{frames: map[string]*reading{}}}
}

// apply returns the result of a block on a state with the given root, by
// execute where nobody has it yet. An error of the environment is not
// remembered: another validator's may be sound. A nil Memo executes always.
func (m *Memo) apply(l *life, parentRoot types.Hash, block *types.Block, execute func() (*ledger.Result, error)) (*ledger.Result, error) {
	if m == nil {
		return execute()
	}
	key := keyOf(parentRoot, block)
	entry := m.entry(key, l)
	entry.once.Do(func() { entry.result, entry.err = execute() })
	if entry.err != nil && !isInvalid(entry.err) {
		m.forget(key, entry)
	}
	return entry.result, entry.err
}

// put keeps the result that a proposer has of its own block.
func (m *Memo) put(l *life, parentRoot types.Hash, result *ledger.Result) {
	if m == nil {
		return
	}
	entry := m.entry(keyOf(parentRoot, result.Block), l)
	entry.once.Do(func() { entry.result = result })
}

// entry finds or makes the entry of a key, and notes whose life has it now.
func (m *Memo) entry(key memoKey, l *life) *memoEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.over {
		return &memoEntry{} // the last step of a run that was ended beside it
	}
	if entry := m.entries[key]; entry != nil {
		if !slices.Contains(entry.lives, l) {
			entry.lives = append(entry.lives, l)
		}
		return entry
	}
	if len(m.order) >= memoResults {
		delete(m.entries, m.order[0])
		m.order = m.order[1:]
	}
	entry := &memoEntry{lives: []*life{l}}
	m.entries[key] = entry
	m.order = append(m.order, key)
	return entry
}

func (m *Memo) forget(key memoKey, entry *memoEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[key] == entry {
		delete(m.entries, key)
	}
}

// remains returns what a result leaves in a store, by make where nobody has made
// it yet. A nil Memo makes it always.
func (m *Memo) remains(result *ledger.Result, make func() *history.Remains) *history.Remains {
	if m == nil {
		return make()
	}
	entry := m.leftBy(result)
	entry.once.Do(func() { entry.left = make() })
	return entry.left
}

func (m *Memo) leftBy(result *ledger.Result) *leftEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry := m.left[result]; entry != nil {
		return entry
	}
	if len(m.leaving) >= memoResults {
		delete(m.left, m.leaving[0])
		m.leaving = m.leaving[1:]
	}
	entry := &leftEntry{}
	m.left[result] = entry
	m.leaving = append(m.leaving, result)
	return entry
}
