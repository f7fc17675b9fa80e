package run

import (
	"bytes"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// Many runs say at each tick how many have ended, where there is no bar.
func TestManyRunsSayHowManyHaveEnded(t *testing.T) {
	s := &show{passed: 3, failures: 1}
	if got, want := s.lineText(9, 40*time.Second), "4 of 9 runs after 40s: 1 failed, 50s left."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// RUNNING: under --json an error is a line of JSON.
func TestAnInterruptedBatchIsJSONUnderJSON(t *testing.T) {
	var out bytes.Buffer
	code := command.ReportError(&out, (&show{passed: 3, failures: 1}).interruptedError(9), true)
	want := `{"error":{"code":"interrupted","message":"interrupted: of 9 runs 3 had passed and 1 failed","remedy":""}}` + "\n"
	if code != failure.ExitFailed || out.String() != want {
		t.Errorf("%d %s\nwant %d %s", code, &out, failure.ExitFailed, want)
	}
}
