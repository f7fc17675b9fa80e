package memo

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// twin is what a Once is, said plainly: a list, the newest last.
type twin struct {
	bound Bound
	kept  []kept
}

type kept struct {
	key   int
	lives []*Life // nil: no life
}

func (w *twin) ask(l *Life, over bool, key int, keep bool) (known bool) {
	if over {
		return false
	}
	at := slices.IndexFunc(w.kept, func(k kept) bool { return k.key == key })
	if at >= 0 {
		if l != nil && !slices.Contains(w.kept[at].lives, l) {
			w.kept[at].lives = append(w.kept[at].lives, l)
		}
		return true
	}
	if !keep || key > w.bound.Weight {
		return false
	}
	w.kept = append(w.kept, kept{key, []*Life{l}})
	for len(w.kept) > w.bound.Count || w.weight() > w.bound.Weight {
		w.kept = w.kept[1:]
	}
	return false
}

func (w *twin) weight() (sum int) {
	for _, k := range w.kept {
		sum += k.key
	}
	return sum
}

func (w *twin) end(l *Life) {
	for i := range w.kept {
		w.kept[i].lives = slices.DeleteFunc(w.kept[i].lives, func(one *Life) bool { return one == l })
	}
	w.kept = slices.DeleteFunc(w.kept, func(k kept) bool { return len(k.lives) == 0 })
}

// Whatever is asked, kept and ended, a Once knows what its twin knows. Keys weigh
// what they are.
func TestLawAOnceKnowsWhatItsTwinKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := Bound{rapid.IntRange(1, 5).Draw(t, "count"), rapid.IntRange(1, 20).Draw(t, "weight")}
		once, plain := New[int, int](bound, func(key int) int { return key }), &twin{bound: bound}
		lives := []*Life{{}, {}, {}}
		owned := rapid.Bool().Draw(t, "owned")
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			var l *Life
			if owned {
				l = rapid.SampledFrom(lives).Draw(t, "life")
			}
			if owned && rapid.IntRange(0, 9).Draw(t, "end") == 0 {
				once.End(l)
				plain.end(l)
			}
			key, keep, computed := rapid.IntRange(1, 12).Draw(t, "key"), rapid.Bool().Draw(t, "keep"), false
			value := once.Do(l, key, func() (int, bool) {
				computed = true
				return 100 * key, keep
			})
			known := plain.ask(l, l != nil && l.over, key, keep)
			if value != 100*key || computed == known || once.Len() != len(plain.kept) {
				t.Fatalf("%d: %d, computed: %v, known to the twin: %v; it keeps %d of %d", key, value, computed, known, once.Len(), len(plain.kept))
			}
		}
	})
}

// Concurrent callers for an unknown value wait for the one that computes it.
func TestWhatManyAskForIsComputedOnce(t *testing.T) {
	once := New[string, int](Bound{Count: 1}, nil)
	var mu sync.Mutex
	var all sync.WaitGroup
	computed := 0
	for i := range 16 {
		all.Go(func() {
			compute := func() (int, bool) {
				mu.Lock()
				defer mu.Unlock()
				computed++
				return 7, true
			}
			got := 0
			if i%2 == 0 {
				got = once.Do(nil, "a", compute)
			} else {
				got = DoBytes(once, []byte("a"), compute)
			}
			if got != 7 {
				t.Errorf("got %d", got)
			}
		})
	}
	all.Wait()
	if computed != 1 {
		t.Errorf("computed %d times", computed)
	}
}

// A life that ends during the computation takes along the values that no other
// asked for, and no value that was asked for again.
func TestALifeThatEndsMeanwhileLeavesNothing(t *testing.T) {
	once := New[int, int](Bound{Count: 4}, nil)
	dying, living := &Life{}, &Life{}
	once.Do(dying, 1, func() (int, bool) {
		once.End(dying)
		once.Do(living, 1, func() (int, bool) { return 2, true })
		return 1, true
	})
	if got := once.Do(living, 1, func() (int, bool) { return 3, true }); got != 2 || once.Len() != 1 {
		t.Errorf("got %d, of %d", got, once.Len())
	}
}

// A computation that panics is not remembered.
func TestWhatPanicsIsNotRemembered(t *testing.T) {
	once := New[int, int](Bound{Count: 4}, nil)
	func() {
		defer func() { _ = recover() }()
		once.Do(nil, 1, func() (int, bool) { panic("no") })
	}()
	if got := once.Do(nil, 1, func() (int, bool) { return 2, true }); got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestANilOnceRemembersNothing(t *testing.T) {
	var once *Once[string, int]
	computed := 0
	for range 2 {
		once.Do(nil, "a", func() (int, bool) { computed++; return 1, true })
		DoBytes(once, []byte("a"), func() (int, bool) { computed++; return 1, true })
	}
	once.End(&Life{})
	if computed != 4 || once.Len() != 0 {
		t.Errorf("computed %d times", computed)
	}
}

// BenchmarkKnown is what asking for known bytes costs.
func BenchmarkKnown(b *testing.B) {
	once := New[string, int](Bound{Count: 4096, Weight: 16 << 20}, func(k string) int { return len(k) })
	key := make([]byte, 300)
	b.ReportAllocs()
	for b.Loop() {
		DoBytes(once, key, func() (int, bool) { return 1, true })
	}
}
