package nodetext

import (
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// LivenessEvery is how often up looks whether blocks are made.
const LivenessEvery = time.Second

// Liveness is what has been said already.
type Liveness struct {
	stalled string
}

// Line is what has to be said now, or "".
func (w *Liveness) Line(l answers.Liveness) string {
	switch kind := stallKind(l); {
	case kind != "" && kind != w.stalled:
		w.stalled = kind
		return "No block for " + l.Since.Round(100*time.Millisecond).String() + ": " + words.Printable(l.Cause) + ". " + l.Hint
	case kind == "" && w.stalled != "":
		w.stalled = ""
		return "Blocks are made again."
	}
	return ""
}

// stallKind distinguishes causes that are to be printed again: a blocked network by
// its words, which change with the state, and a slow one once.
func stallKind(l answers.Liveness) string {
	if l.Blocked || !l.Stalled() {
		return l.Cause
	}
	return "slow"
}
