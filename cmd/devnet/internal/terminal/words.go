package terminal

import (
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// MaxShownText is how much text of a value a table shows.
const MaxShownText = 20

// Count is a number of things with the thousands of the number apart.
func Count[N ~int | ~uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return words.Grouped(uint64(n)) + " " + what + "s"
}

// Indent puts text below the line it belongs to.
func Indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

// Quote is the text of a value, so that "7" is not taken for a number.
func Quote(text string) string {
	if text == "" {
		return "-"
	}
	return strconv.Quote(text)
}

// YesOrNo says whether something is so.
func YesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// Duration says how long something lasted, to a tenth of a second.
func Duration(ms uint64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// Amount is an amount in a column that says its unit.
func Amount(w types.Wei) string { return strings.TrimSuffix(words.CBY(w), " CBY") }

// Height is plain, without groups of digits: it is typed again, as in devnet block 1734.
func Height(h types.Height) string { return strconv.FormatUint(uint64(h), 10) }
