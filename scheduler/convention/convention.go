package convention

import (
	"encoding/base64"
	"strings"
)

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
	s := jsonScanner{in: payload}
	members, ok := s.readObject("_handler", "_payload")
	if !ok || members[0] == nil || members[1] == nil || *members[0] == "" {
		return "", nil, false
	}
	// The decoder of the standard library skips line breaks, even when strict.
	if strings.ContainsAny(*members[1], "\r\n") {
		return "", nil, false
	}
	inner, err := base64.StdEncoding.Strict().DecodeString(*members[1])
	if err != nil {
		return "", nil, false
	}
	return *members[0], inner, true
}
