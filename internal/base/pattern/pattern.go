// Package pattern compiles regular expressions when they are first needed: every command
// pays for what its packages do before main, and most commands need no pattern at all.
package pattern

import (
	"regexp"

	"github.com/cowboyinc/devnet/internal/base/memo"
)

// CompileOnNeed returns what compiles the expression at its first call, and is that pattern from
// then on. An expression that is wrong panics there.
func CompileOnNeed(expression string) func() *regexp.Regexp {
	return memo.OnNeed(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
