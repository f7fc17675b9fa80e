package push

import "fmt"

// What follows is for who is on a connection, where the environment cuts the stream and
// writes the length before each frame: frames bear none there.

// Read reads a frame of at least a byte, and of a known type. The reason is empty where it
// is one, and else what Goodbye says.
func Read(frame []byte) (Frame, Reason) {
	read, err := Decode(Raw{Type: Type(frame[0]), Payload: frame[1:]})
	if err != nil {
		return nil, ReasonOf(err)
	}
	return read, ""
}

// ReasonOf is what Goodbye says of a *Fault. Another error is a bug.
func ReasonOf(err error) Reason {
	fault, is := err.(*Fault)
	if !is {
		panic(fmt.Sprintf("push: a frame is refused for %v", err))
	}
	return fault.Reason
}

// Write returns a frame of the caller's own, which the wire has room for: what it holds is
// the caller's or the chain's, or was bounded where it came from. Another is a bug.
func Write(f Frame) []byte {
	frame, err := Encode(f)
	if err != nil {
		panic(fmt.Sprintf("push: a frame of ours: %v", err))
	}
	return frame[lengthBytes:]
}
