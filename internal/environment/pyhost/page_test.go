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
	h := &host{page: make([]byte, pageBytes), child: child, rates: &rates{},
		watch: watch{strict: true, credit: program.NewCredit(1<<20, program.UsualRate, 0)}}
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
	most := wallTimes*program.LateCredit + wallFree
	if late, _ := h.lookAtClock(h.watch.began.Add(most)); late {
		t.Errorf("late within %v", most)
	}
	late, _ := h.lookAtClock(h.watch.began.Add(most + wallTimes))
	var host *program.HostError
	if !late || !errors.As(newFailure("a test", errLate, false, h.watch.took, ""), &host) {
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
	for used <= program.LateCredit {
		used, _ = cpuTime(os.Getpid())
	}
	if late, _ := h.lookAtClock(time.Now()); !late || h.watch.took < used {
		t.Errorf("late: %v, after %v", late, h.watch.took)
	}
}

// Decision C18, 1: the credit grows by what the page shows, and what it says is not counted is not.
func TestTheCreditFollowsThePage(t *testing.T) {
	used, err := cpuTime(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	h := lookedAt(t, os.Getpid(), 1<<30)
	h.watch.credit = program.NewCredit(1<<30, program.UsualRate, 0)
	if late, again := h.lookAtClock(time.Now()); late || again < leastLook || again > mostLook {
		t.Errorf("late: %v, next look after %v", late, again)
	}
	h = lookedAt(t, os.Getpid(), 0)
	binary.NativeEndian.PutUint64(h.page[pageBase:], uint64(used+time.Hour))
	if late, _ := h.lookAtClock(time.Now()); late {
		t.Error("late for uncounted time")
	}
}

// Decision C18, 1: the rate is the least of the last nine measures. A busy machine makes a loop
// longer; one that is slow for good is followed.
func TestTheRateIsTheLeastOfTheLastNine(t *testing.T) {
	r := &rates{}
	if r.medianRate() != program.UsualRate || r.medianPage() != 0 {
		t.Errorf("unmeasured: %v", r.medianRate())
	}
	const fast, slow = 30 * time.Microsecond, 60 * time.Microsecond
	r.addMeasurement(fast, fast)
	for i := range keptRates - 1 {
		if r.addMeasurement(slow, slow); r.medianRate() != fast {
			t.Errorf("after %d measures of a busy machine the rate is %v", i+1, r.medianRate())
		}
	}
	if r.addMeasurement(slow, slow); r.medianRate() != slow || r.medianPage() != slow || len(r.loops) != keptRates {
		t.Errorf("a slower machine has the rate %v by %d measures", r.medianRate(), len(r.loops))
	}
	for _, impossible := range []time.Duration{-time.Second, 0, 1, leastRate - 1} {
		if r.addMeasurement(impossible, 0); r.medianRate() != slow {
			t.Errorf("a measure of %v makes the rate %v", impossible, r.medianRate())
		}
	}
	if r.addMeasurement(fast, fast); r.medianRate() != fast {
		t.Errorf("%v once it is fast again", r.medianRate())
	}
}
