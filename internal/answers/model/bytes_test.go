package model

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestPayloadIsHexOrText(t *testing.T) {
	for in, want := range map[string]string{"": "", "hello": "hello", "0x": "", "0x6869": "hi", `{"a":1}`: `{"a":1}`, "0": "0", "x0": "x0"} {
		if got, err := Payload(in); err != nil || string(got) != want {
			t.Errorf("%q is %q (%v), want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"0x1", "0xzz", "0x 00"} {
		if got, err := Payload(in); err == nil {
			t.Errorf("%q is read as %q", in, got)
		}
	}
}

func TestLawHexReadsWhatItWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		got, err := Payload(types.Bytes(b).String())
		if err != nil || string(got) != string(b) {
			t.Fatalf("%x is read as %x (%v)", b, got, err)
		}
	})
}

func TestTextIsOnlyWhatAPersonCanRead(t *testing.T) {
	for in, want := range map[string]string{"héllo\n": "héllo\n", "\x00": "", "\xff": "", "\x1b[31m": "", "a\tb": "a\tb", "\u202e": ""} {
		if got := Text([]byte(in)); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
