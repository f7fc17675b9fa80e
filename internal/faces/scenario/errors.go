package scenario

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/refusal"
)

// Mistake is an error in the script: syntax, an unknown name or verb, a wrong type
// or argument, an unavailable verb. It ends with exit code 2.
type Mistake struct {
	At   Position
	What string // what was wrong, and what was meant
}

// Failure comes from the network: an expectation, fail(…), an oracle or an idle fault. It
// ends with exit code 1.
type Failure struct {
	At   Position
	What string
}

// NoPython reports that a script deploys an actor in Python on a machine without
// Python. It ends with exit code 3: neither script nor network is at fault.
type NoPython struct {
	At    Position
	Cause error
}

func (e *NoPython) Error() string {
	return e.At.explainAt("net.deploy: actors in Python cannot run: " + e.Cause.Error())
}

func (e *NoPython) Unwrap() error { return e.Cause }

// Mistakes are all that Check found, in the order of the source.
type Mistakes []*Mistake

// Position is a place in a script, and its line.
type Position struct {
	File   string
	Line   int // from 1; 0 without a place
	Column int // from 1, in characters
	Source string
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// maxShownLine bounds the lines that errors show, in bytes.
const maxShownLine = 200

// explainAt is what was wrong, with the line and a mark under the place.
func (p Position) explainAt(what string) string {
	if p.Source == "" || p.Column < 1 || len(p.Source) > maxShownLine {
		return p.String() + ": " + what
	}
	lead := []rune(p.Source)
	lead = lead[:min(p.Column-1, len(lead))]
	for i, c := range lead {
		if c != '\t' {
			lead[i] = ' '
		}
	}
	return fmt.Sprintf("%s: %s\n    %s\n    %s^", p, what, p.Source, string(lead))
}

func (m *Mistake) Error() string { return m.At.explainAt(m.What) }
func (f *Failure) Error() string { return f.At.explainAt(f.What) }

func (all Mistakes) Error() string {
	var lines []string
	for _, m := range all {
		lines = append(lines, m.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a Mistake in Mistakes.
func (all Mistakes) Unwrap() []error {
	var list []error
	for _, m := range all {
		list = append(list, m)
	}
	return list
}

// newMistake and failure are errors of builtins; the place is filled in by located.
func newMistake(format string, args ...any) error {
	return &Mistake{What: fmt.Sprintf(format, args...)}
}
func newFailure(format string, args ...any) error {
	return &Failure{What: fmt.Sprintf(format, args...)}
}

// locateError makes an error of Starlark, or of a builtin, one of ours: with its
// place in the script.
func (s *sources) locateError(err error) error {
	var (
		syntaxError  syntax.Error
		unresolved   resolve.ErrorList
		eval         *starlark.EvalError
		wrong        *Mistake
		failed       *Failure
		refused      *refusal.Error
		python       *NoPython
		alreadyKnown Mistakes
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &alreadyKnown):
		return err
	case errors.As(err, &unresolved):
		var all Mistakes
		for _, one := range unresolved {
			all = append(all, &Mistake{s.positionAt(one.Pos), unresolvedName(one.Msg)})
		}
		return all
	case errors.As(err, &syntaxError):
		return &Mistake{s.positionAt(syntaxError.Pos), syntaxWords(syntaxError.Msg)}
	}
	at := Position{File: s.main}
	if errors.As(err, &eval) {
		at = s.innermostPosition(eval.CallStack)
	}
	switch {
	case errors.As(err, &failed):
		if failed.At.File == "" {
			failed.At = at
		}
		return failed
	case errors.As(err, &wrong):
		if wrong.At.File == "" {
			wrong.At = at
		}
		return wrong
	case errors.As(err, &python):
		python.At = at
		return python
	case errors.As(err, &refused):
		what := refused.Message
		if refused.Remedy != "" {
			what += ". " + refused.Remedy
		}
		return &Mistake{at, what}
	case eval != nil && isOurs(eval):
		return fmt.Errorf("%s: %w", at, eval.Unwrap())
	case eval != nil && gaveUp(eval.CallStack):
		return &Failure{at, eval.Msg}
	case eval != nil:
		return &Mistake{at, strings.TrimPrefix(eval.Msg, "Starlark computation cancelled: ")}
	}
	return err
}

// gaveUp says that the script called fail(…) of Starlark.
func gaveUp(stack starlark.CallStack) bool {
	if len(stack) == 0 {
		return false
	}
	frame := stack.At(0)
	return frame.Name == "fail" && frame.Pos.Filename() == "<builtin>"
}

// isOurs says that a builtin of this package failed by the devnet's own fault,
// and not Starlark by the script's.
func isOurs(e *starlark.EvalError) bool {
	var fault *internal
	return errors.As(e, &fault)
}

// internal is a fault of the devnet.
type internal struct{ err error }

func (e *internal) Error() string { return e.err.Error() }
func (e *internal) Unwrap() error { return e.err }

// innermostPosition is the place in a script that called what failed.
func (s *sources) innermostPosition(stack starlark.CallStack) Position {
	for i := range stack {
		if pos := stack.At(i).Pos; pos.IsValid() && pos.Line > 0 {
			return s.positionAt(pos)
		}
	}
	return Position{File: s.main}
}

// positionAt is a position of Starlark with its line.
func (s *sources) positionAt(pos syntax.Position) Position {
	p := Position{File: pos.Filename(), Line: int(pos.Line), Column: int(pos.Col)}
	lines := strings.Split(s.text[p.File], "\n")
	if p.Line >= 1 && p.Line <= len(lines) {
		p.Source = strings.TrimRight(lines[p.Line-1], "\r")
	}
	return p
}

// syntaxWords says in plain words what the parser says in its own.
func syntaxWords(message string) string {
	got, unexpected := strings.CutPrefix(message, "got ")
	switch {
	case message == "not an identifier":
		return "a name is wanted here; words of the language like load, def and if cannot be names"
	case strings.HasPrefix(got, "import, "):
		return `Starlark has no import: load(\"FILE.star\", \"NAME\") takes names from another file, and json needs no load`
	case message == "keyword argument must have form name=expr":
		return "= follows the name of an argument; a comparison is written =="
	case unexpected:
		found, wanted, _ := strings.Cut(got, ", want ")
		what := "a syntax error: found " + strings.ReplaceAll(found, "newline", "the end of the line")
		if wanted != "" {
			what += ", and wanted " + wanted
		}
		return what
	}
	return message
}

// unresolvedName words the resolver's message about an unknown name.
func unresolvedName(message string) string {
	name, unknown := strings.CutPrefix(message, "undefined: ")
	if !unknown {
		return message
	}
	name, _, _ = strings.Cut(name, " ")
	return "there is no " + name + suggestNames(name, globalNames())
}
