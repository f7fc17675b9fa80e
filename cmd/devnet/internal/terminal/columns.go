// Package terminal writes text in the columns of a terminal, and output that nobody may read.
package terminal

import (
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// unwrap is the output behind one that gives up with the command.
func unwrap(w io.Writer) io.Writer {
	if e, is := w.(*EndableWriter); is {
		return e.To
	}
	return w
}

// IsTerminal says whether people read w as it is written.
func IsTerminal(w io.Writer) bool {
	file, ok := unwrap(w).(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// TextColumns is the width of help and messages: every terminal has it, and a
// longer line is harder to read on a wider one.
const TextColumns = 80

// MessageColumns is the width of messages: the terminal's, and none in a pipe,
// where programs look for whole lines.
func MessageColumns(w io.Writer) int {
	if IsTerminal(w) {
		return Width(w)
	}
	return math.MaxInt
}

// Wrap breaks a text between words so that no line, with its indent, is longer
// than width; a word that is longer stays whole.
func Wrap(text, indent string, width int) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(indent)
		at := utf8.RuneCountInString(indent)
		for j, word := range strings.Split(line, " ") {
			long := utf8.RuneCountInString(word)
			switch {
			case j == 0:
			case at+1+long > width:
				out.WriteString("\n" + indent)
				at = utf8.RuneCountInString(indent)
			default:
				out.WriteByte(' ')
				at++
			}
			out.WriteString(word)
			at += long
		}
	}
	return out.String()
}

// pipeColumns is the width of output that is not on a terminal, so that it does not
// depend on where it ran.
const pipeColumns = 100

// Width is how many characters fit into a line.
func Width(w io.Writer) int {
	if f, ok := unwrap(w).(*os.File); ok && IsTerminal(w) {
		if width, _, err := cwriter.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return pipeColumns
}
