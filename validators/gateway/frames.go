package gateway

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
		panic(fmt.Sprintf("gateway: a frame is refused for %v", err))
	}
	return fault.Reason
}

// encode writes a frame of ours, which the wire has room for: what it holds is ours
// or the chain's.
func encode(f push.Frame) []byte {
	frame, err := push.Encode(f)
	if err != nil {
		panic(fmt.Sprintf("gateway: a frame of ours: %v", err))
	}
	return frame[lengthBytes:]
}

// send queues a frame of ours.
func (m *Machine) send(p *peer, s connection.Stream, f push.Frame) {
	m.do(connection.Send{ID: p.id, Stream: s, Frame: encode(f)})
}

// signed reports whether a runner made a signature.
func (m *Machine) signed(p *peer, digest types.Hash, sig types.Signature) bool {
	signer, ok := m.config.Verifier.Recover(digest, sig)
	return ok && signer == p.address
}
