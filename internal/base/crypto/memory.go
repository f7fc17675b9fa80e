package crypto

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a verifier's memory. A generation holds what a busy network signs
// in several blocks (votes of 100 validators, 1,000 pings, 1,000 transactions
// a block); two of them take some 10 MiB when full.
const (
	memoryShards     = 16     // so that goroutines of a few cores seldom meet at one lock
	memoryGeneration = 32_768 // signatures of a generation, over all shards

	shardGeneration = memoryGeneration / memoryShards
)

// addressGeneration is how many keys a generation of known addresses holds: those of ten
// thousand runners and their validators. Two of them take some 2 MiB when full.
const addressGeneration = 16_384

// generations remembers what a pure function gave. It forgets by generations:
// when the young one is full it becomes the old one, and the old one is gone.
// An entry that is looked up again moves to the young one. It is safe for concurrent
// use, and the zero value remembers nothing yet.
type generations[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]V
}

// lookUp returns what is known of a key; size is the most entries of a generation.
func (g *generations[K, V]) lookUp(key *K, size int) (V, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if value, known := g.young[*key]; known {
		return value, true
	}
	value, known := g.old[*key]
	if known {
		g.putEntry(key, value, size)
	}
	return value, known
}

func (g *generations[K, V]) storeEntry(key *K, value V, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.putEntry(key, value, size)
}

// putEntry is called with the lock held.
func (g *generations[K, V]) putEntry(key *K, value V, size int) {
	switch {
	case g.young == nil:
		g.young = make(map[K]V)
	case len(g.young) >= size:
		g.old, g.young = g.young, make(map[K]V, size)
	}
	g.young[*key] = value
}

// checkedSignature is a signature that holds, and what it is for. Both are compared
// whole: no digest of the pair stands in for it.
type checkedSignature struct {
	digest types.Hash
	sig    types.Signature
}

// memory knows the signers of checked signatures.
type memory struct {
	shards [memoryShards]generations[checkedSignature, types.Address]
}

func newMemory() *memory { return new(memory) }

func (m *memory) shardOf(c *checkedSignature) *generations[checkedSignature, types.Address] {
	return &m.shards[c.sig[31]%memoryShards]
}

func (m *memory) lookUp(c *checkedSignature) (types.Address, bool) {
	return m.shardOf(c).lookUp(c, shardGeneration)
}

func (m *memory) storeSignature(c *checkedSignature, signer types.Address) {
	m.shardOf(c).storeEntry(c, signer, shardGeneration)
}

// knownAddresses has the addresses of keys that were made or read in this process: each
// validator of a crowd asks for those of the same runners.
var knownAddresses generations[types.PublicKey, types.Address]
