package pyhost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
)

// priced is what one program took.
type priced struct {
	name    string
	cycles  types.Cycles
	cpu     time.Duration
	failure string // an end that is not the end of cycles
}

func (p priced) perCycle() float64 { return float64(p.cpu) / float64(max(p.cycles, 1)) }

// price runs a handler's body until its cycles are over, or until it ends.
func (w *world) price(name, source string, limit types.Cycles) (priced, error) {
	at := w.deploy(77, source)
	if _, err := w.session.Inspect(w.actors[at].code); err != nil {
		return priced{}, fmt.Errorf("%s: %w", name, err)
	}
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "nothing", Owner: owner}
	w.handle(m, plenty) // compiles it
	m.Handler = "f"
	s := w.session.(*session)
	start := time.Now()
	before := s.cpu(start)
	out, used, err := w.handle(m, limit)
	w.trace = nil
	if err != nil {
		return priced{}, fmt.Errorf("%s: %w", name, err)
	}
	p := priced{name: name, cycles: used, cpu: s.cpu(start) - before}
	if out.Status != types.StatusOutOfCycles && out.Status != types.StatusOK {
		p.failure = out.Fault.Message
	}
	return p, nil
}

const pricedCycles = 300_000 // enough for milliseconds of a plain loop

// BenchmarkWorst prints the ten programs that take the most time for a cycle,
// beside a plain loop in the same run: of those known to be expensive and of
// those that the fuzzer writes.
func BenchmarkWorst(b *testing.B) {
	pool := openPool(b, Config{CallTimeout: 5 * time.Minute})
	w := worldOn(b, pool)
	var all []priced
	plain := 1e18
	for range 5 {
		p, err := w.price("plain loop", expensiveHead+plainLoop, 3_000_000)
		if err != nil {
			b.Fatal(err)
		}
		plain = min(plain, p.perCycle())
	}
	for _, e := range expensive {
		p, err := w.price(e.name, expensiveHead+e.body, pricedCycles)
		if err != nil {
			b.Errorf("%v", err)
			w = worldOn(b, pool)
			continue
		}
		if p.failure != "" {
			b.Logf("%s: %s", p.name, p.failure)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b priced) int { return cmp.Compare(b.perCycle(), a.perCycle()) })
	var out strings.Builder
	fmt.Fprintf(&out, "plain loop: %.1f ns of CPU a cycle\n%10s %9s %9s %9s\n", plain, "ns/cycle", "× loop", "cycles", "CPU")
	for i, p := range all {
		if i < 10 || p.perCycle() > 15*plain {
			fmt.Fprintf(&out, "%10.0f %8.1fx %9d %9s  %s\n", p.perCycle(), p.perCycle()/plain, p.cycles, p.cpu.Round(10*time.Microsecond), p.name)
		}
	}
	fmt.Println(out.String())
	b.ReportMetric(all[0].perCycle()/plain, "worst/loop")
}
