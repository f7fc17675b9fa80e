package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Strength of the presence rules (decision J9), shown by votes of the worst kind
// that go through Presence: one runner, n validators, some of them liars.

// electorate is a set of n validators under a rule: f, the subset of the runner,
// and the minimum number of votes that a block carries.
type electorate struct {
	rule             Rule
	n, f, k, carried int
}

func newElectorate(rule Rule, n int) electorate {
	c := written
	c.Rule = rule
	f := maxFaulty(n)
	return electorate{rule, n, f, c.SubsetSize(n), n - f}
}

// present returns the runner's presence if with of the carried votes have its bit.
func (e electorate) present(votes, with int) bool {
	bitmaps := make([]*Bitmap, votes)
	for i := range bitmaps {
		bitmaps[i] = NewBitmap(1)
		bitmaps[i].Set(0, i < with)
	}
	return Presence(bitmaps, 1, e.rule.Threshold(Electorate{Votes: votes, Validators: e.n, SubsetSize: e.k})).Has(0)
}

// inventors is the minimum number of liars that make a runner present that no
// honest validator ever saw. One of them may lead, and carries as few votes as it
// likes.
func (e electorate) inventors() int {
	for liars := 1; liars <= e.n; liars++ {
		for votes := e.carried; votes <= e.n; votes++ {
			if liars <= votes && e.present(votes, liars) {
				return liars
			}
		}
	}
	return e.n + 1
}

// hiders is the minimum number of liars that make a runner absent that is connected
// to its whole subset. They are in its subset, and the block lacks votes of the
// others in it. 0 means that no liar is needed: late votes are enough.
func (e electorate) hiders() int {
	for liars := 0; liars <= e.n; liars++ {
		for votes := e.carried; votes <= e.n; votes++ {
			if !e.present(votes, max(e.k-liars-(e.n-votes), 0)) {
				return liars
			}
		}
	}
	return e.n + 1
}

// dead reports whether a runner that is connected to its whole subset is absent
// whichever votes the block carries.
func (e electorate) dead() bool {
	for votes := e.carried; votes <= e.n; votes++ {
		if e.present(votes, min(e.k, votes)) {
			return false
		}
	}
	return true
}

// deadWithAll is the same of a block that carries every vote.
func (e electorate) deadWithAll() bool { return !e.present(e.n, e.k) }

// holds reports whether f liars can neither invent nor hide a runner.
func (e electorate) holds() bool { return e.inventors() > e.f && e.hiders() > e.f }

// upToHundred lists the sizes of sets from 1 to 100 at which something holds.
func upToHundred(rule Rule, holds func(electorate) bool) (sizes []int) {
	for n := 1; n <= 100; n++ {
		if holds(newElectorate(rule, n)) {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func TestFindingAsWrittenOneLiarOfFourInventsARunner(t *testing.T) {
	if e := newElectorate(Quorum, 4); e.inventors() != 1 || e.f != 1 {
		t.Errorf("%d liars of 4 are needed, and %d are tolerated", e.inventors(), e.f)
	}
}

func TestFindingAsWrittenRunnersFlickerWithoutFaultsFromTenValidatorsOn(t *testing.T) {
	if got := upToHundred(Quorum, func(e electorate) bool { return e.hiders() == 0 }); !slices.Equal(got, span(10, 100)) {
		t.Errorf("they flicker at %v", got)
	}
}

func TestFindingAsWrittenNobodyIsPresentFrom27ValidatorsOn(t *testing.T) {
	if got := upToHundred(Quorum, electorate.dead); !slices.Equal(got, span(27, 100)) {
		t.Errorf("no runner is present at %v", got)
	}
	if got := upToHundred(Quorum, electorate.deadWithAll); !slices.Equal(got, append([]int{16}, span(19, 100)...)) {
		t.Errorf("with all votes carried, no runner is present at %v", got)
	}
}

// With the spec's k no threshold at all resists both, whatever its base: it would
// have to exceed f, and to be met by the rest of a subset after f liars and f
// omitted votes.
func TestFindingNoThresholdResistsInventionAndHidingWithTheSubsetsOfTheDraft(t *testing.T) {
	var possible []int
	for n := 1; n <= 100; n++ {
		if f, k := maxFaulty(n), written.SubsetSize(n); k-f-f >= f+1 {
			possible = append(possible, n)
		}
	}
	if !slices.Equal(possible, []int{1, 2, 3, 5, 6}) {
		t.Errorf("some threshold resists both at %v", possible)
	}
	for _, rule := range []Rule{Quorum, ValidatorSet, Subset} {
		for _, n := range upToHundred(rule, electorate.holds) {
			if !slices.Contains(possible, n) {
				t.Errorf("%s resists both at %d", rule, n)
			}
		}
	}
}

func TestFindingSafeResistsBothAtEverySize(t *testing.T) {
	if got := upToHundred(Safe, electorate.holds); !slices.Equal(got, span(1, 100)) {
		t.Errorf("it does at %v", got)
	}
}

// Between rotations the set may have changed by the churn threshold, while the
// subsets belong to the set before: then even Safe does not keep f liars from
// hiding a runner.
func TestFindingSafeBearsLessUntilTheNextRotation(t *testing.T) {
	e := newElectorate(Safe, 22)
	e.k = newElectorate(Safe, 20).k // two joined, a tenth of twenty: no rotation
	r := Rotation{Current: Assignment{Members: validatorsOf(upTo(20)...), Constants: Constants{MinSubset: 3, MaxSubset: 8, Rule: Safe}}}
	m := Moment{Height: 64, BeginsEpoch: true, Members: validatorsOf(upTo(22)...), Constants: r.Current.Constants}
	if cause := r.Due(m, pace); cause != NotDue {
		t.Fatalf("the subsets rotate: %s", cause)
	}
	if e.f != 7 || e.hiders() != 5 || e.inventors() != 8 {
		t.Errorf("f is %d, %d liars hide and %d invent a runner", e.f, e.hiders(), e.inventors())
	}
}

// The submitter knows the parent's hash, as everybody does, and job and height are
// its own to choose: it draws in its head until the runner it wants comes out, and
// submits that job. The varied input here is the submitting account, of which a
// submitter may have any number.
func TestFindingASubmitterChoosesItsRunner(t *testing.T) {
	parent, candidates := types.Keccak([]byte("parent")), candidatesOf(5, 5, 5, 5, 5, 5, 5, 5, 5, 5)
	for _, wanted := range candidates {
		tries := 0
		for chosen := (types.Address{}); chosen != wanted.Address; tries++ {
			if tries == 200 {
				t.Fatalf("%s is never drawn", wanted.Address)
			}
			job := types.Keccak(fmt.Append(nil, "account ", tries)) // stands for the id of its first job
			committee, _ := Draw(Seed(parent, job, 100), candidates, 1, Favour{})
			chosen = committee[0]
		}
		if tries > 100 {
			t.Errorf("%s, one of ten, took %d tries", wanted.Address, tries)
		}
	}
}

// Each vote counts: a validator without runners sets any bit it likes, for P does
// not check whether the runner belongs to it (CIP-11 §7.2(4) is not enforced).
func TestFindingAVoteCountsForRunnersOfOthers(t *testing.T) {
	a := Assignment{Members: validatorsOf(upTo(20)...), Constants: written}
	var votes []*Bitmap
	for i := range a.Members {
		vote := NewBitmap(1)
		vote.Set(0, !a.isInSubset(key(1000), a.Members[i].Address)) // all but its subset
		votes = append(votes, vote)
	}
	e := Electorate{Votes: len(votes), Validators: 20, SubsetSize: a.SubsetSize()}
	if !Presence(votes, 1, Quorum.Threshold(e)).Has(0) {
		t.Error("a runner is absent though all but its subset report it")
	}
}

// CIP-11 §3 names a Subset Slot, "used to load-balance reconnects", and no section uses it.
// The k places belong to the validators of a runner. The runners that lost one validator
// would return in k crowds by that slot (finding F75).
func TestFindingASubsetSlotSpreadsReconnectsOverKMomentsAlone(t *testing.T) {
	r := Rotation{Current: Assignment{Members: validatorsOf(upTo(50)...), Constants: written}}
	lost, k := r.Current.Members[0].Address, r.Current.SubsetSize()
	crowds, all := make([]int, k), 0
	for i := range 1000 {
		if slot, is := r.Turn(key(1000+i), lost, 0, Pace{}); is {
			crowds[slot]++
			all++
		}
	}
	for slot, n := range crowds {
		if n < all/k/2 {
			t.Errorf("of %d runners that lost a validator %d have the slot %d of %d", all, n, slot, k)
		}
	}
	if all < 1000*k/50/2 {
		t.Errorf("a validator of 50 has %d of 1,000 runners", all)
	}
}

func span(from, to int) (all []int) {
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all
}

// The transcript shows every size of the set under every rule.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "rules" {
				t.Fatalf("there is no command %q", d.Cmd)
			}
			return ruleTable()
		})
	})
}

// ruleTable has a line for each size of the set: k of the draft, and of each rule
// how many liars invent and hide a runner. A ! marks what f or fewer can do.
func ruleTable() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%3s %3s %3s  %-13s  %-13s  %-13s  %s", "n", "f", "k", Quorum, ValidatorSet, Subset, Safe)
	for n := 1; n <= 100; n++ {
		line := fmt.Sprintf("%3d %3d %3d", n, maxFaulty(n), written.SubsetSize(n))
		for _, rule := range []Rule{Quorum, ValidatorSet, Subset, Safe} {
			line += fmt.Sprintf("  %-13s", newElectorate(rule, n))
		}
		out.WriteString("\n" + strings.TrimRight(line, " "))
	}
	return out.String() + "\n"
}

func (e electorate) String() string {
	if e.dead() {
		return "dead !"
	}
	mark := " !"
	if e.holds() {
		mark = ""
	}
	return fmt.Sprintf("%d, %d%s", e.inventors(), e.hiders(), mark)
}
