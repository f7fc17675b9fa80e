package convention

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
)

// MaxJSONDepth is how deep objects and arrays of a payload may nest to count as
// JSON, the outermost being 1: enough for every use, and no stack to exhaust.
const MaxJSONDepth = 32

// Read reads a payload by CIP-5 §4.2's convention: valid JSON containing
// {"_handler": "<name>", "_payload": "<base64>"}. ok is false for every other
// payload, which is then opaque and meant for the default handler.
//
// Read returns a handler and inner payload if the whole payload is one JSON text
// (RFC 8259): valid UTF-8 without a byte order mark, nested at most MaxJSONDepth
// deep. The text is an object with each of the two members exactly once, and any
// others. Names are compared with their case, after their escapes are read.
// _handler is a string of at least one byte. _payload is a string of base64 in the
// standard alphabet with padding, without line breaks and without stray bits in its
// last character. A \u escape of half a surrogate pair reads as U+FFFD.
//
// Vectors: fixtures/vectors/cip5/4.2-payload.json.
func Read(payload []byte) (handler string, inner []byte, ok bool) {
	var name, text *string
	s := jsontext.NewScanner(payload, MaxJSONDepth, jsontext.ReplaceHalves)
	err := s.ReadMembers(func(member string) error {
		switch member {
		case "_handler":
			return readOnce(s, &name)
		case "_payload":
			return readOnce(s, &text)
		}
		return s.SkipValue()
	})
	if err != nil || s.End() != nil || name == nil || text == nil || *name == "" {
		return "", nil, false
	}
	// The decoder of the standard library skips line breaks, even when strict.
	if strings.ContainsAny(*text, "\r\n") {
		return "", nil, false
	}
	if inner, err = base64.StdEncoding.Strict().DecodeString(*text); err != nil {
		return "", nil, false
	}
	return *name, inner, true
}

var errTwice = errors.New("a member twice")

// readOnce reads the text of a member that may be there once.
func readOnce(s *jsontext.Scanner, into **string) error {
	if *into != nil {
		return errTwice
	}
	text, err := s.ReadText()
	*into = &text
	return err
}
