package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// corsVariable gives the origins of --cors to a node in a container.
const corsVariable = "DEVNET_CORS"

func nodeValidatorCommand() *cli.Command {
	return &cli.Command{
		Name: "validator", Usage: "a validator of a network that devnet init made; Ctrl-C stops it, and its state stays in its home",
		Description: "Example: devnet node validator --config net/v0.toml\n" +
			"The file has name, key or key_file, genesis, home, listen, http, and optionally hosts, seed,\n" +
			"python, durability, history, cors, hosts: more names of its API, supervision, signs_for, names\n" +
			"and host: the only host on which it starts. It logs to standard error.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "`FILE` with its settings, as TOML"},
			attachedFlag,
			&cli.BoolFlag{Name: "lost", Usage: "the node ran before and its home is lost: it votes after the others have advanced"},
			listen.CORSFlag(corsVariable),
			listen.HostFlag(),
		}, launch.WatchFlags()...),
		Action: command.WithoutArguments(nodeValidator),
	}
}

// settingsError returns why a node has no settings.
func settingsError(path string, err error, hint string) error {
	var wrong *configfile.Error
	switch {
	case errors.As(err, &wrong):
		return failure.NewNoStart(hint, "%v", err)
	case errors.As(err, new(*fs.PathError)):
		return failure.CausedBy(err, failure.NewNoStart(failure.GivePath, "--config: %s", failure.DescribeFile(path, err)))
	}
	return failure.NewNoStart("", "--config: %v", err)
}

func nodeValidator(c *cli.Context) error {
	path := c.String("config")
	if path == "" {
		return failure.NewUsage("devnet init makes one for each node.", "--config FILE is missing")
	}
	return validatorOf(c, path)
}

// validatorOf runs the validator of a file of settings.
func validatorOf(c *cli.Context, path string) error {
	set, err := hosts.Open(path)
	if err != nil {
		return settingsError(path, err, "devnet node validator --help names the settings.")
	}
	host, err := os.Hostname()
	if err != nil {
		return failure.NewNoStart("", "the name of this host cannot be read: %v", err)
	}
	if err := set.CheckHost(host); err != nil {
		return failure.NewNoStart("One key is one process. Run it there, or change host in "+path+".", "%v", err)
	}
	origins := listen.ReadList(c, "cors", set.Origins)
	if err := listen.ReadOrigins(origins); err != nil {
		return err
	}
	names := append(set.Named, listen.ReadList(c, "host", nil)...)
	if err := listen.ReadHosts("--host", names); err != nil {
		return err
	}
	defer attachToInput(c)()
	defer command.SurviveUnread(c)()
	listener, err := net.Listen("tcp", set.HTTP)
	if err != nil {
		return failure.NewNoStart("Stop what listens there, or change http in "+path+".",
			"cannot listen on the HTTP address %s: %v", set.HTTP, failure.InnermostCause(err))
	}
	config := box.Config{Plan: set.Chain, Here: set.Here, Home: set.Home, Python: set.Python}
	config.Version, config.Log = self.Version, slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	config.Slow = func(words string) { fmt.Fprintf(c.App.ErrWriter, "%s.\n", words) }
	config.Here.Lost = c.Bool("lost")
	if err := launch.ReadWatch(c).OpenFiles(&config, config.Log); err != nil {
		_ = listener.Close()
		return err
	}
	server := controlOf(set, &config)
	n, err := box.Up(c.Context, config)
	if err != nil {
		_ = listener.Close()
		return launch.DescribeFailure(err)
	}
	v := &loneValidator{c, n, listener.Addr().String(), server, origins}
	return v.serveUntilEnd(listener, slices.Concat(listen.CallableNames(set.HTTP), set.Hosts, names))
}

// loneValidator is a validator in a separate process, with its API server.
type loneValidator struct {
	*cli.Context
	network *box.Network
	address string
	control *control.ValidatorServer // nil: no supervisor
	origins []string                 // whose pages may call the API
}

// serveUntilEnd answers until the process is asked to end, or the validator stops by itself.
func (v *loneValidator) serveUntilEnd(listener net.Listener, names []string) (err error) {
	serve := api.Config{Hosts: names, Origins: v.origins}
	if v.control != nil {
		serve.Node = v.control
		defer v.control.Close()
	}
	server := api.New(v.network, serve)
	if v.control != nil {
		v.control.Begin(v.network.Driven())
	}
	defer func() { err = errors.Join(err, server.Close(), v.network.Close()) }()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	run := command.RunFile{HTTP: listen.ReachableAddress(v.address), PID: os.Getpid(), ChainID: v.network.Config().ChainID}
	if err := command.WriteRunFile(v.network.Home().Dir(), run); err != nil {
		return failure.NewNoStart("", "%v", err)
	}
	v.introduceValidator()
	stopped := make(chan error, 1)
	go func() { stopped <- v.watchReadiness(v.Context.Context) }()
	select {
	case err := <-served:
		return failure.New("", "the HTTP server stopped: %v", err)
	case err := <-stopped:
		if err == nil {
			fmt.Fprintln(v.App.Writer, "Stopped.")
		}
		return err
	}
}

func (v *loneValidator) introduceValidator() {
	node := v.network.Nodes()[0]
	terminal.PrintFacts(v.App.Writer, "validator", node.Name, "address", node.Validator.Address.String(), "genesis",
		v.network.Genesis().Hash().String(),
		"reached at", node.Validator.Endpoint, "HTTP API", "http://"+v.address, "home", v.network.Home().Dir())
	if warning := listen.WarnOfExposure(v.address, v.network.Config().Strict); warning != "" {
		fmt.Fprintln(v.App.Writer, terminal.Wrap(warning, "", terminal.TextColumns))
	}
	if warning := listen.DescribeOrigins(v.origins, v.network.Config().Strict); warning != "" {
		fmt.Fprintln(v.App.Writer, terminal.Wrap(warning, "", terminal.TextColumns))
	}
	fmt.Fprintln(v.App.Writer, "Ctrl-C stops it.")
}

// watchReadiness prints when the validator is ready, when blocks cease and when they resume,
// until ctx ends. Its error is why the validator stopped by itself.
func (v *loneValidator) watchReadiness(ctx context.Context) error {
	ready := false
	var words nodetext.Liveness
	for command.Sleep(ctx, nodetext.LivenessEvery) {
		node := v.network.List()[0]
		if failed := node.Failure(); failed != nil {
			return failure.New("Fix that, then start it again: it continues from its home.", "%s stopped by itself: %v", node.Name, failed)
		}
		if shown := v.network.Nodes()[0]; !ready && len(shown.Missing) == 0 {
			ready = true
			fmt.Fprintf(v.App.Writer, "%s is ready at height %d.\n", shown.Name, shown.Height)
		}
		if line := words.Line(v.network.Liveness()); line != "" {
			fmt.Fprintln(v.App.Writer, line)
		}
	}
	return nil
}
