package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// send queues a frame of ours.
func (m *Machine) send(p *peer, s connection.Stream, f push.Frame) {
	m.do(connection.Send{ID: p.id, Stream: s, Frame: push.Write(f)})
}

// signed reports whether a runner made a signature.
func (m *Machine) signed(p *peer, digest types.Hash, sig types.Signature) bool {
	signer, ok := m.config.Verifier.Recover(digest, sig)
	return ok && signer == p.address
}
