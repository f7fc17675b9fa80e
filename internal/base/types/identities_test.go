package types

import (
	"bytes"
	"encoding"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

type textual interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

func TestIdentitiesAsTextAndCBOR(t *testing.T) {
	for what, c := range map[string]struct {
		length int
		blank  func() textual
		bytes  func(textual) []byte
	}{
		"address":    {20, func() textual { return new(Address) }, func(v textual) []byte { return v.(*Address)[:] }},
		"hash":       {32, func() textual { return new(Hash) }, func(v textual) []byte { return v.(*Hash)[:] }},
		"public key": {33, func() textual { return new(PublicKey) }, func(v textual) []byte { return v.(*PublicKey)[:] }},
		"signature":  {65, func() textual { return new(Signature) }, func(v textual) []byte { return v.(*Signature)[:] }},
	} {
		rapid.Check(t, func(t *rapid.T) {
			in := c.blank()
			copy(c.bytes(in), rapid.SliceOfN(rapid.Byte(), c.length, c.length).Draw(t, what))
			text, _ := in.MarshalText()
			out := c.blank()
			if err := out.UnmarshalText(text); err != nil || !bytes.Equal(c.bytes(in), c.bytes(out)) || len(text) != 2+2*c.length {
				t.Fatalf("%s: %s came back with %v", what, text, err)
			}
			data := codec.Marshal(in)
			out = c.blank()
			if err := codec.Unmarshal(data, 100, out); err != nil || !bytes.Equal(c.bytes(in), c.bytes(out)) {
				t.Fatalf("%s: %x came back with %v", what, data, err)
			}
		})
		for _, bad := range []string{"", "0x", strings.Repeat("0", 2*c.length+2), "0x" + strings.Repeat("0", 2*c.length-1),
			"0x" + strings.Repeat("0", 2*c.length+2), "0x" + strings.Repeat("g", 2*c.length), strings.Repeat("x", 10_000)} {
			if err := c.blank().UnmarshalText([]byte(bad)); err == nil || !strings.Contains(err.Error(), what) || len(err.Error()) > 300 {
				t.Errorf("%s: %q gave %v", what, bad, err)
			}
		}
		// The library would cut or fill up, and read null as nothing.
		for form, bad := range map[string][]byte{
			"short": codec.Marshal(make([]byte, c.length-1)), "long": codec.Marshal(make([]byte, c.length+1)), "null": {0xf6},
			"an array": codec.Marshal(make([]uint16, c.length)), "text": codec.Marshal(strings.Repeat("a", c.length)),
		} {
			if err := codec.UnmarshalLoose(bad, 1000, c.blank()); err == nil {
				t.Errorf("%s: %s was read", what, form)
			}
		}
	}
	// A frame need not be canonical (decision J14): a longer head is read
	// loosely, and refused where bytes are hashed.
	loose := append([]byte{0x59, 0, 20}, make([]byte, 20)...)
	if err := codec.UnmarshalLoose(loose, 100, new(Address)); err != nil {
		t.Error(err)
	}
	if err := codec.Unmarshal(loose, 100, new(Address)); err == nil {
		t.Error("an address with a long head is canonical")
	}
}

func TestSystemBandIs256Addresses(t *testing.T) {
	for n := range 256 {
		if !SystemAddress(byte(n)).InSystemBand() {
			t.Errorf("system address %d is outside", n)
		}
	}
	for i := range 19 {
		var outside Address
		if outside[i] = 1; outside.InSystemBand() {
			t.Errorf("an address with byte %d is inside", i)
		}
	}
	if GovernanceAddress.String() != "0x0000000000000000000000000000000000000009" {
		t.Error(GovernanceAddress)
	}
}

func TestAddressesCompareAsNumbers(t *testing.T) {
	low, high := Address{18: 255, 19: 255}, Address{0: 0x80}
	if low.Compare(high) >= 0 || high.Compare(low) <= 0 || low.Compare(low) != 0 {
		t.Error("addresses are ordered wrongly")
	}
}

func TestBytesAsText(t *testing.T) {
	var b Bytes
	if err := b.UnmarshalText([]byte("0x00ff")); err != nil || !bytes.Equal(b, []byte{0, 255}) || b.String() != "0x00ff" {
		t.Errorf("%v, %v", b, err)
	}
	for _, bad := range []string{"", "00ff", "0x0", "0xzz"} {
		if err := b.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// The digest of nothing and of "abc" are keccak256's, not SHA3-256's.
func TestKeccak(t *testing.T) {
	for in, want := range map[string]string{
		"":    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"abc": "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
	} {
		if got := Keccak([]byte(in)).String(); got != want {
			t.Errorf("Keccak(%q) = %s, want %s", in, got, want)
		}
	}
	if Keccak([]byte("ab"), nil, []byte("c")) != Keccak([]byte("abc")) {
		t.Error("parts hash otherwise than the whole")
	}
	if Digest("a", 1, []byte("x")) == Digest("a", 2, []byte("x")) || Digest("a", 1, nil) == Digest("b", 1, nil) {
		t.Error("a digest ignores the chain or the domain")
	}
}
