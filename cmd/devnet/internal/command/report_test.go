package command

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
)

func TestReportSaysWhatAndWhatToDo(t *testing.T) {
	var out bytes.Buffer
	code := ReportError(&out, failure.NewUsage("Do that.", "this is wrong"), false)
	if code != failure.ExitUsage || out.String() != "devnet: this is wrong\n  Do that.\n" {
		t.Fatalf("%d %q", code, out.String())
	}
	if code := ReportError(&out, nil, true); code != failure.ExitDone {
		t.Fatal(code)
	}
}

// RUNNING: under --json an error is a line of JSON.
func TestErrorsAreJSONUnderJSON(t *testing.T) {
	refused := &client.Error{}
	refused.Code, refused.Message, refused.Hint = "unknown_job", "no such job", "Look."
	for _, test := range []struct {
		err  error
		want string
		code int
	}{
		{failure.NewUsage("Do <that>.", "this is %s", "wrong"), `{"error":{"code":"usage","message":"this is wrong","remedy":"Do <that>."}}`, failure.ExitUsage},
		{failure.New("", "two\nlines"), `{"error":{"code":"failed","message":"two\nlines","remedy":""}}`, failure.ExitFailed},
		{failure.NewNoStart("", "no"), `{"error":{"code":"no_start","message":"no","remedy":""}}`, failure.ExitNoStart},
		{context.Canceled, `{"error":{"code":"interrupted","message":"interrupted","remedy":""}}`, failure.ExitFailed},
		{fmt.Errorf("lost: %w", refused), `{"error":{"code":"unknown_job","message":"no such job (unknown_job)",` +
			`"remedy":"` + self.ReplaceName(hints["unknown_job"]) + `"}}`, failure.ExitFailed},
		{&failure.Failure{Code: failure.ExitUsage}, "", failure.ExitUsage},
	} {
		var out bytes.Buffer
		if code := ReportError(&out, test.err, true); code != test.code || strings.TrimSuffix(out.String(), "\n") != test.want {
			t.Errorf("%v: %d %s\nwant %d %s", test.err, code, &out, test.code, test.want)
		}
	}
}
