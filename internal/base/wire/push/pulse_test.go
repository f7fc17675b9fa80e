package push

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A ping and a pong in their one layout equal the output and input of their forms,
// for all numbers.
func TestPulsesHaveTheLayoutOfTheirForms(t *testing.T) {
	numbers := []uint64{0, 1, 23, 24, math.MaxUint8, math.MaxUint8 + 1, math.MaxUint16, math.MaxUint16 + 1, math.MaxUint32,
		math.MaxUint32 + 1, math.MaxUint64}
	sig := types.Signature(bytes.Repeat([]byte{0xa5}, len(types.Signature{})))
	for _, n := range numbers {
		for _, m := range numbers {
			for _, f := range []Frame{&HeartbeatPing{types.Height(m), n, sig}, &HeartbeatPong{types.Height(m), sig}} {
				want := kinds()[f.Type()].form.write([]byte{byte(f.Type())}, reflect.ValueOf(f).Elem())
				if got := Write(f); !bytes.Equal(got, want) {
					t.Fatalf("%+v is written as\n%x, its form writes\n%x", f, got, want)
				}
				if got := readPulse(f.Type(), want[1:]); !reflect.DeepEqual(got, f) {
					t.Fatalf("%x is read as %+v, want %+v", want, got, f)
				}
			}
		}
	}
}

// Any other layout is judged by its form: a byte more or less, or another byte
// anywhere, and numbers and fields in another form.
func TestWhatIsNotInTheLayoutIsReadByItsForm(t *testing.T) {
	judge := func(of Type, payload []byte) {
		t.Helper()
		raw := Raw{of, payload}
		got, err := Decode(raw)
		want, wrong := decodeFrame(raw)
		if !reflect.DeepEqual(got, want) || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Fatalf("%x is %+v (%v), by its form %+v (%v)", payload, got, err, want, wrong)
		}
	}
	for _, f := range []Frame{&HeartbeatPing{BlockHeight: 300, Nonce: 70_000}, &HeartbeatPong{BlockHeight: 300}} {
		frame := Write(f)[1:]
		judge(f.Type(), append(bytes.Clone(frame), 0))
		for i := range frame {
			judge(f.Type(), frame[:i])
			for b := range 256 {
				other := bytes.Clone(frame)
				other[i] = byte(b)
				judge(f.Type(), other)
			}
		}
	}
	sig := append([]byte("\x70validator_signed\x58\x41"), make([]byte, 65)...)
	for _, payload := range [][]byte{
		append([]byte("\xa2\x6cblock_height\x18\x05"), sig...),                             // 5 in two bytes
		append([]byte("\xa2\x6cblock_height\x1b\x00\x00\x00\x00\x00\x00\x01\x00"), sig...), // 256 in nine
		append(append([]byte("\xa2"), sig...), "\x6cblock_height\x05"...),                  // the other order
	} {
		if f, err := Decode(Raw{TypeHeartbeatPong, payload}); err != nil || readPulse(TypeHeartbeatPong, payload) != nil {
			t.Errorf("%x is %+v (%v)", payload, f, err)
		}
		judge(TypeHeartbeatPong, payload)
	}
}

func BenchmarkPulse(b *testing.B) {
	frame := Write(&HeartbeatPong{BlockHeight: 1_000})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			Write(&HeartbeatPong{BlockHeight: 1_000})
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			Read(frame)
		}
	})
	b.Run("read-by-form", func(b *testing.B) {
		for b.Loop() {
			decodeFrame(Raw{TypeHeartbeatPong, frame[1:]})
		}
	})
	b.Run("digest", func(b *testing.B) {
		f := HeartbeatPong{BlockHeight: 1_000}
		for b.Loop() {
			f.Digest(1, types.PublicKey{})
		}
	})
}
