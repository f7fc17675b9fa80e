// Package jsontext reads JSON (RFC 8259) as consensus needs it: every node reads one text in one way. It has no floats, so
// that an atom keeps what was written. It uses no library whose leniency may change with the toolchain; its tests compare it
// with one. How deep a text nests, and what becomes of half of a surrogate pair, the caller says.
package jsontext

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	Text
	List
	Object
)

// Value is a value as it was written.
type Value struct {
	Kind  Kind
	Text  string   // the content of a text; other atoms as they were written
	Names []string // of an object in their order, duplicates included
	Items []Value  // of a list, or of an object by its names
}

// Halves is what becomes of an escaped half of a surrogate pair that lacks the other.
type Halves uint8

// The ways with halves: another reader would make another text of them.
const (
	RefuseHalves  Halves = iota
	ReplaceHalves        // by U+FFFD, as encoding/json does
)

// Step leads to a part of a value.
type Step struct {
	Name   string // of a member
	Index  int    // of an item, where IsItem
	IsItem bool
}

// Error says why a text is not JSON, or nests too deep.
type Error struct {
	What   string
	At     int    // the byte
	Path   []Step // to the value in which it is, innermost first
	IsDeep bool   // it nests deeper than the caller reads
}

func (e *Error) Error() string { return e.What + " at byte " + strconv.Itoa(e.At) }

// AfterEnd is what is wrong with a text that has more than one value.
const AfterEnd = "text after the end"

// IsEnd reports whether an error is that data ends too early.
func (e *Error) IsEnd(data []byte) bool { return !e.IsDeep && e.At >= len(data) }

// Parse reads one value, and nothing after it, of at most so many lists and objects within each other. Its error is an *Error.
func Parse(data []byte, depth int, halves Halves) (Value, error) {
	s := NewScanner(data, depth, halves)
	v, err := s.ReadValue()
	if err == nil {
		err = s.End()
	}
	return v, err
}

// Scanner reads a text from its beginning. Its errors are *Error; it is of no use after one.
type Scanner struct {
	data   []byte
	at     int
	depth  int // lists and objects that may still begin
	halves Halves
}

// NewScanner returns a scanner of data, in which at most so many lists and objects are within each other.
func NewScanner(data []byte, depth int, halves Halves) *Scanner {
	return &Scanner{data: data, depth: depth, halves: halves}
}

func (s *Scanner) newError(what string) error { return &Error{What: what, At: s.at} }

// End is an error unless only spaces are left.
func (s *Scanner) End() error {
	if s.peekByte(); s.at < len(s.data) {
		return s.newError(AfterEnd)
	}
	return nil
}

// peekByte is the first byte after spaces, 0 at the end.
func (s *Scanner) peekByte() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// takeByte takes one byte, if it is next after spaces.
func (s *Scanner) takeByte(c byte) bool {
	if s.peekByte() != c {
		return false
	}
	s.at++
	return true
}

// ReadValue reads the next value.
func (s *Scanner) ReadValue() (v Value, err error) {
	switch s.peekByte() {
	case '{':
		v.Kind = Object
		return v, s.ReadMembers(func(name string) error {
			item, err := s.ReadValue()
			v.Names, v.Items = append(v.Names, name), append(v.Items, item)
			return err
		})
	case '[':
		v.Kind = List
		return v, s.ReadItems(func() error {
			item, err := s.ReadValue()
			v.Items = append(v.Items, item)
			return err
		})
	case '"':
		v.Kind = Text
		v.Text, err = s.ReadText()
		return v, err
	}
	return s.readAtom()
}

// SkipValue passes over the next value.
func (s *Scanner) SkipValue() error {
	switch s.peekByte() {
	case '{':
		return s.ReadMembers(func(string) error { return s.SkipValue() })
	case '[':
		return s.ReadItems(s.SkipValue)
	case '"':
		_, err := s.ReadText()
		return err
	}
	_, err := s.readAtom()
	return err
}

// words are the atoms that are words.
var words = [...]Value{{Kind: Null, Text: "null"}, {Kind: Bool, Text: "true"}, {Kind: Bool, Text: "false"}}

// readAtom reads a number or a word.
func (s *Scanner) readAtom() (Value, error) {
	if c := s.peekByte(); c == '-' || isDigit(c) {
		return s.readNumber()
	}
	for i := range words {
		if bytes.HasPrefix(s.data[s.at:], []byte(words[i].Text)) {
			s.at += len(words[i].Text)
			return words[i], nil
		}
	}
	return Value{}, s.newError("no value")
}

// enterNesting takes an opening bracket.
func (s *Scanner) enterNesting() error {
	if s.depth == 0 {
		return &Error{What: "nests too deep", At: s.at, IsDeep: true}
	}
	s.depth--
	s.at++
	return nil
}

// ReadItems reads a list, each item by item, which has to read it.
func (s *Scanner) ReadItems(item func() error) error {
	if s.peekByte() != '[' {
		return s.newError("no list")
	}
	if err := s.enterNesting(); err != nil {
		return err
	}
	for i := 0; s.peekByte() != ']'; i++ {
		if i > 0 && !s.takeByte(',') {
			return s.newError("no comma")
		}
		if err := item(); err != nil {
			return withStep(err, Step{Index: i, IsItem: true})
		}
	}
	s.at++
	s.depth++
	return nil
}

// ReadMembers reads an object, each value by member, which has to read it.
func (s *Scanner) ReadMembers(member func(name string) error) error {
	if s.peekByte() != '{' {
		return s.newError("no object")
	}
	if err := s.enterNesting(); err != nil {
		return err
	}
	for i := 0; s.peekByte() != '}'; i++ {
		if i > 0 && !s.takeByte(',') {
			return s.newError("no comma")
		}
		if s.peekByte() != '"' {
			return s.newError("no name in quotes")
		}
		name, err := s.ReadText()
		if err != nil {
			return err
		}
		if err = s.readMember(name, member); err != nil {
			return withStep(err, Step{Name: name})
		}
	}
	s.at++
	s.depth++
	return nil
}

func (s *Scanner) readMember(name string, member func(string) error) error {
	if !s.takeByte(':') {
		return s.newError("no colon")
	}
	return member(name)
}

// withStep adds a step to the path of an error of a scanner.
func withStep(err error, step Step) error {
	if e, is := errors.AsType[*Error](err); is {
		e.Path = append(e.Path, step)
	}
	return err
}

// readNumber reads a number as it was written.
func (s *Scanner) readNumber() (Value, error) {
	start := s.at
	s.skipOneOf("-")
	whole := s.at
	digits := s.countDigits()
	if digits == 0 || digits > 1 && s.data[whole] == '0' {
		return Value{}, s.newError("no number")
	}
	if s.skipOneOf(".") && s.countDigits() == 0 {
		return Value{}, s.newError("no number")
	}
	if s.skipOneOf("eE") {
		s.skipOneOf("+-")
		if s.countDigits() == 0 {
			return Value{}, s.newError("no number")
		}
	}
	return Value{Kind: Number, Text: string(s.data[start:s.at])}, nil
}

// skipOneOf takes one of some bytes, if it is next.
func (s *Scanner) skipOneOf(some string) bool {
	if s.at < len(s.data) && strings.IndexByte(some, s.data[s.at]) >= 0 {
		s.at++
		return true
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *Scanner) countDigits() int {
	start := s.at
	for s.at < len(s.data) && isDigit(s.data[s.at]) {
		s.at++
	}
	return s.at - start
}

// ReadText reads a text with its escapes. Bytes that are no UTF-8 are refused.
func (s *Scanner) ReadText() (string, error) {
	if s.peekByte() != '"' {
		return "", s.newError("no text")
	}
	s.at++
	start := s.at
	if err := s.skipPlain(); err != nil {
		return "", err
	}
	if s.data[s.at] == '"' {
		s.at++
		return string(s.data[start : s.at-1]), nil
	}
	var out strings.Builder
	out.Write(s.data[start:s.at])
	for s.data[s.at] == '\\' {
		if err := s.readEscape(&out); err != nil {
			return "", err
		}
		from := s.at
		if err := s.skipPlain(); err != nil {
			return "", err
		}
		out.Write(s.data[from:s.at])
	}
	s.at++
	return out.String(), nil
}

// skipPlain passes over what a text has up to a quote or a backslash, of which there has to be one.
func (s *Scanner) skipPlain() error {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"' || c == '\\':
			return nil
		case c < 0x20:
			return s.newError("a control character")
		case c < utf8.RuneSelf:
			s.at++
		default:
			found, size := utf8.DecodeRune(s.data[s.at:])
			if found == utf8.RuneError && size <= 1 {
				return s.newError("no UTF-8")
			}
			s.at += size
		}
	}
	return s.newError("a text without end")
}

func (s *Scanner) readEscape(out *strings.Builder) error {
	if s.at+1 >= len(s.data) {
		return s.newError("a text without end")
	}
	c := s.data[s.at+1]
	if c == 'u' {
		return s.readUnicodeEscape(out)
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return s.newError("no escape")
	}
	out.WriteByte("\"\\/\b\f\n\r\t"[i])
	s.at += 2
	return nil
}

func (s *Scanner) readUnicodeEscape(out *strings.Builder) error {
	first, ok := s.readCodeUnit()
	if !ok {
		return s.newError("no escape")
	}
	if !utf16.IsSurrogate(first) {
		out.WriteRune(first)
		return nil
	}
	behind := s.at
	second, ok := s.readCodeUnit()
	if both := utf16.DecodeRune(first, second); ok && both != utf8.RuneError {
		out.WriteRune(both)
		return nil
	}
	if s.halves == RefuseHalves {
		return s.newError("half of a surrogate pair")
	}
	s.at = behind // whatever follows is read for itself
	out.WriteRune(utf8.RuneError)
	return nil
}

// readCodeUnit reads \u and four hexadecimal digits, if they are next.
func (s *Scanner) readCodeUnit() (rune, bool) {
	rest := s.data[s.at:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	found, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	if err != nil {
		return 0, false
	}
	s.at += 6
	return rune(found), true
}
