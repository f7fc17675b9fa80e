package scenario

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The line that is quoted is the one that the host names, not one in the author's words.
func TestTheQuotedLineIsTheHosts(t *testing.T) {
	code := "one\ntwo\nthree\nfour\n  five\n"
	for message, want := range map[string]string{
		": user_error: line 5, in add: ValueError: line 3 is odd":                                        "five",
		": j_s_o_n_decode_error: line 4, in init: JSONDecodeError: Expecting value: line 1 column 1 (c)": "four",
		": value_error: line 1, in go; line 2, in f: ValueError: no":                                     "two",
		": value_error: line 1, in go; …; line 4, in f: ValueError: line 2, in g: no":                    "four",
		": refused: line 2: the import of os is not allowed":                                             "two",
		"tx  alice → a.go  reverted: value_error: line 3, in go: ValueError: line 1: no":                 "three",
		": call_error: line 2, in ask: CallError: value_error: line 4, in price: ValueError: no":         "two",
		": x: a line 1, in f; a line 2, in ask: CallError: x: b line 4, in price: E: line 3, in f: no":   "four",
		": value_error: line 9, in go: ValueError: no":                                                   "",
		": out_of_cycles: out of cycles":                                                                 "",
		": value_error: the line 3 is odd":                                                               "",
	} {
		if got := quotedLine(message, code); got != want {
			t.Errorf("%q: quoted %q, want %q", message, got, want)
		}
	}
}

// A failure within the call of another actor quotes the innermost line of each file, by the
// name of its actor.
func TestTheLinesOfACallAreQuotedOfBothFiles(t *testing.T) {
	of := types.Address{1}
	n := &network{actors: []*actorValue{{name: "vault", code: "a\nb\nc", address: types.Address{2}},
		{name: "paper", code: "d\ne\nf", address: of}}}
	for message, want := range map[string]string{
		": x: paper line 1, in f; paper line 2, in g: CallError: x: vault line 3, in h: E: no": "e c",
		": x: line 3, in f: E: no": "f",
		": x: stranger line 1, in f: CallError: x: " + types.Address{2}.String() + " line 1, in h: E": "a",
	} {
		if got := strings.Join(strings.Fields(strings.Join(n.underlineError(of, message), " ")), " "); got != want {
			t.Errorf("%q: quoted %q, want %q", message, got, want)
		}
	}
}
