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
				if got := readByLayout(f.Type(), want[1:]); !reflect.DeepEqual(got, f) {
					t.Fatalf("%x is read as %+v, want %+v", want, got, f)
				}
			}
		}
	}
}

// A greeting and a load in their one layout equal the output and input of their forms.
func TestGreetingsHaveTheLayoutOfTheirForms(t *testing.T) {
	for _, n := range []uint64{0, 23, 24, math.MaxUint8, math.MaxUint8 + 1, math.MaxUint16 + 1, math.MaxUint32, math.MaxUint32 + 1,
		math.MaxUint64} {
		for _, role := range []Role{Runner, Validator} {
			for _, f := range []Frame{
				&Hello{Version, types.PublicKey{2, 7}, role, types.Height(n), types.Hash{9, 31: 8}},
				&HelloAck{Version, types.PublicKey{3, 7}, role, types.Signature{9, 64: 1}, types.Height(n)},
				&BackpressureSignal{uint32(n), uint32(n >> 1), role == Runner, nil},
			} {
				want := kinds()[f.Type()].form.write([]byte{byte(f.Type())}, reflect.ValueOf(f).Elem())
				if got := writeByLayout(f); !bytes.Equal(got[lengthBytes:], want) || !bytes.Equal(Write(f), want) {
					t.Fatalf("%+v is written as\n%x, its form writes\n%x", f, got, want)
				}
				if got := readByLayout(f.Type(), want[1:]); !reflect.DeepEqual(got, f) {
					t.Fatalf("%x is read as %+v, want %+v", want, got, f)
				}
			}
		}
	}
}

func TestAGreetingThatItsFormRefusesHasNoLayout(t *testing.T) {
	for _, f := range []Frame{&Hello{Version: 2, PartyRole: Runner}, &Hello{Version: Version, PartyRole: "Owner"}, &Hello{Version: Version},
		&HelloAck{Version: 2, PartyRole: Runner}, &HelloAck{Version: Version, PartyRole: "Owner"}} {
		if frame, err := Encode(f); err == nil {
			t.Errorf("%+v is written as %x", f, frame)
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
	for _, f := range []Frame{&HeartbeatPing{BlockHeight: 300, Nonce: 70_000}, &HeartbeatPong{BlockHeight: 300},
		&Hello{Version: Version, PartyRole: Runner, BlockHeight: 300}, &Hello{Version: Version, PartyRole: Validator},
		&HelloAck{Version: Version, PartyRole: Validator, BlockHeight: 70_000},
		&BackpressureSignal{ActiveJobs: 300, MaxConcurrent: math.MaxUint32, AcceptingNew: true}} {
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
		if f, err := Decode(Raw{TypeHeartbeatPong, payload}); err != nil || readByLayout(TypeHeartbeatPong, payload) != nil {
			t.Errorf("%x is %+v (%v)", payload, f, err)
		}
		judge(TypeHeartbeatPong, payload)
	}
}

// The largest integers that a form takes are a load's 32 bits.
func TestALoadBeyondItsBitsIsRefused(t *testing.T) {
	payload := []byte("\xa4\x66reason\xf6\x6bactive_jobs\x1b\x00\x00\x00\x01\x00\x00\x00\x00\x6daccepting_new\xf5\x6emax_concurrent\x05")
	if f, err := Decode(Raw{TypeBackpressureSignal, payload}); err == nil {
		t.Errorf("it is read as %+v", f)
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
