package app

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// completing is the first argument by which a shell's script asks for candidates. All
// words up to the cursor follow it.
const completing = "__complete"

// shells are those that have a script.
var shells = []string{"bash", "zsh", "fish"}

//go:embed completion
var completionScripts embed.FS

func completionCommand() *cli.Command {
	return &cli.Command{Name: "completion", Usage: "print the script that completes commands and flags in a shell", ArgsUsage: "SHELL",
		Description: "Example: devnet completion bash\n" +
			"SHELL is bash, zsh or fish. In .bashrc: source <(devnet completion bash). In .zshrc, after\n" +
			"compinit: source <(devnet completion zsh). In config.fish: devnet completion fish | source.",
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			if !slices.Contains(shells, args[0]) {
				return failure.NewUsage("The shells are "+strings.Join(shells, ", ")+".", "SHELL: no script for %q", args[0])
			}
			script, err := completionScripts.ReadFile("completion/devnet." + args[0])
			if err != nil {
				return err
			}
			_, err = c.App.Writer.Write(script)
			return err
		})}
}

// printCompletions prints the candidates for the last word, one a line, each with a tab and its
// usage. It prints nothing for a file or an argument: there the shell proposes files.
func printCompletions(w io.Writer, app *cli.App, words []string) {
	for _, t := range completionCandidates(app, words) {
		fmt.Fprintf(w, "%s\t%s\n", t.name, t.what)
	}
}

func completionCandidates(app *cli.App, words []string) (list []topic) {
	if len(words) == 0 {
		return nil
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return nil
	}
	commands, flags := app.Commands, app.Flags
	for _, word := range before {
		if at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) }); at >= 0 {
			commands, flags = commands[at].Subcommands, commands[at].Flags
		}
	}
	if len(before) > 0 && takesValue(flags, before[len(before)-1]) {
		return nil
	}
	all := commandTopics(commands)
	if strings.HasPrefix(last, "-") {
		all = flagCandidates(flags)
	}
	for _, t := range all {
		if strings.HasPrefix(t.name, last) {
			list = append(list, t)
		}
	}
	return list
}

// flagCandidates are a command's flags by their long names, and --help.
func flagCandidates(flags []cli.Flag) (list []topic) {
	for _, f := range flags {
		if documented, ok := f.(cli.DocGenerationFlag); ok && f.Names()[0] != "help" {
			list = append(list, topic{dashFlag(f.Names()[0]), strings.ReplaceAll(documented.GetUsage(), "`", "")})
		}
	}
	return append(list, topic{"--help", "how to use the command"})
}

// takesValue reports whether a word is a flag whose value is the next word.
func takesValue(flags []cli.Flag, word string) bool {
	name := strings.TrimLeft(word, "-")
	return name != word && slices.ContainsFunc(flags, func(f cli.Flag) bool {
		documented, ok := f.(cli.DocGenerationFlag)
		return ok && documented.TakesValue() && slices.Contains(f.Names(), name)
	})
}
