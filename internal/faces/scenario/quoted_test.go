package scenario

import "testing"

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
		": value_error: line 9, in go: ValueError: no":                                                   "",
		": out_of_cycles: out of cycles":                                                                 "",
		": value_error: the line 3 is odd":                                                               "",
	} {
		if got := sourceLine(message, code); got != want {
			t.Errorf("%q: quoted %q, want %q", message, got, want)
		}
	}
}
