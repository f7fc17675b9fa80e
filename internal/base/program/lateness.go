package program

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of the CPU time that the attempt of an item may use of its host (decision C18).
const (
	// LateTimes is how many times as long as a plain loop's the cycles of a program may
	// take for a while. The price list keeps each below 8; the rest is for measures that err.
	LateTimes = 40
	// LateTimesInAll is how many times as long those of its whole limit may take.
	LateTimesInAll = 16
	// LateCredit is the CPU time that an attempt may use before its cycles bring any, and
	// as much as it can save. A limit of few cycles buys less of it, since a late item pays its
	// limit. LateLeast is enough to begin a message.
	LateCredit = 20 * time.Millisecond
	LateLeast  = time.Millisecond
	// LateCreditTimes is how many times as long as a plain loop's its limit buys of the credit.
	LateCreditTimes = 2
	// LatePages is how many first writes to a page of memory are free besides: a message
	// makes some, whatever its cycles are. They take 0.1 ms on most machines, and a
	// hundred times as long on a virtual machine whose host has little memory.
	LatePages = 256
	// LateInspectionPages is how many an inspection may make: a child has not touched what
	// parses and compiles before.
	LateInspectionPages = 768
	// MaxPage bounds what one of them may be thought to take.
	MaxPage = 50 * time.Microsecond
	// UsualRate is the CPU time of a thousand cycles of a plain loop on a machine that
	// was not measured.
	UsualRate = 30 * time.Microsecond
)

// maxRated bounds the cycles that an allowance grows with, so that no product overflows:
// more than any block has.
const maxRated = types.Cycles(1) << 32

// Credit is the CPU time that an attempt has left. Each cycle brings LateTimes of a plain
// loop's. It holds LateCredit, or what the last charge brought if that is more. An attempt
// without credit is late, and so is one that used more than its whole limit may.
//
// Spec: decision C18.
type Credit struct {
	thousand time.Duration // of a thousand cycles of a plain loop
	left     time.Duration
	inAll    time.Duration // that the attempt may use
	last     time.Duration // what the last charge brought
	spent    time.Duration
	used     types.Cycles
}

// NewCredit is that of an attempt with a limit before it begins. thousand is the time of a
// thousand cycles of a plain loop. pages is that of the first writes to memory that are free, by TimeOfPages.
func NewCredit(limit types.Cycles, thousand, pages time.Duration) Credit {
	first := min(max(LateLeast, timeOf(limit, thousand, LateCreditTimes)), LateCredit) + max(pages, 0)
	return Credit{thousand: thousand, left: first, inAll: first + timeOf(limit, thousand, LateTimesInAll)}
}

// TimeOfPages is the CPU time of count first writes to a page of memory, of which one takes page here.
func TimeOfPages(count int, page time.Duration) time.Duration {
	return time.Duration(count) * min(max(page, 0), MaxPage)
}

// Spend counts the cycles that the attempt used so far, and its CPU time so far. It reports
// whether the attempt is late.
func (c *Credit) Spend(used types.Cycles, cpu time.Duration) (isLate bool) {
	if used > c.used {
		c.last = timeOf(used-c.used, c.thousand, LateTimes)
		c.left += c.last
		c.used = used
	}
	c.left = min(c.left-max(cpu-c.spent, 0), max(LateCredit, c.last))
	c.spent = max(cpu, c.spent)
	return c.left < 0 || c.spent > c.inAll
}

// Left is the CPU time that the attempt may use before its next cycle.
func (c *Credit) Left() time.Duration { return max(min(c.left, c.inAll-c.spent), 0) }

// timeOf is a number of times what cycles of a plain loop take. It is rounded down.
func timeOf(cycles types.Cycles, thousand time.Duration, times time.Duration) time.Duration {
	cycles, thousand = min(cycles, maxRated), min(max(thousand, 0), time.Second/1000)
	return time.Duration(cycles/1000)*times*thousand + time.Duration(cycles%1000)*times*thousand/1000
}

// UnitCycles is the price of one unit of compiling in a deploy, in cycles of a byte of
// code: compiling it takes the time of 60 cycles of a loop at most.
const UnitCycles = 64

// InspectionCycles is the most that inspecting a source may cost if no more units of
// compiling can be paid. Its Credit is that of such a limit. It is 1<<32 at most.
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
	// its Credit has, as a *HostError that says Late.
	Strict bool
}
