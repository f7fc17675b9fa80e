package system

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// crowd is a world with the given number of runners, all of them present, in a
// sealed state.
func crowd(b *testing.B, runners int) *world {
	w := newWorld(b)
	w.mint(w.address("alice"), types.WeiOf(uint64(runners)*20_000*types.CBY))
	for i := range runners {
		w.register(fmt.Sprint("r", i))
	}
	tree, _ := w.state.Seal()
	w.state = w.stateOf(tree)
	w.roster = NewRoster(w.state)
	w.open(2)
	w.block.Presence = selection.NewBitmap(runners)
	for i := range runners {
		w.block.Presence.Set(i, true)
	}
	return w
}

// BenchmarkDraws is the maximum number of draws in a block, each of a committee of
// three and each for another price, so that none takes its candidates from another.
// A block has a second.
func BenchmarkDraws(b *testing.B) {
	for _, runners := range []int{100, 10_000} {
		b.Run(fmt.Sprint(runners, " runners"), func(b *testing.B) {
			w := crowd(b, runners)
			for i := range w.params.MaxDraws {
				s := spec(3)
				s.MaxPrice = types.WeiOf(1000 + i)
				if _, code := w.submit("bob", s); code != "" {
					b.Fatal(code)
				}
			}
			b.ResetTimer()
			for b.Loop() {
				before := w.state.Snapshot()
				w.block.Advance()
				w.state.Revert(before)
			}
		})
	}
}

// BenchmarkWaiting is a block of jobs that no runner can do, once all alike and
// once all different.
func BenchmarkWaiting(b *testing.B) {
	w := crowd(b, 10_000)
	for range w.params.MaxDraws {
		s := spec(3)
		pool := "nobody's"
		s.RequiredRunnerPool = &pool
		if _, code := w.submit("bob", s); code != "" {
			b.Fatal(code)
		}
	}
	for b.Loop() {
		w.block.Advance()
	}
}

// BenchmarkTimeouts is the maximum number of committees that are silent at once.
func BenchmarkTimeouts(b *testing.B) {
	w := crowd(b, 1000)
	for range w.params.MaxDraws {
		if _, code := w.submit("bob", spec(31)); code != "" {
			b.Fatal(code)
		}
	}
	w.block.Advance()
	w.block.Height += 11
	for b.Loop() {
		before := w.state.Snapshot()
		w.block.Advance()
		w.state.Revert(before)
	}
}

// BenchmarkRoster is the cost of a block in which one of ten thousand runners
// changed, compared with reading them all.
func BenchmarkRoster(b *testing.B) {
	w := crowd(b, 10_000)
	w.must(w.registry("alice", "pause", Naming{Runner: w.address("r77")}))
	b.Run("carried", func(b *testing.B) {
		for b.Loop() {
			w.roster.After(w.state)
		}
	})
	b.Run("read anew", func(b *testing.B) {
		for b.Loop() {
			NewRoster(w.state)
		}
	})
}
