package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type record struct {
	_    struct{} `cbor:",toarray"`
	N    uint64
	Data []byte
	Next *record
}

type named struct {
	Kind string `cbor:"kind"`
	N    uint64 `cbor:"n"`
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// RFC 8949 §4.2.1 and decision C11: what is hashed, signed or stored has one
// encoding, and decoders refuse every other.
func TestC11OnlyTheCanonicalFormIsRead(t *testing.T) {
	for _, c := range []struct {
		what, input string
		into        any
		want        error
	}{
		{"a record", "83 05 41aa f6", new(record), nil},
		{"a map", "a2 616e 05 646b696e64 6161", new(named), nil},
		{"an integer not in its shortest form", "83 1805 41aa f6", new(record), ErrNotCanonical},
		{"one in eight bytes", "83 1b0000000000000005 41aa f6", new(record), ErrNotCanonical},
		{"a length not in its shortest form", "83 05 5801aa f6", new(record), ErrNotCanonical},
		{"an array head not in its shortest form", "9803 05 41aa f6", new(record), ErrNotCanonical},
		{"undefined for null", "83 05 41aa f7", new(record), ErrNotCanonical},
		{"a tag around a field", "83 05 c2 41aa f6", new(record), ErrNotCanonical},
		{"text for bytes", "83 05 61aa f6", new(record), ErrMalformed},
		{"an array for bytes", "83 05 8118aa f6", new(record), ErrNotCanonical},
		{"an array of indefinite length", "9f 05 41aa f6 ff", new(record), ErrMalformed},
		{"bytes of indefinite length", "83 05 5f41aaff f6", new(record), ErrMalformed},
		{"a map of indefinite length", "bf 616e 05 ff", new(named), ErrMalformed},
		{"keys in another order", "a2 646b696e64 6161 616e 05", new(named), ErrNotCanonical},
		{"a key twice", "a3 616e 05 616e 05 646b696e64 6161", new(named), ErrMalformed},
		{"a key twice, once in capitals", "a3 614e 05 616e 05 646b696e64 6161", new(named), ErrMalformed},
		{"a key in capitals", "a2 614e 05 646b696e64 6161", new(named), ErrMalformed},
		{"an unknown key", "a3 616d 05 616e 05 646b696e64 6161", new(named), ErrMalformed},
		{"a missing key", "a1 616e 05", new(named), ErrNotCanonical},
		{"a field too few", "82 05 41aa", new(record), ErrMalformed},
		{"a field too many", "84 05 41aa f6 f6", new(record), ErrMalformed},
		{"bytes behind", "83 05 41aa f6 00", new(record), ErrMalformed},
		{"cut off", "83 05 42aa", new(record), ErrMalformed},
		{"nothing", "", new(record), ErrMalformed},
		{"a negative integer", "83 20 41aa f6", new(record), ErrMalformed},
		{"a float", "83 f94500 41aa f6", new(record), ErrMalformed},
		{"invalid UTF-8 in a text", "a2 616e 05 646b696e64 61ff", new(named), ErrMalformed},
		{"a length beyond the input", "83 05 5bffffffffffffffff f6", new(record), ErrMalformed},
		{"an array head beyond the input", "9bffffffffffffffff", new(record), ErrMalformed},
	} {
		if err := Unmarshal(unhex(c.input), 100, c.into); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

func TestInputIsBoundedInLengthDepthAndElements(t *testing.T) {
	chain := func(depth int) []byte {
		r := &record{N: 1}
		for range depth - 1 {
			r = &record{Next: r}
		}
		return Marshal(r)
	}
	if err := Unmarshal(chain(MaxDepth), 1000, new(record)); err != nil {
		t.Errorf("%d deep: %v", MaxDepth, err)
	}
	if err := Unmarshal(chain(MaxDepth+1), 1000, new(record)); !errors.Is(err, ErrMalformed) {
		t.Errorf("%d deep: %v", MaxDepth+1, err)
	}

	data := Marshal(&record{Data: make([]byte, 50)})
	for _, read := range []func([]byte, int, any) error{Unmarshal, UnmarshalLoose, UnmarshalPartial} {
		if err := read(data, len(data), new(record)); err != nil {
			t.Errorf("of just the allowed length: %v", err)
		}
		if err := read(data, len(data)-1, new(record)); !errors.Is(err, ErrTooLong) {
			t.Errorf("one byte longer than allowed: %v", err)
		}
	}

	many := func(n int) []byte { return Marshal(make([]uint8Like, n)) }
	if err := Unmarshal(many(MaxElements), MaxElements+10, new([]uint8Like)); err != nil {
		t.Errorf("%d elements: %v", MaxElements, err)
	}
	if err := Unmarshal(many(MaxElements+1), MaxElements+10, new([]uint8Like)); !errors.Is(err, ErrMalformed) {
		t.Errorf("%d elements: %v", MaxElements+1, err)
	}
}

// uint8Like encodes as an integer, in an array and not in a byte string.
type uint8Like uint16

func TestLooseReadsWhatIsValidAndPartialWhatIsNamed(t *testing.T) {
	var n named
	if err := UnmarshalLoose(unhex("a2 646b696e64 6161 616e 1805"), 100, &n); err != nil || n != (named{"a", 5}) {
		t.Errorf("loose: %v, %v", n, err)
	}
	for what, input := range map[string]string{
		"a key twice": "a2 616e 05 616e 06", "indefinite length": "bf 616e 05 ff", "an unknown key": "a1 616d 05",
		"bytes behind": "a1 616e 05 00",
	} {
		if err := UnmarshalLoose(unhex(input), 100, new(named)); !errors.Is(err, ErrMalformed) {
			t.Errorf("loose, %s: %v", what, err)
		}
	}
	var head struct {
		Kind string `cbor:"kind"`
	}
	if err := UnmarshalPartial(unhex("a2 616e 05 646b696e64 6161"), 100, &head); err != nil || head.Kind != "a" {
		t.Errorf("partial: %v, %v", head, err)
	}
	head.Kind = ""
	if err := UnmarshalPartial(unhex("a1 644b696e64 6161"), 100, &head); err != nil || head.Kind != "" {
		t.Errorf("partial took a key in capitals: %v, %v", head, err)
	}
}

func TestMarshalStopsOnWhatHasNoEncoding(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "chan int") {
			t.Errorf("panic %v", r)
		}
	}()
	Marshal(make(chan int))
}

func TestWhatMarshalWritesUnmarshalReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := &record{N: rapid.Uint64().Draw(t, "n"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
		if rapid.Bool().Draw(t, "chained") {
			in = &record{Next: in}
		}
		data := Marshal(in)
		out := new(record)
		if err := Unmarshal(data, len(data), out); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Marshal(out), data) {
			t.Fatalf("%x came back as %x", data, Marshal(out))
		}
	})
}

// Any input that is read is the only encoding of its value.
func FuzzUnmarshal(f *testing.F) {
	f.Add(Marshal(&record{N: 5, Data: []byte{1}, Next: &record{}}))
	f.Add(Marshal(&named{"a", 1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []any{new(record), new(named), new([]uint64), new(string), new(map[string]uint64)} {
			if err := Unmarshal(data, 1<<16, v); err == nil && !bytes.Equal(Marshal(v), data) {
				t.Fatalf("%x was read as %v, which is %x", data, v, Marshal(v))
			}
		}
	})
}

// TestCutUnsignedReadsWhatAppendUnsignedWrites, whatever follows it, and no other
// form: nothing longer, nothing cut off, no other type.
func TestCutUnsignedReadsWhatAppendUnsignedWrites(t *testing.T) {
	for shift := range 64 {
		for _, n := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, ^uint64(0) >> shift} {
			form := AppendUnsigned(nil, n)
			got, rest, ok := CutUnsigned(append(form[:len(form):len(form)], 7))
			if !ok || got != n || len(rest) != 1 || rest[0] != 7 {
				t.Fatalf("%x is read as %d with %x left, %v", form, got, rest, ok)
			}
			for cut := range form {
				if _, _, ok := CutUnsigned(form[:cut]); ok {
					t.Fatalf("%x is read", form[:cut])
				}
			}
		}
	}
	for _, form := range []string{"1817", "1900ff", "1a0000ffff", "1b00000000ffffffff", "1c", "1f", "20", "40", "f6"} {
		if _, _, ok := CutUnsigned(unhex(form)); ok {
			t.Errorf("%s is read", form)
		}
	}
}
