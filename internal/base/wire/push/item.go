package push

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/plural"
)

// Limits of reading, besides the length of a frame.
const (
	// MaxDepth bounds the nesting of arrays and maps, the frame's own map counted.
	MaxDepth = 32
	// MaxPairs bounds a map: the longest of this version has 12 fields, and a later
	// version's Hello must be read far enough to see that it is one. Without it the
	// search for equal keys would cost more than the frame.
	MaxPairs = 256
)

// The major types of RFC 8949 §3.1, and the values of the last that we know.
const (
	unsigned byte = iota
	negative
	byteString
	text
	array
	pairs
	tag
	simple

	simpleFalse     = 20
	simpleTrue      = 21
	simpleNull      = 22
	simpleUndefined = 23
)

// head is the beginning of an item: its major type and argument, in whatever
// length it was written.
type head struct {
	major    byte
	argument uint64
	wide     bool // of a simple value: a float of two, four or eight bytes
}

// cutHead reads a head off the front. Reserved and indefinite lengths, and simple
// values in a longer form than needed, are invalid here.
func cutHead(data []byte) (h head, rest []byte, err error) {
	if len(data) == 0 {
		return h, nil, fmt.Errorf("unexpected end within an item")
	}
	info := data[0] & 31
	h.major = data[0] >> 5
	switch {
	case info < 24:
		h.argument = uint64(info)
		return h, data[1:], nil
	case info == 31:
		return h, nil, fmt.Errorf("an indefinite length")
	case info > 27:
		return h, nil, fmt.Errorf("the reserved head 0x%02x", data[0])
	}
	size := 1 << (info - 24)
	if len(data) < 1+size {
		return h, nil, fmt.Errorf("unexpected end within a head")
	}
	for _, b := range data[1 : 1+size] {
		h.argument = h.argument<<8 | uint64(b)
	}
	if h.major == simple {
		if h.wide = size > 1; !h.wide && h.argument < 32 {
			return h, nil, fmt.Errorf("the simple value %d in two bytes", h.argument)
		}
	}
	return h, data[1+size:], nil
}

func (h head) isSimple(value uint64) bool { return h.major == simple && !h.wide && h.argument == value }

// String says what an item is, for people.
func (h head) String() string {
	switch h.major {
	case unsigned:
		return "an unsigned integer"
	case negative:
		return "a negative integer"
	case byteString:
		return "a byte string of " + plural.Of(h.argument, "byte")
	case text:
		return "a text of " + plural.Of(h.argument, "byte")
	case array:
		return fmt.Sprintf("an array of %d", h.argument)
	case pairs:
		return fmt.Sprintf("a map of %d", h.argument)
	case tag:
		return fmt.Sprintf("tag %d", h.argument)
	}
	switch {
	case h.wide:
		return "a float"
	case h.argument == simpleFalse || h.argument == simpleTrue:
		return "a boolean"
	case h.argument == simpleNull:
		return "null"
	case h.argument == simpleUndefined:
		return "undefined"
	}
	return fmt.Sprintf("the simple value %d", h.argument)
}

// skipItem reads one item off the front, or returns why it is invalid. A valid item is
// CBOR of definite lengths, with texts of UTF-8, maps of at most MaxPairs with
// distinct text keys, and depth more arrays and maps within one another. It does
// not know fields.
func skipItem(data []byte, depth int) (rest []byte, err error) {
	h, rest, err := cutHead(data)
	for err == nil && h.major == tag { // a tag is a head before its item, however many
		h, rest, err = cutHead(rest)
	}
	if err != nil {
		return nil, err
	}
	switch h.major {
	case byteString, text:
		if h.argument > uint64(len(rest)) {
			return nil, fmt.Errorf("unexpected end within %s", h)
		}
		if h.major == text && !utf8.Valid(rest[:h.argument]) {
			return nil, fmt.Errorf("a text that is not UTF-8")
		}
		return rest[h.argument:], nil
	case array, pairs:
		if depth == 0 {
			return nil, fmt.Errorf("arrays and maps nested more than %d deep", MaxDepth)
		}
		if h.major == pairs {
			return skipPairs(rest, h.argument, depth-1)
		}
		for n := h.argument; n > 0 && err == nil; n-- { // ends with the data, whatever n claims
			rest, err = skipItem(rest, depth-1)
		}
		return rest, err
	}
	return rest, nil
}

// skipPairs reads n pairs off the front.
func skipPairs(data []byte, n uint64, depth int) (rest []byte, err error) {
	if n > MaxPairs {
		return nil, fmt.Errorf("a map of %d pairs, at most %d", n, MaxPairs)
	}
	var keys [][]byte
	for rest = data; n > 0; n-- {
		key, after, err := cutKey(rest)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
		if rest, err = skipItem(after, depth); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i], keys[i-1]) {
			return nil, fmt.Errorf("the key %q twice", clipText(keys[i]))
		}
	}
	return rest, nil
}

// cutKey reads a key of a map off the front: a text.
func cutKey(data []byte) (key, rest []byte, err error) {
	h, content, err := cutHead(data)
	if err != nil {
		return nil, nil, err
	}
	if h.major != text {
		return nil, nil, fmt.Errorf("%s for a key; keys are texts", h)
	}
	if rest, err = skipItem(data, 0); err != nil {
		return nil, nil, err
	}
	return content[:h.argument], rest, nil
}

// checkOneItem says why data is not one valid item, and nothing after it.
func checkOneItem(data []byte) error {
	rest, err := skipItem(data, MaxDepth)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%s after the frame's map", plural.Of(len(rest), "byte"))
	}
	return err
}

// maxQuoted bounds a message's quotation of foreign data.
const maxQuoted = 32

func clipText(s []byte) string {
	if len(s) > maxQuoted {
		return string(s[:maxQuoted]) + "…"
	}
	return string(s)
}
