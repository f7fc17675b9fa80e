package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
)

func manCommand() *cli.Command {
	return &cli.Command{Name: "man", Usage: "write the manual pages, one for each command",
		Description: "Example: devnet man --out man/man1\n" +
			"Then: man -M man devnet-actor-deploy. The pages contain the text of --help.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "out", Value: ".", Usage: "`DIR` for the pages; it is made if it is missing"}, command.JSONFlag},
		Action: command.WithoutArguments(func(c *cli.Context) error {
			dir := c.String("out")
			if err := os.MkdirAll(dir, 0o755); failure.DescribeFolder(dir, err) != "" {
				return failure.New("Name a folder: it is made if it is missing.", "--out: %s", failure.DescribeFolder(dir, err))
			} else if err != nil {
				return failure.New("", "%v", err)
			}
			var paths []string
			for _, page := range manPages(c.App) {
				path := filepath.Join(dir, page.fileName())
				if err := os.WriteFile(path, []byte(page.roffText()), 0o644); err != nil {
					return failure.New("", "%v", err)
				}
				paths = append(paths, path)
			}
			return command.PrintAnswerOrJSON(c, paths, func(w io.Writer) { fmt.Fprintf(w, "%d pages in %s\n", len(paths), dir) })
		})}
}

// manPage is a page of the manual: of devnet, or of one command.
type manPage struct {
	words       []string // devnet, actor, deploy
	usage, args string
	description string
	commands    []topic
	flags       []topic
	related     []string // names of pages
}

// manPages are the pages of all commands, each group before its own.
func manPages(app *cli.App) []manPage {
	root := manPage{words: []string{"devnet"}, usage: app.Usage, args: "COMMAND", description: app.Description,
		commands: commandTopics(app.Commands)}
	return append([]manPage{root}, pagesOf(root.words, app.Commands)...)
}

func pagesOf(group []string, commands []*cli.Command) (pages []manPage) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		words := append(append([]string{}, group...), c.Name)
		page := manPage{words: words, usage: c.Usage, args: c.ArgsUsage, description: c.Description,
			commands: commandTopics(c.Subcommands), flags: flagTopics(c.VisibleFlags()), related: []string{strings.Join(group, "-")}}
		if len(c.Subcommands) > 0 {
			page.args = "COMMAND"
		}
		pages = append(append(pages, page), pagesOf(words, c.Subcommands)...)
	}
	return pages
}

func (p *manPage) pageName() string { return strings.Join(p.words, "-") }

func (p *manPage) fileName() string { return p.pageName() + ".1" }

// roffText is the page as man reads it, without a date, so that one version has one page.
func (p *manPage) roffText() string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH %s 1 \"\" \"devnet %s\" \"devnet\"\n", strings.ToUpper(p.pageName()), self.Version)
	fmt.Fprintf(&out, ".SH NAME\n%s \\- %s\n", escapeRoff(p.pageName()), escapeRoff(p.usage))
	fmt.Fprintf(&out, ".SH SYNOPSIS\n.B %s\n", escapeRoff(strings.Join(p.words, " ")))
	if p.args != "" {
		fmt.Fprintf(&out, "%s\n", escapeRoff(p.args))
	}
	if len(p.flags) > 0 {
		out.WriteString("[flags]\n")
	}
	out.WriteString(".SH DESCRIPTION\n")
	for _, line := range strings.Split(p.description, "\n") {
		if example, is := strings.CutPrefix(line, "Example: "); is {
			fmt.Fprintf(&out, ".nf\n$ %s\n.fi\n.PP\n", escapeRoff(example))
			continue
		}
		fmt.Fprintf(&out, "%s\n", escapeRoff(line))
	}
	writeSection(&out, "COMMANDS", p.commands)
	writeSection(&out, "FLAGS", p.flags)
	if len(p.words) == 1 {
		writeSection(&out, "EXIT STATUS", []topic{{"0", "The command did its work."},
			{"1", "A transaction, an audit or an answer of the network failed."},
			{"2", "The command line is wrong."}, {"3", "The network or the program could not start."}})
	}
	related := p.related
	for _, c := range p.commands {
		related = append(related, p.pageName()+"-"+c.name)
	}
	fmt.Fprintf(&out, ".SH SEE ALSO\n%s(1)\n", escapeRoff(strings.Join(related, "(1), ")))
	return out.String()
}

// writeSection writes a part of names, each with its text below it.
func writeSection(out io.Writer, title string, list []topic) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(out, ".SH %s\n", title)
	for _, t := range list {
		fmt.Fprintf(out, ".TP\n.B %s\n%s\n", escapeRoff(t.name), escapeRoff(t.what))
	}
}

// escapeRoff is a text that man shows as it is: no line of it is an order.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
