package app

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
)

// printHelp prints an app's or a command's help.
func printHelp(w io.Writer, _ string, data any) {
	switch of := data.(type) {
	case *cli.App:
		printHead(w, of.Name, of.Usage, "COMMAND", of.Description)
		printTopics(w, "Commands", commandTopics(of.Commands))
		fmt.Fprintln(w, self.ReplaceName("\nEvery command has help: devnet COMMAND --help"))
	case *cli.Command:
		arguments := of.ArgsUsage
		if len(of.Subcommands) > 0 {
			arguments = "COMMAND"
		}
		printHead(w, of.HelpName, of.Usage, arguments, of.Description)
		printTopics(w, "Commands", commandTopics(of.Subcommands))
		printTopics(w, "Flags", flagTopics(of.VisibleFlags()))
	}
}

func printHead(w io.Writer, name, usage, arguments, description string) {
	fmt.Fprintf(w, "%s\n\n", terminal.Wrap(name+": "+usage, "", terminal.TextColumns))
	fmt.Fprintln(w, self.ReplaceName(strings.TrimRight("Usage: "+name+" "+arguments, " ")))
	for _, line := range splitParagraphs(description) {
		if strings.HasPrefix(line, "Example: ") {
			fmt.Fprintln(w, self.ReplaceName(line)) // whole, to be copied
			continue
		}
		fmt.Fprintln(w, terminal.Wrap(self.ReplaceName(line), "", terminal.TextColumns))
	}
}

// splitParagraphs splits a description into its lines. A line whose last sentence continues in the
// next one is joined with it: a text breaks only at the width of the terminal.
func splitParagraphs(description string) (list []string) {
	open := false
	for _, line := range strings.Split(description, "\n") {
		example := strings.HasPrefix(line, "Example: ")
		if open && !example {
			list[len(list)-1] += " " + line
		} else {
			list = append(list, line)
		}
		open = !example && line != "" && !strings.HasSuffix(line, ".") && !strings.HasSuffix(line, ":")
	}
	return list
}

// topic is a line of help: a name, and what it is.
type topic struct{ name, what string }

func commandTopics(commands []*cli.Command) (list []topic) {
	for _, c := range commands {
		if !c.Hidden {
			list = append(list, topic{c.Name, c.Usage})
		}
	}
	return list
}

func flagTopics(flags []cli.Flag) (list []topic) {
	for _, f := range flags {
		documented, ok := f.(cli.DocGenerationFlag)
		if !ok || f.Names()[0] == "help" {
			continue
		}
		name := dashFlag(f.Names()[0])
		if len(f.Names()) > 1 {
			name += ", -" + f.Names()[1]
		}
		usage := documented.GetUsage()
		if _, after, found := strings.Cut(usage, "`"); found {
			if placeholder, _, closed := strings.Cut(after, "`"); closed {
				name += " " + placeholder
			}
		}
		usage = strings.ReplaceAll(usage, "`", "")
		if otherwise := meaningfulDefault(documented.GetDefaultText()); otherwise != "" && documented.TakesValue() {
			usage += fmt.Sprintf(" (default: %s)", otherwise)
		}
		list = append(list, topic{name, usage})
	}
	return list
}

// dashFlag is the name of a flag as it is typed: one of a letter has one dash.
func dashFlag(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// meaningfulDefault returns a flag's default, or "" if it is only the zero of its kind: its
// usage then says what zero means.
func meaningfulDefault(text string) string {
	switch text = strings.Trim(text, `"`); text {
	case "0", "0s", "false":
		return ""
	}
	return text
}

// printTopics prints names and what they are in two columns.
func printTopics(w io.Writer, title string, list []topic) {
	if len(list) == 0 {
		return
	}
	wide := 0
	for _, e := range list {
		wide = max(wide, utf8.RuneCountInString(e.name))
	}
	wide = min(wide, 24)
	fmt.Fprintf(w, "\n%s:\n", title)
	indent := strings.Repeat(" ", wide+4)
	for _, e := range list {
		text := strings.TrimLeft(terminal.Wrap(e.what, indent, terminal.TextColumns), " ")
		if utf8.RuneCountInString(e.name) > wide {
			fmt.Fprintf(w, "  %s\n%s%s\n", e.name, indent, text)
			continue
		}
		fmt.Fprintf(w, "  %-*s  %s\n", wide, e.name, text)
	}
}
