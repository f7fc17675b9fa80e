package actor

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/base/pattern"
)

//go:embed newactor
var newActorFiles embed.FS

// The styles of actor new, the first of them its default.
var actorStyles = []string{"functions", "class", "typed"}

// newActorName is what a file of an actor may be called: Python's tests are found and
// imported by such names.
var newActorName = pattern.CompileOnNeed(`^[a-z][a-z0-9_]{0,30}$`)

func actorNewCommand() *cli.Command {
	return &cli.Command{Name: "new", Usage: "begin an actor: its file, tests, a scenario, files for CI and an editor", ArgsUsage: "NAME",
		Description: "Example: devnet actor new tally --style typed\n" +
			"functions and class take bytes; typed has handlers by annotations, state by attribute and events by dataclass. " +
			"The files are made in the folder NAME, which must be new or empty. All are green at once.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "style", Value: actorStyles[0], Usage: "`STYLE` of the actor: " + strings.Join(actorStyles, ", ")},
			&cli.StringFlag{Name: "out", DefaultText: "NAME", Usage: "`DIR` for the files"},
			command.JSONFlag},
		Action: command.WithArguments(actorNew)}
}

// newFile is a file that actor new writes, by its template.
type newFile struct{ path, template string }

func actorNew(c *cli.Context, args []string) error {
	name, style := args[0], c.String("style")
	if !newActorName().MatchString(name) || strings.HasPrefix(name, "test_") {
		return failure.NewUsage("Give at most 31 lower-case letters, digits and underscores, like price_feed.",
			"NAME: invalid name %q of an actor's file", name)
	}
	if !slices.Contains(actorStyles, style) {
		return failure.NewUsage("The styles are "+strings.Join(actorStyles, ", ")+".", "--style: there is no style %q", style)
	}
	dir := cmp.Or(c.String("out"), name)
	if err := mustBeEmpty(dir); err != nil {
		return err
	}
	of := "" // the template of tests and scenario
	if style == "typed" {
		of = "typed_"
	}
	files := []newFile{{name + ".py", style + ".py.txt"}, {"test_" + name + ".py", of + "test.py.txt"},
		{name + ".star", of + "scenario.star.txt"},
		{filepath.Join(".github", "workflows", "actors.yml"), "ci.yml.txt"},
		{filepath.Join(".vscode", "launch.json"), "launch.json.txt"}}
	var paths []string
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if err := f.writeFile(path, name); err != nil {
			return failure.New("", "%v", err)
		}
		paths = append(paths, path)
	}
	return command.PrintAnswerOrJSON(c, paths, func(w io.Writer) {
		for _, path := range paths {
			fmt.Fprintln(w, path)
		}
		fmt.Fprintf(w, "\nIn %s:\n  %s test --unittest\n  %s run %s.star\n  %s up --actor %s.py\n", dir, self.ProgramName(), self.ProgramName(),
			name, self.ProgramName(), name)
	})
}

// mustBeEmpty refuses a folder that holds something: nothing is written over.
func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return failure.New("", "%v", err)
	case len(entries) > 0:
		return failure.New("Name a new or empty folder with --out.", "%s is not empty", dir)
	}
	return nil
}

func (f *newFile) writeFile(path, name string) error {
	text, err := newActorFiles.ReadFile("newactor/" + f.template)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	class := ""
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			class += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	filled := strings.NewReplacer("NAME", name, "CLASS", class, "INSTALL", installSteps(self.Version)).Replace(string(text))
	return os.WriteFile(path, []byte(filled), 0o644)
}

// installSteps are the steps of a workflow that install devnet: those of this release, or a clone if this binary was built from one.
func installSteps(version string) string {
	if version != self.Unreleased {
		return "- run: go install github.com/cowboyinc/devnet/cmd/devnet@v" + version
	}
	return "# This devnet was built from a clone, not from a release.\n" +
		`      - run: git clone --depth 1 https://github.com/cowboyinc/devnet "$RUNNER_TEMP/devnet"` + "\n" +
		`      - run: cd "$RUNNER_TEMP/devnet" && go install ./cmd/devnet`
}
