package types

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/fxamacker/cbor/v2"
	"github.com/holiman/uint256"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// CBY is one coin in wei (decision C13).
const CBY = 1_000_000_000

// Wei is an amount: an unsigned integer of 256 bits. Its zero value is 0.
// Nothing wraps: Add and Sub stop the process on overflow, which our own books
// cannot reach, and what is computed from outside input goes through AddOk and
// MulOk.
type Wei struct{ v uint256.Int }

// WeiOf returns n wei.
func WeiOf(n uint64) Wei { return Wei{*uint256.NewInt(n)} }

// MaxWei is the largest amount, 2^256 - 1.
var MaxWei = Wei{*new(uint256.Int).SetAllOne()}

// ParseWei reads a decimal integer.
func ParseWei(s string) (Wei, error) {
	v, err := uint256.FromDecimal(s)
	if err != nil || s[0] == '+' {
		return Wei{}, fmt.Errorf("%q is not an amount in wei: a decimal integer below 2^256", clipText([]byte(s)))
	}
	return Wei{*v}, nil
}

func (w Wei) IsZero() bool    { return w.v.IsZero() }
func (w Wei) Cmp(b Wei) int   { return w.v.Cmp(&b.v) }
func (w Wei) Less(b Wei) bool { return w.v.Lt(&b.v) }

// String is the decimal integer, in wei.
func (w Wei) String() string { return w.v.Dec() }

// Uint64 returns the amount where it fits, and whether it does.
func (w Wei) Uint64() (uint64, bool) { return w.v.Uint64(), w.v.IsUint64() }

// Big returns the amount as a new big integer.
func (w Wei) Big() *big.Int { return w.v.ToBig() }

// Bytes32 is the amount in 32 bytes, the highest first.
func (w Wei) Bytes32() [32]byte { return w.v.Bytes32() }

// WeiFromBig returns b as an amount; ok is false below 0 and from 2^256 on.
func WeiFromBig(b *big.Int) (w Wei, ok bool) {
	if b.Sign() < 0 {
		return Wei{}, false
	}
	v, over := uint256.FromBig(b)
	if over {
		return Wei{}, false
	}
	return Wei{*v}, true
}

// AddOk returns w + b; ok is false on overflow.
func (w Wei) AddOk(b Wei) (sum Wei, ok bool) {
	_, over := sum.v.AddOverflow(&w.v, &b.v)
	return sum, !over
}

// MulOk returns w × n; ok is false on overflow.
func (w Wei) MulOk(n uint64) (product Wei, ok bool) {
	_, over := product.v.MulOverflow(&w.v, uint256.NewInt(n))
	return product, !over
}

// Add returns w + b. It panics on overflow.
func (w Wei) Add(b Wei) Wei {
	sum, ok := w.AddOk(b)
	if !ok {
		panic("types: an amount exceeds 2^256")
	}
	return sum
}

// Sub returns w - b. It panics below zero.
func (w Wei) Sub(b Wei) Wei {
	var d Wei
	if _, under := d.v.SubOverflow(&w.v, &b.v); under {
		panic("types: an amount falls below zero")
	}
	return d
}

// Mul returns w × n. It panics on overflow.
func (w Wei) Mul(n uint64) Wei {
	product, ok := w.MulOk(n)
	if !ok {
		panic("types: an amount exceeds 2^256")
	}
	return product
}

// Div returns w / n, rounded down. It panics when n is 0.
func (w Wei) Div(n uint64) Wei {
	if n == 0 {
		panic("types: division by zero")
	}
	var q Wei
	q.v.Div(&w.v, uint256.NewInt(n))
	return q
}

// MulDiv returns w × n / d, rounded down, with a product of 512 bits; ok is
// false where the quotient exceeds 2^256 - 1. It panics when d is 0.
func (w Wei) MulDiv(n, d Wei) (quotient Wei, ok bool) {
	if d.IsZero() {
		panic("types: division by zero")
	}
	_, over := quotient.v.MulDivOverflow(&w.v, &n.v, &d.v)
	return quotient, !over
}

// Limbs returns the amount as words of 64 bits, the lowest first.
func (w Wei) Limbs() [4]uint64 { return w.v }

// Min returns the lesser of w and b.
func (w Wei) Min(b Wei) Wei {
	if b.Less(w) {
		return b
	}
	return w
}

// MarshalCBOR writes an unsigned integer, above 2^64-1 tag 2 in shortest form.
func (w Wei) MarshalCBOR() ([]byte, error) { return w.AppendCBOR(make([]byte, 0, 35)), nil }

// AppendCBOR implements codec.Appender.
func (w *Wei) AppendCBOR(data []byte) []byte {
	if n, fits := w.Uint64(); fits {
		return codec.AppendUnsigned(data, n)
	}
	const bignum = 0xc2 // tag 2
	content := w.v.Bytes32()
	return codec.AppendBytes(append(data, bignum), content[32-w.v.ByteLen():])
}

// readUnsigned reads a whole item of major type 0; ok is false for anything
// else.
func readUnsigned(data []byte) (n uint64, ok bool) {
	if len(data) == 0 || data[0] > 27 || len(data) != cborHead(data[0]) {
		return 0, false
	}
	if len(data) == 1 {
		return uint64(data[0]), true
	}
	for _, b := range data[1:] {
		n = n<<8 | uint64(b)
	}
	return n, true
}

// UnmarshalCBOR reads an unsigned integer or a tag 2, whether or not in shortest
// form; a codec.Unmarshal around it enforces that form.
func (w *Wei) UnmarshalCBOR(data []byte) error {
	if n, ok := readUnsigned(data); ok {
		*w = WeiOf(n)
		return nil
	}
	var b big.Int
	if err := cbor.Unmarshal(data, &b); err != nil {
		return err
	}
	v, ok := WeiFromBig(&b)
	if !ok {
		return errors.New("an amount lies outside 0..2^256-1")
	}
	*w = v
	return nil
}

// MarshalText writes the decimal integer, as JSON does.
func (w Wei) MarshalText() ([]byte, error) { return []byte(w.v.Dec()), nil }

// UnmarshalText reads a decimal integer.
func (w *Wei) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWei(string(text))
	return err
}
