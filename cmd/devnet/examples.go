package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

func examplesCommand() *cli.Command {
	return &cli.Command{Name: "examples", Usage: "write the examples into a folder: actors, tests, scenarios, a dapp", ArgsUsage: "DIR",
		Description: "Example: devnet examples try\n" +
			"DIR must be new or empty. Its README.md says what to type next.",
		Flags: []cli.Flag{jsonFlag}, Action: withArguments(writeExamples)}
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
	return printAnswer(c, paths, err, func(w io.Writer) {
		if filepath.Clean(dir) == "." {
			fmt.Fprintf(w, "%d files are in this folder. Next:\n", len(paths))
		} else {
			fmt.Fprintf(w, "%d files are in %s. Next:\n  cd %s\n", len(paths), dir, shellQuote(dir))
		}
		fmt.Fprintf(w, "  %s up --actor actors/heartbeat.py\n%s says more.\n", self(), filepath.Join(dir, "README.md"))
	})
}
