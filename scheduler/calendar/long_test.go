package calendar

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/btree"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// run is a chain of blocks with a calendar on each of its states, held against
// B-trees: what waits by height, what is due by rank and sequence.
type run struct {
	t        *testing.T
	random   *rand.Rand
	sizes    Sizes
	states   []KV
	now      types.Height
	seq      types.Seq
	pending  *btree.BTreeG[Place] // not due yet
	due      *btree.BTreeG[Place]
	done     int // operations
	tiers    [Carry + 1]int
	mostMove int
}

func byHeight(a, b Place) bool { return a.Height < b.Height || a.Height == b.Height && a.Seq < b.Seq }

func byRank(a, b Place) bool { return a.Rank > b.Rank || a.Rank == b.Rank && a.Seq < b.Seq }

func newRun(t *testing.T, seed uint64, s Sizes, states ...KV) *run {
	t.Logf("seed %d", seed)
	return &run{t: t, random: rand.New(rand.NewPCG(seed, 0)), sizes: s, states: states,
		pending: btree.NewG(32, byHeight), due: btree.NewG(32, byRank)}
}

func (r *run) each(do func(Calendar)) {
	r.done++
	for _, kv := range r.states {
		do(Of(kv, r.sizes))
	}
}

// block maintains, fires the first few due entries, and schedules and cancels some.
func (r *run) block(skipped types.Height, fires uint64, inserts int) {
	r.now += 1 + skipped
	bound := uint64(skipped+1) * r.sizes.MaxMigrations
	r.each(func(c Calendar) {
		moves := c.Maintain(r.now)
		r.mostMove = max(r.mostMove, len(moves))
		if uint64(len(moves)) > bound {
			r.t.Fatalf("%d moves at height %d after %d skipped", len(moves), r.now, skipped)
		}
	})
	for p, ok := r.pending.Min(); ok && p.Height <= r.now; p, ok = r.pending.Min() {
		r.pending.Delete(p)
		r.due.ReplaceOrInsert(p)
	}
	r.fire(fires)
	for range inserts {
		r.insert()
	}
	for range inserts / 4 {
		r.cancel()
	}
	if next, ok := r.next(); ok {
		r.each(func(c Calendar) {
			if got, found := c.Next(); !found || got != next && (next > r.now || got > r.now) {
				r.t.Fatalf("at %d next is %d, want %d", r.now, got, next)
			}
		})
	}
}

// next returns the lowest height of all.
func (r *run) next() (types.Height, bool) {
	if p, ok := r.due.Min(); ok {
		return p.Height, true
	}
	p, ok := r.pending.Min()
	return p.Height, ok
}

func (r *run) fire(limit uint64) {
	var want []Place
	r.due.Ascend(func(p Place) bool {
		if uint64(len(want)) < limit {
			want = append(want, p)
		}
		return uint64(len(want)) < limit
	})
	for _, kv := range r.states {
		c := Of(kv, r.sizes)
		due := c.Due(r.now, limit)
		if len(due) != len(want) {
			r.t.Fatalf("%d are due at %d, want %d", len(due), r.now, len(want))
		}
		for i, item := range due {
			if item.Place != want[i] || string(item.Value) != string(number(uint64(item.Seq))) {
				r.t.Fatalf("at %d turn %d is %+v, want %+v", r.now, i, item, want[i])
			}
			c.Remove(item.Place)
		}
	}
	for _, p := range want {
		r.due.Delete(p)
	}
	r.done += len(want)
}

// insert schedules near, some epochs ahead or far.
func (r *run) insert() {
	reach := []uint64{4, r.sizes.EpochBlocks, r.sizes.EpochBlocks * r.sizes.QueueEpochs,
		3 * r.sizes.EpochBlocks * r.sizes.QueueEpochs}[r.random.IntN(4)]
	p := Place{Height: r.now + 1 + types.Height(r.random.Uint64N(reach)), Rank: r.random.Uint64N(5), Seq: r.seq}
	r.seq++
	r.each(func(c Calendar) { c.Insert(p, number(uint64(p.Seq))) })
	r.pending.ReplaceOrInsert(p)
}

// cancel removes an entry at or after some height, otherwise a due one.
func (r *run) cancel() {
	tree, from := r.pending, Place{Height: r.now + types.Height(r.random.Uint64N(4*r.sizes.EpochBlocks*r.sizes.QueueEpochs))}
	if r.random.IntN(4) == 0 && r.due.Len() > 0 {
		tree, from = r.due, Place{Rank: ^uint64(0)}
	}
	tree.AscendGreaterOrEqual(from, func(p Place) bool {
		from = p
		return false
	})
	if _, found := tree.Delete(from); !found {
		return
	}
	r.each(func(c Calendar) {
		_, tier, _ := c.Find(from)
		r.tiers[tier]++
		c.Remove(from)
	})
}

// TestLongRun does some million operations on one state, many more in a soak.
func TestLongRun(t *testing.T) {
	operations := 2_000_000
	if os.Getenv("DEVNET_SOAK") != "" {
		operations = 20_000_000
	}
	if testing.Short() {
		operations = 100_000
	}
	kv := newMemory()
	r := newRun(t, 1, Sizes{Ring: 64, EpochBlocks: 50, QueueEpochs: 6, MaxMigrations: 40}, kv)
	for r.done < operations {
		r.sizes.MaxMigrations = []uint64{3, 40, 40, 200}[r.now/500%4]
		fires := uint64(400)
		if r.now%300 < 40 {
			fires = 2 // a queue forms
		}
		r.block(0, fires, r.random.IntN(40))
		if r.now%5000 == 0 {
			if err := Check(kv, r.sizes); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Check(kv, r.sizes); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d operations in %d blocks, at most %d moves; cancelled by tier: %v; %d pending", r.done, r.now, r.mostMove, r.tiers,
		r.pending.Len()+r.due.Len())
	for tier, n := range r.tiers {
		if n == 0 {
			t.Errorf("nothing was cancelled in the %s", Tier(tier))
		}
	}
}

// Nothing is kept between calls: a calendar continues only from its state, even in
// the middle of a rollover, in another process and on the state trie.
func TestRestartsInTheMiddleOfARollover(t *testing.T) {
	sizes := Sizes{Ring: 64, EpochBlocks: 50, QueueEpochs: 3, MaxMigrations: 7}
	kept, tree := newMemory(), trie.Empty
	r := newRun(t, 2, sizes, kept, nil)
	middles := 0
	for range 1000 {
		fresh := onTree(trie.Build(changes(dumpTree(tree))))
		r.states[1] = fresh
		skipped := types.Height(0)
		if next, ok := r.next(); ok && next > r.now+1 {
			skipped = min(next-r.now-1, types.Height(r.random.IntN(5)))
		}
		inserts := r.random.IntN(12)
		if r.now/200%2 == 0 {
			inserts = r.random.IntN(2) // so that heights can be skipped
		}
		r.block(skipped, uint64(r.random.IntN(30)), inserts)
		tree = fresh.seal()
		if !equal(kept.dump(), dumpTree(tree)) {
			t.Fatalf("at %d:\n%x\nrestarted\n%x", r.now, kept.dump(), dumpTree(tree))
		}
		c := Of(kept, sizes)
		if p, found := c.firstEntry(Epoch, firstKey(Epoch), endKey(Epoch)); found && c.epochOf(p.Height) <= c.epochOf(r.now) {
			middles++
		}
	}
	if middles < 20 {
		t.Errorf("only %d blocks ended in the middle of a rollover", middles)
	}
}

func changes(pairs []pair) (batch []trie.Change) {
	for _, p := range pairs {
		batch = append(batch, trie.Change{Key: p.key, Value: p.value})
	}
	return batch
}
