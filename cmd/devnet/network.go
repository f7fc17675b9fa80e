package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// defaultHTTP is where a network is looked for when nothing tells.
const defaultHTTP = "127.0.0.1:4000"

// defaultHome is the folder of a network's files.
const defaultHome = ".devnet"

// httpVariable is the environment variable that stands for --http.
const httpVariable = "DEVNET_HTTP"

var httpFlag = &cli.StringFlag{Name: "http", EnvVars: []string{httpVariable},
	Usage: "`ADDRESS` of the network (default: that of the .devnet home here, or " + defaultHTTP + ")"}

var nodeFlag = &cli.StringFlag{Name: "node", Usage: "read `NODE`'s state instead of the highest final one"}

// readFlags are the flags of reads that can look at an earlier moment.
var readFlags = []cli.Flag{jsonFlag, httpFlag, nodeFlag, atFlag}

var atFlag = &cli.StringFlag{Name: "at", Usage: "as it was at `MOMENT`: h12 is after the block of height 12"}

// networkClient returns a client of the network that the command is about.
func networkClient(c *cli.Context) *client.API {
	address := c.String("http")
	if address == "" {
		address = homeHTTP(defaultHome)
	}
	if address == "" {
		address = defaultHTTP
	}
	n := client.NewAPI(address)
	if node := c.String("node"); node != "" {
		n = n.OnNode(node)
	}
	if at := momentOf(c); at != "" {
		n = n.At(at)
	}
	return n
}

// momentOf is the earlier moment that a read is to look at; "" for the present. Another command's --at is the height of an
// order.
func momentOf(c *cli.Context) string {
	if c.Command == nil || !slices.Contains(c.Command.Flags, cli.Flag(atFlag)) {
		return ""
	}
	return c.String("at")
}

// checkAt refuses --at beside --follow, which shows what comes.
func checkAt(c *cli.Context) error {
	if momentOf(c) != "" && c.Bool("follow") {
		return newUsageError("Leave out one of them.", "--at shows an earlier moment, and --follow what comes")
	}
	return nil
}

// noteMoment says for people of what moment an output is.
func noteMoment(c *cli.Context) {
	if at := momentOf(c); at != "" && !c.Bool("json") {
		fmt.Fprintf(c.App.ErrWriter, "As it was at %s.\n", printable(at))
	}
}

// withArguments is the action of a command that takes the arguments that its ArgsUsage names.
func withArguments(action func(c *cli.Context, args []string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args, err := readArguments(c, strings.Fields(c.Command.ArgsUsage)...)
		if err == nil {
			err = checkAt(c)
		}
		if err != nil {
			return err
		}
		if err = action(c, args); err == nil {
			noteMoment(c)
		}
		return err
	}
}

// takingNothing is the action of a command without arguments.
func takingNothing(action cli.ActionFunc) cli.ActionFunc {
	return withArguments(func(c *cli.Context, _ []string) error { return action(c) })
}

// readArguments returns as many arguments as there are names; those in brackets may
// be missing.
func readArguments(c *cli.Context, names ...string) ([]string, error) {
	given := c.Args().Slice()
	path := cmp.Or(c.Command.HelpName, "devnet "+c.Command.Name)
	example := "Usage: " + strings.Join(append([]string{path}, names...), " ")
	out := make([]string, len(names))
	for i, name := range names {
		if i < len(given) {
			out[i] = given[i]
		} else if !strings.HasPrefix(name, "[") {
			return nil, newUsageError(example, "%s is missing", name)
		}
		if i < len(given) && given[i] == "" && !mayBeEmpty(name) {
			return nil, newUsageError(example, "%s is empty", name)
		}
	}
	if len(given) > len(names) {
		return nil, newUsageError(example, "%q is one argument too many", given[len(names)])
	}
	return out, nil
}

// mayBeEmpty reports whether an argument of this name says something by being empty:
// what may be missing, and what stands for bytes.
func mayBeEmpty(name string) bool {
	return strings.HasPrefix(name, "[") || name == "RESULT" || name == "VALUE"
}

// readActor reads the Python file of an actor: one on disk, or else an example that the
// program carries.
func readActor(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if folder, name, ok := scenario.Carried(path); ok {
			return fs.ReadFile(folder, name)
		}
	}
	return readFile(path)
}

// readFile reads a file a person named.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, causedBy(err, newUsageError(givePath, "cannot read %s: %v", path, innermostCause(err)))
	}
	return data, nil
}
