package validators

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// maxPeerPythons bounds the peers whose Python is kept: more than a set has members.
const maxPeerPythons = 256

// peerPythons is what the other validators said of their Pythons. They prove nothing of it. A
// validator that executes otherwise than they do shows it to its operator.
//
// Spec: decision C2.
type peerPythons struct {
	mu     sync.Mutex
	byPeer map[types.Address]string
}

// noteVersion keeps what a checked message says of its sender's Python, if it is one of those that do.
func (p *peerPythons) noteVersion(from types.Address, message simplex.Verified) {
	version := ""
	switch message := message.(type) {
	case *simplex.LifeRequest:
		version = message.Python
	case *simplex.LifeAnswer:
		version = message.Python
	}
	if version == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byPeer == nil {
		p.byPeer = map[types.Address]string{}
	}
	if _, isKept := p.byPeer[from]; isKept || len(p.byPeer) < maxPeerPythons {
		p.byPeer[from] = version
	}
}

// listVersions lists the versions, each with how many peers have it, as "3.11.7 (3)"; "" if none is known.
func (p *peerPythons) listVersions() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[string]int{}
	for _, version := range p.byPeer { // order: sorted below
		counts[version]++
	}
	var each []string
	for _, version := range slices.Sorted(maps.Keys(counts)) {
		each = append(each, fmt.Sprintf("%s (%d)", version, counts[version]))
	}
	return strings.Join(each, ", ")
}
