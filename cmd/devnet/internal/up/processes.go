package up

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/process"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// inProcesses brings the network up in processes, one a node, under this one.
func (u *running) inProcesses() error {
	folder, err := u.webFolder()
	if err != nil {
		return err
	}
	n := &apartNetwork{u: u}
	if err := n.bringUp(); err != nil {
		return errors.Join(err, n.Close())
	}
	figures := &processFigures{network: n.Network, carrier: n.carrier}
	names := append(listen.CallableNames(u.settings.HTTP), u.settings.Names...)
	serve := api.Config{Hosts: names, Origins: u.settings.Origins, Web: folder, Processes: figures}
	u.network, u.server = n, api.New(n, serve)
	return nil
}

// bringUp opens the home and starts all nodes.
func (n *apartNetwork) bringUp() error {
	if err := n.openFolder(); err != nil {
		return err
	}
	watches, err := n.watchArguments()
	if err != nil {
		return err
	}
	err = n.makeCarrier(watches)
	if err == nil {
		err = n.startNodes()
	}
	var changed *box.ChangedError
	var told *failure.Failure
	switch ended := n.u.Context.Err(); {
	case err == nil:
		return nil
	case ended != nil: // it was asked to end meanwhile
		return ended
	case errors.As(err, &changed):
		return launch.DescribeFailure(err)
	case errors.As(err, &told):
		return told
	case errors.As(err, new(*remote.EndedError)):
		if few := n.networkFailure(); few != nil {
			return few
		}
	}
	return failure.NewNoStart("", "the network does not start: %v", err)
}

// makeCarrier makes the carrier of the folder's nodes, none of which runs.
func (n *apartNetwork) makeCarrier(args []string) (err error) {
	var nodes []cluster.Node
	for _, name := range n.folder.Validators {
		nodes = append(nodes, cluster.Node{Name: name, Kind: cluster.Validator})
	}
	for _, name := range n.folder.Runners {
		nodes = append(nodes, cluster.Node{Name: name, Kind: cluster.Runner})
	}
	n.carrier, err = process.Open(process.Config{Dir: home.NetDir(n.home.Dir()), Logs: n.home.Dir(), Nodes: nodes, Tell: n.printNodeLine,
		Args:    args,
		Command: self.Command})
	return err
}

// startNodes starts the nodes, and returns when what they made final before was followed.
func (n *apartNetwork) startNodes() error {
	dir := home.NetDir(n.home.Dir())
	folder, err := hosts.Reopen(dir)
	if err != nil {
		return failure.NewNoStart("Put the file back from a copy, or start over with --reset.", "the network does not start: %v", err)
	}
	if folder.Driver() == "" {
		return fmt.Errorf("the settings in %s name no driver, by which this process reads and drives nodes: begin again with --reset", dir)
	}
	log := slog.New(slog.NewTextHandler(n.u.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n.backend = cluster.NewBackend(cluster.Config{Carrier: n.carrier, Hosts: folder, Dir: dir, Secret: folder.Driver(), Port: cluster.FreePort,
		Stores: filepath.Join(dir, followedDir), URL: "http://" + n.u.address, Log: log, Ended: n.reportEndOfNode})
	defer context.AfterFunc(n.u.Context.Context, n.backend.Abandon)() // Ctrl-C ends the start
	if err := n.backend.Adopt(); err != nil {
		return err
	}
	n.backend.Launch()
	config := box.Config{Plan: folder.Chain()}
	config.Version, config.Home, config.Log = self.Version, n.u.settings.Home, log
	config.Elsewhere, config.Genesis, config.Seed = n.backend, folder.Genesis, &n.home.Meta.Seed
	config.Params = n.u.settings.Params
	config.Slow = func(words string) { fmt.Fprintf(n.u.App.ErrWriter, "%s.\n", words) }
	n.Network, err = box.Up(n.u.Context.Context, config)
	return err
}

// followedDir is the folder, among the files of nodes, that keeps what validators made
// final.
const followedDir = "followed"

// watchArguments are the arguments by which each node writes its connections down.
func (n *apartNetwork) watchArguments() ([]string, error) {
	w := n.u.settings.Watch()
	if w.IsWatching() && n.folder.Strict {
		return nil, launch.DescribeFailure(&box.WatchedError{})
	}
	if keys, err := w.OpenKeyLog(slog.Default()); err != nil || keys != nil { // a file that cannot be made is told once
		if err != nil {
			return nil, err
		}
		_ = keys.Close()
	}
	return w.NodeArguments()
}

// apartNetwork is a network each of whose nodes has its own process.
type apartNetwork struct {
	*box.Network // nil until all nodes have started
	u            *running
	home         *home.Home
	folder       *hosts.Folder
	carrier      *process.Carrier
	backend      *cluster.Backend

	mu   sync.Mutex
	died map[string]string // how nodes ended by themselves, by name
}

// LogPath implements api.Backend: the home has the logs of all nodes.
func (n *apartNetwork) LogPath(node string) string { return home.NodeLog(n.home.Dir(), node) }

// openFolder opens the home, and makes the folder of nodes at the first start.
func (n *apartNetwork) openFolder() (err error) {
	s := &n.u.settings
	if s.Reset {
		if err := home.Reset(s.Home); err != nil {
			return launch.DescribeFailure(err)
		}
	}
	want := home.Want{Version: self.Version, ChainID: s.ChainID, Seed: s.Seed, Now: time.Now(), Apart: true, Durability: s.Survives}
	if _, err := home.ReadMeta(s.Home); errors.Is(err, os.ErrNotExist) {
		if want.ChainID == 0 {
			want.ChainID = wallet.ChainID
		}
		if want.Seed == nil {
			want.Seed = new(rand.Uint64())
		}
	}
	if n.home, err = home.Open(s.Home, want); err != nil {
		return launch.DescribeFailure(err)
	}
	dir := home.NetDir(n.home.Dir())
	_, err = os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	if made {
		err = n.makeFolder(dir)
	}
	if err != nil {
		return err
	}
	if n.folder, err = hosts.Read(dir); err != nil {
		return failure.NewNoStart("Start over with --reset, or choose another --home.", "the folder of the nodes cannot be read: %v", err)
	}
	if made {
		return nil
	}
	return n.refuseChanges(dir)
}

// makeFolder makes the folder of nodes: whole, or not at all.
func (n *apartNetwork) makeFolder(dir string) error {
	s := &n.u.settings
	plan := hosts.Plan{Format: hosts.Processes, Now: time.Now(), Chain: s.ChainConfig()}
	plan.Chain.ChainID, plan.Chain.Validators = n.home.Meta.ChainID, cmp.Or(s.Validators, launch.DefaultValidators)
	if version, err := n.Probe(); err == nil {
		plan.Chain.Minor = pyhost.Minor(version)
	}
	plan.Seed = new(n.home.Meta.Seed)
	plan.Driver = control.NewSecret() // by which a strict network is only read
	var err error
	if plan.Port, err = portsBehind(n.u.address, plan.Chain.Validators+plan.Chain.Runners); err != nil {
		return failure.NewNoStart("", "the network does not start: %v", err)
	}
	network, err := hosts.Make(plan)
	if err != nil {
		return failure.NewUsage("", "%v", err)
	}
	unfinished := dir + ".new" // of a start that was interrupted
	err = errors.Join(os.RemoveAll(unfinished), network.Write(unfinished))
	if err == nil {
		err = store.TakeName(unfinished, dir)
	}
	if err != nil {
		return failure.NewNoStart("", "the folder of the nodes cannot be made: %v", err)
	}
	return nil
}

// refuseChanges refuses what was chosen at the first start and was given again as something
// else.
func (n *apartNetwork) refuseChanges(dir string) error {
	s, have := &n.u.settings, n.folder
	changed := func(what, is, want string) error {
		return launch.DescribeFailure(&box.ChangedError{Home: s.Home, What: what, Have: is, Want: want})
	}
	switch {
	case s.Validators != 0 && s.Validators != have.Began.Validators:
		return changed("validators", fmt.Sprint(have.Began.Validators), fmt.Sprint(s.Validators))
	case s.Runners != nil && *s.Runners != have.Began.Runners:
		return changed("runners", fmt.Sprint(have.Began.Runners), fmt.Sprint(*s.Runners))
	case s.Strict && !have.Strict:
		return changed("strict", "false", "true")
	}
	for flag, given := range map[string]bool{"history": s.History != 0, "durability": n.u.IsSet("durability"),
		"supervision": n.u.IsSet("supervision")} {
		if given {
			return failure.NewUsage("Change it there, and leave --"+flag+" out.",
				"--%s: with --processes it is a setting of each validator since the first "+
					"start: %s", flag, dir+"/v0.toml and so on")
		}
	}
	return nil
}

// portsBehind finds ports in a row for nodes, by UDP and TCP: those after the network's
// own if they are free, or any.
func portsBehind(address string, count int) (first int, err error) {
	port := 0
	if _, text, err := net.SplitHostPort(address); err == nil {
		if n, err := strconv.Atoi(text); err == nil {
			port = n + 1
		}
	}
	return cluster.FreePorts(port, count)
}

// printNodeLine prints a node's line on standard error that is not only for its log, after the
// node's name.
func (n *apartNetwork) printNodeLine(node, line string) {
	if strings.HasPrefix(line, "time=") && !strings.Contains(line, " level=ERROR ") {
		return
	}
	fmt.Fprintf(n.u.App.ErrWriter, "%s | %s\n", node, words.Printable(line))
}

// reportEndOfNode reports a node that ended by itself.
func (n *apartNetwork) reportEndOfNode(e cluster.Ended) {
	how := strings.Join(strings.Fields(e.Err.Error()), " ")
	n.mu.Lock()
	if n.died == nil {
		n.died = map[string]string{}
	}
	n.died[e.Name] = how
	n.mu.Unlock()
	fmt.Fprintf(n.u.App.ErrWriter, "%s ended by itself: %s\n", e.Name, words.Printable(how))
	if !n.folder.Strict {
		fmt.Fprintf(n.u.App.ErrWriter, "  To start it again: %s\n", n.u.restartCommand(e.Name))
	}
}

// restartCommand is the command that starts a node again.
func (u *running) restartCommand(node string) string {
	kind := "validator"
	if strings.HasPrefix(node, "r") {
		kind = "runner"
	}
	return fmt.Sprintf("%s fault %s restart %s%s", self.ProgramName(), kind, node, u.networkFlags())
}

func (n *apartNetwork) Dir() string { return n.home.Dir() }

func (n *apartNetwork) ChainID() uint64 { return n.folder.ChainID }

// Probe asks for the interpreter that the validators find, too.
func (n *apartNetwork) Probe() (string, error) {
	pool := pyhost.New(pyhost.Config{})
	defer pool.Close()
	pool.Require(launch.NamedPython(n.home.Dir()))
	return pool.Probe()
}

func (n *apartNetwork) askedNodes(s *launch.Settings) error { return askedOf(n.Network, s) }

// networkFailure implements upNetwork: more validators ended than may be missing.
func (n *apartNetwork) networkFailure() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var ended []string
	for _, name := range n.folder.Validators {
		if how, is := n.died[name]; is {
			ended = append(ended, name+": "+reasonOf(name, how))
		}
	}
	if len(ended) <= n.spareValidators() {
		return nil
	}
	return n.tooFew(strings.Join(ended, "; "))
}

// spareValidators is how many of the validators may be missing while the others make blocks.
func (n *apartNetwork) spareValidators() int { return (len(n.folder.Validators) - 1) / 3 }

// tooFew is the error of a start without as many validators as make blocks.
func (n *apartNetwork) tooFew(why string) error {
	first, _, _ := strings.Cut(why, ":")
	return failure.NewNoStart(fmt.Sprintf("Mend what is said, or start over with --reset. More: %s logs %s%s", self.ProgramName(), first,
		command.HomeFlag(n.u.settings.Home)), "too few validators start to make blocks: %s", why)
}

// brokenNodes implements upNetwork.
func (n *apartNetwork) brokenNodes() (all []error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(n.died)) {
		next := "Then type: " + n.u.restartCommand(name)
		if n.folder.Strict {
			next = "Then start the network again."
		}
		all = append(all, fmt.Errorf("%s: %s. %s", name, strings.TrimSuffix(reasonOf(name, n.died[name]), "."), next))
	}
	return all
}

// reasonOf is why the process of a node ended, without the words around a command's error.
func reasonOf(name, how string) string {
	if _, why, said := strings.Cut(how, ": devnet: "); said {
		how = why
	}
	how, _, _ = strings.Cut(how, " "+self.ProgramName()+" doctor shows")
	return strings.TrimPrefix(strings.TrimPrefix(how, "the network does not start: "), name+": ")
}

func (n *apartNetwork) accountSecrets() []configAccount { return secretsOf(n.Network) }

func (n *apartNetwork) noteEvent(string) {} // each node notes it itself

// Close ends all nodes at once, and lets the home go.
func (n *apartNetwork) Close() (err error) {
	switch {
	case n.backend != nil:
		err = n.backend.Close()
	case n.carrier != nil:
		err = n.carrier.Close()
	}
	if n.Network != nil {
		err = errors.Join(err, n.Network.Close())
	}
	if n.backend != nil {
		err = errors.Join(err, n.backend.CloseStores())
	}
	if n.home != nil {
		err = errors.Join(err, n.home.Close())
	}
	return err
}

// paceOf returns a block time in the form of --block-time.
func paceOf(d time.Duration, auto bool) string {
	if auto {
		return "auto"
	}
	return d.String()
}
