package types

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// TestRecordsHaveTheLibrarysForm: whatever is in them, records are encoded to
// the bytes that the CBOR library writes by itself, and are read back (C11).
func TestRecordsHaveTheLibrarysForm(t *testing.T) {
	library, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, record := range []any{
		new(Header), new(Block), new(Proposal), new(Vote), new(Certificate), new(ValidatorSet), new(Transaction),
		new(Receipt), new(Event), new(Fault), new(Timer), new(Deploy), new(Execute), new(System), new(Wei),
	} {
		for range 300 {
			fresh := reflect.New(reflect.TypeOf(record).Elem())
			fillRecord(rng, fresh.Elem(), 4)
			want, err := library.Marshal(fresh.Interface())
			if err != nil {
				t.Fatal(err)
			}
			if got := codec.Marshal(fresh.Interface()); !bytes.Equal(got, want) {
				t.Fatalf("%T:\n %x, want\n %x", record, got, want)
			}
			again := reflect.New(reflect.TypeOf(record).Elem())
			if err := codec.Unmarshal(want, 1<<20, again.Interface()); err != nil {
				t.Fatalf("%T %x: %v", record, want, err)
			}
		}
	}
}

// fillRecord sets all fields to something random, nil where the depth is used up.
func fillRecord(rng *rand.Rand, v reflect.Value, depth int) {
	if wei, ok := v.Addr().Interface().(*Wei); ok {
		*wei = WeiOf(rng.Uint64() >> rng.IntN(64))
		if rng.IntN(3) == 0 {
			*wei = MaxWei.Div(1 + rng.Uint64()>>rng.IntN(64))
		}
		return
	}
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rng.Uint64() >> rng.IntN(64))
	case reflect.Int64:
		v.SetInt(int64(rng.Uint64()) >> rng.IntN(64))
	case reflect.String:
		v.SetString("né"[:rng.IntN(2)])
	case reflect.Array:
		for i := range v.Len() {
			fillRecord(rng, v.Index(i), depth)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[codec.RawMessage]() {
			v.SetBytes([]byte{0xa1, 0x61, 'k', 0x05})
		} else if n := rng.IntN(4); depth > 0 && n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fillRecord(rng, v.Index(i), depth-1)
			}
		}
	case reflect.Pointer:
		if depth > 0 && rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillRecord(rng, v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillRecord(rng, v.Field(i), depth)
			}
		}
	}
}
