// Package attest is the presence of runners and nothing else: subsets, votes' bitmaps and thresholds by the rules of
// runners/selection, without links, blocks and a ledger. Which vote is carried, lost or false is drawn.
package attest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/draw"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Fault is what the faulty validators do, as many as the set tolerates.
type Fault string

// The faults.
const (
	NoFault Fault = "none"
	Liars   Fault = "liars"  // they attest runners that nobody is connected with
	Hiders  Fault = "hiders" // they attest nobody
)

// Limits of a world.
const (
	MaxValidators = 1000
	MaxRunners    = 10_000
	MaxBlocks     = 1_000_000
)

// Config describes a world. Half of the runners, the first, are connected with all validators of their subsets, and the
// others with none.
type Config struct {
	Seed         uint64
	Params       params.Overrides
	Validators   int
	Runners      int
	Blocks       int
	LostPermille uint64 // how many of a thousand votes of an honest validator lack the bit of a runner that it sees
	Fault        Fault
	QuorumOnly   bool // a block carries n - f of the votes, drawn anew for each; otherwise all
}

// Counts are the bits of all blocks.
type Counts struct {
	Shown, Present   uint64 // of runners that are connected: all, and set
	Absent, Invented uint64 // of runners that are not: all, and set
	SubsetSize       int    // links of a runner
	VoteBytes        int    // that the votes of a block hold
	Digest           types.Hash
}

// Play makes the blocks.
func Play(c Config) (Counts, error) {
	if err := c.check(); err != nil {
		return Counts{}, err
	}
	w, err := newWorld(&c)
	if err != nil {
		return Counts{}, err
	}
	for range c.Blocks {
		w.makeBlock()
	}
	return w.counts, nil
}

func (c *Config) check() error {
	switch {
	case c.Validators < 1 || c.Validators > MaxValidators:
		return fmt.Errorf("validators are 1 to %d; got %d", MaxValidators, c.Validators)
	case c.Runners < 2 || c.Runners > MaxRunners:
		return fmt.Errorf("runners are 2 to %d; got %d", MaxRunners, c.Runners)
	case c.Blocks < 1 || c.Blocks > MaxBlocks:
		return fmt.Errorf("blocks are 1 to %d; got %d", MaxBlocks, c.Blocks)
	case c.LostPermille > 1000:
		return fmt.Errorf("lost_permille is at most 1000; got %d", c.LostPermille)
	case !slices.Contains([]Fault{NoFault, Liars, Hiders}, c.Fault):
		return fmt.Errorf("fault is none, liars or hiders; got %q", string(c.Fault))
	}
	return nil
}

// world is a play under way.
type world struct {
	*Config
	rule      selection.Rule
	threshold int
	carried   int
	sees      [][]int // of each connected runner the validators of its subset
	isFaulty  []bool
	draws     *draw.Stream
	counts    Counts
}

func newWorld(c *Config) (*world, error) {
	p := params.Defaults()
	if err := p.Apply(c.Params); err != nil {
		return nil, err
	}
	a := selection.Assignment{Constants: selection.ConstantsOf(&p)}
	for i := range c.Validators {
		key := crypto.DeriveKey(c.Seed, fmt.Sprint("validator/", i))
		a.Members = append(a.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	slices.SortFunc(a.Members, func(x, y types.Validator) int { return x.Address.Compare(y.Address) })
	faulty := (c.Validators - 1) / 3
	w := &world{Config: c, rule: a.Constants.Rule, carried: c.Validators, isFaulty: make([]bool, c.Validators),
		draws: draw.New(c.Seed, "attest")}
	if c.QuorumOnly {
		w.carried -= faulty
	}
	if c.Fault != NoFault {
		for _, i := range draw.New(c.Seed, "attest/faulty").Permutation(c.Validators)[:faulty] {
			w.isFaulty[i] = true
		}
	}
	w.threshold = w.rule.Threshold(selection.Electorate{Votes: w.carried, Validators: c.Validators, SubsetSize: a.SubsetSize()})
	for i := range c.Runners / 2 {
		w.sees = append(w.sees, a.Subset(crypto.DeriveKey(c.Seed, fmt.Sprint("runner/", i)).PublicKey()))
	}
	w.counts.SubsetSize = a.SubsetSize()
	return w, nil
}

// makeBlock has each validator vote, carries some of the votes, and counts what they make of the runners.
func (w *world) makeBlock() {
	votes := make([]*selection.Bitmap, w.Validators)
	for i := range votes {
		votes[i] = selection.NewBitmap(w.Runners)
	}
	for runner, subset := range w.sees {
		for _, i := range subset {
			isSeen := w.LostPermille == 0 || !w.draws.Bernoulli(draw.Ratio{Num: w.LostPermille, Den: 1000})
			votes[i].Set(runner, isSeen && !(w.isFaulty[i] && w.Fault == Hiders))
		}
	}
	if w.Fault == Liars {
		for i := range votes {
			for runner := len(w.sees); w.isFaulty[i] && runner < w.Runners; runner++ {
				votes[i].Set(runner, true)
			}
		}
	}
	w.countBits(selection.Presence(w.carryVotes(votes), w.Runners, w.threshold))
}

// carryVotes draws the votes that the block carries.
func (w *world) carryVotes(votes []*selection.Bitmap) (carried []*selection.Bitmap) {
	if w.carried == len(votes) {
		carried = votes
	} else {
		for _, i := range w.draws.Permutation(len(votes))[:w.carried] {
			carried = append(carried, votes[i])
		}
	}
	w.counts.VoteBytes = 0
	for _, vote := range carried {
		w.counts.VoteBytes += len(vote.Bytes())
	}
	return carried
}

// countBits counts who is present, and adds the bits to the digest.
func (w *world) countBits(present *selection.Bitmap) {
	for runner := range w.Runners {
		set := uint64(0)
		if present.Has(runner) {
			set = 1
		}
		if runner < len(w.sees) {
			w.counts.Shown, w.counts.Present = w.counts.Shown+1, w.counts.Present+set
		} else {
			w.counts.Absent, w.counts.Invented = w.counts.Absent+1, w.counts.Invented+set
		}
	}
	counted := binary.BigEndian.AppendUint64(nil, w.counts.Shown)
	w.counts.Digest = types.Keccak(w.counts.Digest[:], counted, present.Bytes())
}
