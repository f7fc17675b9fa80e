package push

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The fixed parts of a ping and of a pong, each up to the next value.
const (
	pingNonce  = "\xa3\x65nonce"
	pingSigned = "\x66signed\x58\x41"
	pongHeight = "\xa2\x6cblock_height"
	pongSigned = "\x70validator_signed\x58\x41"
	pingHeight = "\x6cblock_height"
)

func (l *layout) takePing() *HeartbeatPing {
	f := new(HeartbeatPing)
	l.takeLiteral(pingNonce)
	f.Nonce = l.takeNumber()
	l.takeLiteral(pingSigned)
	l.takeBytes(f.Signed[:])
	l.takeLiteral(pingHeight)
	f.BlockHeight = types.Height(l.takeNumber())
	return f
}

func (l *layout) takePong() *HeartbeatPong {
	f := new(HeartbeatPong)
	l.takeLiteral(pongHeight)
	f.BlockHeight = types.Height(l.takeNumber())
	l.takeLiteral(pongSigned)
	l.takeBytes(f.ValidatorSigned[:])
	return f
}

func (f *HeartbeatPing) appendTo(dst []byte) []byte {
	dst = append(append(dst, byte(TypeHeartbeatPing)), pingNonce...)
	dst = append(codec.AppendUnsigned(dst, f.Nonce), pingSigned...)
	dst = append(append(dst, f.Signed[:]...), pingHeight...)
	return codec.AppendUnsigned(dst, uint64(f.BlockHeight))
}

func (f *HeartbeatPong) appendTo(dst []byte) []byte {
	dst = append(append(dst, byte(TypeHeartbeatPong)), pongHeight...)
	dst = append(codec.AppendUnsigned(dst, uint64(f.BlockHeight)), pongSigned...)
	return append(dst, f.ValidatorSigned[:]...)
}
