package actor

import (
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/compat"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

var againstFlag = &cli.StringFlag{Name: "against",
	Usage: "`ACTOR` or file that FILE would replace: say what changes for callers, readers and state"}

// checkAgainst compares a file with an actor of the network, or with another file.
func checkAgainst(c *cli.Context, file string) error {
	code, err := command.ReadActor(file)
	if err != nil {
		return err
	}
	after, err := SchemaOfCode(code)
	if err != nil {
		return failure.New("", "%s: %v", file, err)
	}
	before, err := schemaBefore(c, c.String("against"))
	if err != nil {
		return err
	}
	changes, err := compat.Compare(before, after)
	if err != nil {
		return failure.New("", "%s: %v", file, err)
	}
	if err := command.PrintAnswerOrJSON(c, changes, func(w io.Writer) {
		terminal.PrintTable(w, "Nothing changes.", "VERDICT WHERE WHAT", terminal.RowsOf(changes, func(change *compat.Change) []string {
			return []string{string(change.Verdict), words.Printable(change.Where), words.Printable(change.What)}
		}))
	}); err != nil {
		return err
	}
	if broken := terminal.CountWhere(changes, func(change *compat.Change) bool { return change.Verdict != compat.Safe }); broken > 0 {
		return failure.New("", "%d of %d changes break callers, readers or state", broken, len(changes))
	}
	return nil
}

func schemaBefore(c *cli.Context, against string) ([]byte, error) {
	if _, err := os.Stat(against); err == nil {
		code, err := command.ReadActor(against)
		if err != nil {
			return nil, err
		}
		return SchemaOfCode(code)
	}
	return command.NewClient(c).Schema(c.Context, against)
}

// SchemaOfCode is the schema that a deploy would read from a file, by this machine's Python.
func SchemaOfCode(code []byte) ([]byte, error) {
	pool := pyhost.New(pyhost.Config{Hosts: 1})
	defer pool.Close()
	session, err := pool.Open(program.ForRead)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	found, err := session.Inspect(program.Code{Hash: types.Keccak(code), Source: code})
	if err == nil && len(found.Schema) == 0 {
		err = errors.New("the code has no schema")
	}
	return found.Schema, err
}
