package api

import (
	"net/http"
	"strings"
)

// requireMoving refuses at once what would wait for a block that cannot come.
func (s *Server) requireMoving() error {
	l := s.backend.Liveness()
	if !l.Blocked {
		return nil
	}
	return Refuse(http.StatusServiceUnavailable, CodeNoBlocks, "%s; nothing was sent", strings.TrimSpace(l.Message())).Hint("%s",
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
