package attest

import (
	"math/big"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
)

func play(t *testing.T, c Config) Counts {
	t.Helper()
	if c.Fault == "" {
		c.Fault = NoFault
	}
	counts, err := Play(c)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func ruled(rule string) params.Overrides { return params.Overrides{"cip11.presence_rule": rule} }

// chance is P(X ≥ least) where X of a draw of size without return have the mark that marked of all have.
func chance(all, marked, size, least int64) float64 {
	sum := new(big.Int)
	for x := max(least, 0); x <= min(marked, size); x++ {
		sum.Add(sum, new(big.Int).Mul(new(big.Int).Binomial(marked, x), new(big.Int).Binomial(all-marked, size-x)))
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Binomial(all, size)).Float64()
	return p
}

// Without faults, and with all votes carried, a runner is present where its subset is as large as the threshold: CIP-11 §8.2
// as written holds nobody from 27 validators on (finding F47).
func TestAllVotesShowWhoHasASubsetAsLargeAsTheThreshold(t *testing.T) {
	for _, c := range []struct {
		validators int
		rule       string
		present    uint64
	}{{4, "quorum", 1}, {10, "quorum", 1}, {16, "quorum", 0}, {31, "quorum", 0}, {31, "safe", 1}, {100, "safe", 1}, {31, "subset", 1}} {
		counts := play(t, Config{Seed: 1, Params: ruled(c.rule), Validators: c.validators, Runners: 10, Blocks: 20})
		if counts.Shown != 100 || counts.Present != 100*c.present || counts.Invented != 0 {
			t.Errorf("%d validators, %s: %+v", c.validators, c.rule, counts)
		}
	}
}

// With the votes of a quorum alone a runner is present as often as a draw without return holds enough of its subset.
func TestAQuorumsVotesAreADrawWithoutReturn(t *testing.T) {
	for _, c := range []struct{ validators, quorum, subset, threshold int64 }{{10, 7, 5, 3}, {13, 9, 5, 3}, {16, 11, 5, 4}} {
		counts := play(t, Config{Seed: 2, Params: ruled("quorum"), Validators: int(c.validators), Runners: 40, Blocks: 2000, QuorumOnly: true})
		if counts.SubsetSize != int(c.subset) {
			t.Fatalf("%d validators: a subset of %d", c.validators, counts.SubsetSize)
		}
		got, want := float64(counts.Present)/float64(counts.Shown), chance(c.validators, c.subset, c.quorum, c.threshold)
		if got < want-0.02 || got > want+0.02 {
			t.Errorf("%d validators: present %.3f, want %.3f", c.validators, got, want)
		}
	}
}

// Liars, as many as are tolerated, invent nobody under safe, and everybody under subset from 16 validators on (finding F48).
func TestWhoLiesInventsOnlyWhereTheThresholdIsOfLess(t *testing.T) {
	for rule, invented := range map[string]bool{"safe": false, "validator-set": false, "subset": true} {
		counts := play(t, Config{Seed: 3, Params: ruled(rule), Validators: 31, Runners: 10, Blocks: 10, Fault: Liars})
		if (counts.Invented == counts.Absent) != invented || !invented && counts.Invented != 0 {
			t.Errorf("%s: %+v", rule, counts)
		}
	}
	counts := play(t, Config{Seed: 3, Params: ruled("safe"), Validators: 31, Runners: 10, Blocks: 10, Fault: Hiders})
	if counts.Present != counts.Shown {
		t.Errorf("f who hide, hide somebody under safe: %+v", counts)
	}
}

// A subset that is aware of regions has a validator of its runner's, as large as before, and none twice.
func TestAnAwareSubsetHasAValidatorOfItsRegion(t *testing.T) {
	c := Config{Seed: 6, Params: ruled("quorum"), Validators: 31, Runners: 600, Blocks: 1, Latencies: []uint64{5, 80, 160}}
	drawn := play(t, c)
	c.IsAware = true
	aware := play(t, c)
	if drawn.Foreign == 0 || aware.Foreign != 0 || aware.FirstPush != 5*300 || aware.WorstPush != 5 {
		t.Errorf("drawn %+v, aware %+v: want foreign runners drawn, and all at home aware", drawn, aware)
	}
	if aware.SubsetSize != drawn.SubsetSize || aware.Present != drawn.Present {
		t.Errorf("drawn %+v, aware %+v: want subsets of one size, and as many present", drawn, aware)
	}
	if mean := 300 * aware.SubsetSize / 31; aware.BusiestLinks <= mean || aware.BusiestLinks > 2*mean {
		t.Errorf("the busiest validator has %d links, want some above the mean of %d", aware.BusiestLinks, mean)
	}
	c.Sizes = []uint64{15, 15, 1}
	if lone := play(t, c); lone.Foreign != 0 || lone.BusiestLinks < 100 { // all runners of the region of the one
		t.Errorf("with a validator alone in its region: %+v", lone)
	}
	c.Sizes, c.Fault = []uint64{30, 0, 1}, NoFault
	if _, err := Play(c); err == nil || !strings.Contains(err.Error(), "together 31 validators") {
		t.Errorf("with an empty region: %v", err)
	}
	c.Sizes, c.Latencies = nil, nil
	if _, err := Play(c); err == nil || !strings.Contains(err.Error(), "needs regions") {
		t.Errorf("without regions: %v", err)
	}
}

func TestAWorldFollowsFromItsSeed(t *testing.T) {
	c := Config{Seed: 4, Params: ruled("quorum"), Validators: 10, Runners: 6, Blocks: 50, LostPermille: 200, QuorumOnly: true}
	first, again := play(t, c), play(t, c)
	if c.Seed = 5; first != again || play(t, c) == first {
		t.Errorf("%+v, then %+v", first, again)
	}
}

func TestAMistakeSaysWhatMayBe(t *testing.T) {
	for want, c := range map[string]Config{
		"validators are 1 to 1000; got 0": {Runners: 2, Blocks: 1, Fault: NoFault},
		"runners are 2 to":                {Validators: 4, Runners: 1, Blocks: 1, Fault: NoFault},
		"blocks are 1 to":                 {Validators: 4, Runners: 2, Fault: NoFault},
		"lost_permille is at most 1000":   {Validators: 4, Runners: 2, Blocks: 1, LostPermille: 1001, Fault: NoFault},
		"fault is none, liars or hiders":  {Validators: 4, Runners: 2, Blocks: 1, Fault: "all"},
		"presence_rule":                   {Validators: 4, Runners: 2, Blocks: 1, Fault: NoFault, Params: ruled("any")},
	} {
		if _, err := Play(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A runner is foreign as often as a draw of its subset leaves out its region, and the first push comes from the nearest.
func TestASubsetIsForeignAsOftenAsADrawLeavesItsRegionOut(t *testing.T) {
	const validators, links, regions = 10, 5, 2
	counts := play(t, Config{Seed: 4, Params: ruled("quorum"), Validators: validators, Runners: 8000, Blocks: 1, Latencies: []uint64{5, 80}})
	got, want := float64(counts.Foreign)/4000, 1-chance(validators, validators/regions, links, 1)
	if counts.SubsetSize != links || got < want-0.002 || got > want+0.002 {
		t.Errorf("%d links: foreign %.4f, want %.4f", counts.SubsetSize, got, want)
	}
	if want := uint64(counts.Foreign)*80 + uint64(4000-counts.Foreign)*5; counts.FirstPush != want || counts.WorstPush != 80 {
		t.Errorf("first pushes take %d ms, want %d; the longest %d", counts.FirstPush, want, counts.WorstPush)
	}
	if none := play(t, Config{Seed: 4, Validators: validators, Runners: 20, Blocks: 1}); none.Foreign != 0 || none.FirstPush != 0 {
		t.Errorf("without regions: %+v", none)
	}
	for _, latencies := range [][]uint64{{5, 80, 160, 200, 300}, {80, 5}} {
		if _, err := Play(Config{Seed: 4, Validators: 4, Runners: 20, Blocks: 1, Fault: NoFault, Latencies: latencies}); err == nil {
			t.Errorf("latencies %d of 4 validators are taken", latencies)
		}
	}
}
