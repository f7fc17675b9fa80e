package validators

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of a Memo.
const (
	// memoResults bounds results, and what they leave in stores: more blocks than the
	// validators of one process are ever apart by in normal running.
	memoResults = 64
	// memoFrames and memoFrameBytes bound the frames whose reading is kept: more than
	// a hundred validators of one process broadcast in three views. All of them have read
	// a frame within one.
	memoFrames     = 1024
	memoFrameBytes = 16 << 20 // of all of them
	// memoSets bounds the validator sets: those of this epoch and the next, and of
	// validators that are behind.
	memoSets = 4
	// memoGeneses bounds the geneses; validators of one process mostly have one.
	memoGeneses = 4
)

// Memo shares between the validators of one process what is pure: the results of
// executing blocks and what they leave in a store, what a frame says, the sets, and
// what a genesis makes. One of them does it for all. It is safe for concurrent use.
// The zero Memo remembers nothing.
type Memo struct {
	results *memo.Once[memoKey, verdict]
	bodies  *memo.Once[*types.Block, types.Hash]
	writes  *memo.Once[*ledger.Result, *history.BlockWrites]
	frames  *memo.Once[string, decodeResult]
	slices  *memo.Once[slice, decodeResult] // frames, if one slice reaches many; otherwise nil
	asSent  bool                            // senders put into slices what they encode
	sets    *memo.Once[types.Hash, simplex.Sets]
	geneses *memo.Once[*ledger.Genesis, genesisResult]

	checking sync.Mutex // guards what readings were checked by
}

// NewMemo returns an empty memo.
func NewMemo() *Memo {
	return &Memo{
		results: memo.New[memoKey, verdict](memo.Bound{Count: memoResults}, nil),
		bodies:  memo.New[*types.Block, types.Hash](memo.Bound{Count: memoResults}, nil),
		writes:  memo.New[*ledger.Result, *history.BlockWrites](memo.Bound{Count: memoResults}, nil),
		frames: memo.New[string, decodeResult](memo.Bound{Count: memoFrames, Weight: memoFrameBytes},
			func(frame string) int { return len(frame) }),
		sets:    memo.New[types.Hash, simplex.Sets](memo.Bound{Count: memoSets}, nil),
		geneses: memo.New[*ledger.Genesis, genesisResult](memo.Bound{Count: memoGeneses}, nil),
	}
}

// SameSlices declares that a frame reaches all its receivers as one slice, which then
// identifies it. Certificates of a crowd are a hundred KiB, and comparing them would take
// longer than all other work on them. It returns m.
func (m *Memo) SameSlices() *Memo {
	m.slices = memo.New[slice, decodeResult](memo.Bound{Count: memoFrames, Weight: memoFrameBytes}, func(s slice) int { return s.length })
	return m
}

// AsSent has receivers take what a sender of the process encoded, if its slice reaches them. A frame that
// something changed on its way is another slice, and decoded. Faults of encoding stay unseen,
// so whoever declares it leaves some runs without. It needs SameSlices, and returns m.
func (m *Memo) AsSent() *Memo {
	m.asSent = true
	return m
}

// life is one run of a validator, from Start to its stop or crash. A Memo forgets
// entries known only to lives that are over, as the memory of a process ends with
// it. A validator that boots after a crash finds what others know, and not the
// results of only its own past life.
type life = memo.Life

// endLife takes a life from all results, and forgets those that no other life has.
func (m *Memo) endLife(l *life) { m.results.End(l) }

// memoKey names what was executed: a state and a whole block. The block's hash
// covers only its header, so bodies are distinguished by all their bytes.
type memoKey struct{ parentRoot, block types.Hash }

// keyOf hashes a block's bytes once: validators that read one frame have one block,
// which is never changed.
func (m *Memo) keyOf(parentRoot types.Hash, block *types.Block) memoKey {
	return memoKey{parentRoot, m.bodies.Do(nil, block, func() (types.Hash, bool) { return types.Keccak(codec.Marshal(block)), true })}
}

// verdict is what executing a block gave.
type verdict struct {
	result *ledger.Result
	err    error
}

// applyOnce returns the result of a block on a state with the given root, using execute
// if no life has it yet. An error of the environment is not remembered: another
// validator's may be sound.
func (m *Memo) applyOnce(l *life, parentRoot types.Hash, block *types.Block, execute func() (*ledger.Result, error)) (*ledger.Result,
	error) {
	if m.results == nil {
		return execute()
	}
	v := m.results.Do(l, m.keyOf(parentRoot, block), func() (verdict, bool) {
		result, err := execute()
		return verdict{result, err}, err == nil || isInvalid(err)
	})
	return v.result, v.err
}

// putResult stores the result of a block for its proposer.
func (m *Memo) putResult(l *life, parentRoot types.Hash, result *ledger.Result) {
	if m.results != nil {
		m.results.Do(l, m.keyOf(parentRoot, result.Block), func() (verdict, bool) { return verdict{result: result}, true })
	}
}

// blockWrites returns the records of a result, using make if no life has made them
// yet.
func (m *Memo) blockWrites(result *ledger.Result, make func() *history.BlockWrites) *history.BlockWrites {
	return m.writes.Do(nil, result, func() (*history.BlockWrites, bool) { return make(), true })
}

// genesisResult is what a chain begins with, and what that leaves in a store.
type genesisResult struct {
	state  *ledger.State
	block  *types.Block
	writes []env.Write
	err    error
}

// MakeGenesis returns the state and the block that a genesis makes.
func (m *Memo) MakeGenesis(g *ledger.Genesis) (*ledger.State, *types.Block, error) {
	made := m.makeGenesis(g)
	return made.state, made.block, made.err
}

func (m *Memo) makeGenesis(g *ledger.Genesis) genesisResult {
	return m.geneses.Do(nil, g, func() (made genesisResult, keep bool) {
		if made.state, made.block, made.err = g.State(); made.err == nil {
			made.writes = history.GenesisWrites(made.state)
		}
		return made, true
	})
}

// shareSets returns the sets that another validator has, if they are equal, so that they
// are compared once per epoch and not once per message.
func (m *Memo) shareSets(sets simplex.Sets) simplex.Sets {
	if m.sets == nil {
		return sets
	}
	return m.sets.Do(nil, types.Keccak(codec.Marshal(sets)), func() (simplex.Sets, bool) { return sets, true })
}
