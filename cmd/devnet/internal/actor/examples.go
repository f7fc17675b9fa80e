package actor

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// ExamplesCommand is the command examples.
func ExamplesCommand() *cli.Command {
	return &cli.Command{Name: "examples", Usage: "write the examples into a folder: actors, tests, scenarios, a dapp", ArgsUsage: "DIR",
		Description: "Example: devnet examples try\n" +
			"DIR must be new or empty. Its README.md says what to type next.",
		Flags: []cli.Flag{command.JSONFlag}, Action: command.WithArguments(writeExamples)}
}

func writeExamples(c *cli.Context, args []string) error {
	dir := args[0]
	if err := mustBeEmpty(dir); err != nil {
		return err
	}
	paths := []string{}
	err := scenario.Examples(func(name string, text []byte) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		paths = append(paths, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, text, fs.FileMode(0o644))
	})
	return command.PrintAnswer(c, paths, err, func(w io.Writer) {
		if filepath.Clean(dir) == "." {
			fmt.Fprintf(w, "%d files are in this folder. Next:\n", len(paths))
		} else {
			fmt.Fprintf(w, "%d files are in %s. Next:\n  cd %s\n", len(paths), dir, self.ShellQuote(dir))
		}
		fmt.Fprintf(w, "  %s up --actor actors/heartbeat.py\n%s says more.\n", self.ProgramName(), filepath.Join(dir, "README.md"))
	})
}
