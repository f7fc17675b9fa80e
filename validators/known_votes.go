package validators

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// knownVotes is the Simplex machine as intake knows it: what is known there already needs no
// check. Only the consensus role steps the machine, and reads it besides.
type knownVotes struct {
	mu      sync.Mutex // held for each step
	machine *simplex.Machine
}

// uncheckedParts returns the parts of a certificate that need checks.
func (s *knownVotes) uncheckedParts(c *types.Certificate) simplex.Unchecked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Unchecked(c)
}
