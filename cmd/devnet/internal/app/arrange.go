package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/typo"
)

// listing has the groups that list when they are called without a command, and the
// command that does it.
var listing = map[string]string{"devnet params": "get"}

// arrangeFlags lets flags be anywhere: the library reads none after the first argument.
// It also finds unknown commands and flags, and says which are near.
func arrangeFlags(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	out, rest := args[:1:1], args[1:]
	commands, flags, path := app.Commands, app.Flags, "devnet"
	helping := false
	for len(rest) > 0 && len(commands) > 0 {
		word := rest[0]
		if listing[path] != "" && strings.HasPrefix(word, "-") && word != "--help" && word != "-h" {
			break
		}
		if word == "--help" || word == "-h" {
			return append(out, word), nil
		}
		if word == "help" && !helping {
			helping, rest = true, rest[1:]
			continue
		}
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if at < 0 {
			if strings.HasPrefix(word, "-") {
				return nil, failure.NewUsage(fmt.Sprintf("Put flags after the command: see %s --help.", path), "%s has no flag %s", path, word)
			}
			return nil, failure.NewUsage(cmp.Or(suggestOrder(rest, commands, path), suggestElsewhere(word, app.Commands, path),
				suggestShortForm(word, commands, path), failure.NearWords(word, namesOf(commands), path)),
				"%s has no command %q", path, word)
		}
		c := commands[at]
		out, rest, path = append(out, word), rest[1:], path+" "+word
		commands, flags = c.Subcommands, c.Flags
	}
	if helping || asksForHelp(rest) {
		return append(out, "--help"), nil
	}
	if first := listing[path]; first != "" {
		c := commands[slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(first) })]
		out, path = append(out, first), path+" "+first
		commands, flags = nil, c.Flags
	}
	if len(commands) > 0 { // a group without a command: its help
		return append(out, "--help"), nil
	}
	front, back, err := splitFlags(flags, rest, path)
	if err != nil {
		return nil, err
	}
	if len(back) > 0 {
		front = append(append(front, "--"), back...)
	}
	return append(out, front...), nil
}

// asksForHelp finds --help after arguments too: a person who has forgotten how to
// end a command asks there.
func asksForHelp(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// number finds what is a negative number rather than a flag.
var number = pattern.CompileOnNeed(`^-[0-9.]+$`)

// splitFlags parts flags, with their values, from arguments.
func splitFlags(flags []cli.Flag, args []string, path string) (front, back []string, err error) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			return front, append(back, args[i+1:]...), nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" || number().MatchString(word) {
			back = append(back, word)
			continue
		}
		flag, _, inline := strings.Cut(word, "=")
		name := strings.TrimLeft(flag, "-")
		front = append(front, word)
		at := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
		if at < 0 {
			var known []string
			for _, f := range flags {
				if visible, ok := f.(cli.VisibleFlag); ok && !visible.IsVisible() {
					continue
				}
				known = append(known, dashFlag(f.Names()[0]))
			}
			return nil, nil, failure.NewUsage(failure.NearWords(dashFlag(name), known, path), "%s has no flag %s", path, flag)
		}
		if _, boolean := flags[at].(*cli.BoolFlag); boolean || inline {
			continue
		}
		if i++; i == len(args) {
			return nil, nil, failure.NewUsage(fmt.Sprintf("See %s --help.", path), "%s needs a value", word)
		}
		front = append(front, args[i])
	}
	return front, back, nil
}

// customary are the commands by the names that other programs have for them.
var customary = map[string]string{"start": "up", "stop": "down", "reset": "up --reset", "send": "transfer", "balance": "account"}

// suggestOrder finds a command behind its first argument; "" if there is none.
func suggestOrder(words []string, commands []*cli.Command, path string) string {
	if len(words) < 2 || !slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.HasName(words[1]) }) {
		return ""
	}
	meant := append([]string{path, words[1], words[0]}, words[2:]...)
	return fmt.Sprintf("Did you mean %s? See %s --help.", strings.Join(meant, " "), path)
}

// maxElsewhere is how many commands of one name are told apart.
const maxElsewhere = 3

// suggestElsewhere names the commands of other groups that have a name, or the command that other programs call
// so; "" for none. A name that many groups have says nothing.
func suggestElsewhere(word string, all []*cli.Command, path string) string {
	meant := findCommandsNamed(word, all, "devnet")
	if other := customary[word]; other != "" && path == "devnet" {
		meant = []string{path + " " + other}
	}
	if len(meant) == 0 || len(meant) > maxElsewhere {
		return ""
	}
	return fmt.Sprintf("Did you mean %s? See %s --help.", strings.Join(meant, " or "), path)
}

// findCommandsNamed lists the commands of a name in all groups. Short forms are left out, whose long ones are there.
func findCommandsNamed(name string, commands []*cli.Command, path string) (paths []string) {
	for _, c := range commands {
		if c.Name == name && !c.Hidden {
			paths = append(paths, path+" "+name)
		}
		paths = append(paths, findCommandsNamed(name, c.Subcommands, path+" "+c.Name)...)
	}
	return paths
}

func namesOf(commands []*cli.Command) (out []string) {
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, c.Name)
		}
	}
	return out
}

// suggestShortForm names the short forms of commands that a person may have meant, where no other command
// is near; "" for none.
func suggestShortForm(word string, commands []*cli.Command, path string) string {
	var hidden []string
	for _, c := range commands {
		if c.Hidden {
			hidden = append(hidden, c.Name)
		}
	}
	best := typo.Nearest(word, hidden)
	if len(best) == 0 || len(typo.Nearest(word, namesOf(commands))) > 0 {
		return ""
	}
	return fmt.Sprintf("Did you mean %s? See %s --help.", strings.Join(best, " or "), path)
}
