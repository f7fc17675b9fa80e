package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The transcripts give each entry a name, which is its value; its sequence
// number is how many were inserted before it.
type transcript struct {
	kv     *memory
	sizes  Sizes
	places map[string]Place
	names  map[types.Seq]string
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &transcript{newMemory(), realSizes, map[string]Place{}, map[types.Seq]string{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			said := s.run(t, d)
			if err := Check(s.kv, s.sizes); err != nil {
				t.Fatal(err)
			}
			return said
		})
	})
}

func (s *transcript) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(key string) (n uint64) {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &n)
		}
		return n
	}
	cal := Of(s.kv, s.sizes)
	switch d.Cmd {
	case "sizes":
		s.sizes = Sizes{Ring: arg("ring"), EpochBlocks: arg("epoch"), QueueEpochs: arg("queue"), MaxMigrations: arg("moves")}
		return "ok"
	case "insert":
		return s.insert(cal, d.CmdArgs[0].Key, types.Height(arg("at")), arg("rank"))
	case "remove":
		cal.Remove(s.places[d.CmdArgs[0].Key])
		return "ok"
	case "maintain":
		var out strings.Builder
		for _, m := range cal.Maintain(height(t, d.CmdArgs[0].Key)) {
			fmt.Fprintf(&out, "%s at %d: %s -> %s\n", s.names[m.Seq], m.Height, m.From, m.To)
		}
		return out.String()
	case "due":
		limit := uint64(50_000)
		if d.HasArg("limit") {
			limit = arg("limit")
		}
		return s.due(cal, height(t, d.CmdArgs[0].Key), limit)
	case "next":
		h, ok := cal.Next()
		return fmt.Sprintln(h, ok)
	case "state":
		return s.state()
	}
	t.Fatalf("%s: no such command", d.Cmd)
	return ""
}

func height(t *testing.T, s string) types.Height {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return types.Height(n)
}

func (s *transcript) insert(cal Calendar, name string, at types.Height, rank uint64) string {
	p := Place{Height: at, Rank: rank, Seq: types.Seq(len(s.places))}
	s.places[name], s.names[p.Seq] = p, name
	cal.Insert(p, []byte(name))
	_, tier, _ := cal.Find(p)
	return tier.String() + "\n"
}

func (s *transcript) due(cal Calendar, now types.Height, limit uint64) string {
	var out strings.Builder
	for _, item := range cal.Due(now, limit) {
		_, tier, _ := cal.Find(item.Place)
		fmt.Fprintf(&out, "%s rank=%d seq=%d at=%d in the %s\n", item.Value, item.Rank, item.Seq, item.Height, tier)
	}
	return out.String()
}

// state is all keys: tier, slot in the ring, and the entry's name.
func (s *transcript) state() string {
	var out strings.Builder
	cal := Of(s.kv, s.sizes)
	at := cal.readCursor()
	fmt.Fprintf(&out, "maintained to %d, swept to %d\n", at.maintained, at.swept)
	for _, tier := range []Tier{Carry, Ring, Epoch, Overflow} {
		s.kv.Scan(firstKey(tier), endKey(tier), func(key, value []byte) bool {
			p := splitKey(tier, key)
			fmt.Fprint(&out, tier)
			switch tier {
			case Ring:
				fmt.Fprintf(&out, " slot %d", cal.ringSlot(p.Height))
			case Epoch:
				fmt.Fprintf(&out, " %d", cal.epochOf(p.Height))
			}
			fmt.Fprintf(&out, ": %s at %d\n", value, p.Height)
			return true
		})
	}
	return out.String()
}
