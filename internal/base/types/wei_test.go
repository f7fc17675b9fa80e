package types

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// amounts draws amounts of every size, small and near each power of 256.
var amounts = rapid.Custom(func(t *rapid.T) Wei {
	length := rapid.IntRange(0, 32).Draw(t, "bytes")
	digits := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 1, 0xff}))
	w, ok := WeiFromBig(new(big.Int).SetBytes(rapid.SliceOfN(digits, length, length).Draw(t, "amount")))
	if !ok {
		t.Fatal("32 bytes are too many")
	}
	return w
})

var ceiling = new(big.Int).Lsh(big.NewInt(1), 256)

// Decision C13: unsigned 256-bit, and nothing wraps.
func TestC13ArithmeticIsThatOfBigIntegersOrStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amounts.Draw(t, "a"), amounts.Draw(t, "b")
		n := rapid.Uint64().Draw(t, "n")
		big := func(w Wei) *big.Int { return w.Big() }
		factor := WeiOf(n).Big()

		sum, ok := a.AddOk(b)
		agree(t, "AddOk", sum, ok, exact().Add(big(a), big(b)))
		product, ok := a.MulOk(n)
		agree(t, "MulOk", product, ok, exact().Mul(big(a), factor))
		panics(t, "Add", func() Wei { return a.Add(b) }, exact().Add(big(a), big(b)))
		panics(t, "Sub", func() Wei { return a.Sub(b) }, exact().Sub(big(a), big(b)))
		panics(t, "Mul", func() Wei { return a.Mul(n) }, exact().Mul(big(a), factor))
		if n > 0 {
			panics(t, "Div", func() Wei { return a.Div(n) }, exact().Quo(big(a), factor))
		}
		if !b.IsZero() {
			c := amounts.Draw(t, "c")
			quotient, ok := a.MulDiv(c, b)
			agree(t, "MulDiv", quotient, ok, exact().Quo(exact().Mul(big(a), big(c)), big(b)))
		}
		order := big(a).Cmp(big(b))
		if a.Cmp(b) != order || a.Less(b) != (order < 0) || a.Min(b) != b.Min(a) || b.Less(a.Min(b)) || a.Less(a.Min(b)) {
			t.Fatalf("%s and %s are ordered wrongly", a, b)
		}
		if a.IsZero() != (big(a).Sign() == 0) {
			t.Fatalf("IsZero(%s)", a)
		}
	})
}

// exact is a big integer to compute into.
func exact() *big.Int { return new(big.Int) }

// agree holds a checked result against the exact one.
func agree(t *rapid.T, what string, got Wei, ok bool, want *big.Int) {
	if fits := want.Cmp(ceiling) < 0; ok != fits || ok && got.Big().Cmp(want) != 0 {
		t.Fatalf("%s = %s, %v, want %s", what, got, ok, want)
	}
}

// panics holds a result that must fit against the exact one; where that does
// not fit, compute must panic.
func panics(t *rapid.T, what string, compute func() Wei, want *big.Int) {
	fits := want.Sign() >= 0 && want.Cmp(ceiling) < 0
	defer func() {
		if r := recover(); (r == nil) != fits {
			t.Fatalf("%s of an amount that is %s: panic %v", what, want, r)
		}
	}()
	if got := compute(); got.Big().Cmp(want) != 0 {
		t.Fatalf("%s = %s, want %s", what, got, want)
	}
}

func TestC13DivisionByZeroStops(t *testing.T) {
	for what, divide := range map[string]func(){"Div": func() { WeiOf(1).Div(0) }, "MulDiv": func() { WeiOf(1).MulDiv(WeiOf(1), Wei{}) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s by zero returned", what)
				}
			}()
			divide()
		}()
	}
}

// Decision C11, RFC 8949 §3.4.3: an integer if it fits 64 bits, otherwise tag 2
// without leading zeros.
func TestC11AmountsHaveOneEncoding(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, w Wei) {
		data := codec.Marshal(w)
		if want := codec.Marshal(w.Big()); !bytes.Equal(data, want) { // the library's own shortest form
			t.Fatalf("%s is %x, want %x", w, data, want)
		}
		var back Wei
		if err := codec.Unmarshal(data, 64, &back); err != nil || back != w {
			t.Fatalf("%x was read as %s, %v, want %s", data, back, err, w)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, amounts.Draw(t, "w")) })
	for shift := range uint(256) { // both sides of every length
		power, _ := WeiFromBig(new(big.Int).Lsh(big.NewInt(1), shift))
		check(t, power)
		check(t, power.Sub(WeiOf(1)))
	}
	for n := range uint64(300) {
		check(t, WeiOf(n))
	}
}

func TestC11OtherEncodingsOfAnAmountAreRefused(t *testing.T) {
	long := append([]byte{0xc2, 0x58, 33, 1}, make([]byte, 32)...)
	for what, data := range map[string][]byte{
		"not shortest":       {0x18, 0x05},
		"5 as a big number":  {0xc2, 0x41, 5},
		"a leading zero":     append([]byte{0xc2, 0x4a, 0}, bytes.Repeat([]byte{1}, 9)...),
		"negative":           {0x20},
		"a negative big one": {0xc3, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0},
		"2^256":              long,
		"a float":            {0xf9, 0x45, 0x00},
		"text":               {0x61, '5'},
		"null":               {0xf6},
		"bytes":              {0x41, 5},
		"nothing":            {},
	} {
		var w Wei
		if err := codec.Unmarshal(data, 64, &w); err == nil {
			t.Errorf("%s, %x, was read as %s", what, data, w)
		}
	}
}

func TestAmountsAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := amounts.Draw(t, "w")
		if w.String() != w.Big().String() {
			t.Fatalf("%s is written %s", w.Big(), w)
		}
		if back, err := ParseWei(w.String()); err != nil || back != w {
			t.Fatalf("%s was read as %s, %v", w, back, err)
		}
		data, err := json.Marshal(map[string]Wei{"fee": w})
		var back map[string]Wei
		if err != nil || string(data) != `{"fee":"`+w.String()+`"}` || json.Unmarshal(data, &back) != nil || back["fee"] != w {
			t.Fatalf("%s in JSON is %s, %v", w, data, err)
		}
	})
	for _, bad := range []string{"", "+5", "-1", "1_000", " 5", "5 ", "0x5", "1e9", "1.0", "100 CBY", ceiling.String()} {
		if w, err := ParseWei(bad); err == nil {
			t.Errorf("%q was read as %s", bad, w)
		}
	}
	if w, err := ParseWei(MaxWei.String()); err != nil || w != MaxWei {
		t.Errorf("the largest amount was read as %s, %v", w, err)
	}
}

func TestUint64SaysWhetherTheAmountFits(t *testing.T) {
	if n, ok := WeiOf(1<<64 - 1).Uint64(); n != 1<<64-1 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if _, ok := WeiOf(1<<64 - 1).Add(WeiOf(1)).Uint64(); ok {
		t.Error("2^64 fits 64 bits")
	}
	if w, ok := WeiFromBig(big.NewInt(-1)); ok {
		t.Errorf("-1 is %s", w)
	}
	if w, ok := WeiFromBig(ceiling); ok {
		t.Errorf("2^256 is %s", w)
	}
}
