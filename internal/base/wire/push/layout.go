package push

import "encoding/binary"

// Most frames are pings and pongs, and a crowd that connects says Hello. In the
// deterministic encoding, which is ours, each of these has one layout: a head, a number, a
// head, a signature and so on. This layout is read and written here, without a walk over
// forms. Any other layout is read by its form, which finds the fault or none: a peer may
// write its numbers in more bytes than they need, or its fields in another order.

// Frames that are written by their layout have at most so many bytes, with their length.
const (
	pulseBytes    = 128
	greetingBytes = 192
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

// takeEither reports which of two fixed parts it took off the front.
func (l *layout) takeEither(first, second string) (isFirst bool) {
	if isFirst = l.ok && len(l.rest) >= len(first) && string(l.rest[:len(first)]) == first; isFirst {
		l.rest = l.rest[len(first):]
		return true
	}
	l.takeLiteral(second)
	return false
}

func (l *layout) isWhole() bool { return l.ok && len(l.rest) == 0 }

// readByLayout reads a frame in its one layout; nil for any other layout, and for frames
// that have none.
func readByLayout(t Type, payload []byte) Frame {
	l := layout{payload, true}
	var f Frame
	switch t {
	case TypeHello:
		f = l.takeHello()
	case TypeHelloAck:
		f = l.takeHelloAck()
	case TypeHeartbeatPing:
		f = l.takePing()
	case TypeHeartbeatPong:
		f = l.takePong()
	case TypeBackpressureSignal:
		f = l.takeBackpressure()
	}
	if !l.isWhole() {
		return nil
	}
	return f
}

// writeByLayout returns a frame with its type, after room for its length. It is nil for a
// frame that has no layout, or a value that its form refuses.
func writeByLayout(frame Frame) []byte {
	switch f := frame.(type) {
	case *Hello:
		return f.appendTo(make([]byte, lengthBytes, greetingBytes))
	case *HelloAck:
		return f.appendTo(make([]byte, lengthBytes, greetingBytes))
	case *HeartbeatPing:
		return f.appendTo(make([]byte, lengthBytes, pulseBytes))
	case *HeartbeatPong:
		return f.appendTo(make([]byte, lengthBytes, pulseBytes))
	case *BackpressureSignal:
		return f.appendTo(make([]byte, lengthBytes, pulseBytes))
	}
	return nil
}
