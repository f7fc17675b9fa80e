package push

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Most frames are pings and pongs. In the deterministic encoding, which is ours, each
// has one layout: a head, a number, a head, a signature and so on. This layout is read
// and written here, without a walk over forms. Any other layout is read by its form,
// which finds the fault or none: a peer may write its numbers in more bytes than they
// need, or its fields in another order.

// The fixed parts of both, each up to the next value.
const (
	pingNonce  = "\xa3\x65nonce"
	pingSigned = "\x66signed\x58\x41"
	pongHeight = "\xa2\x6cblock_height"
	pongSigned = "\x70validator_signed\x58\x41"
	pingHeight = "\x6cblock_height"
)

// layout reads a payload part by part, and remembers whether all parts were found.
type layout struct {
	rest []byte
	ok   bool
}

// takeLiteral takes a fixed part off the front.
func (l *layout) takeLiteral(part string) {
	if l.ok = l.ok && len(l.rest) >= len(part) && string(l.rest[:len(part)]) == part; l.ok {
		l.rest = l.rest[len(part):]
	}
}

// takeNumber takes an unsigned integer in its shortest form off the front.
func (l *layout) takeNumber() (n uint64) {
	if l.ok = l.ok && len(l.rest) > 0 && l.rest[0] <= 27; !l.ok {
		return 0
	}
	info := l.rest[0]
	l.rest = l.rest[1:]
	if info < 24 {
		return uint64(info)
	}
	size := 1 << (info - 24)
	if l.ok = len(l.rest) >= size; !l.ok {
		return 0
	}
	var wide [8]byte
	copy(wide[8-size:], l.rest[:size])
	n = binary.BigEndian.Uint64(wide[:])
	l.rest = l.rest[size:]
	l.ok = n >= leastOf[info-24]
	return n
}

// leastOf is the smallest integer that needs one, two, four and eight bytes.
var leastOf = [4]uint64{24, 1 << 8, 1 << 16, 1 << 32}

// takeBytes takes as many bytes as there is room for off the front.
func (l *layout) takeBytes(to []byte) {
	if l.ok = l.ok && len(l.rest) >= len(to); l.ok {
		l.rest = l.rest[copy(to, l.rest):]
	}
}

func (l *layout) isWhole() bool { return l.ok && len(l.rest) == 0 }

// readPulse reads a ping or a pong in its one layout; nil for any other.
func readPulse(t Type, payload []byte) Frame {
	l := layout{payload, true}
	switch t {
	case TypeHeartbeatPing:
		f := new(HeartbeatPing)
		l.takeLiteral(pingNonce)
		f.Nonce = l.takeNumber()
		l.takeLiteral(pingSigned)
		l.takeBytes(f.Signed[:])
		l.takeLiteral(pingHeight)
		f.BlockHeight = types.Height(l.takeNumber())
		if l.isWhole() {
			return f
		}
	case TypeHeartbeatPong:
		f := new(HeartbeatPong)
		l.takeLiteral(pongHeight)
		f.BlockHeight = types.Height(l.takeNumber())
		l.takeLiteral(pongSigned)
		l.takeBytes(f.ValidatorSigned[:])
		if l.isWhole() {
			return f
		}
	}
	return nil
}

// appendPulse writes a ping or a pong with its type; it reports false for another
// frame.
func appendPulse(dst []byte, frame Frame) ([]byte, bool) {
	switch f := frame.(type) {
	case *HeartbeatPing:
		dst = append(append(dst, byte(TypeHeartbeatPing)), pingNonce...)
		dst = append(codec.AppendUnsigned(dst, f.Nonce), pingSigned...)
		dst = append(append(dst, f.Signed[:]...), pingHeight...)
		return codec.AppendUnsigned(dst, uint64(f.BlockHeight)), true
	case *HeartbeatPong:
		dst = append(append(dst, byte(TypeHeartbeatPong)), pongHeight...)
		dst = append(codec.AppendUnsigned(dst, uint64(f.BlockHeight)), pongSigned...)
		return append(dst, f.ValidatorSigned[:]...), true
	}
	return dst, false
}
