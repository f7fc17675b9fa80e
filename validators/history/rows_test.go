package history

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

type seen struct {
	seq types.Seq
	verdict
}

func readRows(t interface{ Fatal(...any) }, data []byte) (out []seen) {
	err := eachRow(data, func(seq types.Seq, v *verdict) bool {
		out = append(out, seen{seq, *v})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Written rows are read back, for all numbers in any order.
func TestLawRowsReadWhatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r rows
		var want []seen
		for range rapid.IntRange(0, 200).Draw(t, "timers") {
			priority, _ := types.WeiFromBig(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "priority")))
			v := seen{types.Seq(rapid.Uint64().Draw(t, "seq")), verdict{
				types.TimerStatus(rapid.SampledFrom([]string{"pending", "fired", ""}).Draw(t, "status")),
				rapid.SampledFrom([]string{"", "lane_full", "a longer reason"}).Draw(t, "reason"), priority,
				types.Weight{Num: rapid.Uint64().Draw(t, "n"), Den: rapid.Uint64Range(0, 3).Draw(t, "d")}}}
			r.addRow(v.seq, v.verdict)
			want = append(want, v)
		}
		if got := readRows(t, r.encodeRows()); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("read %v, want %v", got, want)
		}
	})
}

// A storm's deferrals take little room: a few bytes each if verdicts repeat, and at
// most twelve if each timer has a distinct priority.
func TestRowsAreSmall(t *testing.T) {
	const count = 50_000
	for name, c := range map[string]struct {
		priority func(i int) types.Wei
		most     int
	}{
		"mixed tips of 100 actors": {func(i int) types.Wei { return types.WeiOf(uint64(i % 10)) }, 4},
		"each its own":             {func(i int) types.Wei { return types.WeiOf(uint64(i) << 8) }, 12},
	} {
		var r rows
		for i := range count {
			r.addRow(types.Seq(i*3), verdict{types.TimerPending, "lane_full", c.priority(i), types.Weight{Num: uint64(100 + i%100), Den: 100}})
		}
		if size := len(r.encodeRows()); size > c.most*count {
			t.Errorf("%s: %d bytes a timer", name, size/count)
		}
	}
}

// FuzzRows: no record makes the reader panic or run on.
func FuzzRows(f *testing.F) {
	var r rows
	r.addRow(9, verdict{types.TimerPending, "lane_full", types.WeiOf(3), types.Weight{Num: 3, Den: 2}})
	r.addRow(4, verdict{types.TimerFired, "", types.MaxWei, types.Weight{}})
	f.Add(r.encodeRows())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		count := 0
		err := eachRow(data, func(types.Seq, *verdict) bool { count++; return true })
		if count > len(data) {
			t.Fatalf("%d timers in %d bytes, %v", count, len(data), err)
		}
	})
}
