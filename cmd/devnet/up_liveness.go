package main

import (
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api"
)

// livenessEvery is how often up looks whether blocks are made.
const livenessEvery = time.Second

// watchLiveness prints once when blocks cease to be made, and why, and when they
// resume.
func (u *running) watchLiveness() {
	var w livenessWords
	for waitFor(u.Context.Context, livenessEvery) {
		if line := w.lineNow(u.network.Liveness()); line != "" {
			u.printLine("%s", line)
		}
	}
}

// livenessWords is what has been said already.
type livenessWords struct {
	stalled string
}

// lineNow is what has to be said now, or "".
func (w *livenessWords) lineNow(l api.Liveness) string {
	switch kind := stallKind(l); {
	case kind != "" && kind != w.stalled:
		w.stalled = kind
		return "No block for " + l.Since.Round(100*time.Millisecond).String() + ": " + printable(l.Cause) + ". " + l.Hint
	case kind == "" && w.stalled != "":
		w.stalled = ""
		return "Blocks are made again."
	}
	return ""
}

// stallKind distinguishes causes that are to be printed again: a blocked network by
// its words, which change with the state, and a slow one once.
func stallKind(l api.Liveness) string {
	if l.Blocked || !l.Stalled() {
		return l.Cause
	}
	return "slow"
}
