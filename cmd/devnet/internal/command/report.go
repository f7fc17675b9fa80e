package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
)

// ReportError prints an error, as text or as a line of JSON, and returns the exit code.
func ReportError(stderr io.Writer, err error, asJSON bool) int {
	if err == nil {
		return failure.ExitDone
	}
	var f *failure.Failure
	var refused *client.Error
	var unreachable *client.Unreachable
	switch {
	case errors.As(err, &f):
	case errors.As(err, &refused):
		f = inWords(refused)
	case errors.As(err, &unreachable):
		f = &failure.Failure{Code: failure.ExitFailed, What: unreachable.Error(), Hint: hintOfUnreachable(unreachable), Name: "unreachable"}
	case errors.Is(err, context.Canceled):
		f = &failure.Failure{Code: failure.ExitFailed, What: "interrupted", Name: "interrupted"}
	default:
		f = &failure.Failure{Code: failure.ExitFailed, What: err.Error(), Hint: failure.DescribeOwner(err)}
	}
	if asJSON {
		f.PrintJSON(stderr)
		return f.Code
	}
	if f.What != "" {
		fmt.Fprintln(stderr, terminal.Wrap(self.ReplaceName("devnet: "+f.What), "", terminal.MessageColumns(stderr)))
	}
	if f.Hint != "" {
		fmt.Fprintln(stderr, terminal.Wrap(self.ReplaceName(f.Hint), "  ", terminal.MessageColumns(stderr)))
	}
	return f.Code
}
