package main

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
			corsFlag(corsVariable),
			hostFlag(),
		}, watchFlags()...),
		Action: takingNothing(nodeValidator),
	}
}

// settingsError returns why a node has no settings.
func settingsError(path string, err error, hint string) error {
	var wrong *configfile.Error
	switch {
	case errors.As(err, &wrong):
		return noStart(hint, "%v", err)
	case errors.As(err, new(*fs.PathError)):
		return causedBy(err, noStart(givePath, "--config: %s", noFile(path, err)))
	}
	return noStart("", "--config: %v", err)
}

func nodeValidator(c *cli.Context) error {
	path := c.String("config")
	if path == "" {
		return newUsageError("devnet init makes one for each node.", "--config FILE is missing")
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
		return noStart("", "the name of this host cannot be read: %v", err)
	}
	if err := set.CheckHost(host); err != nil {
		return noStart("One key is one process. Run it there, or change host in "+path+".", "%v", err)
	}
	origins := listOf(c, "cors", set.Origins)
	if err := readOrigins(origins); err != nil {
		return err
	}
	names := append(set.Named, listOf(c, "host", nil)...)
	if err := readHosts("--host", names); err != nil {
		return err
	}
	defer attachToInput(c)()
	defer surviveUnread(c)()
	listener, err := net.Listen("tcp", set.HTTP)
	if err != nil {
		return noStart("Stop what listens there, or change http in "+path+".",
			"cannot listen on the HTTP address %s: %v", set.HTTP, innermostCause(err))
	}
	config := box.Config{Plan: set.Chain, Here: set.Here, Home: set.Home, Python: set.Python}
	config.Version, config.Log = version, slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	config.Slow = func(words string) { fmt.Fprintf(c.App.ErrWriter, "%s.\n", words) }
	config.Here.Lost = c.Bool("lost")
	if err := watchingOf(c).openFiles(&config, config.Log); err != nil {
		_ = listener.Close()
		return err
	}
	server := controlOf(set, &config)
	n, err := box.Up(c.Context, config)
	if err != nil {
		_ = listener.Close()
		return notUp(err)
	}
	v := &loneValidator{c, n, listener.Addr().String(), server, origins}
	return v.serveUntilEnd(listener, slices.Concat(callableNames(set.HTTP), set.Hosts, names))
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
	run := runFile{HTTP: reachableURL(v.address), PID: os.Getpid(), ChainID: v.network.Config().ChainID}
	if err := writeRunFile(v.network.Home().Dir(), run); err != nil {
		return noStart("", "%v", err)
	}
	v.introduceValidator()
	stopped := make(chan error, 1)
	go func() { stopped <- v.watchReadiness(v.Context.Context) }()
	select {
	case err := <-served:
		return newFailure("", "the HTTP server stopped: %v", err)
	case err := <-stopped:
		if err == nil {
			fmt.Fprintln(v.App.Writer, "Stopped.")
		}
		return err
	}
}

func (v *loneValidator) introduceValidator() {
	node := v.network.Nodes()[0]
	printFacts(v.App.Writer, "validator", node.Name, "address", node.Validator.Address.String(), "genesis",
		v.network.Genesis().Hash().String(),
		"reached at", node.Validator.Endpoint, "HTTP API", "http://"+v.address, "home", v.network.Home().Dir())
	if warning := exposureWarning(v.address, v.network.Config().Strict); warning != "" {
		fmt.Fprintln(v.App.Writer, wrapText(warning, "", helpColumns))
	}
	if warning := originsNotice(v.origins, v.network.Config().Strict); warning != "" {
		fmt.Fprintln(v.App.Writer, wrapText(warning, "", helpColumns))
	}
	fmt.Fprintln(v.App.Writer, "Ctrl-C stops it.")
}

// watchReadiness prints when the validator is ready, when blocks cease and when they resume,
// until ctx ends. Its error is why the validator stopped by itself.
func (v *loneValidator) watchReadiness(ctx context.Context) error {
	ready := false
	var words livenessWords
	for waitFor(ctx, livenessEvery) {
		node := v.network.List()[0]
		if failure := node.Failure(); failure != nil {
			return newFailure("Fix that, then start it again: it continues from its home.", "%s stopped by itself: %v", node.Name, failure)
		}
		if shown := v.network.Nodes()[0]; !ready && len(shown.Missing) == 0 {
			ready = true
			fmt.Fprintf(v.App.Writer, "%s is ready at height %d.\n", shown.Name, shown.Height)
		}
		if line := words.lineNow(v.network.Liveness()); line != "" {
			fmt.Fprintln(v.App.Writer, line)
		}
	}
	return nil
}
