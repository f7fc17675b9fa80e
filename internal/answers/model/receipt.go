package model

import (
	"cmp"
	"fmt"
	"unicode/utf8"
)

// maxShownOutput bounds the output that String shows.
const maxShownOutput = 64

// String is the receipt in a line: what ran, how it ended, what it used. Text of a
// program is quoted.
func (r Receipt) String() string {
	what := r.Origin
	if r.Handler != "" {
		what = fmt.Sprintf("%.80q", r.Handler)
	}
	if r.Height == 0 {
		return fmt.Sprintf("%s of %s from %s: %s, %s", what, r.To, r.Sender, cmp.Or(r.Status, "pending"), r.Hash)
	}
	ended := r.Status
	switch {
	case r.Error != nil:
		ended += fmt.Sprintf(" %s: %.200q", r.Error.Code, r.Error.Message)
	case len(r.Output) > maxShownOutput:
		ended += fmt.Sprintf(" with %d bytes", len(r.Output))
	case len(r.Output) > 0 && utf8.Valid(r.Output):
		ended += fmt.Sprintf(" %q", string(r.Output))
	case len(r.Output) > 0:
		ended += " " + r.Output.String()
	}
	return fmt.Sprintf("%s of %s from %s at height %d: %s, %d cycles, %d cells, fee %s wei, %s", what, r.To, r.Sender, r.Height, ended,
		r.Cycles, r.Cells, r.Fee, r.Hash)
}
