package selection

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Each benchmark has its twin next to it, the naive way: ten thousand runners, a
// hundred validators, 67 votes.

const (
	benchRunners    = 10_000
	benchValidators = 100
	benchVotes      = 67
)

func benchRegistry() []types.PublicKey {
	runners := make([]types.PublicKey, benchRunners)
	for i := range runners {
		runners[i] = key(1000 + i)
	}
	return runners
}

func BenchmarkSubset(b *testing.B) {
	a := Assignment{Members: validatorsOf(upTo(benchValidators)...), Constants: written}
	runners := benchRegistry()
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			for _, r := range runners {
				twinSubset(r, a.Members, 8)
			}
		}
	})
	b.Run("nearest", func(b *testing.B) {
		for b.Loop() {
			for _, r := range runners {
				a.Subset(r)
			}
		}
	})
}

func BenchmarkPresence(b *testing.B) {
	votes, wire := make([]*Bitmap, benchVotes), make([][]byte, benchVotes)
	for v := range votes {
		votes[v] = NewBitmap(benchRunners)
		for i := range benchRunners {
			votes[v].Set(i, (i*7919+v*104729)%13 < 5)
		}
		wire[v] = votes[v].Bytes()
	}
	threshold := Quorum.Threshold(Electorate{Votes: benchVotes})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			twinPresence(wire, benchRunners, threshold)
		}
	})
	b.Run("counted", func(b *testing.B) {
		for b.Loop() {
			Presence(votes, benchRunners, threshold)
		}
	})
	b.Run("read and counted", func(b *testing.B) {
		read := make([]*Bitmap, benchVotes)
		for b.Loop() {
			for v := range wire {
				read[v], _ = ParseBitmap(wire[v])
			}
			Presence(read, benchRunners, threshold)
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	candidates := make([]Candidate, benchRunners)
	for i := range candidates {
		candidates[i] = Candidate{types.Address{byte(i >> 8), byte(i)}, uint64(1 + i%11)}
	}
	favour := Favour{Runner: candidates[77].Address, Multiplier: 4}
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			twinDraw(types.Hash{1}, candidates, 31, favour)
		}
	})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			Draw(types.Hash{1}, candidates, 31, favour)
		}
	})
}

func BenchmarkPool(b *testing.B) {
	runners := make([]Runner, benchRunners)
	f := fitFilter()
	f.Presence = NewBitmap(benchRunners)
	for i := range runners {
		runners[i] = fit()
		runners[i].Address, runners[i].Index = types.Address{byte(i >> 8), byte(i)}, i
		f.Presence.Set(i, true)
	}
	for b.Loop() {
		f.Pool(runners)
	}
}
