package sim

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Work is how much virtual time the work of roles takes: the model that replaces
// the measurements of the live wall clock. Until that time is over, a role that has
// worked does not step again, and others do not get its output; its clock shows the
// time meanwhile. Zero of a field takes no time; the zero Work is none of it.
type Work struct {
	Cycles   time.Duration // a thousand cycles of programs and what the chain does for them
	Recovery time.Duration // who signed: each vote, proposal and transaction that comes in
	Signing  time.Duration // each own signature
	Read     time.Duration // a MiB of frames: read and hashed
	Written  time.Duration // a MiB appended to the log or committed to the store
	// Quantum is how much work gathers before its time passes: smaller work delays
	// nothing, so that idle chains cost no more events than without a model.
	Quantum time.Duration
}

// MeasuredWork resembles one core of the machine on which the limits of blocks were
// measured: make bench prints the figures of another.
var MeasuredWork = Work{
	Cycles:   20 * time.Microsecond,
	Recovery: 100 * time.Microsecond,
	Signing:  40 * time.Microsecond,
	Read:     3 * time.Millisecond,
	Written:  2 * time.Millisecond,
	Quantum:  2 * time.Millisecond,
}

// durationOf is the time of one piece of work, rounded down to a nanosecond.
func (w *Work) durationOf(what env.Labour, n uint64) time.Duration {
	switch what {
	case env.Cycles:
		return scaleDuration(w.Cycles, n, 1000)
	case env.Recoveries:
		return scaleDuration(w.Recovery, n, 1)
	case env.Signatures:
		return scaleDuration(w.Signing, n, 1)
	case env.BytesRead:
		return scaleDuration(w.Read, n, 1<<20)
	case env.BytesWritten:
		return scaleDuration(w.Written, n, 1<<20)
	}
	return 0
}

// maxWork bounds the time of one piece of work: what takes longer does not end.
const maxWork = time.Hour

func scaleDuration(each time.Duration, n, per uint64) time.Duration {
	if each <= 0 || n == 0 {
		return 0
	}
	if n/per > uint64(maxWork/each) {
		return maxWork
	}
	return time.Duration(n/per)*each + time.Duration(n%per*uint64(each)/per)
}

// Did implements env.Work: the role whose step it is takes its time.
func (l *process) Did(what env.Labour, n uint64) {
	w := l.node.world
	loop := w.current
	if loop == nil || loop.process != l {
		return
	}
	loop.owed += w.work.durationOf(what, n)
	if loop.owed == 0 || loop.owed < w.work.Quantum {
		return
	}
	loop.busy = max(loop.busy, w.now).Add(loop.owed)
	w.worked += loop.owed
	loop.owed = 0
}

// Worked is how much virtual time all roles have worked so far.
func (w *World) Worked() time.Duration { return w.worked }

// signer is a node's own, whose work takes time.
type signer struct {
	env.Signer
	process *process
}

// Sign implements env.Signer.
func (s signer) Sign(digest types.Hash) types.Signature {
	s.process.Did(env.Signatures, 1)
	return s.Signer.Sign(digest)
}
