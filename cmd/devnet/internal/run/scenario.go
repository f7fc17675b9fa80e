package run

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// ScenarioCommand is the command scenario.
func ScenarioCommand() *cli.Command {
	return &cli.Command{
		Name: "scenario", Usage: "what was done by hand to a network, as a script that does it again", ArgsUsage: "[FILE]",
		Description: "Example: devnet scenario\n" +
			"Deploys, calls, payments, changes of parameters and faults come at their heights. FILE gets the script, and its\n" +
			"folder the code of the actors that it deploys; devnet run FILE plays it. Without FILE the script is printed.",
		Flags:  []cli.Flag{command.JSONFlag, command.HTTPFlag, command.NodeFlag},
		Action: command.WithArguments(retellNetwork),
	}
}

func retellNetwork(c *cli.Context, args []string) error {
	m, err := command.NewClient(c).Retell(c.Context)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return command.PrintJSON(c.App.Writer, m)
	case args[0] == "":
		_, err := fmt.Fprint(c.App.Writer, m.Script)
		if n := len(m.Files); n > 0 && err == nil {
			fmt.Fprintln(c.App.ErrWriter, self.ReplaceName("It deploys "+plural.Of(n, "file")+", which devnet scenario FILE writes beside it."))
		}
		return err
	}
	contents := map[string]string{args[0]: m.Script}
	for _, file := range m.Files {
		if !filepath.IsLocal(file.Name) || file.Name != filepath.Base(file.Name) {
			return failure.New("Nothing was written. Is the network one of yours?", "the network names a file outside of the folder of %s: %.40q",
				args[0], file.Name)
		}
		contents[filepath.Join(filepath.Dir(args[0]), file.Name)] = file.Content
	}
	for path, content := range contents { // order: each is judged alone
		if there, err := os.ReadFile(path); err == nil && string(there) != content {
			return failure.NewUsage("Give another FILE, in a folder of its own.", "%s is there already, with other content", path)
		}
	}
	for path, content := range contents { // order: they do not meet
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return failure.New(failure.GivePath, "%v", err)
		}
	}
	fmt.Fprintf(c.App.Writer, "%s: play it by %s run %s\n", words.Printable(args[0]), self.ProgramName(), words.Printable(args[0]))
	return nil
}
