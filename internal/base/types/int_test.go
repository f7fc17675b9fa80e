package types

import (
	"math/big"
	"testing"
)

func TestIntegersOfASignKeepTheirRange(t *testing.T) {
	low, high := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 255)), new(big.Int).Lsh(big.NewInt(1), 255)
	one := big.NewInt(1)
	for _, b := range []*big.Int{low, new(big.Int).Add(low, one), big.NewInt(-1), {}, one, big.NewInt(1 << 62), new(big.Int).Sub(high, one)} {
		i, ok := IntFromBig(b)
		back, err := ParseInt(i.String())
		if !ok || i.Big().Cmp(b) != 0 || err != nil || back != i {
			t.Errorf("%s became %s, %v, %v", b, i, ok, err)
		}
	}
	for _, b := range []*big.Int{high, new(big.Int).Sub(low, one)} {
		if i, ok := IntFromBig(b); ok {
			t.Errorf("%s was taken as %s", b, i)
		}
		if i, err := ParseInt(b.String()); err == nil {
			t.Errorf("%s was read as %s", b, i)
		}
	}
	for _, text := range []string{"", "+1", "0x1", "1.0", "1e3", " 1", "one"} {
		if i, err := ParseInt(text); err == nil {
			t.Errorf("%q was read as %s", text, i)
		}
	}
	if n, ok := IntOf(-5).Int64(); n != -5 || !ok || IntOf(5) == IntOf(-5) {
		t.Errorf("-5 became %d, %v", n, ok)
	}
}
