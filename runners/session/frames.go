package session

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// lengthBytes is the length before a frame, which is the environment's to write.
const lengthBytes = 4

// decode reads a frame of a known type. The reason is empty where it is one.
func decode(frame []byte) (push.Frame, push.Reason) {
	read, err := push.Decode(push.Raw{Type: push.Type(frame[0]), Payload: frame[1:]})
	if err != nil {
		return nil, reasonOf(err)
	}
	return read, ""
}

// reasonOf is what Goodbye says of a fault.
func reasonOf(err error) push.Reason {
	fault, is := err.(*push.Fault)
	if !is {
		panic(fmt.Sprintf("session: a frame is refused for %v", err))
	}
	return fault.Reason
}

// send queues a frame of ours on the control stream. What it holds is bounded where
// it came from.
func (m *Machine) send(p *peer, f push.Frame) {
	frame, err := push.Encode(f)
	if err != nil {
		panic(fmt.Sprintf("session: a frame of ours: %v", err))
	}
	m.do(connection.Send{ID: p.id, Stream: connection.Control, Frame: frame[lengthBytes:]})
}

// signed reports whether the validator made a signature.
func (m *Machine) signed(p *peer, digest types.Hash, sig types.Signature) bool {
	signer, ok := m.config.Verifier.Recover(digest, sig)
	return ok && signer == p.Address
}
