package push

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

func seeds(f *testing.F) {
	reason := "gpu_oom"
	for _, frame := range []Frame{
		ping(), &Hello{Version: Version, PartyRole: Runner}, &HelloAck{Version: Version, PartyRole: Validator}, &HeartbeatPong{},
		&BackpressureSignal{Reason: &reason},
		&CapabilityDelta{AddedCapabilities: []string{"llm", "model:small"}}, &JobAssignment{JobSpec: *spec()},
		&JobAck{Status: AckStatus{Accepted: true}},
		&JobAck{Status: AckStatus{Reject: ptr(Capacity)}}, &JobProgress{Fraction: 100}, &JobResult{ResultData: []byte("hello")},
		&JobCancel{Reason: Expired}, &Goodbye{Shutdown},
	} {
		data, err := Encode(frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0, 0, 0, 2, 0xf0, 0xff})
	f.Add(append([]byte{0, 0, 0, 80, 1}, bytes.Repeat([]byte{0x81}, 79)...))
}

// Whatever a peer sends is refused with a fault, or is a frame that is written
// again as one, and read again as the same.
func FuzzFrames(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := cut(data)
		if err != nil {
			return
		}
		if n := binary.BigEndian.Uint32(data); n < 1 || n > MaxFrame || int(n) != 1+len(raw.Payload) {
			t.Fatalf("%x was cut after %d bytes", data, len(raw.Payload))
		}
		frame, err := Decode(raw)
		var fault *Fault
		if err != nil {
			if !errors.As(err, &fault) || frame != nil {
				t.Fatalf("%v with the error %v", frame, err)
			}
			return
		}
		again, err := Encode(frame)
		if err != nil {
			t.Fatalf("%x was read as %+v, which cannot be sent: %v", data, frame, err)
		}
		if len(again) > len(data) {
			t.Fatalf("%x has the shortest form %x", data, again)
		}
		twice, err := Decode(Raw{raw.Type, again[5:]})
		if err != nil {
			t.Fatal(err)
		}
		if last, err := Encode(twice); err != nil || !bytes.Equal(last, again) {
			t.Fatalf("%x, and then %x: %v", again, last, err)
		}
	})
}

// CBOR is valid here if it is valid for the library, and the other way round,
// except for the cases on the line.
func FuzzItems(f *testing.F) {
	for _, seed := range [][]byte{{0xa0}, {0xf9, 0x7e, 0}, {0xf8, 31}, {0xf8, 32}, {0x9f, 0xff}, {0x62, 0xc3, 0x28},
		{0xa2, 0x61, 'a', 0, 0x61, 'a', 0}, {0xc2, 0x41, 1}, {0x1c}} {
		f.Add(seed)
	}
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		ours := checkOneItem(data)
		var tree any
		theirs := library.Unmarshal(data, &tree)
		if err := deep.Wellformed(data); ours == nil && err != nil {
			t.Fatalf("the library refuses %x: %v", data, err)
		}
		if theirs == nil && ours != nil && !stricter(tree) {
			t.Fatalf("%x is valid for the library: %v", data, ours)
		}
	})
}

// stricter reports whether a tree has a part that is valid CBOR and refused here: a
// key that is not a text, a map too long, or a tag, within which the library may
// have dropped counted items.
func stricter(tree any) bool {
	switch v := tree.(type) {
	case []any:
		for _, each := range v {
			if stricter(each) {
				return true
			}
		}
	case map[any]any:
		for key, each := range v {
			if _, text := key.(string); !text || stricter(each) {
				return true
			}
		}
		return len(v) > MaxPairs
	case nil, bool, uint64, int64, float64, string, []byte, cbor.SimpleValue:
		return false
	default:
		return true // a tag: dates, big integers and the like
	}
	return false
}
