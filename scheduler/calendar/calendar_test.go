package calendar

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var realSizes = Sizes{Ring: 4096, EpochBlocks: 3600, QueueEpochs: 168, MaxMigrations: 10_000}

func at(h types.Height, seq types.Seq) Place { return Place{Height: h, Seq: seq} }

// CIP-1 §2 with T7 and T27: the running epoch is in the ring, an epoch up to 168
// ahead in the epoch queue, what lies beyond in the overflow.
func TestTiersByDistance(t *testing.T) {
	for _, c := range []struct {
		now, height types.Height
		want        Tier
	}{
		{0, 0, Ring}, {0, 1, Ring}, {0, 3599, Ring}, {0, 3600, Epoch},
		{0, 169*3600 - 1, Epoch}, {0, 169 * 3600, Overflow},
		{3599, 3599, Ring}, {3599, 3600, Epoch}, {3599, 169*3600 - 1, Epoch}, {3599, 169 * 3600, Overflow},
		{3600, 3600, Ring}, {3600, 7199, Ring}, {3600, 7200, Epoch},
		{3600, 170*3600 - 1, Epoch}, {3600, 170 * 3600, Overflow},
		{3600, 3599, Carry}, {9000, 0, Carry},
		{5, maxHeight, Overflow}, {maxHeight - 1, maxHeight, Ring}, {maxHeight, maxHeight, Ring},
	} {
		kv := newMemory()
		cal := Of(kv, realSizes)
		cal.Maintain(c.now)
		cal.Insert(at(c.height, 7), []byte("v"))
		if _, tier, ok := cal.Find(at(c.height, 7)); !ok || tier != c.want {
			t.Errorf("maintained to %d, height %d is in the %s (%v), want %s", c.now, c.height, tier, ok, c.want)
		}
		if next, ok := cal.Next(); !ok || next != c.height {
			t.Errorf("maintained to %d, next is %d, want %d", c.now, next, c.height)
		}
		if due := cal.Due(c.height, 1); len(due) != 1 || c.height > 0 && cal.Due(c.height-1, 1) != nil {
			t.Errorf("maintained to %d, height %d: due is %v", c.now, c.height, due)
		}
		if err := Check(kv, realSizes); err != nil {
			t.Error(err)
		}
	}
}

// Nothing wraps where the epoch queue reaches beyond all heights.
func TestReachBeyondAllHeights(t *testing.T) {
	cal := Of(newMemory(), Sizes{Ring: 1, EpochBlocks: 1, QueueEpochs: ^uint64(0) - 1, MaxMigrations: 1})
	cal.Insert(at(maxHeight, 1), number(0))
	cal.Insert(at(maxHeight, 2), number(0))
	if _, tier, _ := cal.Find(at(maxHeight, 1)); tier != Overflow {
		t.Fatalf("in the %s", tier)
	}
	for h := types.Height(1); h <= 2; h++ {
		if moves := cal.Maintain(h); len(moves) != 1 || moves[0].To != Epoch {
			t.Errorf("moved %v at %d", moves, h)
		}
	}
	if moves := cal.Maintain(maxHeight); len(moves) != 1 || moves[0].To != Ring || len(cal.Due(maxHeight, 9)) != 2 {
		t.Errorf("moved %v", moves)
	}
}

// The keys are the state that every validator has alike.
func TestKeys(t *testing.T) {
	cal, p := Of(newMemory(), realSizes), Place{Height: 0x10203, Rank: 5, Seq: 6}
	const height, rank, seq = "0000000000010203", "fffffffffffffffa", "0000000000000006"
	for tier, want := range map[Tier]string{
		Ring:     "t/q/" + "\x02\x03" + unhex(height+rank+seq),
		Epoch:    "t/e/" + unhex(height+rank+seq),
		Overflow: "t/f/" + unhex(height+rank+seq),
		Carry:    "t/c/" + unhex(rank+seq+height),
	} {
		if got := string(cal.keyOf(tier, p)); got != want {
			t.Errorf("%s: %x, want %x", tier, got, want)
		}
		if got := splitKey(tier, []byte(want)); got != p {
			t.Errorf("%s: read %+v, want %+v", tier, got, p)
		}
	}
	p.Examined = 0x10204
	late := "t/t/" + unhex("0000000000010204"+rank+seq+height)
	if got := string(cal.keyOf(Arrears, p)); got != late || splitKey(Arrears, []byte(late)) != p {
		t.Errorf("arrears: %x and read %+v, want %x and %+v", got, splitKey(Arrears, []byte(late)), late, p)
	}
	for now, due := range map[types.Height]bool{0x10202: false, 0x10203: true} {
		if DueKey([]byte(late), now) != due || DueKey([]byte(late[:len(late)-8]), now) {
			t.Errorf("at %d the key in arrears is due: %v, want %v", now, !due, due)
		}
	}
}

// T16: what could not pay comes after all else that is due, the examination
// longest ago first, whatever the ranks; Settle makes all examinations one.
func TestArrearsComeLastAndTakeTurns(t *testing.T) {
	kv := newMemory()
	cal := Of(kv, smallSizes)
	for i := range 6 {
		cal.Insert(Place{Height: 1, Rank: uint64(i), Seq: types.Seq(i)}, number(uint64(i)))
	}
	told := func(want string, limit uint64) {
		t.Helper()
		var seqs []types.Seq
		for _, item := range cal.Due(9, limit) {
			seqs = append(seqs, item.Seq)
		}
		if got := fmt.Sprint(seqs); got != want {
			t.Errorf("due are %s, want %s", got, want)
		}
		if err := Check(kv, smallSizes); err != nil {
			t.Error(err)
		}
	}
	shift := func(seq types.Seq, examined types.Height) {
		for _, item := range cal.Due(9, 9) {
			if item.Seq == seq {
				cal.Shift(item.Place, examined, item.Value)
			}
		}
	}
	cal.Maintain(9)
	cal.Settle(9)
	if at := cal.readCursor(); at.settled != 0 {
		t.Errorf("settled at %d without arrears", at.settled)
	}
	told("[5 4 3 2 1 0]", 9)
	shift(5, 7)
	shift(3, 8)
	shift(4, 8)
	shift(1, 6)
	told("[2 0 1 5 4 3]", 9)
	told("[2 0 1 5]", 4)
	shift(1, 9)
	told("[2 0 5 4 3 1]", 9)
	cal.Settle(8)
	told("[2 0 5 4 3 1]", 9)
	shift(3, 9)
	shift(0, 9)
	told("[2 5 4 3 1 0]", 9)
	cal.Settle(9)
	told("[2 5 4 3 1 0]", 9)
	shift(4, 0)
	told("[4 2 5 3 1 0]", 9)
	if n := cal.Count(9); n != 6 {
		t.Errorf("%d are due, want 6", n)
	}
}

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestCursorIsDeterministicCBOR(t *testing.T) {
	numbers := []uint64{0, 1, 23, 24, 255, 256, 65_535, 65_536, 1<<32 - 1, 1 << 32, 1<<64 - 1}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, settled := range numbers {
				c := cursor{types.Height(a), types.Height(b), types.Height(settled)}
				array := []uint64{a, b, settled}
				if settled == 0 {
					array = array[:2] // as states from before the arrears have it
				}
				data := codec.Marshal(array)
				if string(c.encodeCursor()) != string(data) {
					t.Fatalf("%v is written as %x, want %x", c, c.encodeCursor(), data)
				}
				if got, ok := decodeCursor(data); !ok || got != c {
					t.Fatalf("%x is read as %v %v", data, got, ok)
				}
			}
		}
	}
	for _, bad := range []string{"", "82", "8201", "820102ff", "830102", "82180102", "82011902", "8219000102", "821a0000ffff01", "822001",
		"82f601", "811c", "8382010203", "83010200", "83010203ff", "8301021803", "84010203"} {
		if got, ok := decodeCursor([]byte(unhex(bad))); ok {
			t.Errorf("%s is read as %v", bad, got)
		}
	}
}

// T16: the highest rank first, then the sequence, in whatever tier the due entries
// are.
func TestDueGoesByRankThenSequence(t *testing.T) {
	sizes := smallSizes
	sizes.MaxMigrations = 1 // all of them for the carry, so that the other tiers fall behind
	kv := newMemory()
	cal := Of(kv, sizes)
	for i := range 40 {
		cal.Insert(Place{Height: types.Height(i), Rank: uint64(i * 7 % 5), Seq: types.Seq(i)}, number(uint64(i)))
	}
	tiers := map[Tier]bool{}
	for now := types.Height(1); now <= 39; now++ {
		cal.Maintain(now)
		due := cal.Due(now, 100)
		for i, item := range due {
			_, tier, _ := cal.Find(item.Place)
			tiers[tier] = true
			if i > 0 {
				before := due[i-1]
				if before.Rank < item.Rank || before.Rank == item.Rank && before.Seq >= item.Seq {
					t.Fatalf("at %d %+v goes before %+v", now, before, item)
				}
			}
		}
		if len(due) != int(now)+1 {
			t.Fatalf("%d are due at %d", len(due), now)
		}
		for limit := range uint64(12) {
			first := cal.Due(now, limit)
			if fmt.Sprint(first) != fmt.Sprint(due[:min(limit, uint64(len(due)))]) {
				t.Fatalf("of %v the first %d are %v", due, limit, first)
			}
		}
	}
	if len(tiers) < 4 {
		t.Errorf("only %v held the due", tiers)
	}
}

// T7: a rollover is spread over blocks and never late, even where it moves one
// entry a block and its bucket has thousands.
func TestNeverLateWithOneMoveABlock(t *testing.T) {
	sizes := Sizes{Ring: 128, EpochBlocks: 100, QueueEpochs: 3, MaxMigrations: 1}
	kv := newMemory()
	cal := Of(kv, sizes)
	byHeight := map[types.Height]int{}
	for i := range 6000 { // all in the epoch queue or the overflow
		h := types.Height(100 + i*7919%1000)
		byHeight[h]++
		cal.Insert(at(h, types.Seq(i)), number(uint64(h)))
	}
	moved, late := map[Tier]int{}, 0
	for now := types.Height(1); now < 1100; now++ {
		moves := cal.Maintain(now)
		if len(moves) > 1 {
			t.Fatalf("%d moves at %d", len(moves), now)
		}
		for _, m := range moves {
			moved[m.To]++
		}
		due := cal.Due(now, 1000)
		if len(due) != byHeight[now] {
			t.Fatalf("%d are due at %d, of %d", len(due), now, byHeight[now])
		}
		for _, item := range due {
			if item.Height != now {
				late++
			}
			cal.Remove(item.Place)
		}
	}
	if _, some := cal.Next(); some || late > 0 || moved[Ring] == 0 {
		t.Errorf("%d were late, some left: %v, moved: %v", late, some, moved)
	}
}

// A rollover much larger than the bound moves exactly the bound in each block,
// in the order of heights, then ranks, then sequences.
func TestRolloverIsSpread(t *testing.T) {
	sizes := realSizes
	sizes.MaxMigrations = 1000
	cal := Of(newMemory(), sizes)
	for i := range 4500 {
		cal.Insert(Place{Height: 3700 + types.Height(i*37%3000), Rank: uint64(i % 3), Seq: types.Seq(i)}, number(0))
	}
	if moves := cal.Maintain(3599); moves != nil {
		t.Fatalf("%d moves before the epoch", len(moves))
	}
	var last Move
	for i, want := range []int{1000, 1000, 1000, 1000, 500, 0} {
		moves := cal.Maintain(3600 + types.Height(i))
		if len(moves) != want {
			t.Errorf("block %d of the epoch moved %d, want %d", i, len(moves), want)
		}
		for _, m := range moves {
			if m.From != Epoch || m.To != Ring || m.Height < last.Height || m.Height == last.Height && !last.isBefore(m.Place) {
				t.Fatalf("%+v after %+v", m, last)
			}
			last = m
		}
	}
}

// C8: a header that skips heights costs what there is to do at them, however
// many they are.
func TestSkippingIsQuick(t *testing.T) {
	const far = 1_000_000_000
	still := realSizes
	still.MaxMigrations = 0
	for name, c := range map[string]struct {
		sizes   Sizes
		entries []types.Height
	}{
		"empty":    {realSizes, nil},
		"due then": {realSizes, []types.Height{far, far + 1, far + 4000}},
		"beyond":   {realSizes, []types.Height{2 * far, 3 * far}},
		"moving":   {realSizes, []types.Height{far / 2, far/2 + 1, far/2 + 5000, far - 1}},
		"unmoved":  {still, []types.Height{8, far / 2, far/2 + 5000, far - 1, 2 * far}},
	} {
		kv := newMemory()
		cal := Of(kv, c.sizes)
		for i, h := range c.entries {
			cal.Insert(at(h, types.Seq(i)), number(0))
		}
		cal.Maintain(7)
		kv.scans, kv.gets, kv.sets, kv.read = 0, 0, 0, 0
		cal.Maintain(far)
		if touched := kv.scans + kv.gets + kv.sets + kv.read; touched > 150 {
			t.Errorf("%s: skipping %d heights takes %d accesses", name, far, touched)
		}
		if err := Check(kv, c.sizes); err != nil {
			t.Error(err)
		}
	}
}

// watched notes where scans of the epoch queue begin.
type watched struct {
	*memory
	from []string
}

func (w *watched) Scan(from, to []byte, each func(key, value []byte) bool) {
	if bytes.HasPrefix(from, prefixes[Epoch]) {
		w.from = append(w.from, string(from))
	}
	w.memory.Scan(from, to, each)
}

// A state in the making still has what was taken from the tree below: in a skip
// of many steps none may pass what those before it moved.
func TestSkippingPassesNothingTwice(t *testing.T) {
	sizes := smallSizes
	kv := &watched{memory: newMemory()}
	cal := Of(kv, sizes)
	for i := range 8 {
		cal.Insert(at(14, types.Seq(i)), number(0))
	}
	cal.Maintain(9)
	kv.from = nil
	if moves := cal.Maintain(14); len(moves) != 8 {
		t.Fatalf("moved %v", moves)
	}
	for i, last := range []types.Seq{1, 3, 5, 7} { // after each height's two moves
		if want := string(nextKey(cal.keyOf(Epoch, at(14, last)))); kv.from[i+1] != want {
			t.Errorf("scan %d begins at %x, want %x", i+1, kv.from[i+1], want)
		}
	}
}

// A block's reads follow from its due entries, not from the pending ones, at any
// height and at the start of a long rollover.
func TestReadingFollowsFromWhatIsDue(t *testing.T) {
	sizes := realSizes
	sizes.MaxMigrations = 10
	cost := func(now types.Height, pending int) string {
		kv := newMemory()
		cal := Of(kv, sizes)
		for i := range pending {
			cal.Insert(at(now+1+types.Height(i*7919%2_000_000), types.Seq(i)), number(0))
			cal.Insert(at(now+1000+types.Height(i%2000), types.Seq(2_000_000+i)), number(0))
		}
		for i := range 100 {
			cal.Insert(at(now, types.Seq(1_000_000+i)), number(0))
		}
		cal.Maintain(now - 1)
		kv.scans, kv.gets, kv.sets, kv.read = 0, 0, 0, 0
		cal.Maintain(now)
		if due := cal.Due(now, 50_000); len(due) != 100 {
			t.Fatalf("%d are due", len(due))
		}
		return fmt.Sprint(kv.scans, " scans, ", kv.gets, " gets, ", kv.sets, " sets, ", kv.read, " keys")
	}
	for _, now := range []types.Height{1500, 3600, 7200} {
		if few, many := cost(now, 1000), cost(now, 50_000); few != many {
			t.Errorf("at %d with 2,000 pending %s, with 100,000 %s", now, few, many)
		}
	}
}

// T16: nor does it read much more than it may examine.
func TestReadingIsBoundedByTheLimit(t *testing.T) {
	kv := newMemory()
	cal := Of(kv, realSizes)
	for i := range 60_000 {
		cal.Insert(Place{Height: 8 + types.Height(i%3), Rank: uint64(i % 11), Seq: types.Seq(i)}, number(0))
	}
	cal.Maintain(9) // the first third is carried, as far as it can be moved
	for _, limit := range []uint64{0, 1, 10, 1000, 30_000, 60_000, ^uint64(0)} {
		kv.read = 0
		due := cal.Due(10, limit)
		if uint64(len(due)) != min(limit, 60_000) {
			t.Errorf("limit %d: %d", limit, len(due))
		}
		if uint64(kv.read) > 100+3*min(limit, 60_000) {
			t.Errorf("limit %d: %d keys read", limit, kv.read)
		}
	}
}

// CIP-1 §2.1: heights that share a slot do not mix, also where the sweep is far
// behind the ring.
func TestHeightsShareASlot(t *testing.T) {
	sizes := smallSizes
	sizes.MaxMigrations = 0
	kv := newMemory()
	cal := Of(kv, sizes)
	for h := types.Height(0); h < 80; h++ { // as each is running
		cal.Maintain(h)
		cal.Insert(at(h, types.Seq(h)), number(uint64(h)))
	}
	if due := cal.Due(79, 100); len(due) != 80 || due[79].Height != 79 {
		t.Fatalf("due is %v", due)
	}
	cal.Remove(at(0, 0))
	if next, _ := cal.Next(); next != 1 {
		t.Errorf("next is %d", next)
	}
	for h := types.Height(1); h < 20; h++ {
		cal.Remove(at(h, types.Seq(h)))
	}
	if next, _ := cal.Next(); next != 20 {
		t.Errorf("next is %d, more than a ring late", next)
	}
	sizes.MaxMigrations = 25
	if moves := Of(kv, sizes).Maintain(80); len(moves) != 25 || moves[0].Height != 20 || moves[24].Height != 44 {
		t.Errorf("moved %v", moves)
	}
	if err := Check(kv, sizes); err != nil {
		t.Error(err)
	}
}

// CIP-5 §9.8 phase 6, T26: what a block makes due at its own end.
func TestInsertAtTheMaintainedHeight(t *testing.T) {
	cal := Of(newMemory(), realSizes)
	cal.Maintain(5000)
	cal.Insert(at(5000, 1), number(1))
	if _, tier, ok := cal.Find(at(5000, 1)); !ok || tier != Ring || len(cal.Due(5000, 9)) != 1 || cal.Due(4999, 9) != nil {
		t.Errorf("in the %s %v, due %v", tier, ok, cal.Due(5000, 9))
	}
	if moves := cal.Maintain(5001); len(moves) != 1 || moves[0] != (Move{at(5000, 1), Ring, Carry}) {
		t.Errorf("moved %v", moves)
	}
	if moves := cal.Maintain(5001); moves != nil {
		t.Errorf("maintained twice: %v", moves)
	}
}

func TestBugsOfTheCaller(t *testing.T) {
	cal := Of(newMemory(), realSizes)
	cal.Insert(at(5, 1), []byte{})
	for name, bug := range map[string]func(){
		"no entry at height 5, rank 0, sequence 2": func() { cal.Remove(at(5, 2)) },
		"no entry at height 6, rank 0, sequence 1": func() { cal.Replace(at(6, 1), number(0)) },
		"an entry without a value":                 func() { cal.Insert(at(7, 3), nil) },
		"0 slots":                                  func() { Of(newMemory(), Sizes{EpochBlocks: 1}) },
		"65537 slots":                              func() { Of(newMemory(), Sizes{Ring: 65_537, EpochBlocks: 1}) },
		"epochs of 0 blocks":                       func() { Of(newMemory(), Sizes{Ring: 1}) },
		"the cursor in state is damaged":           func() { Of(newMemory(pair{keyCursor, number(0)}), realSizes).Next() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, name) {
					t.Errorf("panics with %q", said)
				}
			}()
			bug()
		})
	}
	if value, tier, ok := cal.Find(at(5, 1)); !ok || value == nil || len(value) > 0 || tier != Ring {
		t.Errorf("an empty value is read as %v from the %s", value, tier)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	clean := func() (*memory, Calendar) {
		kv := newMemory()
		cal := Of(kv, realSizes)
		cal.Insert(at(2999, 0), number(0))
		cal.Maintain(3000)
		for i, h := range []types.Height{3000, 3599, 3600, 600_000, 700_000} {
			cal.Insert(at(h, types.Seq(i+1)), number(0))
		}
		return kv, cal
	}
	if kv, _ := clean(); Check(kv, realSizes) != nil || len(kv.dump()) != 7 {
		t.Fatal(Check(kv, realSizes), len(kv.dump()))
	}
	for want, damage := range map[string]func(kv *memory, cal Calendar){
		"the cursor 82 is damaged":       func(kv *memory, _ Calendar) { kv.Set(keyCursor, []byte{0x82}) },
		"the cursor 820506 is damaged":   func(kv *memory, _ Calendar) { kv.Set(keyCursor, cursor{maintained: 5, swept: 6}.encodeCursor()) },
		"the cursor 83050506 is damaged": func(kv *memory, _ Calendar) { kv.Set(keyCursor, cursor{5, 5, 6}.encodeCursor()) },
		"has 29 bytes, not 28": func(kv *memory,
			cal Calendar) {
			kv.Set(append(cal.keyOf(Epoch, at(4000, 9)), 0), number(0))
		},
		"sequence 1 is in the ring and in the epoch": func(kv *memory, cal Calendar) { kv.Set(cal.keyOf(Epoch, at(3000, 1)), number(0)) },
		"sequence 9 of height 3600, examined at 0, is in the ring": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Ring, at(3600, 9)), number(0))
		},
		"sequence 9 of height 2999, examined at 0, is in the ring": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Ring, at(2999, 9)), number(0))
		},
		"sequence 9 of height 608400, examined at 0, is in the epoch": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Epoch, at(169*3600, 9)), number(0))
		},
		"sequence 9 of height 3000, examined at 0, is in the carry": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Carry, at(3000, 9)), number(0))
		},
		"sequence 9 of height 3000, examined at 0, is in the arr": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Arrears, Place{Height: 3000, Seq: 9}), number(0))
		},
		"sequence 9 of height 2999, examined at 2998, is in the arrears": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Arrears, Place{Height: 2999, Seq: 9, Examined: 2998}), number(0))
		},
		"sequence 9 of height 2999, examined at 3001, is in the arrears": func(kv *memory,
			cal Calendar) {
			kv.Set(cal.keyOf(Arrears, Place{Height: 2999, Seq: 9, Examined: 3001}), number(0))
		},
		"sequence 9 of height 3001 is in the slot of another height": func(kv *memory,
			cal Calendar) {
			kv.Set(append(atSlot(7, 3001), number2(^uint64(0), 9)...), number(0))
		},
	} {
		kv, cal := clean()
		damage(kv, cal)
		if err := Check(kv, realSizes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func number2(a, b uint64) []byte { return append(number(a), number(b)...) }
