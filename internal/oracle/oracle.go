// Package oracle judges what validators finalized. It shares no code with them: it
// knows the chain's terms (package types, package codec), computes hashes itself,
// and counts, adds and orders in the simplest correct way.
//
// A Judge is fed an Observation for each block that each honest validator
// finalized, and votes as they are seen. Each checker is one file:
//
//	agreement     no two blocks at one height; every block's parent is the block before
//	certificates  n - f distinct valid signatures of the epoch's set, by an own count;
//	              no validator votes against itself
//	roots         equal roots at equal heights; the header's is that of a full re-hash
//	supply        genesis + minted - burned - removed = balances + escrows (decision C15);
//	              what was minted and removed is what balances were set by (G2)
//	fees          each receipt to the wei; what is burned is what was paid less tips
//	basefees      every base fee follows from the block before (decisions C14, T12)
//	lane          budgets, order, weights and caps of the timer lane
//	passing       what a block passed over, who says so, and what ends by it (C18)
//	timers        each ends once, never early (decisions T1, T4, T20, T26)
//	leader        who proposes, in views that rise, in the epoch of the height (C1, C6)
//	nonces        each signer's rise by one, so that no transaction comes twice
//	accounts      who paid and who was paid, by address, after every block; deliveries
//	              at the price they were prepaid at (C14, C16, T2, T13)
//	upgrades      who gave an actor new code, from which, when; which code each has (C25)
//	nextset       the set that follows, counted from the instructions (C6)
//	durable       what a boot begins with was committed, and all that was; a vote that
//	              leaves is in the log (C5)
//	jobs          each ends once, at its height, drawn and judged again here; what it
//	              escrows and pays, to the wei; who calls back; runners' standing
//	presence      P by the rule from the votes that a block carries, the subset epochs;
//	              nobody present without a real connection (J9)
//
// Facts of the whole chain (supply and its consequences) are judged once per
// height, in the order of the chain, on the first observation of that height; that
// the others are equal is agreement.
package oracle

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxViolations bounds a Judge's violations per oracle: the first ones are enough,
// and an oracle with many hides no other.
const MaxViolations = 100

// maxSound bounds the certificates that are known by their place in memory: those of
// a few heights, of all validators that share them.
const maxSound = 16

// Observation is one block as one validator finalized it.
type Observation struct {
	Validator    types.Address
	Block        *types.Block
	Hash         types.Hash // by which the validator knows the block
	StateRoot    types.Hash // of the state it holds after the block
	Receipts     []types.Receipt
	Timers       []types.TimerChange // in the order they happened
	Finalization *types.Certificate  // of this block, or nil where a later one finalized it
	NextSet      *types.ValidatorSet // of the next epoch, in the last block of each
	Lane         LaneRules           // the parameters in force in it
	State        []Entry             // all of the state, at sampled heights; otherwise nil
	Money        *Money              // at sampled heights; otherwise nil
	Accounts     []Account           // that the block wrote, as they are after it
	Sent         []Sent              // messages that it put into the queue
	Jobs         JobRules            // the parameters in force in it
	Events       []types.Event       // the chain's own, of no receipt
	Runners      []Runner            // that the block wrote, as they are after it
	Specs        []Spec              // of jobs that it left open and the block before did not
}

// Entry is one key of state.
type Entry struct{ Key, Value []byte }

// Money is all the money there is after a block, in wei.
type Money struct {
	Minted   types.Wei // by balances that were set
	Removed  types.Wei // by balances that were set
	Burned   types.Wei // since genesis
	Balances []types.Wei
	Escrows  []types.Wei // of messages, jobs
	Bids     types.Wei   // among the balances: what is locked for bids of timers
}

// Rules are the rules and the initial state of a chain.
type Rules struct {
	ChainID  uint64
	Genesis  *types.Block       // the block of height 0
	Set      types.ValidatorSet // of epoch 0
	Supply   types.Wei          // the sum of all balances at genesis
	FreeFees bool               // fees = free (decision T2): fires under fifo cost nothing
	Lane     LaneRules          // the parameters in force at genesis
	// Accounts lists the accounts of genesis. Nil: nonces and accounts are not
	// judged.
	Accounts    []Account
	Upgrades    bool          // actors may be upgraded
	Messages    bool          // the receipts' root has the messages of errors (decision C20)
	EpochBlocks uint64        // of an epoch; 0: epochs are not judged
	SystemKey   types.Address // whose instructions count
	Hears       bool          // Proposed is called for every proposal that leaves its proposer
	Jobs        JobRules      // the parameters in force at genesis
	// Runners lists the runners of genesis. Nil: jobs and presence are not judged.
	Runners  []Runner
	Connects bool // Connected is called for every connection of a runner, Disconnected for its end
	// AddressOf returns the address of a public key. Nil: sets are not judged.
	AddressOf func(types.PublicKey) (types.Address, bool)
	// Recover returns who signed a digest.
	Recover func(types.Hash, types.Signature) (types.Address, bool)
}

// Violation is a rule that was broken.
type Violation struct {
	Oracle    string
	Height    types.Height
	Validator types.Address // zero unless it concerns one validator
	Detail    string
}

func (v Violation) Error() string {
	who := ""
	if !v.Validator.IsZero() {
		who = " (" + v.Validator.String() + ")"
	}
	return fmt.Sprintf("oracle %s: height %d%s: %s", v.Oracle, v.Height, who, v.Detail)
}

// Judge judges one chain.
type Judge struct {
	rules      Rules
	chain      map[types.Height]*firstObservation // the final blocks, by height
	children   map[types.Hash][]types.Height      // finalized heights by parent
	sets       map[types.Epoch]types.ValidatorSet
	inForce    map[types.Epoch]*types.ValidatorSet // what setOf found
	tip        types.Height                        // up to where the chain was judged in order
	tipHash    types.Hash
	votes      votes
	sound      [maxSound]*types.Certificate // some that hold enough votes and no wrong one
	supply     supply
	timers     timers
	sponsors   sponsors
	blamed     blames
	turns      turns
	window     window
	before     feesBefore
	books      books
	programs   programs
	turnover   turnover
	work       *work
	attendance presences
	durable    durable
	proposed   map[types.Hash]bool // blocks that their proposers sent
	parent     *types.Header       // of the block that is judged next
	violations []Violation
	reported   map[string]int // violations by oracle; looked up only
	seen       Counts
	rehashed   lastRehash
}

// firstObservation is the first observation of a height.
type firstObservation struct {
	first Observation
	money *Money
	codes map[types.Address]types.Hash // of all actors, at sampled heights; otherwise nil
}

// Counts says how much was judged, so that a test can tell an oracle that found
// nothing from one that looked at nothing.
type Counts struct {
	Observations, Heights, Certificates, Signatures, Rehashed, Summed, Receipts, Votes int
	Scheduled, Deferred, Ended, Fired, Expired, Insufficient, Cancelled                int // timers
	Triggered, Lanes, Weights, Asked, BaseFees                                         int
	Passed, HostFailed                                                                 int // by name; of them at their end
	Upgrades                                                                           int // announced or applied, and terms
	Leaders, Nonces, Accounts, Deliveries, Sets, Boots, Persisted                      int
	Jobs, JobsEnded, Draws, Turns, Presences, Present                                  int // P, and the bits set in them
}

// Of returns how much each oracle has judged, by its name.
func (c Counts) Of() map[string]int {
	return map[string]int{"agreement": c.Heights, "certificates": c.Certificates, "roots": c.Rehashed, "supply": c.Summed,
		"fees": c.Receipts, "basefees": c.BaseFees, "lane": c.Lanes, "passing": c.Heights, "timers": c.Scheduled, "leader": c.Leaders,
		"nonces": c.Nonces, "accounts": c.Accounts, "nextset": c.Heights, "durable": c.Boots + c.Persisted, "jobs": c.Jobs,
		"upgrades": c.Heights, "presence": c.Presences, "turns": c.Turns}
}

// New returns a judge of a chain whose genesis has these rules.
func New(rules Rules) *Judge {
	j := &Judge{
		rules:    rules,
		chain:    make(map[types.Height]*firstObservation),
		children: make(map[types.Hash][]types.Height),
		sets:     map[types.Epoch]types.ValidatorSet{0: rules.Set},
		inForce:  map[types.Epoch]*types.ValidatorSet{},
		tipHash:  hashHeader(&rules.Genesis.Header),
		votes:    newVotes(),
		timers:   newTimers(),
		sponsors: sponsors{},
		blamed:   newBlames(),
		turns:    newTurns(),
		before:   feesBefore{header: &rules.Genesis.Header, lane: rules.Lane},
		books:    newBooks(rules.Accounts),
		programs: programs{},
		turnover: newTurnover(rules.Set),
		durable:  newDurable(),
		proposed: map[types.Hash]bool{},
		reported: map[string]int{},
		parent:   &rules.Genesis.Header,
	}
	j.attendance, j.work = newPresences(&rules), newWork(j)
	return j
}

// Observe judges one block of one validator. Blocks of a validator come in the
// order in which it finalized them; one that restarted may begin again.
func (j *Judge) Observe(o Observation) {
	j.seen.Observations++
	if o.Block == nil {
		j.reportViolation("agreement", 0, o.Validator, "an observation without a block")
		return
	}
	h := o.Block.Header.Height
	j.judgeAgreement(&o)
	j.judgeCertificates(&o)
	j.judgeStateRoot(&o)
	known := j.chain[h]
	if known == nil {
		known = &firstObservation{first: o}
		j.chain[h] = known
		parent := o.Block.Header.Parent
		j.children[parent] = append(j.children[parent], h)
		if o.State != nil {
			known.codes = codesIn(o.State)
		}
		known.first.State = nil // judged already, and large
	}
	if o.Money != nil && known.money == nil {
		known.money = o.Money
		if h <= j.tip {
			j.judgeSupply(h, o.Money)
		}
	}
	j.judgeKnownBlocks()
}

// judgeKnownBlocks judges what follows in the chain, as far as it is known.
func (j *Judge) judgeKnownBlocks() {
	for {
		heights := j.children[j.tipHash]
		if len(heights) == 0 {
			return
		}
		next := j.chain[heights[0]]
		j.tip, j.tipHash = heights[0], next.first.Hash
		j.seen.Heights++
		j.judgeLeader(&next.first, j.parent)
		j.parent = &next.first.Block.Header
		if j.rules.Runners != nil {
			j.work.judgeRunnersAndJobs(&next.first)
		}
		if j.rules.Accounts != nil {
			j.judgeAccounts(&next.first)
		}
		if j.judgeUpgrades(&next.first); next.codes != nil {
			j.compareCodes(j.tip, next.codes)
		}
		if j.rules.AddressOf != nil {
			j.judgeNextSet(&next.first)
		}
		j.baseFees(&next.first)
		j.judgeFees(&next.first)
		j.judgeLane(&next.first)
		j.judgePassing(&next.first)
		j.judgeTimerChanges(&next.first)
		if next.money != nil {
			j.judgeSupply(j.tip, next.money)
		}
	}
}

// Violations are the rules that were broken so far, at most MaxViolations of each oracle.
func (j *Judge) Violations() []Violation { return j.violations }

// Err is the first violation, or nil.
func (j *Judge) Err() error {
	if len(j.violations) == 0 {
		return nil
	}
	return j.violations[0]
}

// Counts says how much was judged.
func (j *Judge) Counts() Counts { return j.seen }

// Tip is the height up to which the chain was seen without a gap.
func (j *Judge) Tip() types.Height { return j.tip }

func (j *Judge) reportViolation(oracle string, h types.Height, who types.Address, format string, args ...any) {
	if j.reported[oracle]++; j.reported[oracle] <= MaxViolations {
		j.violations = append(j.violations, Violation{oracle, h, who, fmt.Sprintf(format, args...)})
	}
}
