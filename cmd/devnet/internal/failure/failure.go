// Package failure has the errors of commands, as people meet them, and the words of their remedies.
package failure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
)

// The exit codes of every command.
const (
	ExitDone    = 0
	ExitFailed  = 1 // a transaction, an audit, an answer of the network
	ExitUsage   = 2
	ExitNoStart = 3
)

// Failure is an error as a person meets it: what was wrong and where, and what
// to do about it.
type Failure struct {
	Code int
	What string
	Hint string
	Name string // as code under --json: that of a refusal; "" for the exit code's
}

func (f *Failure) Error() string { return f.What }

// NewUsage is a command line that is wrong, with the remedy.
func NewUsage(hint, what string, args ...any) error {
	return &Failure{Code: ExitUsage, What: fmt.Sprintf(what, args...), Hint: hintAbout(args, hint)}
}

// NewConflict is a command line with two parts that exclude each other.
func NewConflict(what string, args ...any) error {
	return NewUsage("Leave one of them out.", what, args...)
}

// New is a failed command, with the remedy.
func New(hint, what string, args ...any) error {
	return &Failure{Code: ExitFailed, What: fmt.Sprintf(what, args...), Hint: hintAbout(args, hint)}
}

// NewNoStart is a network or a node that does not start, with the remedy.
func NewNoStart(hint, what string, args ...any) error {
	return &Failure{Code: ExitNoStart, What: fmt.Sprintf(what, args...), Hint: hintAbout(args, hint)}
}

// hintAbout is the hint of a failure that tells errors among others: about the owner of what is refused, or else hint.
func hintAbout(told []any, hint string) string {
	for _, one := range told {
		if err, is := one.(error); is {
			return cmp.Or(DescribeOwner(err), hint)
		}
	}
	return hint
}

// CausedBy gives a failure the hint of its cause, of which it tells only a part.
func CausedBy(cause, err error) error {
	if f, is := errors.AsType[*Failure](err); is {
		f.Hint = cmp.Or(DescribeOwner(cause), f.Hint)
	}
	return err
}

// codeNames are the codes under --json of errors other than refusals.
var codeNames = map[int]string{ExitFailed: "failed", ExitUsage: "usage", ExitNoStart: "no_start"}

// PrintJSON writes the failure as a line of JSON. A failure without words was reported
// already.
func (f *Failure) PrintJSON(w io.Writer) {
	if f.What == "" {
		return
	}
	type body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Remedy  string `json:"remedy"`
	}
	line := json.NewEncoder(w)
	line.SetEscapeHTML(false)
	_ = line.Encode(struct {
		Error body `json:"error"`
	}{body{cmp.Or(f.Name, codeNames[f.Code]), self.ReplaceName(f.What), self.ReplaceName(f.Hint)}})
}
