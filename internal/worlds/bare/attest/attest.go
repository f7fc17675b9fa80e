// Package attest is the presence of runners and nothing else: subsets, votes' bitmaps and thresholds by the rules of
// runners/selection, without links, blocks and a ledger. Which vote is carried, lost or false is drawn.
package attest

import (
	"encoding/binary"
	"errors"
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
	// Latencies are those of links within a region, to the next region of a line of regions, and so on, in milliseconds.
	// There are as many regions, with nodes in turn. nil: one region.
	Latencies []uint64
	// Sizes are how many validators stand in each region; nil: as many as can be alike.
	Sizes []uint64
	// IsAware says that a subset without a validator of its runner's region has one of these in place of its last: a rule that
	// CIP-11 §16 asks about, and that no chain here has.
	IsAware bool
}

// Counts are the bits of all blocks.
type Counts struct {
	Shown, Present   uint64 // of runners that are connected: all, and set
	Absent, Invented uint64 // of runners that are not: all, and set
	SubsetSize       int    // links of a runner
	VoteBytes        int    // that the votes of a block hold
	Foreign          int    // runners that are connected and have no validator of their subset in their region
	FirstPush        uint64 // milliseconds from the first validator of a subset to its runner, the sum of those connected
	WorstPush        uint64 // the longest of these
	BusiestLinks     int    // runners connected with the validator that has most of them
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
	case len(c.Latencies) > c.Validators:
		return fmt.Errorf("there are no more regions than validators, %d; got %d latencies", c.Validators, len(c.Latencies))
	case c.Sizes != nil && (len(c.Sizes) != len(c.Latencies) || slices.Contains(c.Sizes, 0) || sumOf(c.Sizes) != uint64(c.Validators)):
		return fmt.Errorf("sizes are of each region, at least 1, together %d validators; got %d", c.Validators, c.Sizes)
	case c.IsAware && len(c.Latencies) == 0:
		return errors.New("an aware subset needs regions, and there are no latencies")
	case !slices.IsSorted(c.Latencies):
		return fmt.Errorf("latencies rise with the distance; got %d", c.Latencies)
	case !slices.Contains([]Fault{NoFault, Liars, Hiders}, c.Fault):
		return fmt.Errorf("fault is none, liars or hiders; got %q", string(c.Fault))
	}
	return nil
}

func sumOf(numbers []uint64) (sum uint64) {
	for _, n := range numbers {
		sum += n
	}
	return sum
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
	regions := w.drawRegions()
	links := make([]int, c.Validators)
	for i := range c.Runners / 2 {
		subset := a.Subset(crypto.DeriveKey(c.Seed, fmt.Sprint("runner/", i)).PublicKey())
		if c.IsAware {
			subset = w.bringHome(i, subset, regions)
		}
		for _, one := range subset {
			links[one]++
		}
		w.sees = append(w.sees, subset)
		w.countPush(i, subset, regions)
	}
	w.counts.SubsetSize, w.counts.BusiestLinks = a.SubsetSize(), slices.Max(links)
	return w, nil
}

// drawRegions puts the validators into regions, in an order that no address tells.
func (w *world) drawRegions() []int {
	regions := make([]int, w.Validators)
	var places []int // a region for each validator
	for turn := range w.Validators {
		if w.Sizes == nil {
			places = append(places, turn%max(1, len(w.Latencies)))
		}
	}
	for region, size := range w.Sizes {
		places = append(places, slices.Repeat([]int{region}, int(size))...)
	}
	for turn, i := range draw.New(w.Seed, "attest/regions").Permutation(w.Validators) {
		regions[i] = places[turn]
	}
	return regions
}

// homeOf is the region of a runner.
func (w *world) homeOf(runner int) int { return runner % len(w.Latencies) }

// bringHome is a subset with a validator of its runner's region, in place of the last where there is none.
func (w *world) bringHome(runner int, subset, regions []int) []int {
	home := w.homeOf(runner)
	if slices.ContainsFunc(subset, func(i int) bool { return regions[i] == home }) {
		return subset
	}
	var near []int
	for i, region := range regions {
		if region == home {
			near = append(near, i)
		}
	}
	one := near[draw.New(w.Seed, fmt.Sprint("attest/near/", runner)).Below(uint64(len(near)))]
	return append(slices.Clone(subset[:len(subset)-1]), one)
}

// countPush counts how far a runner is from the nearest validator of its subset: who pushes a job to it first.
func (w *world) countPush(runner int, subset, regions []int) {
	if len(w.Latencies) == 0 {
		return
	}
	home, nearest := w.homeOf(runner), len(w.Latencies)-1
	for _, i := range subset {
		nearest = min(nearest, max(home-regions[i], regions[i]-home))
	}
	if nearest > 0 {
		w.counts.Foreign++
	}
	first := w.Latencies[nearest]
	w.counts.FirstPush, w.counts.WorstPush = w.counts.FirstPush+first, max(w.counts.WorstPush, first)
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
