package scenario

import (
	"sync"
	"time"

	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Pulse shows a script's progress to an outside watcher. A single step of Starlark
// can take very long (comparing or hashing lists that share their parts,
// multiplying numbers of a million digits), and nothing inside the process can stop
// it; a watcher can end the process. It is safe for concurrent use.
type Pulse struct {
	mu    sync.Mutex
	alone bool // the script computes, and does not wait for the network
	beats uint64
	at    syntax.Position
	of    *Timeline // of the network that the script made last; nil before
}

// Follow shows the network of a timeline from here on.
func (p *Pulse) Follow(t *Timeline) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = t
}

// Network returns how far the script's network has come: the highest block that a validator
// made final, and the time of the network since it began. begun is false before its first block.
func (p *Pulse) Network() (height types.Height, elapsed time.Duration, begun bool) {
	p.mu.Lock()
	of := p.of
	p.mu.Unlock()
	if of == nil {
		return 0, 0, false
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.tip, of.now.Sub(of.began), of.tip > 0
}

// Look returns how many steps the script has begun, and where it began the last
// one. alone is false while the script does not run, or waits for its network,
// which has as much time as it wants.
func (p *Pulse) Look() (beats uint64, alone bool, at Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsValid() {
		at = Position{File: p.at.Filename(), Line: int(p.at.Line), Column: int(p.at.Col)}
	}
	return p.beats, p.alone, at
}

// beginStep notes that a step begins.
func (p *Pulse) beginStep(at syntax.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats, p.at = p.beats+1, at
}

// setAlone says whether the script computes from here on, and returns what was.
func (p *Pulse) setAlone(alone bool) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.alone = p.alone, alone
	p.beats++
	return was
}

// mayWait says that a verb may wait for the network: all of a network and its
// validators, and those functions that run it.
func (v *verb) mayWait(of string) bool {
	switch v.name {
	case "network", "eventually", "always", "check":
		return true
	}
	return of != ""
}
