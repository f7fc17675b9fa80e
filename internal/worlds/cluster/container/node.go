package container

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// stopSeconds is how long a node may take to end in good order: a runner ends the jobs
// that it has, for up to half a minute.
const stopSeconds = "40"

// How much of a node's log is told with its end.
const (
	tailLines    = "12"
	maxTailBytes = 2 << 10
)

// node is one node of the folder.
type node struct {
	cluster.Node
	carrier *Carrier

	// For the holder of the turn.
	exists   bool // there is a container, and a volume
	withLost bool // that container says --lost
	lost     bool // its home was wiped, and it may not know
	detached bool

	mu      sync.Mutex
	life    *life // nil: it does not run
	frozen  bool
	control string
}

// life is from a container's start to its end.
type life struct {
	asked bool          // to end; guarded by the node's mu
	gone  chan struct{} // closed by the engine's event
}

// URL implements cluster.Carried.
func (n *node) URL() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.control
}

// running is its life, nil where it does not run.
func (n *node) running() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// notRunning is the error of an order that needs a node that runs.
func (n *node) notRunning() error { return fmt.Errorf("%s does not run: start it first", n.Name) }

// Start implements cluster.Carried.
func (n *node) Start(ctx context.Context) error {
	if n.running() != nil {
		return fmt.Errorf("%s runs already: stop it first", n.Name)
	}
	err := n.prepare(ctx)
	if err == nil {
		err = n.bring(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	if n.detached { // it ended off the network
		if err := n.connect(ctx); err != nil {
			return err
		}
	}
	n.mu.Lock()
	n.life, n.frozen = &life{gone: make(chan struct{})}, false // its end may be told before its start is
	n.mu.Unlock()
	if _, err := docker(ctx, nil, "start", n.container()); err != nil {
		n.mu.Lock()
		n.life = nil
		n.mu.Unlock()
		return fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	return n.locate(ctx)
}

// prepare makes the container, or a new one if its command has changed.
func (n *node) prepare(ctx context.Context) error {
	if n.exists && n.lost && n.remembers(ctx) {
		n.lost = false
	}
	if n.exists && n.withLost == n.lost {
		return nil
	}
	if err := n.discard(ctx); err != nil {
		return err
	}
	args := append([]string{"create", "--name", n.container(), "--hostname", n.Name, "--network", n.carrier.called("net"),
		"--network-alias", n.Name, "--publish", fmt.Sprintf("127.0.0.1::%d/tcp", port), "--volume", n.container() + ":" + inside,
		"--init", "--no-healthcheck", "--log-driver", "json-file", "--log-opt", "max-size=16m", "--log-opt", "max-file=4"},
		n.carrier.labels...)
	args = append(args, n.carrier.config.Image, "node", n.Kind, "--config", inside+"/"+n.Name+".toml")
	if n.lost {
		args = append(args, "--lost")
	}
	volume := append(append([]string{"volume", "create"}, n.carrier.labels...), n.container())
	if _, err := docker(ctx, nil, volume...); err != nil { // there may be one
		return err
	}
	if _, err := docker(ctx, nil, args...); err != nil {
		return err
	}
	n.exists, n.withLost = true, n.lost
	return nil
}

// bring puts settings and key into the volume as they are now: both may change between
// lives.
func (n *node) bring(ctx context.Context) error {
	files, err := n.carrier.files(n.Name)
	if err != nil {
		return err
	}
	_, err = docker(ctx, files, "cp", "-", n.container()+":"+inside)
	return err
}

// container is the engine's name of the container, and of the volume.
func (n *node) container() string { return n.carrier.called(n.Name) }

// discard removes the container, keeps what it wrote, and leaves the volume.
func (n *node) discard(ctx context.Context) error {
	if !n.exists {
		return nil
	}
	if err := n.keepLogs(ctx); err != nil {
		return err
	}
	if _, err := docker(ctx, nil, "rm", "--force", n.container()); err != nil {
		return err
	}
	n.exists, n.detached = false, false
	return nil
}

// locate finds out where this machine reaches the node's API. A container that ended at
// once has no address, and its end is reported.
func (n *node) locate(ctx context.Context) error {
	answer, err := docker(ctx, nil, "port", n.container(), fmt.Sprintf("%d/tcp", port))
	at := ""
	if all := lines(answer); err == nil && len(all) > 0 {
		at = "http://" + strings.TrimSpace(all[0])
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.control = at
	if at == "" && err == nil && n.life != nil {
		return fmt.Errorf("%s runs, and the engine publishes no port of it", n.Name)
	}
	if at == "" && n.life != nil {
		return fmt.Errorf("%s runs, and the engine does not say where: %w", n.Name, err)
	}
	return nil
}

// asked notes that the end of a node is wanted, and returns its life.
func (n *node) asked() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil {
		n.life.asked = true
	}
	return n.life
}

// died hears that the container has ended.
func (n *node) died(code string) {
	n.mu.Lock()
	l := n.life
	n.life, n.frozen, n.control = nil, false, ""
	n.mu.Unlock()
	if l == nil {
		return
	}
	close(l.gone)
	if !l.asked {
		n.carrier.tell(n, code)
	}
}

// howEnded returns the engine's and the node's messages about its end.
func (n *node) howEnded(code string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	said := limited{most: maxAnswerBytes}
	if err := n.copyLogs(ctx, &said, "--tail", tailLines); err != nil || said.Len() == 0 {
		return fmt.Errorf("exit status %s", code)
	}
	return fmt.Errorf("exit status %s: %s", code, end(strings.TrimSpace(said.String()), maxTailBytes))
}

// Stop implements cluster.Carried.
func (n *node) Stop(ctx context.Context) error {
	return n.end(ctx, "stop", "--time", stopSeconds, n.container())
}

// Kill implements cluster.Carried.
func (n *node) Kill(ctx context.Context) error { return n.end(ctx, "kill", n.container()) }

// end makes the call that ends a node, and waits for its end.
func (n *node) end(ctx context.Context, call ...string) error {
	l := n.asked()
	if l == nil {
		return n.notRunning()
	}
	_, err := docker(ctx, nil, call...)
	if refused := (*EngineError)(nil); errors.As(err, &refused) && strings.Contains(refused.Said, "is not running") {
		err = nil // it has ended meanwhile, and that is being told
	}
	if err != nil {
		return fmt.Errorf("%s has not ended: %w", n.Name, err)
	}
	select {
	case <-l.gone:
		return nil
	case <-n.carrier.events.over:
		return fmt.Errorf("%s may have ended: %w", n.Name, errDeaf)
	case <-ctx.Done():
		return fmt.Errorf("%s has not ended in time: %w", n.Name, ctx.Err())
	}
}

// Freeze implements cluster.Carried.
func (n *node) Freeze(ctx context.Context) error {
	return n.pause(ctx, true, "is already frozen: thaw it first", "pause")
}

// Thaw implements cluster.Carried.
func (n *node) Thaw(ctx context.Context) error {
	return n.pause(ctx, false, "is not frozen", "unpause")
}

func (n *node) pause(ctx context.Context, frozen bool, already, call string) error {
	n.mu.Lock()
	runs, was := n.life != nil, n.frozen
	n.mu.Unlock()
	switch {
	case !runs:
		return n.notRunning()
	case was == frozen:
		return fmt.Errorf("%s %s", n.Name, already)
	}
	if _, err := docker(ctx, nil, call, n.container()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = frozen && n.life != nil
	return nil
}

// Wipe implements cluster.Carried.
func (n *node) Wipe(ctx context.Context) error {
	switch {
	case n.Kind != cluster.Validator:
		return fmt.Errorf("%s is a runner, and a runner stores only its key", n.Name)
	case n.running() != nil:
		return fmt.Errorf("%s runs: stop it first", n.Name)
	case !n.exists:
		return nil // it has never run
	}
	if err := n.discard(ctx); err != nil {
		return fmt.Errorf("%s is not wiped: %w", n.Name, err)
	}
	n.lost = true
	if _, err := docker(ctx, nil, "volume", "rm", n.container()); err != nil {
		return fmt.Errorf("%s is not wiped: %w", n.Name, err)
	}
	return nil
}

func (n *node) detach(ctx context.Context) error {
	switch {
	case n.running() == nil:
		return n.notRunning()
	case n.detached:
		return fmt.Errorf("%s is off the network already: attach it first", n.Name)
	}
	if _, err := docker(ctx, nil, "network", "disconnect", n.carrier.called("net"), n.container()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.detached = true
	n.mu.Lock()
	defer n.mu.Unlock()
	n.control = ""
	return nil
}

func (n *node) attach(ctx context.Context) error {
	if !n.detached {
		return fmt.Errorf("%s is on the network: detach it first", n.Name)
	}
	if err := n.connect(ctx); err != nil {
		return err
	}
	return n.locate(ctx)
}

func (n *node) connect(ctx context.Context) error {
	if _, err := docker(ctx, nil, "network", "connect", "--alias", n.Name, n.carrier.called("net"), n.container()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.detached = false
	return nil
}
