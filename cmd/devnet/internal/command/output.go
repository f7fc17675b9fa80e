package command

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"
)

// JSONFlag has a command answer as JSON.
var JSONFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON, with the names of the HTTP API"}

// PrintAnswerOrJSON prints v as JSON if --json was given, and otherwise as text does.
func PrintAnswerOrJSON(c *cli.Context, v any, text func(w io.Writer)) error {
	if c.Bool("json") {
		return PrintJSON(c.App.Writer, v)
	}
	text(c.App.Writer)
	return nil
}

// PrintAnswer prints an answer as PrintAnswerOrJSON does, or returns why there is none.
func PrintAnswer(c *cli.Context, v any, err error, text func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return PrintAnswerOrJSON(c, v, text)
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
