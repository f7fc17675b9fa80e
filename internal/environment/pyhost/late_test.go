package pyhost

import (
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// wastes has a loop without an end. Its price is right, so that only a host that takes its
// machine for a quicker one finds it late.
const wastes = `
from cowboy_sdk import actor, public

@actor
class Wastes:
    @public
    def loop(self, payload):
        i = 0
        while True:
            i += 1

    @public
    def hashes(self, payload):
        import pvm_host
        while True:
            pvm_host.keccak256(b"")

    @public
    def quick(self, payload):
        return b"quick"
`

// strictly runs a handler in a session that ends what is late, and tells the process of
// its fork server.
func strictly(t *testing.T, p *Pool, left func() time.Duration, handler string, cycles types.Cycles) (out program.Outcome,
	server int, err error) {
	t.Helper()
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Bound(program.Bounds{Left: left, Strict: true})
	w := newWorld(s)
	at := w.deploy(1, wastes)
	ctx := &fakeContext{w: w, m: program.Message{Kind: program.Call, Self: at, Handler: handler}, cycles: cycles, cells: 1 << 20}
	out, err = s.Handle(ctx, codeOf(wastes), ctx.m)
	if h := s.(*session).host; h != nil {
		server = h.cmd.Process.Pid
	}
	return out, server, err
}

// Decision C18, 1: an attempt without credit of CPU time is late and ends there and then. Its
// fork server lives on.
func TestWhatIsLateEndsThereAndThen(t *testing.T) {
	p := New(Config{Hosts: 1, Rate: 200 * time.Nanosecond}) // no machine is that quick
	defer p.Close()
	if _, _, err := strictly(t, p, nil, "quick", 1_000_000); err != nil {
		t.Fatal(err)
	}
	var server int
	for range 3 {
		_, pid, err := strictly(t, p, nil, "loop", 10_000_000)
		var host *program.HostError
		if !errors.As(err, &host) || host.Failure != program.Late || host.CPU <= program.LateLeast || host.CPU > 2*time.Second {
			t.Fatalf("%+v", err)
		}
		t.Logf("late after %v", host.CPU)
		if server != 0 && pid != server {
			t.Error("the fork server ended with its child")
		}
		server = pid
		if out, pid, err := strictly(t, p, nil, "quick", 1_000_000); err != nil || string(out.Output) != "quick" || pid != server {
			t.Fatalf("after it: %+v %v, by %d and not %d", out, err, pid, server)
		}
	}
}

// Promise (ii) of decision C18: a plain loop is never late. Nor is a program that pays for
// each turn of the pipe. The page shown in a slice or at its end changes no receipt.
func TestWhatKeepsToItsPriceIsNeverLate(t *testing.T) {
	p := New(Config{Hosts: 1})
	defer p.Close()
	for _, handler := range []string{"loop", "hashes"} {
		for _, cycles := range []types.Cycles{3_000, 100_000, 1_000_000} {
			out, _, err := strictly(t, p, nil, handler, cycles)
			if err != nil || out.Status != types.StatusOutOfCycles {
				t.Errorf("%s of %d cycles: %+v %v", handler, cycles, out, err)
			}
		}
	}
	if rate := p.rates.medianRate(); rate < 2*time.Microsecond || rate > 500*time.Microsecond {
		t.Errorf("a thousand cycles of a plain loop are said to take %v", rate)
	}
}

// The first child of a fork server measures the machine, and then one of sixteen: a measure takes
// as long as a short session. A child measures out of turn if it is asked to.
func TestOneChildOfSixteenMeasures(t *testing.T) {
	p := New(Config{Hosts: 1})
	defer p.Close()
	found, err := p.python.findOnce()
	if err != nil {
		t.Fatal(err)
	}
	h, err := p.startHost(found.path, false, time.Now().Add(startTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer h.stopProcess()
	if err := h.forkChild(); err != nil {
		t.Fatal(err)
	}
	for children := 1; children <= 33; children++ {
		if got, want := len(p.rates.loops), (children+15)/16; got != want {
			t.Errorf("after %d children there are %d measures, want %d", children, got, want)
		}
		if err := h.renewChild(); err != nil {
			t.Fatal(err)
		}
	}
	before := len(p.rates.loops)
	h.putPageWord(pageMeasure, 1)
	if err := h.renewChild(); err != nil {
		t.Fatal(err)
	}
	if after := len(p.rates.loops); after != before+1 || h.measured <= 0 || h.pageWord(pageMeasure) != 0 {
		t.Errorf("%d measures, then %d", before, after)
	}
}

// The least of the last nine measures counts. A machine that takes more than twice as long in the
// moment after a message was late judges nobody.
func TestASlowMomentJudgesNobody(t *testing.T) {
	var r rates
	for _, loop := range []time.Duration{90, 60, 30, 200, 70} {
		r.addMeasurement(loop*time.Microsecond, time.Microsecond)
	}
	if r.medianRate() != 30*time.Microsecond || !r.isCalm(60*time.Microsecond) || r.isCalm(61*time.Microsecond) {
		t.Errorf("the rate is %v", r.medianRate())
	}
	for range keptRates {
		r.addMeasurement(100*time.Microsecond, time.Microsecond)
	}
	if r.medianRate() != 100*time.Microsecond || len(r.loops) != keptRates {
		t.Errorf("a machine that slowed down has the rate %v", r.medianRate())
	}
	err := newFailure("a test", errNotCalm, false, time.Second, "")
	var host *program.HostError
	if !errors.As(err, &host) || host.Failure != program.Stopped || host.CPU != 0 || errors.Is(err, program.ErrLate) {
		t.Errorf("%+v", err)
	}
}

// A message that a share of wall time cuts off is stopped, and not late, and its fork
// server lives on. Its CPU time is told: on a starved machine it is a small part of the share.
func TestWhatAShareCutsOffIsNotLate(t *testing.T) {
	p := New(Config{Hosts: 1})
	defer p.Close()
	strictly(t, p, nil, "quick", 1_000_000)
	var ends time.Time // from the first look at the share on: a busy machine may take long to come there
	left := func() time.Duration {
		if ends.IsZero() {
			ends = time.Now().Add(300 * time.Millisecond)
		}
		return time.Until(ends)
	}
	_, server, err := strictly(t, p, left, "loop", 1<<40)
	var host *program.HostError
	if !errors.As(err, &host) || host.Failure != program.Stopped || host.CPU <= 0 || host.CPU > 2*time.Second {
		t.Fatalf("%+v", err)
	}
	if _, pid, err := strictly(t, p, nil, "quick", 1_000_000); err != nil || pid != server {
		t.Errorf("after it: %v, by %d and not %d", err, pid, server)
	}
}

// Decision C18: "Wall time is a backstop, ten times as far." A program on a machine at load
// 20 waits for the processor longer than a message may take elsewhere.
func TestTheWallClockIsTenTimesAsPatientWhereCPUTimeDecides(t *testing.T) {
	p := &Pool{config: Config{CallTimeout: 10 * time.Second}}
	minute := func() time.Duration { return time.Minute }
	for _, c := range []struct {
		bounds  program.Bounds
		want    time.Duration
		bounded bool
	}{
		{program.Bounds{}, 10 * time.Second, false},
		{program.Bounds{Left: minute}, 10 * time.Second, false},
		{program.Bounds{Strict: true}, 100 * time.Second, false},
		{program.Bounds{Strict: true, Left: minute}, time.Minute, true},
	} {
		s := &session{pool: p, bounds: c.bounds}
		if got, bounded := lesserTime(s.wallLimit(), c.bounds.Left); got != c.want || bounded != c.bounded {
			t.Errorf("%+v: %v, by its caller: %v; want %v, %v", c.bounds, got, bounded, c.want, c.bounded)
		}
	}
}
