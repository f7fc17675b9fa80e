package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// A result beyond 64 bits is the maximum of them, and a part is never more than the
// whole.
func TestWholeNumbersStopAtTheGreatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 9), rapid.Uint64Range(math.MaxUint64-9, math.MaxUint64))
		a, b, one := number.Draw(t, "a"), number.Draw(t, "b"), rapid.Uint64Range(1, 1000).Draw(t, "one")
		x, y := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		clamped := func(n *big.Int) uint64 {
			if !n.IsUint64() {
				return math.MaxUint64
			}
			return n.Uint64()
		}
		if got, want := Sum(a, b), clamped(new(big.Int).Add(x, y)); got != want {
			t.Fatalf("%d + %d is %d, want %d", a, b, got, want)
		}
		if got, want := Times(a, b), clamped(new(big.Int).Mul(x, y)); got != want {
			t.Fatalf("%d × %d is %d, want %d", a, b, got, want)
		}
		want := one
		if a < b {
			part := new(big.Int).Mul(x, new(big.Int).SetUint64(one))
			want = part.Quo(part, y).Uint64()
		}
		if got := PartOf(one, a, b); got != want {
			t.Fatalf("%d × %d / %d is %d, want %d", one, a, b, got, want)
		}
	})
}
