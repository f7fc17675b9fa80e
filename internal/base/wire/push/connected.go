package push

import "fmt"

// These functions are for a party on a connection, where the environment cuts the
// stream and writes the length before each frame: frames have none there.

// Read reads a frame of at least a byte, and of a known type. The reason is empty for a
// valid frame, and otherwise the reason for Goodbye.
func Read(frame []byte) (Frame, Reason) {
	read, err := Decode(Raw{Type: Type(frame[0]), Payload: frame[1:]})
	if err != nil {
		return nil, ReasonOf(err)
	}
	return read, ""
}

// ReasonOf returns the reason for Goodbye of a *Fault. Another error is a bug.
func ReasonOf(err error) Reason {
	fault, is := err.(*Fault)
	if !is {
		panic(fmt.Sprintf("push: a frame is refused for %v", err))
	}
	return fault.Reason
}

// Write returns a frame that belongs to the caller and fits the wire: its content comes
// from the caller or the chain, or was bounded at its source. Another is a bug.
func Write(f Frame) []byte {
	frame, err := Encode(f)
	if err != nil {
		panic(fmt.Sprintf("push: a frame of ours: %v", err))
	}
	return frame[lengthBytes:]
}
