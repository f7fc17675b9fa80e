// Package command is what commands share: how one reaches its network, reads its arguments, waits, and answers.
package command

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// DefaultHTTP is where a network is looked for when nothing tells.
const DefaultHTTP = "127.0.0.1:4000"

// DefaultHome is the folder of a network's files.
const DefaultHome = ".devnet"

// HTTPVariable is the environment variable that stands for --http.
const HTTPVariable = "DEVNET_HTTP"

// HTTPFlag is the address of the network that a command is about.
var HTTPFlag = &cli.StringFlag{Name: "http", EnvVars: []string{HTTPVariable},
	Usage: "`ADDRESS` of the network (default: that of the .devnet home here, or " + DefaultHTTP + ")"}

// NodeFlag is the node whose state a read looks at.
var NodeFlag = &cli.StringFlag{Name: "node", Usage: "read `NODE`'s state instead of the highest final one"}

// ReadFlags are the flags of reads that can look at an earlier moment.
var ReadFlags = []cli.Flag{JSONFlag, HTTPFlag, NodeFlag, AtFlag}

// AtFlag is the moment that a read looks at.
var AtFlag = &cli.StringFlag{Name: "at", Usage: "as it was at `MOMENT`: h12 is after the block of height 12"}

// NewClient returns a client of the network that the command is about.
func NewClient(c *cli.Context) *client.API {
	address := c.String("http")
	if address == "" {
		address = HomeHTTP(DefaultHome)
	}
	if address == "" {
		address = DefaultHTTP
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
	if c.Command == nil || !slices.Contains(c.Command.Flags, cli.Flag(AtFlag)) {
		return ""
	}
	return c.String("at")
}

// checkAt refuses --at beside --follow, which shows what comes.
func checkAt(c *cli.Context) error {
	if momentOf(c) != "" && c.Bool("follow") {
		return failure.NewUsage("Leave out one of them.", "--at shows an earlier moment, and --follow what comes")
	}
	return nil
}

// noteMoment says for people of what moment an output is.
func noteMoment(c *cli.Context) {
	if at := momentOf(c); at != "" && !c.Bool("json") {
		fmt.Fprintf(c.App.ErrWriter, "As it was at %s.\n", words.Printable(at))
	}
}

// AddressFlag is the flag that names a network; "" for the default one.
func AddressFlag(address string) string {
	if address == DefaultHTTP {
		return ""
	}
	return " --http " + address
}

// HomeFlag is the flag that names a home; "" for the default one.
func HomeFlag(dir string) string {
	if dir == DefaultHome {
		return ""
	}
	return " --home " + self.ShellQuote(dir)
}
