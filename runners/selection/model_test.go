package selection

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func drawConstants(t *rapid.T) Constants {
	least := rapid.Uint64Range(1, 9).Draw(t, "min")
	return Constants{MinSubset: least, MaxSubset: rapid.Uint64Range(least, 12).Draw(t, "max"),
		Rule: rapid.SampledFrom([]Rule{Quorum, ValidatorSet, Subset, Safe}).Draw(t, "rule")}
}

func drawSet(t *rapid.T, name string) []types.Validator {
	return validatorsOf(rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 1, 30, rapid.ID[int]).Draw(t, name)...)
}

func TestASubsetIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Assignment{Members: drawSet(t, "set"), Constants: drawConstants(t)}
		runner := key(rapid.IntRange(100, 200).Draw(t, "runner"))
		if got, want := a.Subset(runner), twinSubset(runner, a.Members, a.SubsetSize()); !slices.Equal(got, want) {
			t.Fatalf("subset %v, want %v", got, want)
		}
	})
}

// A rotation that remembers says what one without memory says, also after it has advanced and
// when a runner asks again.
func TestARememberedSubsetIsTheComputedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rotation{Current: Assignment{Members: drawSet(t, "set"), Constants: drawConstants(t)}}
		r.RememberSubsets()
		next := r.Advanced(Moment{Height: 9, Members: drawSet(t, "next set"), Constants: drawConstants(t)})
		for range 20 {
			runner := key(rapid.IntRange(100, 104).Draw(t, "runner"))
			for _, a := range []*Assignment{&r.Current, &next.Current, next.Former} {
				if got, want := a.Subset(runner), twinSubset(runner, a.Members, a.SubsetSize()); !slices.Equal(got, want) {
					t.Fatalf("subset %v, want %v", got, want)
				}
			}
		}
		if n := r.Current.subsets.Len(); n == 0 || n > 5 {
			t.Fatalf("%d subsets of at most 5 runners are remembered", n)
		}
		if next.Former.subsets != r.Current.subsets || next.Current.subsets == r.Current.subsets {
			t.Fatal("the former assignment has not the memory of the current one before, or the next has")
		}
	})
}

// Turn gives a validator its place in the order of keys, if it is in the runner's subset.
// A stranger has no place.
func TestATurnIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rotation{Current: Assignment{Members: drawSet(t, "set"), Constants: drawConstants(t)}}
		runner := key(rapid.IntRange(100, 200).Draw(t, "runner"))
		want := twinSubset(runner, r.Current.Members, r.Current.SubsetSize())
		for m, v := range r.Current.Members {
			turn, attests := r.Turn(runner, v.Address, 0, Pace{})
			if at := slices.Index(want, m); attests != (at >= 0) || attests && turn != at || !attests && turn != len(want) {
				t.Fatalf("member %d of the subset %v has the turn %d, %v", m, want, turn, attests)
			}
		}
		if turn, attests := r.Turn(runner, types.Address{1}, 0, Pace{}); attests || turn != len(want) {
			t.Fatalf("a stranger has the turn %d, %v", turn, attests)
		}
	})
}

func drawBitmap(t *rapid.T, length int) *Bitmap {
	b := NewBitmap(length)
	for i := range length {
		b.Set(i, rapid.Bool().Draw(t, "bit"))
	}
	return b
}

func TestABitmapIsItsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, 200).Draw(t, "length")
		b, twin := NewBitmap(length), make([]bool, length)
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			if length == 0 {
				break
			}
			i, there := rapid.IntRange(0, length-1).Draw(t, "i"), rapid.Bool().Draw(t, "there")
			b.Set(i, there)
			twin[i] = there
		}
		data := b.Bytes()
		read, err := ParseBitmap(data)
		if err != nil || !bytes.Equal(read.Bytes(), data) || read.Hash() != types.Keccak(data) || read.Len() != length {
			t.Fatalf("%x was read as %x, %v", data, read.Bytes(), err)
		}
		count := 0
		for i, there := range twin {
			if there {
				count++
			}
			if read.Has(i) != there || b.Has(i) != there {
				t.Fatalf("bit %d of %x is %v", i, data, !there)
			}
		}
		if b.Count() != count || b.Has(length) || b.Has(-1) {
			t.Fatalf("%x has %d bits, want %d, and none beyond", data, b.Count(), count)
		}
	})
}

func TestAndLeavesWhatBothHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawBitmap(t, rapid.IntRange(0, 150).Draw(t, "a")), drawBitmap(t, rapid.IntRange(0, 150).Draw(t, "b"))
		both := NewBitmap(a.Len())
		for i := range a.Len() {
			both.Set(i, a.Has(i) && b.Has(i))
		}
		if a.And(b); !bytes.Equal(a.Bytes(), both.Bytes()) {
			t.Fatalf("%x, want %x", a.Bytes(), both.Bytes())
		}
	})
}

func TestPresenceIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		registry := rapid.IntRange(0, 150).Draw(t, "registry")
		var votes []*Bitmap
		var wire [][]byte
		for range rapid.IntRange(0, 40).Draw(t, "votes") {
			length := registry
			if rapid.IntRange(0, 3).Draw(t, "off") == 0 {
				length = rapid.IntRange(0, 200).Draw(t, "length")
			}
			votes = append(votes, drawBitmap(t, length))
			wire = append(wire, votes[len(votes)-1].Bytes())
		}
		threshold := rapid.IntRange(1, len(votes)+2).Draw(t, "threshold")
		p := Presence(votes, registry, threshold)
		if p.Len() != registry {
			t.Fatalf("P has %d bits for %d runners", p.Len(), registry)
		}
		for i, want := range twinPresence(wire, registry, threshold) {
			if p.Has(i) != want {
				t.Fatalf("runner %d is present: %v", i, !want)
			}
		}
		if _, err := ParseBitmap(p.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}

// Counts beyond every digit that eight votes reach.
func TestPresenceCountsAThousandVotes(t *testing.T) {
	for _, threshold := range []int{1, 63, 64, 333, 334, 335, 999, 1000, 1001} {
		votes := make([]*Bitmap, 1000)
		for v := range votes {
			votes[v] = NewBitmap(130)
			for i := range 130 {
				votes[v].Set(i, v < 8*i) // runner i has 8i votes
			}
		}
		p := Presence(votes, 130, threshold)
		for i := range 130 {
			if want := min(8*i, 1000) >= threshold; p.Has(i) != want {
				t.Fatalf("threshold %d: runner %d with %d votes: %v", threshold, i, 8*i, !want)
			}
		}
	}
}

func TestADrawIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "candidates")
		candidates := make([]Candidate, n)
		for i := range candidates {
			candidates[i] = Candidate{types.Address{0: byte(i), 19: 7}, rapid.Uint64Range(1, 257).Draw(t, "weight")}
		}
		favour := Favour{Multiplier: rapid.SampledFrom([]uint32{0, 1, 4, 1<<32 - 1}).Draw(t, "multiplier")}
		if i := rapid.IntRange(-1, n-1).Draw(t, "favoured"); i >= 0 {
			favour.Runner = candidates[i].Address
		}
		seed := types.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		members := rapid.IntRange(1, n).Draw(t, "members")
		before := slices.Clone(candidates)
		committee, ok := Draw(seed, candidates, members, favour)
		if want := twinDraw(seed, candidates, members, favour); !ok || !slices.Equal(committee, want) {
			t.Fatalf("drew %v, want %v", committee, want)
		}
		if !slices.Equal(before, candidates) {
			t.Fatal("a draw changed its candidates")
		}
	})
}

func TestAWeightIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(name string, least int) types.Wei {
			data := rapid.SliceOfN(rapid.Byte(), least, 32).Draw(t, name)
			w := types.Wei{}
			for _, b := range data {
				w, _ = w.Mul(1).MulDiv(types.WeiOf(256), types.WeiOf(1))
				if sum, ok := w.AddOk(types.WeiOf(uint64(b))); ok {
					w = sum
				}
			}
			return w
		}
		stake, minStake := amount("stake", 0), amount("min", 1)
		if minStake.IsZero() {
			minStake = types.WeiOf(1)
		}
		if got, want := Weight(stake, minStake), twinWeight(stake, minStake); got != want {
			t.Fatalf("a stake of %s of %s weighs %d, want %d", stake, minStake, got, want)
		}
	})
}

// The favoured runner is the first of the candidates, and mostly not the first
// picked: then it goes where the picked one was, and its favour ends there.
func TestAFavouredRunnerIsFollowedWhenItIsSwapped(t *testing.T) {
	candidates := candidatesOf(3, 1, 4, 1, 5, 9, 2, 6)
	favour := Favour{Runner: candidates[0].Address, Multiplier: 4}
	for i := range 200 {
		seed := types.Keccak([]byte{byte(i)})
		committee, ok := Draw(seed, candidates, len(candidates), favour)
		if want := twinDraw(seed, candidates, len(candidates), favour); !ok || !slices.Equal(committee, want) {
			t.Fatalf("seed %s: drew %v, want %v", seed, committee, want)
		}
	}
}
