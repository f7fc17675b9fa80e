package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
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
		if code := run(strings.Split(typed, " "), io.Discard, &out); code != exitUsage || out.String() != "devnet: "+want+"\n" {
			t.Errorf("%s: %d, %s", typed, code, out.String())
		}
	}
}

// Whoever typed a command is told of commands, and a mistyped word is wrong
// usage, whoever found it.
func TestARefusalOfTheAPISpeaksOfCommands(t *testing.T) {
	for code, want := range map[string]failure{
		"unknown_timer":   {exitFailed, "m (unknown_timer)", "devnet timer list lists those that are known.", "unknown_timer"},
		"invalid_hash":    {exitUsage, "m (invalid_hash)", "GET /x", "invalid_hash"},
		"invalid_request": {exitUsage, "m (invalid_request)", "The command's --help says what it takes.", "invalid_request"},
		"busy":            {exitFailed, "m (busy)", "GET /x", "busy"},
		"invalid_block":   {exitUsage, "m (invalid_block)", "GET /x", "invalid_block"},
	} {
		if got := inWords(&client.Error{ErrorBody: model.ErrorBody{Code: code, Message: "m", Hint: "GET /x"}}); *got != want {
			t.Errorf("%s: %+v", code, *got)
		}
	}
	for message, want := range map[string]string{
		"no job begins with 0xab":         "devnet job list lists those that are known.",
		"no runner begins with 0xab":      "devnet runner list lists those that are known.",
		"no transaction begins with 0xab": hints["unknown_prefix"],
		"2 timers begin with 0xab":        hints["unknown_prefix"],
	} {
		if got := inWords(&client.Error{ErrorBody: model.ErrorBody{Code: "unknown_prefix", Message: message}}); got.hint != want {
			t.Errorf("%s: %s", message, got.hint)
		}
	}
	for field, want := range map[string]string{
		"":       "It may still become final: devnet tx tells. devnet status shows whether blocks are made.",
		"hash":   "Ask again after the next block: devnet status shows whether blocks are made.",
		"height": "Wait for a block.",
	} {
		if got := inWords(&client.Error{ErrorBody: model.ErrorBody{
			Code: "not_final", Hint: "Wait for a block.", Field: field}}); got.hint != want {
			t.Errorf("not final, %q: %s", field, got.hint)
		}
	}
	for code, hint := range hints {
		if strings.Contains(hint, "GET ") || hint != "" && !strings.HasSuffix(hint, ".") {
			t.Errorf("%s: %s", code, hint)
		}
	}
}
