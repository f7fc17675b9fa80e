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

// checkedSignature is a signature that holds, and what it is for. Both are compared
// whole: no digest of the pair stands in for it.
type checkedSignature struct {
	digest types.Hash
	sig    types.Signature
}

// memory knows the signers of checked signatures. It forgets by generations:
// when the young one is full it becomes the old one, and the old one is gone.
// An entry that is looked up again moves to the young one.
type memory struct {
	shards [memoryShards]shard
}

type shard struct {
	mu         sync.Mutex
	young, old map[checkedSignature]types.Address
}

func newMemory() *memory {
	m := new(memory)
	for i := range m.shards {
		m.shards[i].young = make(map[checkedSignature]types.Address)
	}
	return m
}

func (m *memory) shardOf(c *checkedSignature) *shard { return &m.shards[c.sig[31]%memoryShards] }

func (m *memory) lookUp(c *checkedSignature) (types.Address, bool) {
	s := m.shardOf(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if signer, known := s.young[*c]; known {
		return signer, true
	}
	signer, known := s.old[*c]
	if known {
		s.putSignature(c, signer)
	}
	return signer, known
}

func (m *memory) storeSignature(c *checkedSignature, signer types.Address) {
	s := m.shardOf(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putSignature(c, signer)
}

// putSignature is called with the shard locked.
func (s *shard) putSignature(c *checkedSignature, signer types.Address) {
	if len(s.young) >= shardGeneration {
		s.old, s.young = s.young, make(map[checkedSignature]types.Address, shardGeneration)
	}
	s.young[*c] = signer
}
