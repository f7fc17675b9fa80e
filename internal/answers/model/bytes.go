package model

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Payload reads what a person or script wrote for bytes: 0x and pairs of
// hexadecimal digits are those bytes, any other string is its UTF-8 text. Text
// that begins with 0x has to be written in hexadecimal.
func Payload(s string) ([]byte, error) {
	if !strings.HasPrefix(s, "0x") {
		return []byte(s), nil
	}
	var b types.Bytes
	if err := b.UnmarshalText([]byte(s)); err != nil {
		return nil, fmt.Errorf("%w; text that begins with 0x has to be given in hexadecimal too", err)
	}
	return b, nil
}

// maxIntBytes is how long a value may be to be shown as a number: the chain's own
// are no longer.
const maxIntBytes = 32

// Int returns b as the SDK's get_int reads it, two's complement, big endian, in
// decimal; "" if it is empty or longer than 32 bytes.
func Int(b []byte) string {
	if len(b) == 0 || len(b) > maxIntBytes {
		return ""
	}
	n := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.String()
}

// Text returns b if it is printable UTF-8, and otherwise "".
func Text(b []byte) string {
	if !utf8.Valid(b) {
		return ""
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return ""
		}
	}
	return string(b)
}
