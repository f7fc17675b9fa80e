package command

import (
	"math/big"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// ParseCBY reads an amount that a flag was given: CBY with at most nine decimals, or wei.
func ParseCBY(flag, text string) (types.Wei, error) { return ParseAmount("--"+flag, text) }

// ParseAmount reads an amount in CBY that a person typed where what says, or in wei: 12wei.
func ParseAmount(what, text string) (types.Wei, error) {
	bad := failure.NewUsage("Give an amount like 100, 0.25 or 12wei.", "%s: %q is not an amount in CBY with at most nine decimals, nor in wei",
		what, text)
	number, inWei := strings.CutSuffix(strings.TrimSpace(text), "wei")
	number = strings.TrimSpace(strings.TrimSuffix(number, "CBY"))
	whole, part, decimal := strings.Cut(number, ".")
	digits, decimals := whole+part, 9
	if inWei {
		decimals = 0
	}
	if digits == "" || inWei && (decimal || strings.Contains(text, "CBY")) || len(part) > decimals ||
		strings.Trim(digits, "0123456789") != "" {
		return types.Wei{}, bad
	}
	n, ok := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(part)), 10)
	if !ok {
		return types.Wei{}, bad
	}
	wei, ok := types.WeiFromBig(n)
	if !ok {
		return types.Wei{}, bad
	}
	return wei, nil
}
