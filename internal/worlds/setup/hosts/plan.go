package hosts

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Formats say where the nodes of a network run.
const (
	Processes = "processes" // of this machine, each on a separate port
	Compose   = "compose"   // in containers, each a host of its name: of Docker Compose, or of a Swarm
	// Kubernetes has each in a stateful set of one pod.
	Kubernetes = "kubernetes"
	// Seeded has them in containers as Compose does, where each makes the network for
	// itself: it is Derived, and no file has to be brought to a node.
	Seeded = "seeded"
)

// Formats lists the formats of devnet init.
var Formats = []string{Processes, Compose, Kubernetes}

// volume is the folder of a container that outlives it.
const volume = "/devnet"

// Port is the port of a validator in a container: of its mesh by UDP and of its HTTP
// API by TCP. On one machine it is the port of the first validator, and the others
// have the next ones.
const Port = 4000

// Plan is what Make is asked for.
type Plan struct {
	// Chain has the numbers of validators and runners, chain id, pace, parameters,
	// and whether there are cheats.
	Chain setup.Plan
	Seed  *uint64 // of the named accounts; nil: there are none
	Funds []types.Address
	// Derived makes the keys of the nodes follow from Seed, as devnet up does:
	// anyone who knows the seed has them.
	Derived bool
	Format  string // Processes, …
	Port    int    // 0: Port
	Image   string // of containers
	// Namespace is the name of the namespace of Kubernetes; "": the constant Namespace.
	Namespace string
	Cluster   Cluster
	Now       time.Time
	// Hosts has the addresses of validators on separate machines, by name, as HOST:PORT;
	// those of this machine are not in it. For the format Processes.
	Hosts map[string]string
	// Names are more names by which clients may call each API.
	Names []string
	// Driver is the supervisor's secret; "": no supervisor.
	Driver string
	// Ports are the ports of the nodes on one machine, validators first, if they are
	// not Port and the next ones. A runner serves its supervisor there.
	Ports []int
}

// Cluster is what the objects of Kubernetes depend on.
type Cluster struct {
	NoNamespace  bool   // the namespace is there already: whoever applies the objects may not make one
	StorageClass string // of the validators' volumes; "": the cluster's default
	Storage      string // size of each of these; "": DefaultStorage
	PullSecret   string // the secret by which the image is pulled; "": none is needed
	Monitor      bool   // a PodMonitor, for clusters that have this kind
}

// DefaultStorage is the default of Cluster.Storage: some 900,000 empty blocks.
const DefaultStorage = "4Gi"

// Node is one node of a plan, with its key.
type Node struct {
	Name string
	Key  *crypto.Key
	// A validator's addresses: where others reach its socket, where that and its HTTP
	// API listen, and where people reach the API. A runner's are empty, except API, the
	// address of the API that it uses, and HTTP, where it serves its supervisor.
	Endpoint, Listen, HTTP, API string
	Also                        []string // of a runner: where it reaches the other validators
	Joins                       bool     // it is not a validator of genesis
	Left                        bool     // it has left, and is not started with the others
}

// Network is what Make made, not written yet.
type Network struct {
	plan       Plan
	Genesis    *ledger.Genesis
	Validators []Node // by name
	Runners    []Node
}

// Make draws the keys of a plan's nodes and makes its genesis.
func Make(p Plan) (*Network, error) {
	if p.Port == 0 {
		p.Port = Port
	}
	if p.Namespace == "" {
		p.Namespace = Namespace
	}
	if p.Cluster.Storage == "" {
		p.Cluster.Storage = DefaultStorage
	}
	p.Derived = p.Derived || p.Format == Seeded
	if err := p.checkHosts(); err != nil {
		return nil, err
	}
	if p.Derived && p.Seed == nil {
		return nil, errors.New("hosts: no seed to derive the nodes' keys from")
	}
	n := &Network{plan: p}
	chain := p.Chain.NewChain(types.Time(p.Now.UnixNano()))
	for i := range p.Chain.Validators {
		v := p.describeValidator(i)
		v.Key = p.keyOf(wallet.ValidatorKey, v.Name)
		n.Validators = append(n.Validators, v)
		chain.Validator(v.Key, v.Endpoint)
	}
	for i, terms := range p.Chain.RunnerTerms(node.OwnOffer()) {
		r := p.describeRunner(i)
		r.Key = p.keyOf(wallet.RunnerKey, r.Name)
		n.Runners = append(n.Runners, r)
		chain.Runner(r.Key, terms)
	}
	if p.Seed != nil {
		chain.Named(*p.Seed)
	}
	for _, account := range p.Funds {
		chain.Fund(account, wallet.Funds)
	}
	var err error
	n.Genesis, err = chain.Genesis()
	return n, err
}

// maxHostName bounds the name of a host (RFC 1035).
const maxHostName = 253

// checkHosts refuses machines of unknown nodes, and invalid names.
func (p *Plan) checkHosts() error {
	if len(p.Hosts) > 0 && p.Format != Processes {
		return fmt.Errorf("in the format %s the names of hosts are settled: leave them out", p.Format)
	}
	at := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Hosts)) {
		host, port, err := net.SplitHostPort(p.Hosts[name])
		number, wrong := strconv.ParseUint(port, 10, 16)
		if err != nil || wrong != nil || number == 0 || host == "" || len(host) > maxHostName ||
			strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") != "" {
			return fmt.Errorf("%s: invalid address %.80q: want HOST:PORT, like v0.example.org:%d", name, p.Hosts[name], Port)
		}
		if other := at[p.Hosts[name]]; other != "" {
			return fmt.Errorf("%s and %s cannot both be reached at %s", other, name, p.Hosts[name])
		}
		at[p.Hosts[name]] = name
		known := false
		for i := range p.Chain.Validators {
			known = known || wallet.ValidatorName(i) == name
		}
		if !known {
			return fmt.Errorf("unknown validator %.40q: want %s to %s (runners need no host)", name,
				wallet.ValidatorName(0), wallet.ValidatorName(p.Chain.Validators-1))
		}
	}
	return nil
}

// describeValidator is the i-th, without its key.
func (p *Plan) describeValidator(i int) Node {
	v := p.validatorAt(wallet.ValidatorName(i), p.portOf(i))
	if at := p.Hosts[v.Name]; at != "" {
		// On its own machine it is reached by whatever address that has.
		host, port, _ := net.SplitHostPort(at)
		all := net.JoinHostPort("0.0.0.0", port)
		if strings.Contains(host, ":") {
			all = net.JoinHostPort("::", port)
		}
		v.Endpoint, v.Listen, v.HTTP, v.API = at, all, all, at
	}
	if p.Format == Kubernetes {
		v.Endpoint = fmt.Sprintf("%s-0.%s:%d", v.Name, validatorSet, Port)
	}
	return v
}

func (p *Plan) validatorAt(name string, port int) Node {
	api := fmt.Sprintf("127.0.0.1:%d", port)
	if p.runsInContainers() {
		all := fmt.Sprintf("0.0.0.0:%d", Port)
		return Node{Name: name, Endpoint: fmt.Sprintf("%s:%d", name, Port), Listen: all, HTTP: all, API: api}
	}
	return Node{Name: name, Endpoint: api, Listen: api, HTTP: api, API: api}
}

// describeRunner is the i-th, without its key.
func (p *Plan) describeRunner(i int) Node {
	return p.runnerAt(wallet.RunnerName(i), i, p.portOf(p.Chain.Validators+i))
}

func (p *Plan) runnerAt(name string, i, port int) Node {
	r := Node{Name: name, API: p.insideURL(i % p.Chain.Validators)}
	for other := 1; other < min(p.Chain.Validators, settings.MaxAlso); other++ {
		r.Also = append(r.Also, p.insideURL((i+other)%p.Chain.Validators))
	}
	if p.Driver != "" {
		r.HTTP = fmt.Sprintf("127.0.0.1:%d", port)
		if p.runsInContainers() {
			r.HTTP = fmt.Sprintf("0.0.0.0:%d", Port)
		}
	}
	return r
}

// portOf returns the port of a node on one machine, by its place among all.
func (p *Plan) portOf(i int) int {
	if i < len(p.Ports) {
		return p.Ports[i]
	}
	return p.Port + i
}

// insideURL is the URL by which other nodes reach a validator's HTTP API.
func (p *Plan) insideURL(validator int) string {
	return "http://" + p.describeValidator(validator).Endpoint
}

// runsInContainers reports whether nodes run in containers.
func (p *Plan) runsInContainers() bool { return p.Format != Processes }

// keyOf returns the key of a node.
func (p *Plan) keyOf(derive func(uint64, string) *crypto.Key, name string) *crypto.Key {
	if p.Derived {
		return derive(*p.Seed, name)
	}
	return NewKey()
}

// NewKey draws a key. One number in 2^128 is not a key.
func NewKey() *crypto.Key {
	for {
		var secret [32]byte
		_, _ = rand.Read(secret[:]) // ends the process where the system has no chance to give
		if key, err := crypto.NewKey(secret); err == nil {
			return key
		}
	}
}

// hostOf is the name of the host that a validator runs on, if its format names hosts; "":
// any.
func (p *Plan) hostOf(validator string) string {
	switch p.Format {
	case Compose:
		return validator
	case Kubernetes:
		return validator + "-0" // the pod of a stateful set with one
	}
	return ""
}
