package node

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
)

// AddressBook knows where validators listen: the chain's own record may have no endpoints
// for them, since ports are the system's choice. It is safe for concurrent use.
type AddressBook struct {
	mu        sync.Mutex
	endpoints map[types.Address]string
}

// NewAddressBook returns an empty one.
func NewAddressBook() *AddressBook { return &AddressBook{endpoints: map[types.Address]string{}} }

// Enter records a validator's endpoint, host:port, replacing an earlier record.
func (b *AddressBook) Enter(a types.Address, endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints[a] = endpoint
}

// Endpoint returns a validator's endpoint: the one recorded here, or otherwise the
// chain's; "" without either.
func (b *AddressBook) Endpoint(v types.Validator) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if endpoint, ok := b.endpoints[v.Address]; ok {
		return endpoint
	}
	return v.Endpoint
}

// bookMesh returns t with peers looked up in the book.
func (b *AddressBook) bookMesh(t *quic.Transport) env.Mesh { return bookedMesh{t, b} }

type bookedMesh struct {
	*quic.Transport
	book *AddressBook
}

// SetPeers implements env.Mesh. Peers without a known endpoint are left out.
func (m bookedMesh) SetPeers(peers []types.Validator) {
	found := make([]types.Validator, 0, len(peers))
	for _, peer := range peers {
		if peer.Endpoint = m.book.Endpoint(peer); peer.Endpoint != "" {
			found = append(found, peer)
		}
	}
	m.Transport.SetPeers(found)
}
