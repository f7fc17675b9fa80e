package command

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Whoever typed a command is told of commands, and a mistyped word is wrong
// usage, whoever found it.
func TestARefusalOfTheAPISpeaksOfCommands(t *testing.T) {
	for code, want := range map[string]failure.Failure{
		"unknown_timer": {Code: failure.ExitFailed, What: "m (unknown_timer)", Hint: "devnet timer list lists those that are known.",
			Name: "unknown_timer"},
		"invalid_hash": {Code: failure.ExitUsage, What: "m (invalid_hash)", Hint: "GET /x", Name: "invalid_hash"},
		"invalid_request": {Code: failure.ExitUsage, What: "m (invalid_request)", Hint: "The command's --help says what it takes.",
			Name: "invalid_request"},
		"busy":          {Code: failure.ExitFailed, What: "m (busy)", Hint: "GET /x", Name: "busy"},
		"invalid_block": {Code: failure.ExitUsage, What: "m (invalid_block)", Hint: "GET /x", Name: "invalid_block"},
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
		if got := inWords(&client.Error{ErrorBody: model.ErrorBody{Code: "unknown_prefix", Message: message}}); got.Hint != want {
			t.Errorf("%s: %s", message, got.Hint)
		}
	}
	for field, want := range map[string]string{
		"":       "It may still become final: devnet tx tells. devnet status shows whether blocks are made.",
		"hash":   "Ask again after the next block: devnet status shows whether blocks are made.",
		"height": "Wait for a block.",
	} {
		refused := &client.Error{ErrorBody: model.ErrorBody{Code: "not_final", Hint: "Wait for a block.", Field: field}}
		if got := inWords(refused); got.Hint != want {
			t.Errorf("not final, %q: %s", field, got.Hint)
		}
	}
	for code, hint := range hints {
		if strings.Contains(hint, "GET ") || hint != "" && !strings.HasSuffix(hint, ".") {
			t.Errorf("%s: %s", code, hint)
		}
	}
}
