// Package up has the command that starts a network and runs it.
package up

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/actor"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// readyEvery is how often up looks what is missing for the first blocks, besides when a validator
// made a block final.
const readyEvery = 20 * time.Millisecond

// startGCPercent is the collector's setting until the network is ready. A start allocates three times
// what it keeps, and would collect six times on the way, at a sixth of its CPU time.
const startGCPercent = 400

// actorFund is what --actor moves to an actor.
var actorFund = types.WeiOf(100 * types.CBY)

// Command is the command up.
func Command() *cli.Command {
	return &cli.Command{
		Name: "up", Usage: "start a network and run it until Ctrl-C; its state stays in --home",
		Description: "Example: devnet up --actor fixtures/actors/heartbeat.py\n" +
			"On a home that exists it continues with its last block. With --processes each node is\n" +
			"a separate process, which ends with this one.",
		Flags:  launch.Flags(),
		Action: startNetwork,
	}
}

func startNetwork(c *cli.Context) (err error) {
	s, err := launch.Read(c)
	if err != nil {
		return err
	}
	if s.Detach || s.Wait {
		return upElsewhere(c, s)
	}
	defer command.SurviveUnread(c)()
	let := releaseOutputs(c)
	// The port first: a network without its API need not start.
	if err := listen.Check(s.HTTP); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.HTTP)
	if err != nil && !s.Ephemeral && command.HomeHTTP(s.Home) == listen.ReachableAddress(s.HTTP) {
		return failure.NewNoStart(fmt.Sprintf("devnet status%s shows it, and devnet down%s stops it.",
			command.AddressFlag(listen.ReachableAddress(s.HTTP)), command.HomeFlag(s.Home)),
			"the devnet of %s is up already, at http://%s", s.Home, listen.ReachableAddress(s.HTTP))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return listen.NewInUse(s.HTTP, err)
	}
	if err != nil {
		return failure.NewNoStart("Give an address of this machine, or --http 127.0.0.1:0 for any free port.",
			"cannot listen on the HTTP address %s: %v", s.HTTP, failure.InnermostCause(err))
	}
	usual := debug.SetGCPercent(startGCPercent)
	defer debug.SetGCPercent(usual)
	bound := listener.Addr().String()
	u := &running{Context: c, settings: s, bound: bound, address: listen.ReachableAddress(bound), python: make(chan pythonProbe, 1),
		told: map[types.Hash]bool{}}
	bring := u.inThisProcess
	if s.Processes {
		bring = u.inProcesses
	}
	if err := bring(); err != nil {
		_ = listener.Close()
		return err
	}
	go func() {
		version, err := u.network.Probe()
		u.python <- pythonProbe{version, err}
	}()
	served := make(chan error, 1)
	go func() { served <- u.server.Serve(listener) }()
	defer func() { err = errors.Join(err, u.stopNetwork()) }()
	if err := u.introduceNetwork(); err != nil {
		select {
		case unfit := <-u.network.Unfit():
			return unfitPython(unfit) // it is why, whatever failed by it
		default:
			return withoutSignalError(c.Context, err)
		}
	}
	debug.SetGCPercent(usual)
	if err := let(u.homeDir()); err != nil {
		return err
	}
	go u.watchLiveness()
	if u.settings.Demo {
		go u.playDemo()
	}
	unfit := u.network.Unfit()
	if c.Bool(launch.DetachedFlag) {
		unfit = nil // who started it was told that it is up: status says why Python actors do not run
	}
	select {
	case err := <-served:
		return failure.New("", "the HTTP server stopped: %v", err)
	case err := <-u.followFinal():
		return withoutSignalError(c.Context, err)
	case err := <-unfit:
		return unfitPython(err)
	}
}

// unfitPython is the end of a network whose Python turned out to be unfit while it ran.
func unfitPython(why error) error {
	return failure.NewNoStart("devnet doctor shows what this machine lacks.", "%v", why)
}

// withoutSignalError makes the end by a signal no error.
func withoutSignalError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// running is a network that is up, and who shows it.
type running struct {
	*cli.Context
	settings launch.Settings
	network  upNetwork
	server   *api.Server // nil of a network that another process runs
	bound    string      // what the API listens on; "" of a network that another process runs
	address  string      // at which this machine reaches it
	client   *client.API
	from     types.Height        // the fires from this height on are shown
	shown    bool                // people have seen that it is up
	told     map[types.Hash]bool // executions that were shown already
	python   chan pythonProbe
}

// pythonProbe is the Python that runs actors, or what is missing.
type pythonProbe struct {
	version string
	missing error
}

// introduceNetwork waits for the network, deploys what was asked for, and prints what
// there is.
func (u *running) introduceNetwork() error {
	u.client = client.NewAPI(u.address)
	if err := u.network.askedNodes(&u.settings); err != nil {
		return err
	}
	if dir := u.homeDir(); dir != "" {
		if err := command.WriteRunFile(dir, command.RunFile{HTTP: u.address, PID: os.Getpid(), ChainID: u.network.ChainID()}); err != nil {
			return failure.NewNoStart("", "%v", err)
		}
	}
	if u.settings.ConfigOut != "" {
		if err := u.writeConfig(); err != nil {
			return err
		}
	}
	ready, err := u.waitForReady()
	if err != nil {
		return err
	}
	u.from, u.shown = ready.Height+1, true
	python := <-u.python
	if err := u.printBanner(ready, python); err != nil {
		return err
	}
	if len(u.settings.Actors) > 0 && python.missing != nil {
		return failure.NewNoStart("", "--actor: actors cannot run: %v", python.missing)
	}
	for _, file := range u.settings.Actors {
		if err := u.deployFile(file); err != nil {
			return err
		}
	}
	return nil
}

// homeDir is the directory of the network's files, "" when it keeps none.
func (u *running) homeDir() string { return u.network.Dir() }

func (u *running) waitForReady() (model.Ready, error) {
	ctx, cancel := context.WithTimeout(u.Context.Context, launch.ReadyPatience)
	defer cancel()
	heard := make(chan struct{}, 1)
	defer u.network.WatchFinal(func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	})()
	look := time.NewTicker(readyEvery)
	defer look.Stop()
	for {
		ready := u.server.Ready()
		if ready.Ready || u.goesWithout(ready) {
			return ready, nil
		}
		if err := u.network.networkFailure(); err != nil {
			return ready, err
		}
		select {
		case <-heard:
		case <-look.C:
		case <-ctx.Done():
			err := context.Cause(ctx)
			if ready.Error != nil {
				err = errors.New(ready.Error.Message)
			}
			return ready, failure.NewNoStart("devnet logs shows the nodes' logs.", "the network is not ready after %s: %v",
				launch.ReadyPatience, err)
		}
	}
}

// goesWithout reports whether all that is missing is validators that did not start: the others
// make blocks.
func (u *running) goesWithout(ready model.Ready) bool {
	broken, missing := len(u.network.brokenNodes()), 0
	for _, node := range ready.Nodes {
		if !node.Ready {
			missing++
		}
	}
	return broken > 0 && missing == broken && ready.Stalled == "" && ready.Height > 0
}

// deployFile deploys a file under its base name, funds the actor and calls its start,
// unless an actor of that name exists from an earlier run.
func (u *running) deployFile(file string) error {
	ctx, name := u.Context.Context, actor.BaseName(file)
	there, err := u.client.Actor(ctx, name)
	switch {
	case err == nil:
		return u.goesOn(file, there)
	case !command.RefusedAs(err, "unknown_name"):
		return err
	}
	if lacks, err := u.lacksArguments(file, name); lacks || err != nil {
		return err
	}
	d, err := actor.DeployFile(ctx, u.client, u.Context.App.ErrWriter, file, model.DeployRequest{From: "alice", Name: name, Fund: &actorFund})
	if err != nil {
		return err
	}
	if err := command.FailureOf(d.Receipt, "the deploy of "+file); err != nil {
		return err
	}
	u.told[d.Receipt.Hash] = true
	u.printLine("%s deployed at %s in block %d, funded with %s.", name, d.Address, d.Receipt.Height, words.CBY(actorFund))
	deployed, err := u.client.Actor(ctx, name)
	if err != nil {
		return err
	}
	if deployed.Undescribed != "" {
		u.printLine("%s.start was not called, since the handlers are not known: %s", name, words.Printable(deployed.Undescribed))
	}
	for _, h := range deployed.Handlers {
		if h.Name != "start" {
			continue
		}
		if h, schema := u.typedStart(name); actor.NeedsArguments(h) {
			u.printLine("%s.start was not called, since it takes arguments: %s\n  Type: %s actor call %s start %s%s", name,
				actor.HandlerSignature(schema, h), self.ProgramName(), name, actor.ArgumentBlanks(h), u.networkFlags())
			continue
		}
		r, err := u.client.Send(ctx, model.SendRequest{From: "alice", To: name, Handler: "start"})
		if err != nil {
			return err
		}
		if err := command.FailureOf(r, name+".start"); err != nil {
			return err
		}
		u.told[r.Hash] = true
		u.printLine("%s.start ran in block %d.", name, r.Height)
		if !u.settings.JSON {
			chaintext.PrintOutput(u.App.Writer, r.Logs)
		}
	}
	return nil
}

// typedStart is the start of an actor by its schema; nil where it has none that can be read.
func (u *running) typedStart(name string) (*typed.Handler, *typed.Schema) {
	schema, err := actor.SchemaOf(u.Context.Context, u.client, name)
	if err != nil || schema == nil {
		return nil, nil
	}
	return schema.Handler("start"), schema
}

// lacksArguments reports whether the typed init of a file takes arguments, which --actor has
// not, and prints how to give them. The network goes on without the actor.
func (u *running) lacksArguments(file, name string) (bool, error) {
	code, err := command.ReadActor(file)
	if err != nil || !bytes.Contains(code, []byte("def init(")) {
		return false, err
	}
	doc, err := actor.SchemaOfCode(code)
	if err != nil {
		return false, nil // the deploy says what is wrong
	}
	schema, err := typed.Parse(doc)
	if err != nil || !actor.NeedsArguments(schema.Init()) {
		return false, nil
	}
	u.printLine("%s was not deployed, since its init takes arguments: %s\n  Type: %s actor deploy %s %s --fund %s%s", name,
		actor.HandlerSignature(schema, schema.Init()), self.ProgramName(), file, actor.ArgumentBlanks(schema.Init()),
		strings.TrimSuffix(words.CBY(actorFund), " CBY"), u.networkFlags())
	return true, nil
}

// goesOn prints that an actor exists already; it runs the code that was deployed,
// not that of a file edited since.
func (u *running) goesOn(file string, actor model.Actor) error {
	code, err := command.ReadActor(file)
	if err != nil {
		return err
	}
	if types.Keccak(code) == actor.CodeHash {
		u.printLine("%s is already deployed, and continues.", words.Printable(actor.Name))
		return nil
	}
	u.printLine("%s is already deployed, and continues with its code: %s differs from it.\n"+
		"  To run the file: %s actor deploy %s --replace", words.Printable(actor.Name), file, self.ProgramName(), file)
	return nil
}

// stopNetwork ends the network in good order.
func (u *running) stopNetwork() error {
	u.network.noteEvent("the node stops")
	if u.shown {
		u.printLine("\nStopping…")
	}
	err := errors.Join(u.server.Close(), u.network.Close())
	if dir := u.homeDir(); dir != "" && err == nil && u.shown {
		u.printLine("Stopped. The state is in %s; %s continues from there.", u.settings.Home, u.settings.AgainCommand())
	}
	return err
}

// configOut is what --config-out writes.
type configOut struct {
	HTTP       string            `json:"http"`
	ChainID    uint64            `json:"chain_id"`
	Accounts   []configAccount   `json:"accounts"`
	Validators []model.Validator `json:"validators"`
}

type configAccount struct {
	Name      string          `json:"name"`
	Address   types.Address   `json:"address"`
	PublicKey types.PublicKey `json:"public_key"`
	Key       types.Hash      `json:"private_key"`
}

func (u *running) writeConfig() error {
	validators, err := u.client.Validators(u.Context.Context)
	if err != nil {
		return err
	}
	out := configOut{HTTP: u.address, ChainID: u.network.ChainID(), Accounts: u.network.accountSecrets(), Validators: validators}
	data, err := json.MarshalIndent(out, "", "  ")
	if err == nil {
		err = os.WriteFile(u.settings.ConfigOut, append(data, '\n'), 0o600)
	}
	if err != nil {
		return failure.NewNoStart("", "--config-out: %v", err)
	}
	return nil
}

// printLine prints a line for people; with --json there are none.
func (u *running) printLine(format string, args ...any) {
	if !u.settings.JSON {
		fmt.Fprintf(u.App.Writer, format+"\n", args...)
	}
}
