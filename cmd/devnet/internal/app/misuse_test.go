package app

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// A value that no flag of its kind takes is refused in the words of the rest.
func TestAFlagsValueIsRefusedInOurWords(t *testing.T) {
	for typed, want := range map[string]string{
		"devnet timer list --due-by x":               "--due-by: \"x\" is not a whole number of at least 0\n  See devnet timer list --help.",
		"devnet timer list --due-by -1":              "--due-by: \"-1\" is not a whole number of at least 0\n  See devnet timer list --help.",
		"devnet timer lane --last=1.5":               "--last: \"1.5\" is not a whole number\n  See devnet timer lane --help.",
		"devnet timer list --json=maybe":             "--json: \"maybe\" is not true or false\n  See devnet timer list --help.",
		"devnet fault link v0 v1 --latency soon":     "--latency: \"soon\" is not a time like 200ms or 1s\n  See devnet fault link --help.",
		"devnet fault link v0 v1 --loss a\"b":        "--loss: \"a\\\"b\" is not a number\n  See devnet fault link --help.",
		"devnet timer list --limit 0":                "--limit lies between 1 and 1000, and --offset is at least 0",
		"devnet timer list --limit 1001 --http 0:0":  "--limit lies between 1 and 1000, and --offset is at least 0",
		"devnet timer lane --last 1 foo --http none": "\"foo\" is one argument too many\n  Usage: devnet timer lane",
	} {
		var out bytes.Buffer
		if code := Run(strings.Split(typed, " "), io.Discard, &out); code != failure.ExitUsage || out.String() != "devnet: "+want+"\n" {
			t.Errorf("%s: %d, %s", typed, code, out.String())
		}
	}
}
