package calendar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// twin is the dumbest correct calendar: a list, sorted and searched whole for
// whatever is asked, maintained one height at a time. It shares no code with
// the package.
type twin struct {
	ring, epoch, queue uint64 // sizes
	now                types.Height
	all                []entry
}

type entry struct {
	height types.Height
	rank   uint64
	seq    types.Seq
	value  []byte
	tier   string
	last   types.Height // in the arrears: its last examination
	key    types.Height // in the arrears: that of its last Shift
}

func (e entry) place() Place {
	return Place{Height: e.height, Rank: e.rank, Seq: e.seq, Examined: e.key}
}

func (m *twin) where(h types.Height) string {
	switch ahead := uint64(h)/m.epoch - uint64(m.now)/m.epoch; {
	case h < m.now:
		return "carry"
	case ahead == 0:
		return "ring"
	case ahead <= m.queue:
		return "epoch"
	}
	return "overflow"
}

func (m *twin) insert(p Place, value []byte) {
	m.all = append(m.all, entry{height: p.Height, rank: p.Rank, seq: p.Seq, value: value, tier: m.where(p.Height)})
}

// step is one height: at most moves moves, by tier, then height, then rank, then
// sequence.
func (m *twin) step(moves uint64) (done []string) {
	m.now++
	running := uint64(m.now) / m.epoch
	turn := func(e *entry) int {
		epoch := uint64(e.height) / m.epoch
		switch {
		case e.tier == "ring" && e.height < m.now:
			return 1
		case e.tier == "epoch" && epoch <= running:
			return 2
		case e.tier == "overflow" && epoch <= running+m.queue:
			return 3
		}
		return 0
	}
	var waiting []*entry
	for i := range m.all {
		if turn(&m.all[i]) > 0 {
			waiting = append(waiting, &m.all[i])
		}
	}
	slices.SortFunc(waiting, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(a.height, b.height), cmp.Compare(b.rank, a.rank), cmp.Compare(a.seq, b.seq))
	})
	for _, e := range waiting[:min(uint64(len(waiting)), moves)] {
		to := m.where(e.height)
		done = append(done, fmt.Sprintln(e.place(), e.tier, to))
		e.tier = to
	}
	return done
}

func (m *twin) due(now types.Height, limit uint64) (due []entry) {
	for _, e := range m.all {
		if e.height <= now {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b entry) int { // decision T16
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(b.rank, a.rank), cmp.Compare(a.seq, b.seq))
	})
	return due[:min(uint64(len(due)), limit)]
}

func (m *twin) find(p Place) int {
	return slices.IndexFunc(m.all, func(e entry) bool { return e.place() == p })
}

// twins are a calendar and its twin, which must never differ.
type twins struct {
	fail  func(format string, args ...any)
	kv    *memory
	sizes Sizes
	m     *twin
	seq   types.Seq
}

func newTwins(fail func(string, ...any), s Sizes) *twins {
	return &twins{fail: fail, kv: newMemory(), sizes: s, m: &twin{ring: s.Ring, epoch: s.EpochBlocks, queue: s.QueueEpochs}}
}

var smallSizes = Sizes{Ring: 8, EpochBlocks: 5, QueueEpochs: 3, MaxMigrations: 2}

func (x *twins) calendar() Calendar { return Of(x.kv, x.sizes) }

// do does one operation: what it is and two numbers to vary it.
func (x *twins) do(kind, a, b byte) {
	switch kind % 12 {
	case 0, 1, 2, 3:
		x.insert(types.Height(a%64), b)
	case 4:
		x.remove(a)
	case 5:
		x.replace(a, b)
	case 6:
		x.maintain(types.Height(a % 40)) // skipping, also what is due
	case 7:
		x.sizes.MaxMigrations = []uint64{0, 1, 1, 2, 3, 7, 100}[a%7]
		x.maintain(0)
	case 8:
		x.due(x.m.now+types.Height(a%20)-min(10, x.m.now), uint64(b%24))
	case 9:
		x.fire(uint64(a % 8))
		x.maintain(0)
	case 10:
		x.examine(uint64(a%16), b)
		x.maintain(0)
	case 11:
		x.examine(math.MaxUint64, b)
		x.maintain(types.Height(a % 3))
	}
	x.look()
}

// examine is a block that examines some of the due timers: a number decides for each
// whether it can pay. A block that examines all settles the others.
func (x *twins) examine(limit uint64, b byte) {
	if x.m.now == 0 {
		return
	}
	items := x.due(x.m.now, limit)
	all := len(items) == len(x.m.due(x.m.now, math.MaxUint64))
	for _, item := range items {
		e := &x.m.all[x.m.find(item.Place)]
		switch poor := uint64(item.Seq)%5 < uint64(b%7); {
		case poor && (e.tier != "arrears" || !all):
			e.tier, e.last, e.key = "arrears", x.m.now, x.m.now
		case poor:
			e.last = x.m.now
		case e.tier == "arrears":
			e.tier, e.last, e.key = x.m.where(e.height), 0, 0
		}
		if e.key != item.Examined {
			if got := x.calendar().Shift(item.Place, e.key, item.Value); got != e.place() {
				x.fail("shifted to %v, with the twin %v", got, e.place())
			}
		}
	}
	if all {
		x.calendar().Settle(x.m.now)
	}
}

func (x *twins) insert(in types.Height, b byte) {
	p := Place{Height: x.m.now + in, Rank: uint64(b % 4), Seq: x.seq}
	if b%8 == 7 {
		p.Rank = ^uint64(0)
	}
	x.seq++
	value := bytes.Repeat([]byte{b}, int(b%5))
	sets, scans := x.kv.sets, x.kv.scans
	x.calendar().Insert(p, value)
	if x.kv.sets != sets+1 || x.kv.scans != scans {
		x.fail("an insert wrote %d keys and scanned %d times", x.kv.sets-sets, x.kv.scans-scans)
	}
	x.m.insert(p, value)
}

func (x *twins) remove(a byte) {
	if len(x.m.all) > 0 {
		i := int(a) % len(x.m.all)
		x.calendar().Remove(x.m.all[i].place())
		x.m.all = slices.Delete(x.m.all, i, i+1)
	}
}

func (x *twins) replace(a, b byte) {
	if len(x.m.all) > 0 {
		e := &x.m.all[int(a)%len(x.m.all)]
		e.value = []byte{b, a}
		x.calendar().Replace(e.place(), e.value)
	}
}

// maintain brings both to the height after skipped ones: the calendar at once, a
// copy of it step by step, the twin in its own way.
func (x *twins) maintain(skipped types.Height) {
	walked := x.kv.clone()
	var steps, want []string
	for range skipped + 1 {
		want = append(want, x.m.step(x.sizes.MaxMigrations)...)
		moves := Of(walked, x.sizes).Maintain(x.m.now)
		if uint64(len(moves)) > x.sizes.MaxMigrations {
			x.fail("%d moves at height %d, at most %d", len(moves), x.m.now, x.sizes.MaxMigrations)
		}
		steps = append(steps, told(moves)...)
	}
	moves := told(x.calendar().Maintain(x.m.now))
	if !slices.Equal(moves, want) || !slices.Equal(steps, want) {
		x.fail("maintained to %d:\n%v\nstep by step\n%v\nthe twin\n%v", x.m.now, moves, steps, want)
	}
	if !equal(x.kv.dump(), walked.dump()) {
		x.fail("maintained to %d:\n%x\nstep by step\n%x", x.m.now, x.kv.dump(), walked.dump())
	}
}

func told(moves []Move) (told []string) {
	for _, m := range moves {
		told = append(told, fmt.Sprintln(m.Place, m.From, m.To))
	}
	return told
}

func (x *twins) due(now types.Height, limit uint64) []Item {
	got, want := x.calendar().Due(now, limit), x.m.due(now, limit)
	same := func(i Item, e entry) bool { return i.Place == e.place() && bytes.Equal(i.Value, e.value) }
	if !slices.EqualFunc(got, want, same) {
		x.fail("due at %d, at most %d:\n%v\nthe twin\n%v", now, limit, got, want)
	}
	return got
}

// fire ends the first few that are due.
func (x *twins) fire(limit uint64) {
	for _, item := range x.due(x.m.now, limit) {
		x.calendar().Remove(item.Place)
		i := x.m.find(item.Place)
		x.m.all = slices.Delete(x.m.all, i, i+1)
	}
}

// look asks everything that can be asked without changing anything.
func (x *twins) look() {
	if err := Check(x.kv, x.sizes); err != nil {
		x.fail("%v", err)
	}
	next, ok := x.calendar().Next()
	least, past := ^types.Height(0), false
	for _, e := range x.m.all {
		value, tier, found := x.calendar().Find(e.place())
		if !found || tier.String() != e.tier || !bytes.Equal(value, e.value) {
			x.fail("found %v %s %x, with the twin %+v", found, tier, value, e)
		}
		least, past = min(least, e.height), past || e.tier == "carry" || e.tier == "arrears"
	}
	if ok != (len(x.m.all) > 0) || ok && !past && next != least || past && next > x.m.now {
		x.fail("next is %d %v, with the twin %d of %d, maintained to %d", next, ok, least, len(x.m.all), x.m.now)
	}
	if _, _, found := x.calendar().Find(Place{Height: least, Rank: 99}); found {
		x.fail("found what was never inserted")
	}
	if len(x.m.all) != len(x.kv.dump())-int(min(1, x.m.now)) {
		x.fail("%d keys for %d entries", len(x.kv.dump()), len(x.m.all))
	}
}

func TestTheCalendarIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := smallSizes
		sizes.Ring = rapid.SampledFrom([]uint64{8, 5, 2}).Draw(t, "ring") // a ring below an epoch costs, and is right
		sizes.MaxMigrations = rapid.Uint64Range(0, 4).Draw(t, "moves")
		x := newTwins(t.Fatalf, sizes)
		for range rapid.IntRange(1, 500).Draw(t, "operations") {
			x.do(rapid.Byte().Draw(t, "kind"), rapid.Byte().Draw(t, "a"), rapid.Byte().Draw(t, "b"))
		}
	})
}

// FuzzOperations plays three bytes an operation, beginning near a height.
func FuzzOperations(f *testing.F) {
	for seed := range 4 {
		var data []byte
		for i := range 90 {
			data = append(data, byte(i*(seed+3)), byte(i*i+seed), byte(i*7>>seed))
		}
		f.Add(uint64(seed*4), data)
	}
	f.Add(^uint64(0), []byte{0, 1, 2, 0, 20, 3, 6, 3, 0, 9, 4, 0, 6, 5, 0, 8, 255, 255})
	f.Fuzz(func(t *testing.T, start uint64, data []byte) {
		x := newTwins(t.Fatalf, smallSizes)
		start = min(start, ^uint64(0)-64*64)
		x.m.now = types.Height(start)
		if start > 0 {
			x.calendar().Maintain(x.m.now)
		}
		data = data[:min(len(data), 3*200)] // the twin is slow
		for ; len(data) >= 3 && uint64(x.m.now) < ^uint64(0)-128; data = data[3:] {
			x.do(data[0], data[1], data[2])
		}
	})
}

// number writes a value that identifies its entry.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
