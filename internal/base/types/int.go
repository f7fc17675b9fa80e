package types

import (
	"fmt"
	"math/big"

	"github.com/holiman/uint256"
)

// Int is an integer of 256 bits with a sign, -2^255 to 2^255 - 1. Its zero value is 0,
// and == compares numbers.
type Int struct{ v uint256.Int } // as two's complement

// IntOf returns n.
func IntOf(n int64) Int {
	i, _ := IntFromBig(big.NewInt(n))
	return i
}

// IntFromBig returns b; ok is false where it does not fit.
func IntFromBig(b *big.Int) (i Int, ok bool) {
	const bits = 255
	if b.Sign() >= 0 && b.BitLen() > bits || b.Sign() < 0 && new(big.Int).Not(b).BitLen() > bits {
		return Int{}, false
	}
	v, _ := uint256.FromBig(b) // which wraps a number below 0 as two's complement does
	return Int{*v}, true
}

// ParseInt reads a decimal integer.
func ParseInt(s string) (Int, error) {
	b, ok := new(big.Int).SetString(s, 10)
	if ok && len(s) > 0 && s[0] != '+' {
		if i, fits := IntFromBig(b); fits {
			return i, nil
		}
	}
	return Int{}, fmt.Errorf("%q is not an integer from -2^255 to 2^255-1", clipText([]byte(s)))
}

// Big returns the number as a new big integer.
func (i Int) Big() *big.Int {
	if i.v.Sign() >= 0 {
		return i.v.ToBig()
	}
	var magnitude uint256.Int
	return new(big.Int).Neg(magnitude.Neg(&i.v).ToBig())
}

// Int64 returns the number where it fits, and whether it does.
func (i Int) Int64() (int64, bool) {
	b := i.Big()
	return b.Int64(), b.IsInt64()
}

// String is the decimal integer.
func (i Int) String() string { return i.Big().String() }

// MarshalText writes the decimal integer.
func (i Int) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a decimal integer.
func (i *Int) UnmarshalText(text []byte) (err error) {
	*i, err = ParseInt(string(text))
	return err
}
