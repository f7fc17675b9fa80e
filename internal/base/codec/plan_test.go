package codec

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// shape has a field of every kind that a record of ours may have, and of some
// that plans leave to the library.
type shape struct {
	_        struct{} `cbor:",toarray"`
	Bool     bool
	Small    uint8
	Unsigned uint64
	Signed   int64
	Text     string
	Bytes    []byte
	Named    namedBytes
	Hash     [32]byte
	None     [0]byte
	Numbers  []uint16
	Pair     [2]int32
	Raw      RawMessage
	Pointer  *uint64
	Nested   *shape
	List     []shape
	Map      keyed
	Maps     []*keyed
	hidden   int //lint:ignore U1000 a field that no encoding may show
	Big      big.Int
	BigAt    *big.Int
	Any      any
	Table    map[string]uint64
	Time     time.Time
	Old      oldStyle
	Own      ownForm
	OwnAt    *ownForm
	Outer    embedding
	Optional optional
}

type (
	namedBytes []byte
	keyed      struct {
		Longer  string `cbor:"longer"`
		B       []byte `cbor:"b" json:"x"`
		A       uint64 `json:"a"`
		NoTag   bool
		Exactly [3]byte `cbor:"exactly-24-characters-xx"`
	}
	oldStyle  struct{ N uint64 } // has MarshalCBOR
	ownForm   struct{ N uint64 } // has AppendCBOR
	embedding struct {
		keyed
		More uint64
	}
	optional struct {
		Set  uint64 `cbor:"set,omitempty"`
		Skip uint64 `cbor:"-"`
	}
)

func (o oldStyle) MarshalCBOR() ([]byte, error) { return appendHead(nil, majorUnsigned, o.N), nil }

// AppendCBOR writes the library's output, though the library does not know it.
func (o *ownForm) AppendCBOR(dst []byte) []byte {
	return AppendUnsigned(append(dst, 0xa1, 0x61, 'N'), o.N)
}

// TestPlansWriteWhatTheLibraryWrites: whatever the values are, a plan and the
// library have one form for them.
func TestPlansWriteWhatTheLibraryWrites(t *testing.T) {
	library, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		value := new(shape)
		fill(rng, reflect.ValueOf(value).Elem(), 3)
		want, err := library.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := Marshal(value); !bytes.Equal(got, want) {
			t.Fatalf("%+v:\n %x, want\n %x", value, got, want)
		}
		if got := Marshal(*value); !bytes.Equal(got, want) {
			t.Fatalf("by value:\n %x, want\n %x", got, want)
		}
	}
	for _, value := range []any{nil, (*shape)(nil), (*ownForm)(nil), ownForm{7}, uint64(math.MaxUint64), int64(math.MinInt64), "é",
		[]any{1, "a"}} {
		want, err := library.Marshal(value)
		if got := Marshal(value); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%T: %x, want %x (%v)", value, got, want, err)
		}
	}
}

// A type without a form is a bug of this program, and a second value in place of
// one is refused.
func TestPlansRefuseWhatTheLibraryRefuses(t *testing.T) {
	for _, value := range []any{
		make(chan int), &struct{ F func() }{func() {}}, RawMessage{0x82, 0x01}, &struct{ R RawMessage }{RawMessage{0xff}},
		RawMessage{0x9f, 0xff}, RawMessage{0x01, 0x02},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was encoded", value)
				}
			}()
			Marshal(value)
		}()
	}
}

// fill sets all that can be set to something random, nil now and then.
func fill(rng *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rng.Uint64() >> rng.IntN(64))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(rng.Uint64()) >> rng.IntN(64))
	case reflect.String:
		v.SetString(string(make([]byte, rng.IntN(300))) + "ö")
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i), depth)
		}
	case reflect.Slice:
		fillSlice(rng, v, depth)
	case reflect.Pointer:
		if depth > 0 && rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem(), depth-1)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{nil, uint64(5), "text", []byte{1}}[1+rng.IntN(3)]))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]uint64{"a": rng.Uint64(), "bb": 1, "c": 2}))
	case reflect.Struct:
		fillStruct(rng, v, depth)
	}
}

func fillSlice(rng *rand.Rand, v reflect.Value, depth int) {
	switch {
	case v.Type() == typeRaw:
		v.SetBytes([][]byte{nil, {0x05}, {0x82, 0x01, 0x41, 0xaa}, {0xf6}}[rng.IntN(4)])
		return
	case depth == 0 || rng.IntN(4) == 0:
		return
	}
	n := rng.IntN(3)
	if v.Type().Elem().Kind() == reflect.Uint8 {
		n = rng.IntN(70_000) >> rng.IntN(17)
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range min(n, 300) {
		fill(rng, v.Index(i), depth-1)
	}
}

func fillStruct(rng *rand.Rand, v reflect.Value, depth int) {
	switch at := v.Addr().Interface().(type) {
	case *big.Int:
		at.SetUint64(rng.Uint64())
		at.Lsh(at, uint(rng.IntN(100)))
	case *time.Time:
		*at = time.Unix(rng.Int64N(1<<32), 0).UTC()
	default:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(rng, v.Field(i), depth)
			}
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	value := &struct {
		_          struct{} `cbor:",toarray"`
		A, B, C, D uint64
		Hashes     [6][32]byte
		Signature  [65]byte
		Name       string
	}{A: 1, B: 1 << 40, Name: "a record of some fields and hashes"}
	library := mustSucceed(cbor.CoreDetEncOptions().EncMode())
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := library.Marshal(value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Marshal(value)
		}
	})
}
