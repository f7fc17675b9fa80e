package actor

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// deployChanges deploys a file, and again each time that it has changed, until Ctrl-C.
// A refused deploy is reported, and the running actor continues.
func deployChanges(c *cli.Context, file string, deploy func() error) error {
	deployed, err := command.ReadFile(file)
	if err != nil {
		return err
	}
	if err := deploy(); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%s is deployed again when it changes; Ctrl-C ends it.\n", file)
	for command.Sleep(c.Context, command.WatchEvery) {
		code, err := os.ReadFile(file)
		if err != nil || bytes.Equal(code, deployed) { // an editor may be writing it
			continue
		}
		deployed = code
		fmt.Fprintf(c.App.ErrWriter, "\n%s has changed.\n", file)
		if found, err := adviseOn(c.App.ErrWriter, code); err == nil && wouldRefuse(found) {
			printAdvice(c.App.ErrWriter, file, code, found)
			continue
		}
		if err := deploy(); err != nil && c.Context.Err() == nil {
			command.ReportError(c.App.ErrWriter, err, c.Bool("json"))
		}
	}
	return nil
}

// wouldRefuse reports whether a deploy would refuse code in which this was found.
func wouldRefuse(found []pyhost.Advice) bool {
	return slices.ContainsFunc(found, func(f pyhost.Advice) bool { return f.Refused })
}
