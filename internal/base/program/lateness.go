package program

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of the CPU time that the attempt of an item may use of its host (decision C18).
const (
	// LateTimes is how many times as long as a plain loop's the cycles of a program may
	// take. The price list keeps it below 15; the rest is for measures that err.
	LateTimes = 40
	// LateFree is beyond that at most: a program whose first operation is dear has it. A
	// small limit buys less of it, since late items pay their limits; LateLeast is enough
	// to begin a message.
	LateFree  = 2 * time.Millisecond
	LateLeast = time.Millisecond
	// LatePages is how many first writes to a page of memory are free besides: a message
	// makes some, whatever its cycles are. They take 0.1 ms on most machines, and a
	// hundred times as long on a virtual machine whose host has little memory.
	LatePages = 256
	// MaxPage bounds what one of them may be thought to take.
	MaxPage = 50 * time.Microsecond
	// UsualRate is the CPU time of a thousand cycles of a plain loop on a machine that
	// was not measured.
	UsualRate = 30 * time.Microsecond
)

// maxRated bounds the cycles that an allowance grows with, so that no product overflows:
// more than any block has.
const maxRated = types.Cycles(1) << 32

// Allowance is the CPU time that an attempt with a limit may have used after it used the
// given cycles. thousand is the time of a thousand cycles of a plain loop, page that of the
// first write to a page of memory. It is rounded down.
//
// Spec: decision C18.
func Allowance(limit, used types.Cycles, thousand, page time.Duration) time.Duration {
	free := min(max(LateLeast, rated(limit, thousand)), LateFree) + LatePages*min(max(page, 0), MaxPage)
	return free + rated(used, thousand)
}

func rated(cycles types.Cycles, thousand time.Duration) time.Duration {
	cycles, thousand = min(cycles, maxRated), min(max(thousand, 0), time.Second/1000)
	return time.Duration(cycles/1000)*LateTimes*thousand + time.Duration(cycles%1000)*LateTimes*thousand/1000
}

// UnitCycles is the price of one unit of compiling in a deploy, in cycles of a byte of
// code. It allows some ten microseconds, the time that 30 cycles of a loop may take.
const UnitCycles = 30

// InspectionCycles is the most that inspecting a source may cost if no more units of
// compiling can be paid. Its Allowance is computed from it. It is 1<<32 at most.
//
// Spec: decision C18.
func InspectionCycles(size int, units uint64) types.Cycles {
	return min(types.Cycles(size)+types.Cycles(min(units, uint64(maxRated)))*UnitCycles, maxRated)
}

// Bounds is what the user of a session lets a message take. The zero Bounds is nothing:
// the host's own limit remains.
type Bounds struct {
	// Left is called whenever a message or an inspection begins. It returns the wall time
	// that may still be spent on it and all that it calls. A message without time left is
	// not begun, and one that takes longer is given up. Both are a *HostError that says
	// Stopped. nil sets no bound: the simulator leaves it nil, since it must not depend on
	// real time.
	Left func() time.Duration
	// Strict has a message or an inspection end there and then that uses more CPU time than
	// its Allowance, as a *HostError that says Late.
	Strict bool
}
