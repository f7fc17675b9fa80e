package typed

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The limits of a document.
const (
	MaxPayloadBytes = 1 << 20 // of a payload or a result, as of a transaction's
	maxDepth        = 16      // of lists and objects within each other, in a payload
)

// kind is what a JSON value is.
type kind byte

const (
	isNull kind = iota
	isBool
	isNumber
	isText
	isList
	isObject
)

// node is a JSON value as it was written.
type node struct {
	kind  kind
	text  string   // the content of a text; other atoms as they were written
	names []string // of an object, duplicates included
	items []node   // of a list, or of an object by names
}

// Error is why a value is refused, and where.
type Error struct {
	Path string // "" for the whole, otherwise like members[2].paid
	What string // the rest of the sentence that the path begins
}

func (e *Error) Error() string { return strings.TrimSpace(e.Path + " " + e.What) }

// reader reads one document.
type reader struct {
	data  []byte
	at    int
	depth int // that is left
	path  string
}

// readJSON reads one JSON value, and nothing after it.
func readJSON(data []byte, limit, depth int) (node, error) {
	if len(data) > limit {
		return node{}, &Error{"", fmt.Sprintf("has %d bytes: at most %d are read", len(data), limit)}
	}
	r := &reader{data: data, depth: depth}
	n, err := r.value()
	if err == nil {
		if r.next(); r.at < len(r.data) {
			err = r.wrong("text after the end")
		}
	}
	return n, err
}

func (r *reader) wrong(what string) error {
	return &Error{r.path, fmt.Sprintf("is not JSON: %s at byte %d", what, r.at)}
}

// next is the first byte after spaces, 0 at the end.
func (r *reader) next() byte {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value() (node, error) {
	switch c := r.next(); {
	case c == '{':
		return r.object()
	case c == '[':
		return r.list()
	case c == '"':
		text, err := r.string()
		return node{kind: isText, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, w := range words {
		if bytes.HasPrefix(r.data[r.at:], []byte(w.text)) {
			r.at += len(w.text)
			return w, nil
		}
	}
	return node{}, r.wrong("no value")
}

// words are the atoms that are words.
var words = []node{{kind: isNull, text: "null"}, {kind: isBool, text: "true"}, {kind: isBool, text: "false"}}

func (r *reader) enter() error {
	if r.depth == 0 {
		return &Error{r.path, "nests too deep"}
	}
	r.depth--
	r.at++
	return nil
}

func (r *reader) list() (node, error) {
	n := node{kind: isList}
	if err := r.enter(); err != nil {
		return n, err
	}
	path := r.path
	for r.next() != ']' {
		if len(n.items) > 0 && !r.take(',') {
			return n, r.wrong("no comma")
		}
		r.path = path + "[" + strconv.Itoa(len(n.items)) + "]"
		item, err := r.value()
		if err != nil {
			return n, err
		}
		n.items = append(n.items, item)
		r.path = path
	}
	r.at++
	r.depth++
	return n, nil
}

func (r *reader) object() (node, error) {
	n := node{kind: isObject}
	if err := r.enter(); err != nil {
		return n, err
	}
	path := r.path
	for r.next() != '}' {
		if len(n.items) > 0 && !r.take(',') {
			return n, r.wrong("no comma")
		}
		if r.next() != '"' {
			return n, r.wrong("no name in quotes")
		}
		name, err := r.string()
		if err != nil {
			return n, err
		}
		r.path = within(path, name)
		if !r.take(':') {
			return n, r.wrong("no colon")
		}
		item, err := r.value()
		if err != nil {
			return n, err
		}
		n.names, n.items = append(n.names, name), append(n.items, item)
		r.path = path
	}
	r.at++
	r.depth++
	return n, nil
}

// within is the path of a member.
func within(path, name string) string {
	if path == "" {
		return clipped(name)
	}
	return path + "." + clipped(name)
}

// take reads one byte, if it is next.
func (r *reader) take(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

// number reads what JSON calls a number: a fraction or an exponent is read too, so that
// it is refused with its path.
func (r *reader) number() (node, error) {
	start := r.at
	r.skip("-")
	whole := r.at
	digits := r.digits()
	if digits == 0 || digits > 1 && r.data[whole] == '0' {
		return node{}, r.wrong("no number")
	}
	if r.skip(".") && r.digits() == 0 {
		return node{}, r.wrong("no number")
	}
	if r.skip("eE") {
		r.skip("+-")
		if r.digits() == 0 {
			return node{}, r.wrong("no number")
		}
	}
	return node{kind: isNumber, text: string(r.data[start:r.at])}, nil
}

// skip takes one of some bytes, if it is next.
func (r *reader) skip(some string) bool {
	if r.at < len(r.data) && strings.IndexByte(some, r.data[r.at]) >= 0 {
		r.at++
		return true
	}
	return false
}

func (r *reader) digits() int {
	start := r.at
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	return r.at - start
}

// string reads a text. Invalid UTF-8 and surrogates without their other half are
// refused: another reader would make another text of them.
func (r *reader) string() (string, error) {
	r.at++
	var out strings.Builder
	for r.at < len(r.data) {
		c := r.data[r.at]
		switch {
		case c == '"':
			r.at++
			return out.String(), nil
		case c < 0x20:
			return "", r.wrong("a control character")
		case c == '\\':
			if err := r.escape(&out); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			out.WriteByte(c)
			r.at++
		default:
			found, size := utf8.DecodeRune(r.data[r.at:])
			if found == utf8.RuneError && size <= 1 {
				return "", r.wrong("no UTF-8")
			}
			out.WriteRune(found)
			r.at += size
		}
	}
	return "", r.wrong("a text without end")
}

func (r *reader) escape(out *strings.Builder) error {
	if r.at+1 >= len(r.data) {
		return r.wrong("a text without end")
	}
	c := r.data[r.at+1]
	if c == 'u' {
		return r.escapedRune(out)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return r.wrong("no escape")
	}
	out.WriteByte("\"\\/\b\f\n\r\t"[i])
	r.at += 2
	return nil
}

func (r *reader) escapedRune(out *strings.Builder) error {
	first, ok := r.unit()
	if !ok {
		return r.wrong("no escape")
	}
	if !utf16.IsSurrogate(first) {
		out.WriteRune(first)
		return nil
	}
	second, ok := r.unit()
	both := utf16.DecodeRune(first, second)
	if !ok || both == utf8.RuneError {
		return r.wrong("half of a surrogate pair")
	}
	out.WriteRune(both)
	return nil
}

// unit reads an escape of four digits.
func (r *reader) unit() (rune, bool) {
	rest := r.data[r.at:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	found, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	if err != nil || strings.IndexByte("+-_", rest[2]) >= 0 {
		return 0, false
	}
	r.at += 6
	return rune(found), true
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

// clipped is a stranger's text for an error: one line, not too long.
func clipped(text string) string {
	more := ""
	if characters(text) > maxTold {
		text, more = string([]rune(text[:min(len(text), maxTold*utf8.UTFMax)])[:maxTold]), "…"
	}
	written := appendText(nil, text)
	return string(written[1:len(written)-1]) + more
}
