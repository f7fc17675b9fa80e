package convention

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxJSONDepth is how deep objects and arrays of a payload may nest to count as
// JSON, the outermost being 1: enough for every use, and no stack to exhaust.
const MaxJSONDepth = 32

// jsonScanner judges JSON text. Validity is part of consensus, so it uses no
// library whose leniency may change with the toolchain; the tests compare it with
// one.
type jsonScanner struct {
	in    []byte
	at    int
	depth int
}

// readObject reads the whole input as an object and returns the string members of these
// names, nil for an absent member. ok is false if the input is not a valid object,
// or has one of the names twice or with another type.
func (s *jsonScanner) readObject(names ...string) (members []*string, ok bool) {
	members = make([]*string, len(names))
	s.skipSpace()
	ok = s.readMembers(func(name string) bool {
		for i := range names {
			if names[i] != name {
				continue
			}
			if members[i] != nil {
				return false
			}
			value, ok := s.readText()
			members[i] = &value
			return ok
		}
		return s.skipValue()
	})
	s.skipSpace()
	return members, ok && s.at == len(s.in)
}

// skipValue skips one value.
func (s *jsonScanner) skipValue() bool {
	if s.at == len(s.in) {
		return false
	}
	switch s.in[s.at] {
	case '{':
		return s.readMembers(func(string) bool { return s.skipValue() })
	case '[':
		return s.skipArray()
	case '"':
		_, ok := s.readText()
		return ok
	case 't':
		return s.takeWord("true")
	case 'f':
		return s.takeWord("false")
	case 'n':
		return s.takeWord("null")
	}
	return s.skipNumber()
}

func (s *jsonScanner) readMembers(member func(name string) bool) bool {
	return s.readList('{', '}', func() bool {
		name, ok := s.readText()
		if !ok {
			return false
		}
		s.skipSpace()
		if !s.takeByte(':') {
			return false
		}
		s.skipSpace()
		return member(name)
	})
}

func (s *jsonScanner) skipArray() bool { return s.readList('[', ']', s.skipValue) }

// readList reads items between brackets, with commas between them.
func (s *jsonScanner) readList(open, closing byte, item func() bool) bool {
	if s.depth++; s.depth > MaxJSONDepth || !s.takeByte(open) {
		return false
	}
	defer func() { s.depth-- }()
	if s.skipSpace(); s.takeByte(closing) {
		return true
	}
	for {
		if !item() {
			return false
		}
		s.skipSpace()
		if s.takeByte(closing) {
			return true
		}
		if !s.takeByte(',') {
			return false
		}
		s.skipSpace()
	}
}

// readText reads a string and its escapes.
func (s *jsonScanner) readText() (string, bool) {
	if !s.takeByte('"') {
		return "", false
	}
	start := s.at
	for s.at < len(s.in) && s.in[s.at] != '"' && s.in[s.at] != '\\' {
		if !s.skipPlain() {
			return "", false
		}
	}
	if s.takeByte('"') {
		return string(s.in[start : s.at-1]), true
	}
	var b strings.Builder
	b.Write(s.in[start:s.at])
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case '"':
			s.at++
			return b.String(), true
		case '\\':
			r, ok := s.readEscape()
			if !ok {
				return "", false
			}
			b.WriteRune(r)
		default:
			from := s.at
			if !s.skipPlain() {
				return "", false
			}
			b.Write(s.in[from:s.at])
		}
	}
	return "", false
}

// skipPlain skips one character that needs no escape.
func (s *jsonScanner) skipPlain() bool {
	if c := s.in[s.at]; c < utf8.RuneSelf {
		s.at++
		return c >= 0x20
	}
	r, size := utf8.DecodeRune(s.in[s.at:])
	s.at += size
	return r != utf8.RuneError || size > 1
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *jsonScanner) readEscape() (rune, bool) {
	if s.at+1 >= len(s.in) {
		return 0, false
	}
	c := s.in[s.at+1]
	if c != 'u' {
		s.at += 2
		r, ok := escapes[c]
		return r, ok
	}
	first, ok := s.readUnicode()
	if !ok || !utf16.IsSurrogate(first) {
		return first, ok
	}
	behind := s.at
	if second, ok := s.readUnicode(); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, true
		}
	}
	s.at = behind // whatever follows is read for itself
	return utf8.RuneError, true
}

// readUnicode reads \u and four hexadecimal digits.
func (s *jsonScanner) readUnicode() (rune, bool) {
	if s.at+6 > len(s.in) || s.in[s.at] != '\\' || s.in[s.at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.in[s.at+2:s.at+6]), 16, 16)
	s.at += 6
	return rune(n), err == nil
}

func (s *jsonScanner) skipNumber() bool {
	s.takeByte('-')
	if !s.takeByte('0') && s.countDigits() == 0 {
		return false
	}
	if s.takeByte('.') && s.countDigits() == 0 {
		return false
	}
	if s.takeByte('e') || s.takeByte('E') {
		if !s.takeByte('+') {
			s.takeByte('-')
		}
		return s.countDigits() > 0
	}
	return true
}

func (s *jsonScanner) countDigits() (n int) {
	for s.at < len(s.in) && '0' <= s.in[s.at] && s.in[s.at] <= '9' {
		s.at++
		n++
	}
	return n
}

func (s *jsonScanner) takeWord(word string) bool {
	if !strings.HasPrefix(string(s.in[s.at:min(len(s.in), s.at+len(word))]), word) {
		return false
	}
	s.at += len(word)
	return true
}

func (s *jsonScanner) skipSpace() {
	for s.at < len(s.in) && strings.IndexByte(" \t\r\n", s.in[s.at]) >= 0 {
		s.at++
	}
}

func (s *jsonScanner) takeByte(c byte) bool {
	if s.at == len(s.in) || s.in[s.at] != c {
		return false
	}
	s.at++
	return true
}
