package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// How long up waits for the first blocks. It looks when a validator made a block final, and
// besides this often, for what else may be missing.
const (
	readyPatience = 2 * time.Minute
	readyEvery    = 20 * time.Millisecond
)

// actorFund is what --actor moves to an actor.
var actorFund = types.WeiOf(100 * types.CBY)

func upCommand() *cli.Command {
	return &cli.Command{
		Name: "up", Usage: "start a network and run it until Ctrl-C; its state stays in --home",
		Description: "Example: devnet up --actor fixtures/actors/heartbeat.py\n" +
			"On a home that exists it continues with its last block. With --processes each node is\n" +
			"a separate process, which ends with this one.",
		Flags:  upFlags(),
		Action: startNetwork,
	}
}

func startNetwork(c *cli.Context) (err error) {
	s, err := readSettings(c)
	if err != nil {
		return err
	}
	if s.Detach || s.Wait {
		return upElsewhere(c, s)
	}
	defer surviveUnread(c)()
	let := releaseOutputs(c)
	// The port first: a network without its API need not start.
	if err := checkListenable(s.HTTP); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.HTTP)
	if err != nil && !s.Ephemeral && homeHTTP(s.Home) == reachableURL(s.HTTP) {
		return noStart(fmt.Sprintf("devnet status%s shows it, and devnet down%s stops it.", ofAddress(reachableURL(s.HTTP)), ofHome(s.Home)),
			"the devnet of %s is up already, at http://%s", s.Home, reachableURL(s.HTTP))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return noStart("Stop what listens there, or choose another address with --http (port 0: any).",
			"cannot listen on the HTTP address %s: %v", s.HTTP, innermostCause(err))
	}
	if err != nil {
		return noStart("Give an address of this machine, or --http 127.0.0.1:0 for any free port.",
			"cannot listen on the HTTP address %s: %v", s.HTTP, innermostCause(err))
	}
	bound := listener.Addr().String()
	u := &running{Context: c, settings: s, bound: bound, address: reachableURL(bound), python: make(chan pythonProbe, 1),
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
	if err := let(u.homeDir()); err != nil {
		return err
	}
	go u.watchLiveness()
	if u.settings.Demo {
		go u.playDemo()
	}
	unfit := u.network.Unfit()
	if c.Bool(detachedFlag) {
		unfit = nil // who started it was told that it is up: status says why Python actors do not run
	}
	select {
	case err := <-served:
		return newFailure("", "the HTTP server stopped: %v", err)
	case err := <-u.followFinal():
		return withoutSignalError(c.Context, err)
	case err := <-unfit:
		return unfitPython(err)
	}
}

// unfitPython is the end of a network whose Python turned out to be unfit while it ran.
func unfitPython(why error) error {
	return noStart("devnet doctor shows what this machine lacks.", "%v", why)
}

// chainConfig is the chain that is asked for, and how its nodes keep it.
func (s *settings) chainConfig() setup.Plan {
	c := setup.Plan{Validators: s.Validators, Runners: defaultRunners, BlockTime: s.blockTime, Auto: s.auto, ChainID: s.ChainID,
		Strict: s.Strict, Params: s.Params, Durability: s.durability, History: uint64(s.History), Strategy: s.Strategy}
	if s.Runners != nil {
		c.Runners = *s.Runners
	}
	return c
}

// boxConfig is what the box is asked for.
func (s *settings) boxConfig(logs *nodeLogs) box.Config {
	c := box.Config{Plan: s.chainConfig()}
	c.Version, c.Log, c.AsRunners, c.Seed = version, logs.networkLogger(), s.Runners != nil, s.Seed
	c.Home, c.Ephemeral, c.Reset = s.Home, s.Ephemeral, s.Reset
	return c
}

// notUp says why there is no network. The home's own errors are complete already.
func notUp(err error) error {
	if inUse, is := errors.AsType[*home.InUseError](err); is {
		who := fmt.Sprintf("process %d", inUse.PID)
		if inUse.PID == 0 {
			who = "another process, which has not said who it is"
		}
		return noStart(fmt.Sprintf("Stop it (Ctrl-C where it runs, or devnet down%s), or choose another --home.", ofHome(inUse.Dir)),
			"home %s is in use by %s", inUse.Dir, who)
	}
	for _, known := range []any{new(*home.IncompatibleError), new(*home.MismatchError), new(*home.ForeignError), new(*home.BrokenError),
		new(*box.ChangedError), new(*box.LaterError), new(*home.OwnerError), new(*box.OtherGenesisError), new(*home.ApartError),
		new(*box.WatchedError), new(*box.DamagedError), new(*box.LostChainError)} {
		if errors.As(err, known) {
			return noStart("", "%v", err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if path, is := errors.AsType[*fs.PathError](err); is && noFolder(path.Path, err) != "" {
		return noStart("Move the file away, or choose another --home.", "the network does not start: %s", noFolder(path.Path, err))
	}
	return noStart("devnet doctor shows what this machine lacks.", "the network does not start: %v", err)
}

// callableNames are the names by which clients may call a server at address. A server that
// listens on all addresses may be called by this machine's own name, as a container is
// by its neighbours.
func callableNames(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		name, err := os.Hostname()
		if err != nil {
			return nil
		}
		return []string{strings.ToLower(name)}
	}
	return []string{host}
}

// reachableURL is how this machine reaches a server at address, which may listen
// on all of its addresses.
func reachableURL(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// listensEverywhere says that an API listens on all addresses; "" if it listens on one.
func listensEverywhere(bound string) string {
	if reachableURL(bound) == bound {
		return ""
	}
	return ", and all other addresses of this machine"
}

// exposureWarning warns of an API that other machines can reach; "": none can, or the network is strict.
func exposureWarning(bound string, strict bool) string {
	host, _, err := net.SplitHostPort(bound)
	ip := net.ParseIP(host)
	if strict || err != nil || ip == nil || ip.IsLoopback() {
		return ""
	}
	return fmt.Sprintf("Warning: other machines can reach the API at %s. A caller signs for the named accounts and injects faults.", bound)
}

// originsNotice says what pages of other origins may do; "": there are none that may.
func originsNotice(origins []string, strict bool) string {
	if len(origins) == 0 {
		return ""
	}
	pages := "Pages of " + strings.Join(origins, ", ")
	if strict {
		return pages + " may read the API and submit signed transactions."
	}
	return "Warning: " + pages + " may call the API. Such a page signs for the named accounts and injects faults."
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
	settings settings
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
		if err := writeRunFile(dir, runFile{HTTP: u.address, PID: os.Getpid(), ChainID: u.network.ChainID()}); err != nil {
			return noStart("", "%v", err)
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
		return noStart("", "--actor: actors cannot run: %v", python.missing)
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
	ctx, cancel := context.WithTimeout(u.Context.Context, readyPatience)
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
			return ready, noStart("devnet logs shows the nodes' logs.", "the network is not ready after %s: %v", readyPatience, err)
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
	ctx, name := u.Context.Context, baseName(file)
	there, err := u.client.Actor(ctx, name)
	switch {
	case err == nil:
		return u.goesOn(file, there)
	case !refusedAs(err, "unknown_name"):
		return err
	}
	if lacks, err := u.lacksArguments(file, name); lacks || err != nil {
		return err
	}
	d, err := deployFile(ctx, u.client, u.Context.App.ErrWriter, file, model.DeployRequest{From: "alice", Name: name, Fund: &actorFund})
	if err != nil {
		return err
	}
	if err := failureOf(d.Receipt, "the deploy of "+file); err != nil {
		return err
	}
	u.told[d.Receipt.Hash] = true
	u.printLine("%s deployed at %s in block %d, funded with %s.", name, d.Address, d.Receipt.Height, cby(actorFund))
	actor, err := u.client.Actor(ctx, name)
	if err != nil {
		return err
	}
	if actor.Undescribed != "" {
		u.printLine("%s.start was not called, since the handlers are not known: %s", name, printable(actor.Undescribed))
	}
	for _, h := range actor.Handlers {
		if h.Name != "start" {
			continue
		}
		if h, schema := u.typedStart(name); needsArguments(h) {
			u.printLine("%s.start was not called, since it takes arguments: %s\n  Type: %s actor call %s start %s%s", name,
				handlerSignature(schema, h), self(), name, argumentBlanks(h), u.networkFlags())
			continue
		}
		r, err := u.client.Send(ctx, model.SendRequest{From: "alice", To: name, Handler: "start"})
		if err != nil {
			return err
		}
		if err := failureOf(r, name+".start"); err != nil {
			return err
		}
		u.told[r.Hash] = true
		u.printLine("%s.start ran in block %d.", name, r.Height)
		if !u.settings.JSON {
			printOutput(u.App.Writer, r.Logs)
		}
	}
	return nil
}

// typedStart is the start of an actor by its schema; nil where it has none that can be read.
func (u *running) typedStart(actor string) (*typed.Handler, *typed.Schema) {
	schema, err := schemaOf(u.Context.Context, u.client, actor)
	if err != nil || schema == nil {
		return nil, nil
	}
	return schema.Handler("start"), schema
}

// lacksArguments reports whether the typed init of a file takes arguments, which --actor has
// not, and prints how to give them. The network goes on without the actor.
func (u *running) lacksArguments(file, name string) (bool, error) {
	code, err := readActor(file)
	if err != nil || !bytes.Contains(code, []byte("def init(")) {
		return false, err
	}
	doc, err := schemaOfCode(code)
	if err != nil {
		return false, nil // the deploy says what is wrong
	}
	schema, err := typed.Parse(doc)
	if err != nil || !needsArguments(schema.Init()) {
		return false, nil
	}
	u.printLine("%s was not deployed, since its init takes arguments: %s\n  Type: %s actor deploy %s %s --fund %s%s", name,
		handlerSignature(schema, schema.Init()), self(), file, argumentBlanks(schema.Init()), strings.TrimSuffix(cby(actorFund), " CBY"),
		u.networkFlags())
	return true, nil
}

// goesOn prints that an actor exists already; it runs the code that was deployed,
// not that of a file edited since.
func (u *running) goesOn(file string, actor model.Actor) error {
	code, err := readActor(file)
	if err != nil {
		return err
	}
	if types.Keccak(code) == actor.CodeHash {
		u.printLine("%s is already deployed, and continues.", printable(actor.Name))
		return nil
	}
	u.printLine("%s is already deployed, and continues with its code: %s differs from it.\n"+
		"  To run the file: %s actor deploy %s --replace", printable(actor.Name), file, self(), file)
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
		u.printLine("Stopped. The state is in %s; %s continues from there.", u.settings.Home, u.settings.againCommand())
	}
	return err
}

// againCommand is the command that continues a stopped network.
func (s *settings) againCommand() string {
	command := self() + " up"
	if s.Processes {
		command += " --processes"
	}
	return command + ofHome(s.Home)
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
		return noStart("", "--config-out: %v", err)
	}
	return nil
}

// printLine prints a line for people; with --json there are none.
func (u *running) printLine(format string, args ...any) {
	if !u.settings.JSON {
		fmt.Fprintf(u.App.Writer, format+"\n", args...)
	}
}
