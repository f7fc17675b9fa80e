package pyhost

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// priced is what one program took.
type priced struct {
	name    string
	source  string
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
	p := priced{name: name, source: source, cycles: used, cpu: s.cpu(start) - before}
	if out.Status != types.StatusOutOfCycles && out.Status != types.StatusOK {
		p.failure = out.Fault.Message
	}
	return p, nil
}

const (
	pricedCycles = 300_000 // enough for milliseconds of a plain loop
	pricedHead   = "import abc, base64, bisect, collections, dataclasses, decimal, enum, functools, hashlib, heapq, hmac, itertools, " +
		"json, math, operator, re, string, struct, typing\nimport pvm_host\ndef f(payload):\n"
	plainLoop = "    for i in range(10**9): pass\n"
)

// BenchmarkWorst prints the ten of the fuzzer's programs that take the most time per cycle,
// and all beyond the aim. It prints multiples of a plain loop in the same run. A noisy
// machine may put programs there, so it fails for none.
func BenchmarkWorst(b *testing.B) {
	w := &pricing{b: b, pool: openPool(b, Config{CallTimeout: 5 * time.Minute})}
	w.world = worldOn(b, w.pool)
	plain := 1e18
	for range 5 {
		if p := w.price("plain loop", pricedHead+plainLoop, 3_000_000); p != nil {
			plain = min(plain, p.perCycle())
		}
	}
	for seed := range uint64(100) {
		w.price(fmt.Sprintf("program of seed %d (TestPrograms)", 1+seed), write(1+seed, notesWords), pricedCycles)
	}
	all := slices.DeleteFunc(w.all, func(p *priced) bool { return p.cycles < pricedCycles/30 || p.name == "plain loop" })
	w.settle(all, plain)
	worst := all[0].perCycle() / plain
	b.ReportMetric(worst, "worst/loop")
	fmt.Println(report(plain, all, func(i int, p *priced) bool { return i < 10 || p.perCycle() > worstAim*plain }))
	if worst > worstAim {
		fmt.Printf("%s takes %.1f times the time of a plain loop a cycle, aim %d\n", all[0].name, worst, worstAim)
	}
}

// worstAim is how many times the time of a plain loop a program may take a cycle.
const worstAim = 8

// pricing is a run of prices, on one host after another.
type pricing struct {
	b     *testing.B
	pool  *Pool
	world *world
	all   []*priced
}

// price notes what a program took; nil is one that no deploy takes, as some of the
// fuzzer's.
func (w *pricing) price(name, source string, limit types.Cycles) *priced {
	p, err := w.world.price(name, source, limit)
	if err == nil {
		w.all = append(w.all, &p)
		return &p
	}
	if refusal := (*program.Refusal)(nil); !errors.As(err, &refusal) {
		w.b.Error(err)
	}
	w.world.session.Close() // the pool has one host, which it holds
	w.world = worldOn(w.b, w.pool)
	return nil
}

// settle sorts by time a cycle. Those in front run again, each followed by a plain
// loop, and get the median of their times relative to that loop: other work of the
// machine slows both.
func (w *pricing) settle(all []*priced, plain float64) {
	sort := func() {
		slices.SortFunc(all, func(a, b *priced) int { return cmp.Compare(b.perCycle(), a.perCycle()) })
	}
	sort()
	for _, p := range all {
		if p.perCycle() < worstAim/2*plain {
			break
		}
		var times []float64
		for range 5 {
			again, beside := w.price(p.name, p.source, pricedCycles), w.price("plain loop", pricedHead+plainLoop, pricedCycles)
			if again != nil && beside != nil {
				times = append(times, again.perCycle()/beside.perCycle())
			}
		}
		if slices.Sort(times); len(times) > 0 {
			p.cpu = time.Duration(times[len(times)/2] * plain * float64(p.cycles))
		}
	}
	sort()
}

// report is a table of programs, those that are shown.
func report(plain float64, all []*priced, shown func(int, *priced) bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "plain loop: %.1f ns of CPU a cycle\n%10s %9s %9s %9s\n", plain, "ns/cycle", "× loop", "cycles", "CPU")
	for i, p := range all {
		if shown(i, p) {
			fmt.Fprintf(&out, "%10.0f %8.1fx %9d %9s  %s\n", p.perCycle(), p.perCycle()/plain, p.cycles, p.cpu.Round(10*time.Microsecond), p.name)
		}
	}
	return out.String()
}

// The chain's own calls, each in a loop; they are charged by a Context of the
// tests, which has the prices of CIP-3's table.
var chainCalls = []struct{ name, body string }{
	{"keccak256", "    while True: pvm_host.keccak256(b'')\n"},
	{"randomness", "    while True: pvm_host.randomness(b'')\n"},
	{"get_state", "    while True: pvm_host.get_state(b'k')\n"},
	{"get_state of another key each time", "    for i in range(10**9): pvm_host.get_state(b'%d' % i)\n"},
	{"set_state", "    while True: pvm_host.set_state(b'k', b'v')\n"},
	{"delete_state", "    while True: pvm_host.delete_state(b'k')\n"},
	{"emit_event", "    while True: pvm_host.emit_event('e', b'')\n"},
	{"send_message", "    me = pvm_host.self_address()\n    while True: pvm_host.send_message(me)\n"},
	{"schedule_timer", "    while True: pvm_host.schedule_timer(200, b'')\n"},
	{"cancel_timer", "    while True: pvm_host.cancel_timer(b'x' * 32)\n"},
	{"extend_timer", "    while True: pvm_host.extend_timer(b'x' * 32, 300)\n"},
	{"call_actor", "    me = pvm_host.self_address()\n    while True: pvm_host.call_actor(me, 'g')\n"},
	{"get_balance", "    while True: pvm_host.get_balance()\n"},
	{"transfer", "    me = pvm_host.self_address()\n    while True: pvm_host.transfer(me, 0)\n"},
	{"block_height", "    while True: pvm_host.block_height()\n"},
	{"context", "    while True: pvm_host.context()\n"},
	{"print", "    while True: print('x')\n"},
}

// emptyMessages is how many messages that do nothing are measured together: the
// first of a child finds much of its memory shared with the fork server's.
const emptyMessages = 2000

// empty prices messages that do nothing.
func (w *world) empty() (priced, error) {
	p := priced{name: "a whole message that does nothing"}
	m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(77, "def f(payload): pass\n"), Handler: "f", Owner: owner}
	w.handle(m, plenty) // compiles it
	s := w.session.(*session)
	start := time.Now()
	before := s.cpu(start)
	for range emptyMessages {
		_, used, err := w.handle(m, plenty)
		if err != nil {
			return priced{}, err
		}
		p.cycles += used
	}
	w.trace = nil
	p.cpu = s.cpu(start) - before
	return p, nil
}

// BenchmarkChainCalls prints what each call of the chain takes a cycle.
func BenchmarkChainCalls(b *testing.B) {
	w := worldOn(b, openPool(b, Config{CallTimeout: 5 * time.Minute}))
	plain, err := w.price("plain loop", pricedHead+plainLoop, 3_000_000)
	if err != nil {
		b.Fatal(err)
	}
	var all []*priced
	for _, c := range chainCalls {
		p, err := w.price(c.name, "import pvm_host\ndef g(p): pass\ndef f(payload):\n"+c.body, pricedCycles)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, &p)
	}
	nothing, err := w.empty()
	if err != nil {
		b.Fatal(err)
	}
	all = append(all, &nothing)
	fmt.Println(report(plain.perCycle(), all, func(int, *priced) bool { return true }))
}
