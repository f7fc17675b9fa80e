package typed

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
)

// The limits of a document.
const (
	MaxPayloadBytes = 1 << 20 // of a payload or a result, as of a transaction's
	maxDepth        = 16      // of lists and objects within each other, in a payload
)

// node is a JSON value as it was written.
type node = jsontext.Value

// Error is why a value is refused, and where.
type Error struct {
	Path string // "" for the whole, otherwise like members[2].paid
	What string // the rest of the sentence that the path begins
}

func (e *Error) Error() string { return strings.TrimSpace(e.Path + " " + e.What) }

// readJSON reads one JSON value, and nothing after it.
func readJSON(data []byte, limit, depth int) (node, error) {
	if len(data) > limit {
		return node{}, &Error{"", fmt.Sprintf("has %d bytes: at most %d are read", len(data), limit)}
	}
	n, err := jsontext.Parse(data, depth, jsontext.RefuseHalves)
	if err != nil {
		return n, describeJSONError(err)
	}
	return n, nil
}

func describeJSONError(why error) error {
	err, is := errors.AsType[*jsontext.Error](why)
	if !is {
		return why
	}
	path := ""
	for _, step := range slices.Backward(err.Path) {
		if step.IsItem {
			path += "[" + strconv.Itoa(step.Index) + "]"
		} else {
			path = memberPath(path, step.Name)
		}
	}
	if err.IsDeep {
		return &Error{path, "nests too deep"}
	}
	return &Error{path, fmt.Sprintf("is not JSON: %s at byte %d", err.What, err.At)}
}

// memberPath is the path of a member.
func memberPath(path, name string) string {
	if path == "" {
		return clipText(name)
	}
	return path + "." + clipText(name)
}

// appendText writes a text in the one form.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		c := text[i]
		switch short := strings.IndexByte("\b\f\n\r\t", c); {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case short >= 0:
			out = append(out, '\\', "bfnrt"[short])
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// maxTold is how many characters of a stranger's text an error repeats.
const maxTold = 40

// clipText is a stranger's text for an error: one line, not too long.
func clipText(text string) string {
	more := ""
	if countCharacters(text) > maxTold {
		text, more = string([]rune(text[:min(len(text), maxTold*utf8.UTFMax)])[:maxTold]), "…"
	}
	written := appendText(nil, text)
	return string(written[1:len(written)-1]) + more
}
