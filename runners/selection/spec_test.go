package selection

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// One test per sentence that binds, in the order of CIP-11, and one per decision
// that stands for one.

func TestSection51TheFormulaHoldsAndNotItsExamples(t *testing.T) {
	for n, k := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 8: 4, 9: 5, 10: 5, 16: 5, 17: 6, 32: 6, 33: 7, 64: 7, 65: 8, 100: 8,
		129: 8, 1000: 8} {
		if got := written.SubsetSize(n); got != k {
			t.Errorf("of %d validators a subset has %d, want %d", n, got, k)
		}
	}
	// "For the early-network case |V_t| in [5, 10], k = 4": not at 9 and 10.
	if written.SubsetSize(9) == 4 || written.SubsetSize(10) == 4 {
		t.Error("the examples hold after all")
	}
}

func TestJ9SafeHasSubsetsOfThreeFAndOne(t *testing.T) {
	safe := Constants{MinSubset: 3, MaxSubset: 8, Rule: Safe}
	for n, k := range map[int]int{1: 1, 2: 1, 3: 1, 4: 4, 6: 4, 7: 7, 10: 10, 100: 100, 102: 100} {
		if got := safe.SubsetSize(n); got != k {
			t.Errorf("of %d validators a subset has %d, want %d", n, got, k)
		}
	}
}

// The example at the end of the wire's page.
func TestSection51TheKeyIsKeccakOfRunnerAndValidator(t *testing.T) {
	r0, v0 := crypto.DeriveKey(1, "runner/r0").PublicKey(), crypto.DeriveKey(1, "validator/v0").PublicKey()
	if got := SubsetKey(r0, v0).String(); got != "0xd7e8d700fbcd43f13cb5b3dd4c0f1c40f01ccb64d18acc8222ab3afff5ba96c9" {
		t.Errorf("the key of r0 and v0 is %s", got)
	}
}

// "The expected fraction of runners whose subset changes is bounded by O(k / |V|)." Only
// runners of the validator that left move.
func TestSection52AValidatorThatLeavesMovesAFewRunners(t *testing.T) {
	before := Assignment{Members: validatorsOf(upTo(50)...), Constants: written}
	after := Assignment{Members: validatorsOf(upTo(49)...), Constants: written}
	gone, moved := validatorsOf(49)[0].Address, 0
	for i := range 1000 {
		runner := key(1000 + i)
		changed := addresses(&before, runner) != addresses(&after, runner)
		if changed {
			moved++
		}
		if changed != before.isInSubset(runner, gone) {
			t.Fatalf("runner %d: moved %v, was with the leaver %v", i, changed, before.isInSubset(runner, gone))
		}
	}
	if k := written.SubsetSize(50); moved < 1000*k/50/2 || moved > 1000*k/50*2 {
		t.Errorf("%d of 1000 runners moved, about %d were expected", moved, 1000*k/50)
	}
}

func addresses(a *Assignment, runner types.PublicKey) string {
	var all []string
	for _, m := range a.Subset(runner) {
		all = append(all, a.Members[m].Address.String())
	}
	return strings.Join(all, " ")
}

// pace is CIP-11 §13's.
var pace = Pace{EpochBlocks: 8192, ChurnPermille: 100, OverlapBlocks: 32}

func TestSection53ARotationIsDueWhenTheEpochIsOverOrTheSetChangedMuch(t *testing.T) {
	twenty := validatorsOf(upTo(20)...)
	r := Rotation{Epoch: 4, Height: 100, Current: Assignment{Members: twenty, Constants: written}}
	other := written
	other.MaxSubset = 9
	rule := written
	rule.Rule = Safe
	for _, c := range []struct {
		name string
		m    Moment
		want Cause
	}{
		{"one block short", Moment{Height: 8291, Members: twenty, Constants: written}, NotDue},
		{"the last block", Moment{Height: 8292, Members: twenty, Constants: written}, Elapsed},
		{"heights were skipped", Moment{Height: 9000, Members: twenty, Constants: written}, Elapsed},
		{"a tenth joined", Moment{Height: 101, BeginsEpoch: true, Members: validatorsOf(upTo(22)...), Constants: written}, NotDue},
		{"more joined", Moment{Height: 101, BeginsEpoch: true, Members: validatorsOf(upTo(23)...), Constants: written}, Churned},
		{"one joined, one left", Moment{Height: 101, BeginsEpoch: true, Members: validatorsOf(upTo(21)[1:]...), Constants: written}, NotDue},
		{"two joined, one left", Moment{Height: 101, BeginsEpoch: true, Members: validatorsOf(upTo(22)[1:]...), Constants: written}, Churned},
		{"within an epoch", Moment{Height: 101, Members: validatorsOf(upTo(40)...), Constants: written}, NotDue},
		{"another constant", Moment{Height: 101, BeginsEpoch: true, Members: twenty, Constants: other}, Changed},
		{"another rule", Moment{Height: 101, BeginsEpoch: true, Members: twenty, Constants: rule}, Changed},
		{"another constant, within an epoch", Moment{Height: 101, Members: twenty, Constants: other}, NotDue},
	} {
		if got := r.Due(c.m, pace); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Churn is measured against the last rotation, not against the last epoch: small
// changes add up.
func TestJ10SmallChangesAddUp(t *testing.T) {
	r := Rotation{Current: Assignment{Members: validatorsOf(upTo(20)...), Constants: written}}
	for n := 21; ; n++ {
		m := Moment{Height: types.Height(64 * n), BeginsEpoch: true, Members: validatorsOf(upTo(n)...), Constants: written}
		if r.Due(m, pace) == Churned {
			if n != 23 {
				t.Errorf("the subsets moved at %d validators", n)
			}
			next := r.Advanced(m)
			if next.Epoch != 1 || next.Height != m.Height || len(next.Current.Members) != n || len(next.Former.Members) != 20 {
				t.Errorf("after it: %+v", next)
			}
			return
		}
	}
}

func TestJ10BothSubsetsAttestDuringTheOverlapAlone(t *testing.T) {
	before, after := validatorsOf(upTo(10)...), validatorsOf(upTo(20)[10:]...)
	r := Rotation{Height: 0, Current: Assignment{Members: before, Constants: written}}
	r = r.Advanced(Moment{Height: 1000, Members: after, Constants: written})
	runner := key(1000)
	former, now := before[twinSubset(runner, before, 5)[0]].Address, after[twinSubset(runner, after, 5)[0]].Address
	outside := after[twinSubset(runner, after, 10)[5]].Address
	for _, c := range []struct {
		height                types.Height
		former, now, overlaps bool
	}{{1000, true, true, true}, {1031, true, true, true}, {1032, false, true, false}, {9000, false, true, false}} {
		if r.Overlaps(c.height, pace) != c.overlaps {
			t.Errorf("height %d overlaps: %v", c.height, !c.overlaps)
		}
		if got := r.Attests(runner, former, c.height, pace); got != c.former {
			t.Errorf("height %d: the former subset attests: %v", c.height, got)
		}
		if got := r.Attests(runner, now, c.height, pace); got != c.now {
			t.Errorf("height %d: the new subset attests: %v", c.height, got)
		}
		if r.Attests(runner, outside, c.height, pace) {
			t.Errorf("height %d: a validator of neither subset attests", c.height)
		}
		if turn, _ := r.Turn(runner, now, c.height, pace); turn != 0 {
			t.Errorf("height %d: the first of the new subset has turn %d", c.height, turn)
		}
		if turn, _ := r.Turn(runner, former, c.height, pace); turn != 5 {
			t.Errorf("height %d: one of the former subset has turn %d", c.height, turn)
		}
	}
}

// Stored values are read back unchanged.
func TestARotationIsStored(t *testing.T) {
	r := Rotation{Current: Assignment{Members: validatorsOf(1, 2, 3), Constants: written}}
	for range 2 {
		var read Rotation
		data := codec.Marshal(&r)
		if err := codec.Unmarshal(data, 1<<20, &read); err != nil || !bytes.Equal(codec.Marshal(&read), data) {
			t.Fatalf("%x is decoded as %+v, %v", data, read, err)
		}
		r = r.Advanced(Moment{Height: 9, Members: validatorsOf(2, 3, 4), Constants: written})
	}
}

// The example at the end of the wire's page: ten runners, 0, 3 and 9 there.
func TestSection71TheBytesOfABitmap(t *testing.T) {
	b := NewBitmap(10)
	for _, i := range []int{0, 3, 9} {
		b.Set(i, true)
	}
	if got := hex.EncodeToString(b.Bytes()); got != "0000000a0902" {
		t.Errorf("bytes %s", got)
	}
	if got := b.Hash().String(); got != "0x123080c95bb4bc2c4cc22f34a663d1a44bf442de08c92409d94660d1f763771b" {
		t.Errorf("hash %s", got)
	}
	if empty := NewBitmap(0).Bytes(); empty == nil || len(empty) != 0 {
		t.Errorf("that of an empty registry is %#v", empty)
	}
}

func TestSection123EveryOtherFormIsNoBitmap(t *testing.T) {
	long := make([]byte, 4+8189)
	copy(long, []byte{0, 0, 0xff, 0xe1})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"null", nil, "null"},
		{"a head cut off", []byte{0, 0, 1}, "no length"},
		{"a length of 0", []byte{0, 0, 0, 0}, "empty string"},
		{"too few bytes", []byte{0, 0, 0, 9, 1}, "1 byte for 9 bits"},
		{"too many bytes", []byte{0, 0, 0, 8, 1, 0}, "2 bytes for 8 bits"},
		{"a bit beyond", []byte{0, 0, 0, 9, 0, 2}, "beyond the 9"},
		{"more than there can be", long, "65505 bits"},
		{"far more", []byte{0xff, 0xff, 0xff, 0xff}, "4294967295 bits"},
	} {
		_, err := ParseBitmap(c.data)
		var refused *BitmapError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if b, err := ParseBitmap(append([]byte{0, 0, 0xff, 0xe0}, make([]byte, 8188)...)); err != nil || b.Len() != MaxRunners {
		t.Errorf("the longest: %v", err)
	}
}

// bitsOf is a bitmap of these characters, # for a bit.
func bitsOf(text string) *Bitmap {
	b := NewBitmap(len(text))
	for i := range text {
		b.Set(i, text[i] == '#')
	}
	return b
}

func textOf(b *Bitmap) string {
	text := []byte(strings.Repeat(".", b.Len()))
	for i := range text {
		if b.Has(i) {
			text[i] = '#'
		}
	}
	return string(text)
}

func TestSection81ARunnerIsPresentFromTheThresholdOn(t *testing.T) {
	votes := []*Bitmap{bitsOf("#..#"), bitsOf("##.#"), bitsOf("#..."), bitsOf("....")}
	for threshold, want := range map[int]string{1: "##.#", 2: "#..#", 3: "#...", 4: "....", 5: "...."} {
		if got := textOf(Presence(votes, 4, threshold)); got != want {
			t.Errorf("threshold %d: %s, want %s", threshold, got, want)
		}
	}
	if got := textOf(Presence(nil, 4, 1)); got != "...." {
		t.Errorf("without votes %s", got)
	}
}

func TestSection82TheThresholdIsFAndOneOfTheVotesCarried(t *testing.T) {
	for votes, want := range map[int]int{0: 1, 1: 1, 3: 1, 4: 2, 6: 2, 7: 3, 67: 23, 100: 34} {
		if got := Quorum.Threshold(Electorate{Votes: votes, Validators: 100, SubsetSize: 8}); got != want {
			t.Errorf("of %d votes %d, want %d", votes, got, want)
		}
	}
}

func TestSection84BitsBeyondTheAgreedLengthAreZero(t *testing.T) {
	votes := []*Bitmap{bitsOf("#.#"), bitsOf("#.###"), bitsOf("#")}
	if got := textOf(Presence(votes, 4, 1)); got != "#.##" {
		t.Errorf("P is %s", got)
	}
	if got := textOf(Presence(votes, 4, 3)); got != "#..." {
		t.Errorf("the shorter and the longer vote count: %s", got)
	}
}

// fit is a runner that passes every filter of fitFilter.
func fit() Runner {
	return Runner{Address: types.Address{1}, Index: 2, LastHeartbeat: 1000, Reputation: 50, Stake: types.WeiOf(150),
		ComputeSecond: types.WeiOf(100), MaxJobs: 1,
		Kinds: []push.JobKind{push.JobLLM, push.JobHTTP, push.JobMCP}, Models: []string{"small"}, Domains: []string{"example.org"},
		Servers: []string{"files"}}
}

func fitFilter() *Filter {
	return &Filter{Height: 2024, Phase: Hot, Presence: bitsOf("..#"),
		Demand: Demand{Kind: push.JobLLM, Subject: "small", MaxPrice: types.WeiOf(100)},
		Limits: Limits{MinStake: types.WeiOf(10), MinReputation: 50, StaleHeartbeatBlocks: 1024, StakeCoverPermille: 1500}}
}

// Each case breaks what one filter asks for, and everything that later ones do:
// the first is the reason.
func TestSection91TheFiltersInTheirOrder(t *testing.T) {
	steps := []struct {
		want Reason
		hurt func(*Filter, *Runner)
	}{
		{Underfunded, func(_ *Filter, r *Runner) { r.Stake = types.WeiOf(149) }},
		{NotEntitled, func(f *Filter, _ *Runner) { f.Demand.Pool = "gpu" }},
		{Busy, func(_ *Filter, r *Runner) { r.ActiveJobs = 1 }},
		{TooDear, func(_ *Filter, r *Runner) { r.ComputeSecond = types.WeiOf(101) }},
		{WithoutTEE, func(f *Filter, _ *Runner) { f.Demand.TEE = true }},
		{Incapable, func(f *Filter, _ *Runner) { f.Demand.Kind = push.JobCustom }},
		{Disreputable, func(_ *Filter, r *Runner) { r.Reputation = 49 }},
		{Absent, func(f *Filter, _ *Runner) { f.Presence = bitsOf("##.") }},
		{Unhealthy, func(f *Filter, _ *Runner) { f.Height = 2025 }},
		{Excluded, func(f *Filter, r *Runner) { f.Excluded = Exclude(f.Excluded, r.Address) }},
	}
	f, r := fitFilter(), fit()
	if got := f.Judge(&r); got != Eligible {
		t.Fatalf("the one that is fit is %s", got)
	}
	for i, step := range steps {
		step.hurt(f, &r)
		if got := f.Judge(&r); got != step.want {
			t.Errorf("%d filters broken: %s, want %s", i+1, got, step.want)
		}
		alone, one := fitFilter(), fit()
		if step.hurt(alone, &one); alone.Judge(&one) != step.want {
			t.Errorf("%s alone: %s", step.want, alone.Judge(&one))
		}
	}
}

func TestSection91WhatPassesAFilter(t *testing.T) {
	for _, c := range []struct {
		name string
		so   func(*Filter, *Runner)
		want Reason
	}{
		{"paused", func(_ *Filter, r *Runner) { r.Health = Paused }, Unhealthy},
		{"deregistered", func(_ *Filter, r *Runner) { r.Health = Deregistered }, Unhealthy},
		{"a stale heartbeat in sunset", func(f *Filter, _ *Runner) { f.Phase, f.Height = Sunset, 9999 }, Eligible},
		{"absent in sunset", func(f *Filter, _ *Runner) { f.Phase, f.Presence = Sunset, bitsOf("") }, Absent},
		{"absent in shadow", func(f *Filter, _ *Runner) { f.Phase, f.Presence = Shadow, bitsOf("") }, Eligible},
		{"absent when push is off", func(f *Filter, _ *Runner) { f.Phase, f.Presence = Off, bitsOf("") }, Eligible},
		{"a stale heartbeat when push is off", func(f *Filter, _ *Runner) { f.Phase, f.Height = Off, 9999 }, Unhealthy},
		{"registered since P", func(_ *Filter, r *Runner) { r.Index = 3 }, Absent},
		{"another model", func(f *Filter, _ *Runner) { f.Demand.Subject = "large" }, Incapable},
		{"any model", func(f *Filter, r *Runner) { f.Demand.Subject, r.Models = "large", nil }, Eligible},
		{"a domain", func(f *Filter, _ *Runner) { f.Demand.Kind, f.Demand.Subject = push.JobHTTP, "example.org" }, Eligible},
		{"a domain below it", func(f *Filter, _ *Runner) { f.Demand.Kind, f.Demand.Subject = push.JobHTTP, "a.example.org" }, Incapable},
		{"a server", func(f *Filter, _ *Runner) { f.Demand.Kind, f.Demand.Subject = push.JobMCP, "files" }, Eligible},
		{"another server", func(f *Filter, _ *Runner) { f.Demand.Kind, f.Demand.Subject = push.JobMCP, "mail" }, Incapable},
		{"with trusted execution", func(f *Filter, r *Runner) { f.Demand.TEE, r.TEE = true, true }, Eligible},
		{"of the pool", func(f *Filter, r *Runner) { f.Demand.Pool, r.Entitlements = "gpu", []string{"eu", "gpu"} }, Eligible},
		{"half a wei short", func(f *Filter, r *Runner) { f.Demand.MaxPrice, r.Stake = types.WeiOf(101), types.WeiOf(151) }, Underfunded},
		{"a price that no stake covers", func(f *Filter, r *Runner) { f.Demand.MaxPrice, r.Stake = types.MaxWei, types.MaxWei }, Underfunded},
	} {
		f, r := fitFilter(), fit()
		c.so(f, &r)
		if got := f.Judge(&r); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSection91APoolSaysWhyItIsSmall(t *testing.T) {
	var runners []Runner
	for i := range 5 {
		r := fit()
		r.Address[0] = byte(i)
		runners = append(runners, r)
	}
	runners[1].Index, runners[3].Index, runners[4].ActiveJobs = 0, 1, 7
	pool := fitFilter().Pool(runners)
	if got := pool.String(); got != "2 eligible, 2 absent, 1 busy" {
		t.Errorf("%q", got)
	}
	if len(pool.Candidates) != 2 || pool.Candidates[1] != (Candidate{types.Address{2}, 5}) {
		t.Errorf("candidates %v", pool.Candidates)
	}
	if got := (&Pool{}).String(); got != "0 eligible" {
		t.Errorf("of an empty registry %q", got)
	}
}

func TestSection92TheSeed(t *testing.T) {
	parent, job := types.Hash{1}, types.Hash{2}
	want := types.Keccak(append(append(append([]byte{}, parent[:]...), "cowboy-runner-select-v2:"...),
		append(job[:], 0x39, 0x30, 0, 0, 0, 0, 0, 0)...))
	if got := Seed(parent, job, 12345); got != want {
		t.Errorf("seed %s, want %s", got, want)
	}
}

func candidatesOf(weights ...uint64) (all []Candidate) {
	for i, w := range weights {
		all = append(all, Candidate{types.Address{byte(i + 1)}, w})
	}
	return all
}

// The favoured runner weighs four times as much for the first place, and as
// everybody for the others.
func TestSection93TheMRURunnerWeighsMoreInTheFirstStepAlone(t *testing.T) {
	candidates := candidatesOf(1, 1, 1, 1, 1, 1)
	favour := Favour{Runner: candidates[3].Address, Multiplier: 4}
	first, second := 0, 0
	const draws = 9000
	for i := range draws {
		committee, ok := Draw(types.Keccak(fmt.Append(nil, i)), candidates, 2, favour)
		if !ok {
			t.Fatal("nobody was drawn")
		}
		switch favour.Runner {
		case committee[0]:
			first++
		case committee[1]:
			second++
		}
	}
	// 4 of 9 draws give it the first place; of the other 5 one in 5 the second.
	if first < draws*4/9*95/100 || first > draws*4/9*105/100 || second < draws/9*90/100 || second > draws/9*110/100 {
		t.Errorf("of %d draws it was first in %d and second in %d", draws, first, second)
	}
}

func TestSection93AMRUThatIsNoCandidateChangesNothing(t *testing.T) {
	for i := range 100 {
		seed := types.Keccak(fmt.Append(nil, i))
		plain, _ := Draw(seed, candidatesOf(1, 2, 3, 4), 3, Favour{})
		stranger, _ := Draw(seed, candidatesOf(1, 2, 3, 4), 3, Favour{Runner: types.Address{9}, Multiplier: 4})
		if !slices.Equal(plain, stranger) {
			t.Fatalf("seed %s: %v and %v", seed, plain, stranger)
		}
	}
}

func TestSection94AnMRURecordWeighsUntilItsTTL(t *testing.T) {
	record := &MRU{Runner: types.Address{1}, SetAt: 100}
	for height, want := range map[types.Height]bool{100: true, 356: true, 357: false} {
		if record.Favours(height, 256) != want {
			t.Errorf("height %d: %v", height, !want)
		}
	}
	if (*MRU)(nil).Favours(100, 256) {
		t.Error("a missing record favours a runner")
	}
}

func TestJ3WeightsByHand(t *testing.T) {
	unit := types.WeiOf(10_000).Mul(types.CBY)
	for multiple, want := range map[uint64]uint64{0: 1, 1: 2, 2: 2, 3: 3, 6: 3, 7: 4, 1023: 11} {
		if got := Weight(unit.Mul(multiple), unit); got != want {
			t.Errorf("%d times the minimum stake weighs %d, want %d", multiple, got, want)
		}
	}
	if got := Weight(unit.Mul(7).Sub(types.WeiOf(1)), unit); got != 3 {
		t.Errorf("a wei short of 7 times weighs %d", got)
	}
	if got := Weight(types.MaxWei, types.WeiOf(1)); got != 257 {
		t.Errorf("all there is weighs %d", got)
	}
}

func TestJ4TooFewCandidatesDrawNobody(t *testing.T) {
	for _, c := range []struct{ candidates, members int }{{0, 1}, {2, 3}, {2, 0}, {2, -1}} {
		if committee, ok := Draw(types.Hash{1}, candidatesOf(1, 1)[:c.candidates], c.members, Favour{}); ok || committee != nil {
			t.Errorf("%d of %d candidates: %v", c.members, c.candidates, committee)
		}
	}
}

func TestJ6RetriesTakeTheFirstSeedAndExcludeForGood(t *testing.T) {
	first := types.Hash{7}
	if got, want := RetrySeed(first, 258), types.Keccak(append(append(first[:], "retry:"...), 2, 1, 0, 0)); got != want {
		t.Errorf("seed %s, want %s", got, want)
	}
	excluded := Exclude(Exclude(Exclude(nil, types.Address{2}), types.Address{1}), types.Address{2})
	if len(excluded) != 2 {
		t.Errorf("excluded %v", excluded)
	}
	f, r := fitFilter(), fit()
	f.Excluded = excluded
	if f.Judge(&r) != Excluded {
		t.Error("who was silent is drawn again")
	}
}

// A fault that only this program can cause stops it.
func TestOurOwnFaultsStop(t *testing.T) {
	for name, fault := range map[string]func(){
		"an unknown rule":                 func() { Rule("most").Threshold(Electorate{}) },
		"a threshold of 0":                func() { Presence(nil, 1, 0) },
		"a bit beyond":                    func() { NewBitmap(3).Set(3, true) },
		"a registry beyond all":           func() { NewBitmap(MaxRunners + 1) },
		"runners out of order":            func() { fitFilter().Pool([]Runner{fit(), fit()}) },
		"candidates out of order":         func() { Draw(types.Hash{}, slices.Repeat(candidatesOf(1), 2), 1, Favour{}) },
		"a candidate that weighs nothing": func() { Draw(types.Hash{}, candidatesOf(0), 1, Favour{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it went on")
				}
			}()
			fault()
		})
	}
}
