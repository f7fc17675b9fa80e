package session

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// sendFrame queues a frame of ours on the control stream. Its content is bounded at its
// source.
func (m *Machine) sendFrame(p *peer, f push.Frame) {
	m.addVerb(connection.Send{ID: p.id, Stream: connection.Control, Frame: push.Write(f)})
}

// isSignedBy reports whether the validator made a signature.
func (m *Machine) isSignedBy(p *peer, digest types.Hash, sig types.Signature) bool {
	signer, ok := m.config.Verifier.Recover(digest, sig)
	return ok && signer == p.Address
}
