package pyhost

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// lookedAt is a host whose page shows the given cycles of a child.
func lookedAt(t *testing.T, child int, used uint64) *host {
	t.Helper()
	h := &host{page: make([]byte, pageBytes), child: child, rates: &rates{}, watch: watch{strict: true, limit: 1 << 20}}
	binary.NativeEndian.PutUint64(h.page[pageUsed:], used)
	binary.NativeEndian.PutUint64(h.page[pageState:], pageCounting)
	return h
}

// Decision C18, 1 and 4: without a clock for the child the wall clock has ten times the
// allowance and 250 ms. A message that is late by the wall clock shows no CPU time, which
// would be a proof.
func TestOnlyCPUTimeIsAProof(t *testing.T) {
	const nobody = 1<<22 + 1 // beyond the largest process id
	h := lookedAt(t, nobody, 0)
	h.watch.began = time.Now()
	most := wallTimes*program.LateFree + wallFree
	if late, _ := h.look(h.watch.began.Add(most)); late {
		t.Errorf("late within %v", most)
	}
	late, _ := h.look(h.watch.began.Add(most + 1))
	var host *program.HostError
	if !late || !errors.As(failure("a test", errLate, false, h.watch.took, ""), &host) {
		t.Fatal("not late")
	}
	if host.Failure != program.Late || host.CPU != 0 {
		t.Errorf("%+v", host)
	}
	h = lookedAt(t, os.Getpid(), 0)
	used, err := cpuTime(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	if used <= program.LateFree {
		t.Fatalf("this process used %v only", used)
	}
	if late, _ := h.look(time.Now()); !late || h.watch.took < used {
		t.Errorf("late: %v, after %v", late, h.watch.took)
	}
}

// Decision C18, 1: what the page shows is the allowance, and what it says is not counted is not.
func TestTheAllowanceFollowsThePage(t *testing.T) {
	used, err := cpuTime(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	h := lookedAt(t, os.Getpid(), 1<<30)
	if late, again := h.look(time.Now()); late || again < leastLook {
		t.Errorf("late: %v, next look after %v", late, again)
	}
	h = lookedAt(t, os.Getpid(), 0)
	binary.NativeEndian.PutUint64(h.page[pageBase:], uint64(used+time.Hour))
	if late, _ := h.look(time.Now()); late {
		t.Error("late for uncounted time")
	}
}

// Decision C18, 1: the rate is the median of the last nine hosts. A child that lies, or a
// minority of them, decides nothing; a machine that halves its speed is followed.
func TestTheRateIsTheMedianOfTheLastNine(t *testing.T) {
	r := &rates{}
	if r.rate() != program.UsualRate || r.page() != 0 {
		t.Errorf("unmeasured: %v", r.rate())
	}
	const fast, slow = 30 * time.Microsecond, 60 * time.Microsecond
	for range 2 * keptRates {
		r.add(fast, fast)
	}
	for i, lie := range []time.Duration{1, time.Second, 1, time.Second} {
		if r.add(lie, lie); r.rate() != fast || r.page() != fast {
			t.Errorf("%d liars make the rate %v", i+1, r.rate())
		}
	}
	for i := range keptRates {
		r.add(slow, slow)
		if i >= keptRates/2+2 && (r.rate() != slow || r.page() != slow) {
			t.Errorf("after %d measures of a slower machine the rate is %v", i+1, r.rate())
		}
		if len(r.loops) > keptRates {
			t.Fatalf("%d measures are kept", len(r.loops))
		}
	}
	for range keptRates {
		r.add(fast, fast)
	}
	if r.rate() != fast {
		t.Errorf("%v once it is fast again", r.rate())
	}
}

// A rate that most hosts inflated buys a thousand cycles 40 ms at most.
func TestALyingRateIsBounded(t *testing.T) {
	least := program.Allowance(1000, 1000, 0, 0)
	if least != program.LateLeast {
		t.Errorf("with a rate of nothing: %v", least)
	}
	const most = program.LateFree + program.LatePages*program.MaxPage + program.LateTimes*time.Second/1000
	if got := program.Allowance(1000, 1000, time.Hour, time.Hour); got != most {
		t.Errorf("with a rate of an hour: %v", got)
	}
}
