package calendar

import (
	"container/heap"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/google/btree"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Common settings of the benchmarks: n entries over the thirty days of the TTL, and
// some that are due in the block at benchNow. The calendar is measured as in a
// block, with writes over the state trie, and with the root. The others are a heap
// and a B-tree in memory, with nothing hashed, stored or reverted.
const (
	benchNow   = types.Height(9000)
	benchFrom  = benchNow + 10
	benchReach = 2_592_000
	benchBatch = 1000
	valueBytes = 86 // an entry of package scheduler
)

var benchSizes = Sizes{Ring: 4096, EpochBlocks: 3600, QueueEpochs: 168, MaxMigrations: 10_000}

func pendings() []int {
	if os.Getenv("DEVNET_BENCH_LARGE") != "" {
		return []int{10_000, 1_000_000, 10_000_000}
	}
	return []int{10_000, 1_000_000}
}

// spread gives heights without order.
func spread(i int) types.Height { return types.Height(uint64(i) * 2_654_435_761 % benchReach) }

func benchPlace(i int) Place {
	return Place{Height: benchFrom + spread(i), Rank: uint64(i) % 7, Seq: types.Seq(i)}
}

var benchValue = make([]byte, valueBytes)

// patterns are where new entries go: anywhere, or into the next minutes, before
// nearly all that is pending.
var patterns = []struct {
	name  string
	place func(i int) Place
}{
	{"anywhere", func(i int) Place { return benchPlace(i + 1<<40) }},
	{"soon", func(i int) Place { return Place{Height: benchNow + 1 + types.Height(i%8), Seq: types.Seq(i + 1<<40)} }},
}

// loaded is the state with n pending and due more at benchNow, its root known.
var loaded = struct {
	pending, due int
	tree         *trie.Tree
}{}

func load(pending, due int) *trie.Tree {
	if loaded.tree == nil || loaded.pending != pending || loaded.due != due {
		loaded.tree = nil
		loaded.tree = build(pending, due)
		loaded.pending, loaded.due = pending, due
		runtime.GC()
	}
	return loaded.tree
}

// build puts a part at a time, so that batches take little memory compared with the
// tree.
func build(pending, due int) *trie.Tree {
	cal, tree := Of(newMemory(), benchSizes), trie.Empty
	const part = 100_000
	for from := 0; from < pending; from += part {
		var batch []trie.Change
		for i := from; i < min(from+part, pending); i++ {
			p := benchPlace(i)
			batch = append(batch, trie.Change{Key: cal.keyOf(cal.tierFor(p, benchNow), p), Value: benchValue})
		}
		tree = tree.Put(batch)
	}
	batch := []trie.Change{{Key: keyCursor, Value: cursor{maintained: benchNow, swept: benchNow}.encodeCursor()}}
	for i := range due {
		batch = append(batch, trie.Change{Key: cal.keyOf(Ring, duePlace(i)), Value: benchValue})
	}
	tree = tree.Put(batch)
	tree.Root()
	return tree
}

func duePlace(i int) Place {
	return Place{Height: benchNow, Rank: uint64(i % 5), Seq: types.Seq(1<<50 + i)}
}

func perEntry(b *testing.B, entries int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
}

// timed runs do with the clock on and undo with it off, until the benchmark has
// enough.
func timed(b *testing.B, entries int, do, undo func()) {
	b.ReportAllocs()
	for b.Loop() {
		do()
		b.StopTimer()
		undo()
		b.StartTimer()
	}
	perEntry(b, entries)
}

// queue is a heap whose entries know their index, so that one can be removed.
type queue []*queued

type queued struct {
	Item
	at int
}

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := &q[i].Place, &q[j].Place
	return a.Height < b.Height || a.Height == b.Height && a.isBefore(*b)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i]; q[i].at, q[j].at = i, j }
func (q *queue) Push(x any) {
	e := x.(*queued)
	e.at = len(*q)
	*q = append(*q, e)
}
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func fullQueue(pending, due int) (*queue, map[types.Seq]*queued) {
	q, bySeq := make(queue, 0, pending+due+benchBatch), make(map[types.Seq]*queued, pending)
	for i := range pending {
		e := &queued{Item{benchPlace(i), benchValue}, i}
		q, bySeq[e.Seq] = append(q, e), e
	}
	for i := range due {
		q = append(q, &queued{Item{duePlace(i), benchValue}, pending + i})
	}
	heap.Init(&q)
	return &q, bySeq
}

func inOrder(a, b Item) bool {
	return a.Height < b.Height || a.Height == b.Height && a.isBefore(b.Place)
}

func fullTree(pending, due int) *btree.BTreeG[Item] {
	tree := btree.NewG(32, inOrder)
	for i := range pending {
		tree.ReplaceOrInsert(Item{benchPlace(i), benchValue})
	}
	for i := range due {
		tree.ReplaceOrInsert(Item{duePlace(i), benchValue})
	}
	return tree
}

// turn tells one round of a benchmark from the other, so that none finds in the
// processor's caches what the one before left.
type turn int

func (t *turn) next() (from int) {
	*t += benchBatch
	return int(*t)
}

func BenchmarkInsert(b *testing.B) {
	for _, pending := range pendings() {
		for _, pattern := range patterns {
			for _, root := range []bool{false, true} {
				b.Run(fmt.Sprintf("pending=%d/%s/calendar%s", pending, pattern.name, rooted[root]), func(b *testing.B) {
					tree, turn := load(pending, benchBatch), turn(0)
					timed(b, benchBatch, func() {
						kv, from := onTree(tree), turn.next()
						cal := Of(kv, benchSizes)
						cal.setCursor(cal.readCursor()) // as the block's maintenance has
						for i := range benchBatch {
							cal.Insert(pattern.place(from+i), benchValue)
						}
						if root {
							kv.seal().Root()
						}
					}, func() {})
				})
			}
		}
	}
	for _, pending := range pendings() {
		q, bySeq := fullQueue(pending, benchBatch)
		for _, pattern := range patterns {
			b.Run(fmt.Sprintf("pending=%d/%s/heap", pending, pattern.name), func(b *testing.B) { insertIntoHeap(b, q, nil, pattern.place) })
			b.Run(fmt.Sprintf("pending=%d/%s/heap-index", pending, pattern.name), func(b *testing.B) { insertIntoHeap(b, q, bySeq, pattern.place) })
		}
	}
	for _, pending := range pendings() {
		tree := fullTree(pending, benchBatch)
		for _, pattern := range patterns {
			b.Run(fmt.Sprintf("pending=%d/%s/btree", pending, pattern.name), func(b *testing.B) {
				turn, from := turn(0), 0
				timed(b, benchBatch, func() {
					from = turn.next()
					for i := range benchBatch {
						tree.ReplaceOrInsert(Item{pattern.place(from + i), benchValue})
					}
				}, func() {
					for i := range benchBatch {
						tree.Delete(Item{Place: pattern.place(from + i)})
					}
				})
			})
		}
	}
}

var rooted = map[bool]string{true: "-root"}

// insertIntoHeap pushes, and updates bySeq unless it is nil.
func insertIntoHeap(b *testing.B, q *queue, bySeq map[types.Seq]*queued, place func(int) Place) {
	pushed, turn := make([]*queued, benchBatch), turn(0)
	timed(b, benchBatch, func() {
		from := turn.next()
		for i := range pushed {
			e := &queued{Item: Item{place(from + i), benchValue}}
			pushed[i] = e
			heap.Push(q, e)
			if bySeq != nil {
				bySeq[e.Seq] = e
			}
		}
	}, func() {
		for _, e := range pushed {
			heap.Remove(q, e.at)
			delete(bySeq, e.Seq)
		}
	})
}

// picked is one of the pending, without order.
func picked(i, pending int) Place { return benchPlace(int(uint64(i) * 40_503 % uint64(pending))) }

// BenchmarkCancel removes pending entries by their places.
func BenchmarkCancel(b *testing.B) {
	for _, pending := range pendings() {
		for _, root := range []bool{false, true} {
			b.Run(fmt.Sprintf("pending=%d/calendar%s", pending, rooted[root]), func(b *testing.B) {
				tree, turn := load(pending, benchBatch), turn(0)
				timed(b, benchBatch, func() {
					kv, from := onTree(tree), turn.next()
					cal := Of(kv, benchSizes)
					cal.setCursor(cal.readCursor())
					for i := range benchBatch {
						cal.Remove(picked(from+i, pending))
					}
					if root {
						kv.seal().Root()
					}
				}, func() {})
			})
		}
	}
	for _, pending := range pendings() {
		q, bySeq := fullQueue(pending, 0)
		b.Run(fmt.Sprintf("pending=%d/heap-index", pending), func(b *testing.B) {
			gone, turn := make([]*queued, benchBatch), turn(0)
			timed(b, benchBatch, func() {
				from := turn.next()
				for i := range gone {
					gone[i] = bySeq[picked(from+i, pending).Seq]
					heap.Remove(q, gone[i].at)
					delete(bySeq, gone[i].Seq)
				}
			}, func() {
				for _, e := range gone {
					heap.Push(q, e)
					bySeq[e.Seq] = e
				}
			})
		})
	}
	for _, pending := range pendings() {
		tree := fullTree(pending, 0)
		b.Run(fmt.Sprintf("pending=%d/btree", pending), func(b *testing.B) {
			turn, from := turn(0), 0
			timed(b, benchBatch, func() {
				from = turn.next()
				for i := range benchBatch {
					tree.Delete(Item{Place: picked(from+i, pending)})
				}
			}, func() {
				for i := range benchBatch {
					tree.ReplaceOrInsert(Item{picked(from+i, pending), benchValue})
				}
			})
		})
	}
}

// BenchmarkDue reads what is due in a block. The heap must pop it.
func BenchmarkDue(b *testing.B) {
	for _, due := range []int{benchBatch, 50_000} {
		for _, pending := range pendings() {
			b.Run(fmt.Sprintf("due=%d/pending=%d/calendar", due, pending), func(b *testing.B) {
				cal := Of(onTree(load(pending, due)), benchSizes)
				timed(b, due, func() {
					if n := len(cal.Due(benchNow, 50_000)); n != due {
						b.Fatal(n)
					}
				}, func() {})
			})
		}
		for _, pending := range pendings() {
			q, _ := fullQueue(pending, due)
			b.Run(fmt.Sprintf("due=%d/pending=%d/heap", due, pending), func(b *testing.B) {
				items := make([]*queued, 0, due)
				timed(b, due, func() {
					for items = items[:0]; (*q)[0].Height <= benchNow; {
						items = append(items, heap.Pop(q).(*queued))
					}
				}, func() {
					if len(items) != due {
						b.Fatal(len(items))
					}
					for _, e := range items {
						heap.Push(q, e)
					}
				})
			})
		}
		for _, pending := range pendings() {
			tree := fullTree(pending, due)
			b.Run(fmt.Sprintf("due=%d/pending=%d/btree", due, pending), func(b *testing.B) {
				timed(b, due, func() {
					var items []Item
					tree.AscendLessThan(Item{Place: Place{Height: benchNow + 1, Rank: ^uint64(0)}}, func(i Item) bool {
						items = append(items, i)
						return true
					})
					if len(items) != due {
						b.Fatal(len(items))
					}
				}, func() {})
			})
		}
	}
}

// BenchmarkBacklog examines as many as a block may of two hundred thousand that
// are carried, with two blocks more that are not swept yet.
func BenchmarkBacklog(b *testing.B) {
	at := cursor{maintained: benchNow, swept: benchNow - 1}
	cal, batch := Of(newMemory(), benchSizes), []trie.Change{{Key: keyCursor, Value: at.encodeCursor()}}
	for i := range 200_000 {
		p := Place{Height: 100 + spread(i)%5000, Rank: uint64(i) % 100, Seq: types.Seq(i)}
		batch = append(batch, trie.Change{Key: cal.keyOf(Carry, p), Value: benchValue})
	}
	for i := range 2000 {
		p := Place{Height: benchNow - types.Height(i%2), Rank: uint64(i) % 100, Seq: types.Seq(200_000 + i)}
		batch = append(batch, trie.Change{Key: cal.keyOf(Ring, p), Value: benchValue})
	}
	cal = Of(onTree(trie.Build(batch)), benchSizes)
	timed(b, 50_000, func() {
		if n := len(cal.Due(benchNow, 50_000)); n != 50_000 {
			b.Fatal(n)
		}
	}, func() {})
}

// BenchmarkMaintain is a full block of a rollover, without and with the root.
func BenchmarkMaintain(b *testing.B) {
	for _, root := range []bool{false, true} {
		b.Run(fmt.Sprintf("moves=%d/calendar%s", benchSizes.MaxMigrations, rooted[root]), func(b *testing.B) {
			cal, batch := Of(newMemory(), benchSizes), []trie.Change{{Key: keyCursor, Value: cursor{maintained: 3599, swept: 3599}.encodeCursor()}}
			for i := range 100_000 {
				p := at(3700+types.Height(i*7919%3000), types.Seq(i))
				batch = append(batch, trie.Change{Key: cal.keyOf(Epoch, p), Value: benchValue})
			}
			tree := trie.Build(batch)
			tree.Root()
			kv := onTree(tree)
			timed(b, int(benchSizes.MaxMigrations), func() {
				if n := len(Of(kv, benchSizes).Maintain(3600)); n != 10_000 {
					b.Fatal(n)
				}
				if root {
					kv.seal().Root()
				}
			}, kv.revert)
		})
	}
}

// BenchmarkSkip is a header over a thousand million heights without due entries,
// with a million entries after them.
func BenchmarkSkip(b *testing.B) {
	tree := trie.Build(changesBeyond(1_000_000))
	kv := onTree(tree)
	timed(b, 1, func() {
		if moves := Of(kv, benchSizes).Maintain(1_000_000_000); len(moves) > 0 {
			b.Fatal(len(moves))
		}
	}, kv.revert)
}

func changesBeyond(n int) (batch []trie.Change) {
	cal := Of(newMemory(), benchSizes)
	for i := range n {
		batch = append(batch, trie.Change{Key: cal.keyOf(Overflow, at(2_000_000_000+spread(i), types.Seq(i))), Value: benchValue})
	}
	return batch
}

// BenchmarkMemory is the heap that an entry takes, its value left out.
func BenchmarkMemory(b *testing.B) {
	pending := pendings()[len(pendings())-1]
	loaded.tree = nil
	for _, c := range []struct {
		name  string
		build func() any
	}{
		{"calendar", func() any { return build(pending, 0) }},
		{"heap-index", func() any { q, bySeq := fullQueue(pending, 0); return []any{q, bySeq} }},
		{"btree", func() any { return fullTree(pending, 0) }},
	} {
		b.Run(fmt.Sprintf("pending=%d/%s", pending, c.name), func(b *testing.B) {
			for b.Loop() {
				before := heapBytes()
				built := c.build()
				size := heapBytes() - before
				if c.name == "calendar" { // a leaf holds its value; the others share one
					size -= uint64(pending) * valueBytes
				}
				b.ReportMetric(float64(size)/float64(pending), "B/entry")
				runtime.KeepAlive(built)
			}
		})
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
