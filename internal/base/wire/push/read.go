package push

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// MaxFrame is the longest frame, type and payload (CIP-11 §12.1; decision J14).
const MaxFrame = 1 << 20

// A validator rations the long frames of a runner, but for results: the bytes of each frame
// beyond FreeBytes. A runner has LongBytes of them at once and LongBytesPerSecond more each
// second, over all its connections with that validator. Shorter frames have a limit of their
// number. (Decision J24.)
const (
	FreeBytes          = 4 << 10
	LongBytes          = 2 << 20 // a reconnecting runner says the longest frame twice
	LongBytesPerSecond = 32 << 10
)

// Long is how many bytes of a frame the ration of long frames counts.
func Long(size int) int { return max(size-FreeBytes, 0) }

// lengthBytes is the head of a frame.
const lengthBytes = 4

// Raw is a frame of which only the length was judged.
type Raw struct {
	Type    Type
	Payload []byte
}

// Decode reads a frame of a known type: its CBOR, of Hello and HelloAck the
// version, then its fields. The error is a *Fault.
//
// A version that is another integer than 1 is unsupported_version, whatever else
// the map holds, so that a later version may have other fields.
func Decode(raw Raw) (Frame, error) {
	if frame := readByLayout(raw.Type, raw.Payload); frame != nil {
		return frame, nil
	}
	return decodeFrame(raw)
}

// decodeFrame reads a frame by its form.
func decodeFrame(raw Raw) (Frame, error) {
	k := &kinds()[raw.Type]
	if !raw.Type.Known() {
		return nil, newFault(UnknownFrame, "", "%s", raw.Type)
	}
	if err := checkOneItem(raw.Payload); err != nil {
		return nil, newFault(Malformed, k.name, "no valid CBOR: %v", err)
	}
	if raw.Type == TypeHello || raw.Type == TypeHelloAck {
		if other := otherVersion(raw.Payload); other != "" {
			return nil, newFault(UnsupportedVersion, k.name, "version %s; this is version %d", other, Version)
		}
	}
	v := reflect.New(k.frame)
	if _, err := k.form.read(raw.Payload, v.Elem()); err != nil {
		return nil, newFault(Malformed, err.withPath(k.name).path, "%s", err.detail)
	}
	return v.Interface().(Frame), nil
}

// otherVersion returns the field version of a well-formed map, if it is an integer
// and not this version; otherwise "".
func otherVersion(payload []byte) string {
	h, rest := mustHead(payload)
	if h.major != pairs {
		return ""
	}
	for range h.argument {
		key, value, _ := cutKey(rest)
		if string(key) == "version" {
			v, _ := mustHead(value)
			switch {
			case v.major == unsigned && v.argument != Version:
				return fmt.Sprint(v.argument)
			case v.major == negative:
				return "below 0"
			}
			return ""
		}
		rest, _ = skipItem(value, MaxDepth)
	}
	return ""
}

// Encode returns a frame with its length, as it goes onto a stream. It refuses
// what a peer would refuse, with the fault that it would be: a text that is too
// long, a choice that was not made, a frame over MaxFrame.
func Encode(f Frame) ([]byte, error) {
	if frame := writeByLayout(f); frame != nil { // within all limits
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-lengthBytes))
		return frame, nil
	}
	k := &kinds()[f.Type()]
	frame := k.form.write(append(make([]byte, lengthBytes, 256), byte(f.Type())), reflect.ValueOf(f).Elem())
	n := len(frame) - lengthBytes
	if n > MaxFrame {
		return nil, newFault(FrameTooLarge, k.name, "a frame of %d bytes, at most %d", n, MaxFrame)
	}
	binary.BigEndian.PutUint32(frame, uint32(n))
	if _, err := Decode(Raw{f.Type(), frame[lengthBytes+1:]}); err != nil {
		return nil, err
	}
	return frame, nil
}
