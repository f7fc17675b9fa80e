package validators

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Divergence is that this validator executes a block otherwise than n - f voters did: its
// Python, or its machine, gives another result. The validator blames itself.
//
// Spec: decision C2.
type Divergence struct {
	Height types.Height
	Block  types.Hash
	Items  string // of the block, each with its outcome here
	Here   string // the Python that runs programs here; "": unknown
	There  string // those of the others, in words; "": they said none
	What   string // which field of the header differs, as the code of a refusal
}

// maxShown bounds the items that a divergence names.
const maxShown = 4

func (d *Divergence) String() string {
	here := ""
	if d.Here != "" {
		here = ", with Python " + d.Here
		if d.There != "" {
			here += " here and " + d.There + " there"
		}
	}
	return fmt.Sprintf("it executes block %d otherwise than the others (%s)%s: %s; "+
		"its reads stay at height %d until it starts with another Python",
		d.Height, d.What, here, cmp.Or(d.Items, "nothing was executed"), d.Height-1)
}

// executeAgain executes a block again, on a fresh host, if n - f voters agree on it and err says
// that its result differs here. If the result still differs this validator has diverged,
// and told is true.
func (e *execution) executeAgain(parent *ledger.State, block *types.Block, err error) (result *ledger.Result, told bool, again error) {
	var invalid *ledger.Invalid
	if !errors.As(err, &invalid) || !invalid.OfExecution(block) {
		return nil, false, err
	}
	e.v.log.Warn("a block with a quorum ends otherwise here, and is executed again", "height", block.Header.Height, "error", err)
	result, err = e.executor.Apply(parent, block)
	e.onchain.pool.EndRound(idleBlocks)
	if err == nil || !errors.As(err, &invalid) || !invalid.OfExecution(block) {
		return result, false, err
	}
	e.endForDivergence(block, invalid)
	return nil, true, err
}

// endForDivergence ends this validator's part in the consensus, and says why.
func (e *execution) endForDivergence(block *types.Block, invalid *ledger.Invalid) {
	if e.v.diverged.Load() != nil {
		return
	}
	d := &Divergence{Height: block.Header.Height, Block: block.Hash(), Items: shownItems(invalid.Own), Here: e.v.config.Python,
		There: e.v.pythons.listVersions(), What: invalid.Code}
	e.v.diverged.Store(d)
	e.v.replay.end()
	e.v.trouble.noteTrouble(e.v.node.Clock.Now(), d.String())
	e.v.log.Error("this validator executes otherwise than the others: it neither proposes nor votes from now on (C2)",
		"height", d.Height, "block", d.Block, "items", d.Items, "python", d.Here, "others", d.There, "differs", invalid)
	e.v.consensus.Post(asSimplexEvent(simplex.Abstain{}))
}

// shownItems says what the first items of a block ended with here.
func shownItems(own []types.Receipt) string {
	text := ""
	for i := range own {
		if i == maxShown {
			return text + fmt.Sprintf(" and %d more", len(own)-i)
		}
		if i > 0 {
			text += ", "
		}
		ended := string(own[i].Status)
		if own[i].Error != nil {
			ended += " " + own[i].Error.Code
		}
		text += fmt.Sprintf("%s %.10s ends here as %s after %d cycles", own[i].Origin, own[i].Hash.String(), ended, own[i].Cycles)
	}
	return text
}

// ownProposal is a block of this validator's own.
type ownProposal struct {
	hash, parent types.Hash
	height       types.Height
	items        []types.Hash
}

// itemsOf are the transactions, fires and messages that a block executed.
func itemsOf(result *ledger.Result) []types.Hash {
	items := make([]types.Hash, len(result.Receipts))
	for i := range result.Receipts {
		items[i] = result.Receipts[i].Hash
	}
	return items
}

// judgeOwnProposals notes the outcome of this validator's newest block, when consensus asks for
// the next on a parent. A block without a quorum may have an item that half of the
// validators execute otherwise. An item that is disputed leaves the pool.
//
// Spec: decision C2.
func (e *execution) judgeOwnProposals(on types.Hash, parent *ledger.State) {
	was := e.proposed
	if was == nil {
		return
	}
	if e.descendsFrom(on, was) {
		e.noteQuorum()
		return
	}
	e.proposed = nil
	item, is := e.tries.Refused(was.items, on == was.parent)
	if !is {
		return
	}
	words := fmt.Sprintf("disputed: blocks with %s alone find no quorum, since validators execute it otherwise; "+
		"it is left out, uncharged", item)
	e.v.trouble.noteTrouble(e.v.node.Clock.Now(), words)
	e.v.log.Warn("an item is disputed, and left out of blocks of this validator (C2)", "item", item, "height", parent.Height()+1)
	e.dropTransaction(item, errors.New(words))
}

// noteQuorum notes that its newest block found a quorum.
func (e *execution) noteQuorum() {
	e.tries.Accepted()
	e.proposed = nil
}

// descendsFrom reports whether a block, on which others agree, is a proposed one or was built on it.
func (e *execution) descendsFrom(hash types.Hash, was *ownProposal) bool {
	for hash != was.hash {
		result := e.results[hash]
		if result == nil || result.Block.Header.Height <= was.height {
			return false
		}
		hash = result.Block.Header.Parent
	}
	return true
}
