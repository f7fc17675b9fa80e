package network

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/owner"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/container"
)

// How long down waits for a network to end in good order, and how often it looks.
const (
	downPatience = 40 * time.Second
	downEvery    = 20 * time.Millisecond
)

// DownCommand is the command down.
func DownCommand() *cli.Command {
	return &cli.Command{
		Name: "down", Usage: "stop the network, or the validator, that runs on a home of this machine; its state stays",
		Description: "Example: devnet down --home .devnet\nIt returns when the process has let the home go.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "home", Value: command.DefaultHome, Usage: "`DIR` of its files"},
			&cli.BoolFlag{Name: "containers", Usage: "instead, remove containers that a killed devnet run or test left on this machine"},
			command.JSONFlag},
		Action: command.WithoutArguments(stopNetwork),
	}
}

// downReport is what down tells.
type downReport struct {
	Home string `json:"home"`
	PID  int    `json:"pid"`
}

func stopNetwork(c *cli.Context) error {
	if c.Bool("containers") {
		return downContainers(c)
	}
	dir := c.String("home")
	pid, runs := home.User(dir)
	switch {
	case !runs:
		return failure.New("Name its folder with --home.", "no devnet runs on %s", dir)
	case pid == 0:
		return failure.New("It may be starting: try again.", "the process on %s has not said who it is", dir)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return failure.New("", "process %d, which runs on %s, cannot be asked to end: %v", pid, dir, err)
	}
	for late := time.Now().Add(downPatience); runs; _, runs = home.User(dir) {
		if time.Now().After(late) {
			return failure.New(fmt.Sprintf("kill -9 %d ends it; nothing that is final is lost.", pid), "process %d on %s has not ended after %s",
				pid, dir, downPatience)
		}
		if !command.Sleep(c.Context, downEvery) {
			return c.Context.Err()
		}
	}
	return command.PrintAnswerOrJSON(c, downReport{dir, pid}, func(w io.Writer) {
		fmt.Fprintf(w, "Stopped process %d. The state is in %s.\n", pid,
			dir)
	})
}

// downContainers removes what owners of containers left that died.
func downContainers(c *cli.Context) error {
	if c.IsSet("home") {
		return failure.NewConflict("--containers is about all of this machine, and --home about one network")
	}
	if err := container.Available(c.Context); err != nil {
		return failure.New("", "%v", err)
	}
	folders, err := container.Reap(c.Context)
	if err != nil {
		return failure.New("List them with: docker ps --all --filter label=devnet.carrier, or docker network ls with the same filter. "+
			"A restart of the engine frees a network that it keeps.", "not all could be removed: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	if folders == nil {
		folders = []string{}
	}
	unseen, err := container.ListUnseen(c.Context)
	if err != nil {
		return failure.New("", "%v", err)
	}
	for _, left := range unseen {
		label := self.ShellQuote("label=" + owner.NetworkLabel + "=" + left.Network)
		fmt.Fprintf(c.App.ErrWriter, "Left those of %s: its owner has other files than this process (a /tmp of its own), and may live. If it "+
			"does not:\n  docker rm -fv $(docker ps -aq --filter %s)\n  docker network rm $(docker network ls -q --filter %s)\n"+
			"  docker volume rm $(docker volume ls -q --filter %s)\n", words.Printable(left.Folder), label, label, label)
	}
	return command.PrintAnswerOrJSON(c, folders, func(w io.Writer) {
		if len(folders) == 0 && len(unseen) == 0 {
			fmt.Fprintln(w, "No killed run or test left a container here.")
		}
		for _, folder := range folders {
			fmt.Fprintf(w, "Removed the containers, volumes and network of %s.\n", folder)
		}
	})
}
