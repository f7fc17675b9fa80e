package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/pattern"
)

// misuse is how the library says that a flag has no value of its kind.
var misuse = pattern.CompileOnNeed(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([a-z0-9-]+): `)

// usageError says it as the rest of the command line does.
func usageError(c *cli.Context, err error, _ bool) error {
	match := misuse().FindStringSubmatch(err.Error())
	if match == nil || c.Command == nil {
		return failure.NewUsage("", "%v", err)
	}
	given, unquoted := strconv.Unquote(match[1])
	at := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), match[2]) })
	if at < 0 || unquoted != nil {
		return failure.NewUsage("", "%v", err)
	}
	want := "a value of its kind"
	switch c.Command.Flags[at].(type) {
	case *cli.Uint64Flag:
		want = "a whole number of at least 0"
	case *cli.IntFlag, *cli.Int64Flag:
		want = "a whole number"
	case *cli.Float64Flag:
		want = "a number"
	case *cli.DurationFlag:
		want = "a time like 200ms or 1s"
	case *cli.BoolFlag:
		want = "true or false"
	}
	return failure.NewUsage(fmt.Sprintf("See %s --help.", strings.TrimSpace(c.Command.HelpName)), "--%s: %q is not %s", match[2], given, want)
}
