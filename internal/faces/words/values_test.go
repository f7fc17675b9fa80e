package words

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Every command guesses alike what bytes stand for, and a text in a line is in
// quotes, so that it is not taken for a number.
func TestBytesAreShownAsWhatTheyMayStandFor(t *testing.T) {
	for _, c := range []struct{ bytes, alone, inLine string }{
		{"", "", `""`},
		{"55", "55", `"55"`},
		{"7", "7", `"7"`},
		{"\x0c", "12 (0x0c)", "12 (0x0c)"},
		{"\xff", "-1 (0xff)", "-1 (0xff)"},
		{`{"to": "bob"}`, `{"to": "bob"}`, `{"to": "bob"}`},
		{`{"to": `, `{"to": `, `"{\"to\": "`},
		{"[1, 2]", "[1, 2]", "[1, 2]"},
		{"say \"hi\"", `say "hi"`, `"say \"hi\""`},
		{"\x00\x00\x00\x00\x00\x00\x00\x00\x01", "0x000000000000000001", "0x000000000000000001"},
		{"\x1b[2J", "458961482 (0x1b5b324a)", "458961482 (0x1b5b324a)"},
	} {
		if got := Value(types.Bytes(c.bytes)); got != c.alone {
			t.Errorf("%q is shown as %q, want %q", c.bytes, got, c.alone)
		}
		if got := Quoted(types.Bytes(c.bytes), 40); got != c.inLine {
			t.Errorf("%q is shown in a line as %q, want %q", c.bytes, got, c.inLine)
		}
	}
	if got := Quoted(types.Bytes("a long text that continues"), 10); got != `"a long t…` {
		t.Errorf("a long text is cut to %q", got)
	}
	if got := Quoted(make(types.Bytes, 32), 20); got != "0x000000000000000000000000… 32 bytes" {
		t.Errorf("a long id is cut to %q", got)
	}
}

func TestTextIsBrokenIntoLines(t *testing.T) {
	for width, want := range map[int][]string{
		20: {"one two three", "four"}, 13: {"one two three", "four"}, 8: {"one two", "three", "four"}, 3: {"one", "two", "thr", "ee", "fou", "r"},
	} {
		got := InLines("one two three\nfour", width)
		if len(got) != len(want) {
			t.Errorf("width %d: %q, want %q", width, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("width %d: %q, want %q", width, got, want)
			}
		}
	}
}
