package pyhost

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The page that a host shares with this process (python-host/host/meter.py): words
// of this machine's order.
const (
	pageBytes  = 4096
	pageUsed   = 0  // cycles of the outermost message so far
	pageBase   = 8  // CPU time of the child that is not counted, in nanoseconds
	pageState  = 16 // one of the states
	pageToken  = 24 // of the child that was ended
	tokenBytes = 16
	// pageWatched is 1 if this process watches the clock of the message. Only then the child reads it.
	pageWatched = pageToken + tokenBytes
	// pageMeasure is 1 if the next child measures the machine, whatever its turn.
	pageMeasure = pageWatched + 8
)

// States of the page. Only counting is trusted for no more than when to look at the clock.
const (
	pageCounting = 1
	pageEnded    = 2 // this process ended the child
)

// newPage maps a page without a name, and returns the file that the host maps.
func newPage() (page []byte, file *os.File, err error) {
	if file, err = unnamedFile(); err != nil {
		return nil, nil, err
	}
	if err = file.Truncate(pageBytes); err == nil {
		page, err = syscall.Mmap(int(file.Fd()), 0, pageBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return page, file, nil
}

func (h *host) pageWord(at int) uint64       { return binary.NativeEndian.Uint64(h.page[at:]) }
func (h *host) putPageWord(at int, v uint64) { binary.NativeEndian.PutUint64(h.page[at:], v) }

// errLate is the end of a message that is late.
var errLate = errors.New("the message is late")

// Times of looking at the clock of a message that runs.
const (
	leastLook = time.Millisecond // between two looks
	mostLook  = 2 * time.Millisecond
	// wallTimes is how far the wall clock may go beyond the allowance if the system does
	// not report the CPU time. wallFree is how far at least.
	wallTimes = 10
	wallFree  = 250 * time.Millisecond
)

// watch is the state of a message that must not be late.
type watch struct {
	strict bool // it is watched
	credit program.Credit
	began  time.Time     // of the outermost message
	took   time.Duration // CPU time, once it is late; 0 of one that is late by the wall clock
}

// lookAtClock reports whether the message under way is late, and otherwise when to look again.
//
// Spec: decision C18.
func (h *host) lookAtClock(now time.Time) (late bool, again time.Duration) {
	if h.pageWord(pageState) != pageCounting {
		return false, leastLook
	}
	took, err := cpuTime(h.child)
	took -= time.Duration(h.pageWord(pageBase))
	h.watch.took = took
	if err != nil {
		took, h.watch.took = max(now.Sub(h.watch.began)-wallFree, 0)/wallTimes, 0
	}
	if h.watch.credit.Spend(types.Cycles(h.pageWord(pageUsed)), took) {
		return true, 0
	}
	h.watch.took = 0
	return false, min(max(h.watch.credit.Left(), leastLook), mostLook)
}

// isCalm has the host's next child measure the machine, and reports whether that shows it as
// it mostly is. Otherwise the machine may be why a message was late.
func (h *host) isCalm() (calm bool, err error) {
	h.setDeadline(time.Now().Add(endingTime), false)
	h.putPageWord(pageMeasure, 1)
	if err := h.forkNext(); err != nil {
		return false, err
	}
	return h.rates.isCalm(h.measured), nil
}

// cpuTime is the CPU time of the message under way; wall time where the system does not report it.
func (h *host) cpuTime() time.Duration {
	took, err := cpuTime(h.child)
	if err != nil {
		return time.Since(h.watch.began)
	}
	return max(took-time.Duration(h.pageWord(pageBase)), 0)
}

// watchedPipe reads what the host says, and looks at its clock while it says nothing.
type watchedPipe struct{ *host }

// Read implements io.Reader.
func (w watchedPipe) Read(p []byte) (int, error) {
	for {
		n, err := w.out.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		now := time.Now()
		if !now.Before(w.deadline) {
			return 0, err
		}
		again := w.deadline.Sub(now)
		if w.watch.strict {
			late, next := w.lookAtClock(now)
			if late {
				return 0, errLate
			}
			again = min(again, next)
		}
		w.out.SetReadDeadline(now.Add(again))
	}
}

// Limits of ending a child in the midst of a message.
const (
	endingTime  = 5 * time.Second
	maxLeftover = 2 * MaxFrameBytes // bytes that it left unsaid
	endingLook  = 100 * time.Microsecond
)

// endChild ends the child in the midst of a message. Its fork server lives on, has
// the pipes again, and knows what the child was told. The token is drawn once the child is
// gone: whatever it said before, it cannot have said that.
func (h *host) endChild() error {
	if h.isOver() || h.child <= 0 {
		return errEnded
	}
	h.setDeadline(time.Now().Add(endingTime), false)
	h.putPageWord(pageState, pageEnded)
	if err := killOne(h.child); err != nil && !hasGone(h.child) {
		return err
	}
	for !hasGone(h.child) {
		if h.isOver() || time.Now().After(h.deadline) {
			return errEnded
		}
		time.Sleep(endingLook)
	}
	token := h.page[pageToken : pageToken+tokenBytes]
	rand.Read(token)
	if _, err := h.in.Write(token); err != nil {
		return err
	}
	if err := h.read.skipTo(token, maxLeftover); err != nil {
		return err
	}
	return h.readBack()
}
