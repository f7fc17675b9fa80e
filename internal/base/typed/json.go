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
	n, err := r.readValue()
	if err == nil {
		if r.peekByte(); r.at < len(r.data) {
			err = r.newSyntaxError("text after the end")
		}
	}
	return n, err
}

func (r *reader) newSyntaxError(what string) error {
	return &Error{r.path, fmt.Sprintf("is not JSON: %s at byte %d", what, r.at)}
}

// peekByte is the first byte after spaces, 0 at the end.
func (r *reader) peekByte() byte {
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

func (r *reader) readValue() (node, error) {
	switch c := r.peekByte(); {
	case c == '{':
		return r.readObject()
	case c == '[':
		return r.readList()
	case c == '"':
		text, err := r.readString()
		return node{kind: isText, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return r.readNumber()
	}
	for _, w := range words {
		if bytes.HasPrefix(r.data[r.at:], []byte(w.text)) {
			r.at += len(w.text)
			return w, nil
		}
	}
	return node{}, r.newSyntaxError("no value")
}

// words are the atoms that are words.
var words = []node{{kind: isNull, text: "null"}, {kind: isBool, text: "true"}, {kind: isBool, text: "false"}}

func (r *reader) enterNesting() error {
	if r.depth == 0 {
		return &Error{r.path, "nests too deep"}
	}
	r.depth--
	r.at++
	return nil
}

func (r *reader) readList() (node, error) {
	n := node{kind: isList}
	if err := r.enterNesting(); err != nil {
		return n, err
	}
	path := r.path
	for r.peekByte() != ']' {
		if len(n.items) > 0 && !r.takeByte(',') {
			return n, r.newSyntaxError("no comma")
		}
		r.path = path + "[" + strconv.Itoa(len(n.items)) + "]"
		item, err := r.readValue()
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

func (r *reader) readObject() (node, error) {
	n := node{kind: isObject}
	if err := r.enterNesting(); err != nil {
		return n, err
	}
	path := r.path
	for r.peekByte() != '}' {
		if len(n.items) > 0 && !r.takeByte(',') {
			return n, r.newSyntaxError("no comma")
		}
		if r.peekByte() != '"' {
			return n, r.newSyntaxError("no name in quotes")
		}
		name, err := r.readString()
		if err != nil {
			return n, err
		}
		r.path = memberPath(path, name)
		if !r.takeByte(':') {
			return n, r.newSyntaxError("no colon")
		}
		item, err := r.readValue()
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

// memberPath is the path of a member.
func memberPath(path, name string) string {
	if path == "" {
		return clipText(name)
	}
	return path + "." + clipText(name)
}

// takeByte reads one byte, if it is next.
func (r *reader) takeByte(c byte) bool {
	if r.peekByte() != c {
		return false
	}
	r.at++
	return true
}

// readNumber reads what JSON calls a number: a fraction or an exponent is read too, so that
// it is refused with its path.
func (r *reader) readNumber() (node, error) {
	start := r.at
	r.skipOneOf("-")
	whole := r.at
	digits := r.countDigits()
	if digits == 0 || digits > 1 && r.data[whole] == '0' {
		return node{}, r.newSyntaxError("no number")
	}
	if r.skipOneOf(".") && r.countDigits() == 0 {
		return node{}, r.newSyntaxError("no number")
	}
	if r.skipOneOf("eE") {
		r.skipOneOf("+-")
		if r.countDigits() == 0 {
			return node{}, r.newSyntaxError("no number")
		}
	}
	return node{kind: isNumber, text: string(r.data[start:r.at])}, nil
}

// skipOneOf takes one of some bytes, if it is next.
func (r *reader) skipOneOf(some string) bool {
	if r.at < len(r.data) && strings.IndexByte(some, r.data[r.at]) >= 0 {
		r.at++
		return true
	}
	return false
}

func (r *reader) countDigits() int {
	start := r.at
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	return r.at - start
}

// readString reads a text. Invalid UTF-8 and surrogates without their other half are
// refused: another reader would make another text of them.
func (r *reader) readString() (string, error) {
	r.at++
	var out strings.Builder
	for r.at < len(r.data) {
		c := r.data[r.at]
		switch {
		case c == '"':
			r.at++
			return out.String(), nil
		case c < 0x20:
			return "", r.newSyntaxError("a control character")
		case c == '\\':
			if err := r.readEscape(&out); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			out.WriteByte(c)
			r.at++
		default:
			found, size := utf8.DecodeRune(r.data[r.at:])
			if found == utf8.RuneError && size <= 1 {
				return "", r.newSyntaxError("no UTF-8")
			}
			out.WriteRune(found)
			r.at += size
		}
	}
	return "", r.newSyntaxError("a text without end")
}

func (r *reader) readEscape(out *strings.Builder) error {
	if r.at+1 >= len(r.data) {
		return r.newSyntaxError("a text without end")
	}
	c := r.data[r.at+1]
	if c == 'u' {
		return r.escapedRune(out)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return r.newSyntaxError("no escape")
	}
	out.WriteByte("\"\\/\b\f\n\r\t"[i])
	r.at += 2
	return nil
}

func (r *reader) escapedRune(out *strings.Builder) error {
	first, ok := r.readCodeUnit()
	if !ok {
		return r.newSyntaxError("no escape")
	}
	if !utf16.IsSurrogate(first) {
		out.WriteRune(first)
		return nil
	}
	second, ok := r.readCodeUnit()
	both := utf16.DecodeRune(first, second)
	if !ok || both == utf8.RuneError {
		return r.newSyntaxError("half of a surrogate pair")
	}
	out.WriteRune(both)
	return nil
}

// readCodeUnit reads an escape of four digits.
func (r *reader) readCodeUnit() (rune, bool) {
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

// clipText is a stranger's text for an error: one line, not too long.
func clipText(text string) string {
	more := ""
	if countCharacters(text) > maxTold {
		text, more = string([]rune(text[:min(len(text), maxTold*utf8.UTFMax)])[:maxTold]), "…"
	}
	written := appendText(nil, text)
	return string(written[1:len(written)-1]) + more
}
