package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// helpColumns is the width of help and messages: every terminal has it, and a
// longer line is harder to read on a wider one.
const helpColumns = 80

// messageColumns is the width of messages: the terminal's, and none in a pipe,
// where programs look for whole lines.
func messageColumns(w io.Writer) int {
	if isTerminal(w) {
		return widthInColumns(w)
	}
	return math.MaxInt
}

// self is how this binary was called, so that commands in help and messages can be
// typed unchanged. A binary that the shell finds by PATH goes by its name, and one
// built by go run by the installed name.
var self = sync.OnceValue(func() string { return withProgramName(os.Args[0]) })

func withProgramName(as string) string {
	name := filepath.Base(as)
	if found, err := exec.LookPath(name); err == nil && (as == name || as == found) {
		return name
	}
	if strings.Contains(as, "go-build") {
		return "devnet"
	}
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(as) {
		if short, err := filepath.Rel(here, as); err == nil && !strings.HasPrefix(short, "..") {
			as = short
		}
	}
	if !strings.ContainsRune(as, filepath.Separator) {
		as = "." + string(filepath.Separator) + as
	}
	return as
}

// commandNames are the names of all commands. The list of commands sets it before any runs.
var commandNames []string

// commandLine finds the commands that a text advises.
var commandLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^-./\w])devnet (COMMAND|--help|` + strings.Join(commandNames, "|") + `)\b`)
})

// replaceProgramName puts how this binary was called into the commands of a text.
func replaceProgramName(text string) string {
	if self() == "devnet" {
		return text
	}
	return commandLine().ReplaceAllString(text, "${1}"+strings.ReplaceAll(self(), "$", "$$")+" ${2}")
}

// printHelp prints an app's or a command's help.
func printHelp(w io.Writer, _ string, data any) {
	switch of := data.(type) {
	case *cli.App:
		printHead(w, of.Name, of.Usage, "COMMAND", of.Description)
		printTopics(w, "Commands", commandTopics(of.Commands))
		fmt.Fprintln(w, replaceProgramName("\nEvery command has help: devnet COMMAND --help"))
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
	fmt.Fprintf(w, "%s\n\n", wrapText(name+": "+usage, "", helpColumns))
	fmt.Fprintln(w, replaceProgramName(strings.TrimRight("Usage: "+name+" "+arguments, " ")))
	for _, line := range splitParagraphs(description) {
		if strings.HasPrefix(line, "Example: ") {
			fmt.Fprintln(w, replaceProgramName(line)) // whole, to be copied
			continue
		}
		fmt.Fprintln(w, wrapText(replaceProgramName(line), "", helpColumns))
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
		text := strings.TrimLeft(wrapText(e.what, indent, helpColumns), " ")
		if utf8.RuneCountInString(e.name) > wide {
			fmt.Fprintf(w, "  %s\n%s%s\n", e.name, indent, text)
			continue
		}
		fmt.Fprintf(w, "  %-*s  %s\n", wide, e.name, text)
	}
}

// wrapText breaks a text between words so that no line, with its indent, is longer
// than width; a word that is longer stays whole.
func wrapText(text, indent string, width int) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(indent)
		at := utf8.RuneCountInString(indent)
		for j, word := range strings.Split(line, " ") {
			long := utf8.RuneCountInString(word)
			switch {
			case j == 0:
			case at+1+long > width:
				out.WriteString("\n" + indent)
				at = utf8.RuneCountInString(indent)
			default:
				out.WriteByte(' ')
				at++
			}
			out.WriteString(word)
			at += long
		}
	}
	return out.String()
}
