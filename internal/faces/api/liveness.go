package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Liveness is whether blocks are made, and why not.
type Liveness struct {
	Since time.Duration // since a block became final here last, or since the start
	// Blocked: no block can be made without an action by the operator; Cause names
	// it. Without it a Cause says why none was made for longer than is usual.
	Blocked bool
	Cause   string
	Hint    string // what to do
	// Troubles lists recent failures of validators that blocks continued without,
	// and a machine that cannot run programs, in words.
	Troubles []string
	// TravelsTo is where an advance goes that is under way; 0: there is none.
	TravelsTo types.Height
}

// Stalled reports whether no block is made, or was for longer than is usual.
func (l *Liveness) Stalled() bool { return l.Cause != "" }

// livenessMessage is the cause with the time, for people.
func (l *Liveness) livenessMessage() string {
	if l.Cause == "" {
		return ""
	}
	return fmt.Sprintf("no block for %s: %s", l.Since.Round(100*time.Millisecond), l.Cause)
}

// requireMoving refuses at once what would wait for a block that cannot come.
func (s *Server) requireMoving() error {
	l := s.backend.Liveness()
	if !l.Blocked {
		return nil
	}
	return Refuse(http.StatusServiceUnavailable, CodeNoBlocks, "%s; nothing was sent", strings.TrimSpace(l.livenessMessage())).Hint("%s",
		l.Hint)
}

// requireSteerable is moving for orders that work, or are refused in their own words, while the
// network is paused.
func (s *Server) requireSteerable() error {
	if s.backend.Steer().Paused() {
		return nil
	}
	return s.requireMoving()
}

// CodeNoBlocks refuses a wait for a block while none can be made.
const CodeNoBlocks = "no_blocks"
