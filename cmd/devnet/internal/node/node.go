// Package node has the commands that run one node, and ask for its health.
package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/job"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/chainhttp"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners"
)

// How long a runner that is asked to end waits for the jobs that it has, and then for
// its Goodbyes.
const (
	finishPatience  = 30 * time.Second
	goodbyePatience = 2 * time.Second
)

// Command is the command node.
func Command() *cli.Command {
	return &cli.Command{
		Name: "node", Usage: "run one node of a network in this process", Description: "Example: devnet node runner --config r9.toml",
		Subcommands: []*cli.Command{nodeValidatorCommand(), nodeHealthCommand(), nodeSeededCommand(), {
			Name: "runner", Usage: "a runner that joins a devnet; Ctrl-C ends it when its jobs are done, a second one at once",
			Description: "Example: devnet node runner --config r9.toml\n" +
				"The file has name, key or key_file, api (the devnet's URL), max_concurrent_jobs, and a table for each\n" +
				"kind of job, described in docs/RUNNERS.md. The runner has to be registered: devnet runner join.\n" +
				"SIGHUP makes it read the tables of its jobs again, and say to its validators what it offers since.",
			Flags: append([]cli.Flag{&cli.StringFlag{Name: "config", Usage: "`FILE` with its settings, as TOML"},
				&cli.StringFlag{Name: "owner", Value: "alice", Usage: "devnet `ACCOUNT` that is to register it: the runner signs for that account"},
				&cli.BoolFlag{Name: "wait", Usage: "wait until its devnet answers, if it does not yet"}, attachedFlag}, launch.WatchFlags()...),
			Action: command.WithoutArguments(nodeRunner),
		}},
	}
}

func nodeRunner(c *cli.Context) error {
	if c.String("config") == "" {
		return failure.NewUsage("docs/RUNNERS.md has an example of a file.", "--config FILE is missing")
	}
	return runnerOf(c, c.String("config"))
}

// runnerOf runs the runner of a file of settings.
func runnerOf(c *cli.Context, path string) error {
	set, err := runnerfile.Open(path)
	if err != nil {
		return settingsError(path, err, "docs/RUNNERS.md has every setting.")
	}
	settings := &reloading{path: path, set: set, does: executor.NewSwap(set.Executor)}
	defer func() { settings.does.Close() }() // if it is not started; closing it twice has no effect
	defer attachToInput(c)()
	defer command.SurviveUnread(c)()
	return runRunner(c, set, settings)
}

// runRunner runs a runner until the process is asked to end.
func runRunner(c *cli.Context, set *runnerfile.Runner, settings *reloading) error {
	n, ready, err := anyAnswering(c, set)
	if err != nil {
		return failure.NewNoStart("Is a devnet up there? The setting api names its HTTP address.", "%v", err)
	}
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	watch, err := launch.ReadWatch(c).OpenForRunner(set.Name, ready.Strict, log)
	if err != nil {
		return err
	}
	runtime := roles.New(log)
	defer runtime.Close()
	runtime.OnPanic = func(name string, value any, stack []byte) {
		log.Error("a bug of devnet: an actor panicked", "actor", name, "panic", value, "stack", string(stack))
	}
	fell := make(chan *roles.Failure, 1)
	verifier, now := crypto.NewVerifier(true), clock.New()
	asked := chainhttp.Config{API: set.API, Also: set.Also, Runner: set.Key.PublicKey(), ChainID: ready.ChainID,
		Sign: verifier.Signer(set.Key).Sign, Log: log}
	config := node.RunnerConfig{
		Parts: node.Parts{Name: set.Name, Signer: verifier.Signer(set.Key), Verifier: verifier, Clock: now,
			Along: func(_ uint64, f *roles.Failure) { fell <- f }}, // once in each life
		Shell:   runners.Config{ChainID: ready.ChainID, MaxJobs: uint32(set.Jobs), PollEvery: set.PollEvery, Strategy: set.Strategy},
		Runtime: runtime, Listen: listenFor(set.API), Log: log, Capture: watch,
		Chain:    func() (env.ChainView, error) { return chainhttp.New(asked) },
		Polls:    func() (env.Polls, error) { return chainhttp.NewPolls(asked) },
		Executor: func() (env.Executor, error) { return settings.does, nil },
	}
	retired := make(chan struct{}, 1)
	var driven *control.DrivenRunner
	if set.Driver == "" { // who drives it ends it
		config.Shell.Tell = func(_ string, report runners.Report) {
			if _, is := report.(runners.Deregistered); is {
				select {
				case retired <- struct{}{}:
				default: // it is told already: a key is registered once
				}
			}
		}
	} else {
		driven = control.DriveRunner(&config, set.Driver, ready.Strict, now, set.Manual)
	}
	r := node.NewRunner(config)
	settings.runner, settings.log = r, log
	introduceRunner(c, n, set, ready.ChainID)
	if err := r.Start(); err != nil {
		return failure.NewNoStart("", "%v", err)
	}
	settings.takeExecutors()
	if err := driven.Begin(r, set.Control, settings.reloadSettings); err != nil {
		return failure.NewNoStart("Stop what listens there, or change the setting control.", "%v", errors.Join(err, r.Stop()))
	}
	served := &servedRunner{c, r, settings, driven, now, fell, retired}
	return errors.Join(served.serveUntilEnd(), driven.Close(), r.Stop())
}

// servedRunner is a runner that runs in this process, and what becomes of it.
type servedRunner struct {
	*cli.Context
	runner   *node.Runner
	settings *reloading
	driven   *control.DrivenRunner // nil: no supervisor
	clock    *clock.Clock
	fell     <-chan *roles.Failure // a role took it along, once in each life
	retired  <-chan struct{}       // it has left the registry
}

// serveUntilEnd reloads and restarts the runner until it is to end. The error says why it cannot run on.
func (s *servedRunner) serveUntilEnd() error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	var restarts roles.Restarts
	for {
		select {
		case <-hangup:
			s.settings.reloadAndPrint(s.Context)
		case f := <-s.fell:
			if f.Strategy != roles.Restart || !restarts.Allow(s.clock.Now()) {
				return failure.New("", "the runner stopped: %v", f)
			}
			s.settings.log.Warn("the runner is started again: a role had taken it along", "why", f)
			if err := s.startAgain(); err != nil {
				return failure.New("", "the runner does not start again: %v", err)
			}
		case <-s.retired:
			fmt.Fprintf(s.App.Writer, "It has left the registry for good: it ends when its jobs are over.\n")
			leaveInTime(s.runner, true)
			return nil
		case <-s.Context.Context.Done():
			fmt.Fprintf(s.App.Writer, "Leaving: no new jobs are taken. Ctrl-C ends it at once.\n")
			leaveInTime(s.runner, !isAbandoned(s.Context.Context))
			return nil
		}
	}
}

// startAgain ends the runner as kill -9 does, and starts it again in this process.
func (s *servedRunner) startAgain() error {
	s.runner.Kill()
	if err := errors.Join(s.runner.Stop(), s.settings.reopenExecutors()); err != nil {
		return err
	}
	if err := s.runner.Start(); err != nil {
		return err
	}
	s.settings.takeExecutors()
	s.driven.Again(s.runner, s.settings.set.Manual)
	return nil
}

// leaveInTime lets a runner end its open jobs, if it is to finish, and say Goodbye.
func leaveInTime(r *node.Runner, finish bool) {
	for _, step := range []struct {
		finish   bool
		patience time.Duration
	}{{true, finishPatience}, {false, goodbyePatience}} {
		if step.finish && !finish {
			continue
		}
		gone := make(chan struct{}, 1)
		r.Leave(step.finish, func() { gone <- struct{}{} })
		select {
		case <-gone:
			return
		case <-time.After(step.patience):
		}
	}
}

// listenFor returns the address of a runner's socket: one that only this machine
// reaches, if its devnet is there too.
func listenFor(api string) string {
	u, err := url.Parse(api)
	if err != nil {
		return "127.0.0.1:0"
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return "127.0.0.1:0"
	}
	return ":0"
}

// introduceRunner says who the runner is, and what there is to do where the chain does
// not know it.
func introduceRunner(c *cli.Context, n *client.API, set *runnerfile.Runner, chainID uint64) {
	w := c.App.Writer
	address := addressOf(set)
	terminal.PrintFacts(w, "runner", set.Name, "address", address.String(), "public key", set.Key.PublicKey().String(), "devnet", set.API,
		"does", strings.Join(set.Executor.Capabilities(), ", "))
	known, err := n.Runner(c.Context, address.String())
	_, refused := errors.AsType[*client.Error](err)
	switch {
	case refused:
		fmt.Fprintf(w, "\nIt is not registered, and has no jobs before it is. In another terminal:\n  %s\n", joinCommand(c, n, set, chainID))
	case err == nil && known.Health != model.RunnerHealthy:
		fmt.Fprintf(w, "\nIts registration is %s: it has no jobs.\n", known.Health)
	}
	if note := job.NoteBesideOffline(c, n, set, refused); note != "" {
		fmt.Fprintln(w, "Note: "+note)
	}
	fmt.Fprintln(w, "Ctrl-C ends it.")
}

// joinCommand is the command that registers a runner with its settings, at the devnet
// that they name, with the runner's signature for its owner.
func joinCommand(c *cli.Context, n *client.API, set *runnerfile.Runner, chainID uint64) string {
	words := []string{self.ProgramName(), "runner", "join", "--public-key", set.Key.PublicKey().String()}
	owner := c.String("owner")
	if account, err := n.Account(c.Context, owner); err == nil {
		signed := set.Key.Sign(types.RegistrationDigest(chainID, account.Address, set.Key.PublicKey()))
		words = append(words, "--signed", signed.String())
	}
	if owner != "alice" {
		words = append(words, "--from", owner)
	}
	for _, capability := range set.Executor.Capabilities() {
		words = append(words, "--capability", capability)
	}
	for _, entitlement := range set.Executor.Entitlements() {
		words = append(words, "--entitlement", entitlement)
	}
	words = append(words, "--max-concurrent", fmt.Sprint(set.Jobs))
	if client.NewAPI(set.API).URL() != client.NewAPI(command.DefaultHTTP).URL() {
		words = append(words, "--http", set.API)
	}
	return self.ShellWords(words)
}
