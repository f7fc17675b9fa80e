package codec

import "encoding/binary"

// Appender is a value that appends its own canonical form to dst. It is asked by
// a pointer to it that is not nil.
type Appender interface {
	AppendCBOR(dst []byte) []byte
}

// The major types of RFC 8949 §3.1, and the value null.
const (
	majorUnsigned = 0 << 5
	majorNegative = 1 << 5
	majorBytes    = 2 << 5
	majorText     = 3 << 5
	majorArray    = 4 << 5
	majorMap      = 5 << 5
	simpleFalse   = 0xf4
	simpleTrue    = 0xf5
	simpleNull    = 0xf6
)

// AppendUnsigned appends n in its shortest form.
func AppendUnsigned(dst []byte, n uint64) []byte { return appendHead(dst, majorUnsigned, n) }

// AppendBytes appends a byte string; nil is null.
func AppendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, simpleNull)
	}
	return append(appendHead(dst, majorBytes, uint64(len(b))), b...)
}

// AppendText appends a text string.
func AppendText(dst []byte, s string) []byte {
	return append(appendHead(dst, majorText, uint64(len(s))), s...)
}

// AppendMap appends the head of a map of n pairs.
func AppendMap(dst []byte, n int) []byte { return appendHead(dst, majorMap, uint64(n)) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, simpleTrue)
	}
	return append(dst, simpleFalse)
}

// AppendArray appends the head of an array of n elements.
func AppendArray(dst []byte, n int) []byte { return appendHead(dst, majorArray, uint64(n)) }

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, simpleNull) }

// appendHead appends a major type with its argument in shortest form (RFC 8949
// §4.2.1).
func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return append(dst, major|25, byte(n>>8), byte(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}
