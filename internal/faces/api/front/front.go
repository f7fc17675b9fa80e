// Package front is the HTTP API of a network whose validators answer each for itself:
// one address for all of them, so that nobody needs to know which node answers.
//
// Most requests go on to one validator, the same one as long as it runs and keeps up
// with the others; one with node= goes to that node. What each validator knows only of
// itself is asked of all and put together: /ready, /validators, the connections in
// /runners, what was seen of jobs and heard of runners, /metrics. Faults, of nodes and of links, are made by who drives all nodes; what
// else takes the whole network the validators have it do, whom one asks for it.
package front

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Kinds of nodes.
const (
	Validator = "validator"
	Runner    = "runner"
)

// Node is a node of the network.
type Node struct {
	Name string
	Kind string // Validator or Runner
}

// Carrier runs the nodes.
type Carrier interface {
	// State is whether a node runs, and whether it is frozen.
	State(name string) (runs, frozen bool)
	// Control is the URL of a validator's HTTP API.
	Control(name string) string
}

// Config is how a Front is made.
type Config struct {
	Hosts   []string // names, beside loopback's and IP addresses, by which clients may call
	Nodes   []Node   // in the order in which they are shown
	Carrier Carrier
	World   fault.World // makes faults; nil with Strict
	// Letters are the dead letters of the runners that run, by name; nil: nobody knows.
	Letters func() map[string]uint64
	ChainID uint64
	Strict  bool // no cheats
}

// Front is the API of a network. It is safe for concurrent use.
type Front struct {
	config  Config
	handler http.Handler
	http    *http.Server
	proxy   *proxy
	end     context.CancelFunc
	once    sync.Once

	nodes atomic.Pointer[[]Node] // read without a lock

	mu    sync.Mutex
	ended map[string]string                 // nodes that ended by themselves: how
	left  map[string]bool                   // validators whose processes ended since they had left
	seen  map[types.Address]model.Validator // validators, as they last told of themselves
}

// New makes a front. Close has to be called at the end.
func New(c Config) *Front {
	f := &Front{config: c, ended: map[string]string{}, left: map[string]bool{}, seen: map[types.Address]model.Validator{}}
	f.nodes.Store(&c.Nodes)
	ended, end := context.WithCancel(context.Background())
	f.end = end
	f.proxy = newProxy(f)
	mux := http.NewServeMux()
	mux.Handle("/", f.proxy)
	mux.HandleFunc("GET /ready", f.serveReady)
	mux.HandleFunc("GET /validators", f.serveValidators)
	for _, path := range []string{"/runners", "/runners/active"} {
		mux.HandleFunc("GET "+path, f.serveRunners)
	}
	mux.HandleFunc("GET /runner/{address}", f.serveRunner)
	mux.HandleFunc("GET /job/{id}/story", f.serveStory)
	mux.HandleFunc("GET /events", f.serveEvents)
	mux.HandleFunc("GET /metrics", f.serveMetrics)
	mux.HandleFunc("POST /devnet/fault", f.serveFault)
	mux.HandleFunc("POST /devnet/heal", f.serveHeal)
	mux.HandleFunc("GET /devnet/faults", f.serveFaults)
	f.handler = api.Guard(c.Hosts, mux)
	f.http = api.HTTPServer(f.handler, ended)
	return f
}

// Handler serves the API, guards included.
func (f *Front) Handler() http.Handler { return f.handler }

// Serve answers on l until Close.
func (f *Front) Serve(l net.Listener) error {
	if err := f.http.Serve(api.Bounded(l)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends every request.
func (f *Front) Close() (err error) {
	f.once.Do(func() {
		f.end()
		ctx, cancel := context.WithTimeout(context.Background(), api.ClosePatience)
		defer cancel()
		if f.http.Shutdown(ctx) != nil {
			err = f.http.Close()
		}
		f.proxy.close()
	})
	return err
}

// Add shows one more node, behind those of its kind.
func (f *Front) Add(one Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	nodes := f.all()
	at := len(nodes)
	for i, n := range nodes {
		if one.Kind == Validator && n.Kind != Validator {
			at = i
			break
		}
	}
	nodes = slices.Insert(slices.Clone(nodes), at, one)
	f.nodes.Store(&nodes)
}

// all are the nodes in the order in which they are shown.
func (f *Front) all() []Node { return *f.nodes.Load() }

// Ended notes that a node ended by itself, and how.
func (f *Front) Ended(name, how string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended[name] = how
}

// Left notes that a validator is ended since it has left: it has no part in the network
// until it runs again.
func (f *Front) Left(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left[name] = true
}

// hasLeft reports whether a node that does not run has no part in the network.
func (f *Front) hasLeft(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left[name]
}

// why is why a node does not run.
func (f *Front) why(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if how := f.ended[name]; how != "" { // by itself, the last time that it ended
		return "its process has ended by itself: " + how
	}
	if f.left[name] {
		return "it has left"
	}
	return "its process does not run"
}

// validators are those that can answer: they run, and are not frozen.
func (f *Front) validators() (names []string) {
	for _, n := range f.all() {
		if runs, frozen := f.config.Carrier.State(n.Name); n.Kind == Validator && runs && !frozen {
			names = append(names, n.Name)
		}
	}
	return names
}

// find is the node of a name.
func (f *Front) find(name string) (Node, error) {
	for _, n := range f.all() {
		if n.Name == name {
			return n, nil
		}
	}
	return Node{}, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %.40q", name).
		Hint("GET /ready lists them.").At("node")
}

// askPatience is how long a validator may take to tell of itself: it passes when it is
// stuck, or not up yet.
const askPatience = 2 * time.Second

// noValidator refuses what a validator would have to answer.
func noValidator() error {
	return api.Refuse(http.StatusServiceUnavailable, "no_validator", "no validator answers").
		Hint("GET /ready shows what each node lacks; devnet fault validator restart NODE starts a stopped one.")
}
