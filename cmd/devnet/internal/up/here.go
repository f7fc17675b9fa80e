package up

import (
	"fmt"
	"net/http"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/web"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// upNetwork is a network that is up: in this process, or in those that it runs.
type upNetwork interface {
	Dir() string // of its files, "" when it keeps none
	ChainID() uint64
	// Probe returns the version of Python that runs actors, or what is missing.
	Probe() (string, error)
	Liveness() answers.Liveness
	// WatchFinal calls each whenever a validator made blocks final.
	WatchFinal(each func()) (cancel func())
	// askedNodes refuses a home whose network is not the one that was asked for.
	askedNodes(*launch.Settings) error
	// networkFailure is why the network cannot become ready any more, nil while it can.
	networkFailure() error
	// brokenNodes are the validators that did not start, each with its remedy. The others go on.
	brokenNodes() []error
	accountSecrets() []configAccount
	Unfit() <-chan error   // told if Python turns out not to give the receipts of its version
	noteEvent(what string) // puts a line into every node's log
	Close() error
}

// inThisProcess brings the network up in this process.
func (u *running) inThisProcess() error {
	logs := newNodeLogs(u.settings, u.App.ErrWriter)
	config := u.settings.BoxConfig(logs.networkLogger())
	if err := u.settings.Watch().OpenFiles(&config, config.Log); err != nil {
		logs.closeFiles()
		return err
	}
	config.Slow = func(words string) { fmt.Fprintf(u.App.ErrWriter, "%s.\n", words) }
	folder, err := u.webFolder()
	if err != nil {
		logs.closeFiles()
		return err
	}
	n, err := box.Up(u.Context.Context, config)
	if err != nil {
		logs.closeFiles()
		return launch.DescribeFailure(err)
	}
	u.network, u.server = &hereNetwork{n, logs}, api.New(n,
		api.Config{Hosts: append(listen.CallableNames(u.settings.HTTP), u.settings.Names...),
			Origins: u.settings.Origins, Web: folder})
	u.network.noteEvent("the node runs")
	return nil
}

// webFolder is the folder of --web, nil without the flag. It is open while this
// process runs.
func (u *running) webFolder() (http.Handler, error) {
	if u.settings.Web == "" {
		return nil, nil
	}
	dir, err := web.Open(u.settings.Web)
	if err != nil {
		return nil, failure.NewUsage("Give the folder that has the page's index.html.", "--web: %v", err)
	}
	return dir, nil
}

// hereNetwork is a network in this process.
type hereNetwork struct {
	*box.Network
	logs *nodeLogs
}

func (n *hereNetwork) Dir() string {
	if h := n.Home(); h != nil {
		return h.Dir()
	}
	return ""
}

func (n *hereNetwork) ChainID() uint64 { return n.Config().ChainID }

func (n *hereNetwork) askedNodes(s *launch.Settings) error { return askedOf(n.Network, s) }

func askedOf(n *box.Network, s *launch.Settings) error {
	have := n.Config()
	if s.BlockTime != "" && (have.BlockTime != s.Interval || have.Auto != s.Auto) {
		return launch.DescribeFailure(&box.ChangedError{Home: s.Home, What: "block-time", Have: paceOf(have.BlockTime, have.Auto),
			Want: s.BlockTime})
	}
	return nil
}

func (n *hereNetwork) networkFailure() error { return nil }

func (n *hereNetwork) brokenNodes() []error { return n.Broken() }

func (n *hereNetwork) accountSecrets() []configAccount { return secretsOf(n.Network) }

func secretsOf(n *box.Network) []configAccount {
	all := []configAccount{}
	for _, a := range n.Accounts() {
		all = append(all, configAccount{a.Name, a.Address, n.Key(a.Name).PublicKey(), n.Secret(a.Name)})
	}
	return all
}

func (n *hereNetwork) noteEvent(what string) {
	for _, node := range n.Nodes() {
		n.Config().Log.With("node", node.Name).Info(what, "height", uint64(node.Height), "address", node.Validator.Address, "quic",
			node.Validator.Endpoint)
	}
	for _, r := range n.RunnerNodes() {
		n.Config().Log.With("node", r.Name).Info(what, "address", r.Address)
	}
}

func (n *hereNetwork) Close() error {
	defer n.logs.closeFiles()
	return n.Network.Close()
}
