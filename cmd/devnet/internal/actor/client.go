package actor

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/faces/clientgen"
)

func actorClientCommand() *cli.Command {
	return &cli.Command{Name: "client", Usage: "write a typed client of an actor, from its schema", ArgsUsage: "NAME",
		Description: "Example: devnet actor client club --lang ts --out web/club.ts\n" +
			"With --lang ts and --out, it also writes the runtime cowboy.ts to the folder of FILE. With --lang\n" +
			"actor it is the class by which other actors call it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "lang", Usage: "`LANGUAGE` of the client: " + strings.Join(clientgen.Languages, ", ")},
			&cli.StringFlag{Name: "out", Usage: "`FILE` to write (default: standard output)"},
			&cli.StringFlag{Name: "schema", Usage: "read the schema from `FILE` instead of a network"},
			command.HTTPFlag, command.NodeFlag},
		Action: command.WithArguments(actorClient)}
}

func actorClient(c *cli.Context, args []string) error {
	language, out := c.String("lang"), c.String("out")
	if !slices.Contains(clientgen.Languages, language) {
		return failure.NewUsage("Give one of "+strings.Join(clientgen.Languages, ", ")+".", "--lang: there is no client in %q", language)
	}
	document, err := schemaDocument(c, args[0])
	if err != nil {
		return err
	}
	schema, err := typed.Parse(document)
	if err != nil {
		return failure.New("Perhaps a newer devnet made it: compare devnet version.", "%s: %v", args[0], err)
	}
	text, err := clientgen.File(schema, args[0], language)
	if err != nil {
		return err
	}
	if out == "" {
		_, err := c.App.Writer.Write(text)
		return err
	}
	return writeClient(c.App.Writer, out, language, text)
}

// schemaDocument is the schema of a file, or of an actor of the network.
func schemaDocument(c *cli.Context, actor string) ([]byte, error) {
	if file := c.String("schema"); file != "" {
		return readSchema(file)
	}
	document, err := command.NewClient(c).Schema(c.Context, actor)
	if command.RefusedAs(err, "no_schema") {
		return nil, failure.New("Deploy its Python file with this devnet.", "%s has no schema: %v", actor, err)
	}
	return document, err
}

// readSchema reads a file of at most the bytes that a schema has.
func readSchema(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, failure.New("", "--schema: %v", err)
	}
	defer f.Close()
	document, err := io.ReadAll(io.LimitReader(f, typed.MaxSchemaBytes+1))
	if err != nil {
		return nil, failure.New("", "--schema: %v", err)
	}
	return document, nil
}

// writeClient writes the file, and for TypeScript its runtime in the same folder.
func writeClient(w io.Writer, out, language string, text []byte) error {
	files := map[string][]byte{out: text}
	written := []string{out}
	if runtime := filepath.Join(filepath.Dir(out), clientgen.RuntimeName); language == "ts" {
		if filepath.Clean(out) == filepath.Clean(runtime) {
			return failure.NewUsage("Choose another name: the runtime is written into the same folder.",
				"--out: %s is the name of the runtime", clientgen.RuntimeName)
		}
		files[runtime], written = clientgen.Runtime, append(written, runtime)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return failure.New("", "--out: %v", err)
	}
	for _, path := range written {
		if err := os.WriteFile(path, files[path], 0o644); err != nil {
			return failure.New("", "--out: %v", err)
		}
		fmt.Fprintln(w, path)
	}
	return nil
}
