package command

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// WithArguments is the action of a command that takes the arguments that its ArgsUsage names.
func WithArguments(action func(c *cli.Context, args []string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args, err := ReadArguments(c, strings.Fields(c.Command.ArgsUsage)...)
		if err == nil {
			err = checkAt(c)
		}
		if err != nil {
			return err
		}
		if err = action(c, args); err == nil {
			noteMoment(c)
		}
		return err
	}
}

// WithoutArguments is the action of a command without arguments.
func WithoutArguments(action cli.ActionFunc) cli.ActionFunc {
	return WithArguments(func(c *cli.Context, _ []string) error { return action(c) })
}

// ReadArguments returns as many arguments as there are names; those in brackets may
// be missing.
func ReadArguments(c *cli.Context, names ...string) ([]string, error) {
	given := c.Args().Slice()
	path := cmp.Or(c.Command.HelpName, "devnet "+c.Command.Name)
	example := "Usage: " + strings.Join(append([]string{path}, names...), " ")
	out := make([]string, len(names))
	for i, name := range names {
		if i < len(given) {
			out[i] = given[i]
		} else if !strings.HasPrefix(name, "[") {
			return nil, failure.NewUsage(example, "%s is missing", name)
		}
		if i < len(given) && given[i] == "" && !mayBeEmpty(name) {
			return nil, failure.NewUsage(example, "%s is empty", name)
		}
	}
	if len(given) > len(names) {
		return nil, failure.NewUsage(example, "%q is one argument too many", given[len(names)])
	}
	return out, nil
}

// mayBeEmpty reports whether an argument of this name says something by being empty:
// what may be missing, and what stands for bytes.
func mayBeEmpty(name string) bool {
	return strings.HasPrefix(name, "[") || name == "RESULT" || name == "VALUE"
}
