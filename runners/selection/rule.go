package selection

import (
	"fmt"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/params"
)

// Rule is the parameter cip11.presence_rule: how many votes make a runner
// present, and how many validators it belongs to (decision J9).
type Rule string

// The four rules. Only Safe resists both who invents runners and who hides them
// at every size of the set; findings_test.go shows where the others fail.
const (
	Quorum       Rule = "quorum"        // as CIP-11 §8.2 writes it, of the votes carried
	ValidatorSet Rule = "validator-set" // f + 1 of the whole set
	Subset       Rule = "subset"        // f + 1 of a subset
	Safe         Rule = "safe"          // f + 1 of the whole set, and subsets of 3f + 1
)

// Electorate is what a threshold is counted from.
type Electorate struct {
	Votes      int // carried of the block: m
	Validators int // in the set that votes on it: n
	SubsetSize int // of the assignment in force: k
}

// Threshold returns how many of the votes carried must have a runner's bit for
// it to be present, at least 1. It may exceed the number of votes: then no runner
// is present. It panics for an invalid rule, which no parameter can be.
//
// Spec: CIP-11 §8.2, decision J9. Vectors: fixtures/vectors/cip11/8.2-thresholds.json.
func (r Rule) Threshold(e Electorate) int {
	switch r {
	case Quorum:
		return maxFaulty(e.Votes) + 1
	case ValidatorSet, Safe:
		return maxFaulty(e.Validators) + 1
	case Subset:
		return maxFaulty(e.SubsetSize) + 1
	}
	panic(fmt.Sprintf("selection: there is no presence rule %q", string(r)))
}

// maxFaulty is f = floor((n-1)/3), and 0 of none.
func maxFaulty(n int) int { return max(n-1, 0) / 3 }

// Constants are what subsets depend on besides the validators.
type Constants struct {
	_         struct{} `cbor:",toarray"`
	MinSubset uint64   // the parameter cip11.min_subset, at least 1
	MaxSubset uint64   // the parameter cip11.max_subset, at least MinSubset
	Rule      Rule
}

// ConstantsOf returns the constants of parameters.
func ConstantsOf(p *params.Params) Constants {
	return Constants{MinSubset: p.MinSubset, MaxSubset: p.MaxSubset, Rule: Rule(p.PresenceRule)}
}

// SubsetSize returns k, the validators of one runner: the formula of CIP-11 §5.1,
// clamp(ceil(log2 n) + 1, MinSubset, MaxSubset), at most all n; under Safe 3f + 1.
// The examples of §5.1 contradict its formula at 9 and 10 validators (decision
// J10).
func (c Constants) SubsetSize(validators int) int {
	if validators <= 0 {
		return 0
	}
	if c.Rule == Safe {
		return 3*maxFaulty(validators) + 1
	}
	k := uint64(bits.Len64(uint64(validators-1))) + 1 // ceil(log2 n) + 1
	k = min(max(k, c.MinSubset), c.MaxSubset)
	return int(min(k, uint64(validators)))
}
