package pyhost

import (
	"bytes"
	"crypto/sha256"
	"sync"
)

// maxCompilations bounds what this process keeps: interpreters and versions of the
// sources, each about a MiB. A process uses one; tests use several.
const maxCompilations = 4

// compilations are the host's modules as an interpreter compiled them at its first start in
// this process. Compiling takes more than half of a start, and the first deploy on a
// network starts several hosts. A host sends them before it has met any code of an author. They
// are kept for later processes too, under the mark of a proof: interpreter, library and sources.
type compilations struct {
	mu sync.Mutex
	of map[compiledBy][]byte
}

// compiledBy is an interpreter by its path, and the digest of the sources.
type compiledBy struct {
	python  string
	sources [sha256.Size]byte
}

var compiled = compilations{of: map[compiledBy][]byte{}}

// knownModules returns what a host is to be given; empty if it has to compile the sources, and
// send its modules.
func (c *compilations) knownModules(by compiledBy) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[by]
}

// keepModules keeps a copy of a host's modules.
func (c *compilations) keepModules(by compiledBy, modules []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.of) < maxCompilations {
		c.of[by] = bytes.Clone(modules)
	}
}
