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

// Control is the URL of the node's API, "" if it has none.
func (n *node) Control() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.control
}

// currentLife is its life, nil where it does not run.
func (n *node) currentLife() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// notRunning is the error of an order that needs a node that runs.
func (n *node) notRunning() error { return fmt.Errorf("%s does not run: start it first", n.Name) }

// Start starts the container.
func (n *node) Start(ctx context.Context) error {
	if n.currentLife() != nil {
		return fmt.Errorf("%s runs already: stop it first", n.Name)
	}
	err := n.prepareContainer(ctx)
	if err == nil {
		err = n.copySettings(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	if n.detached { // it ended off the network
		if err := n.connectToNetwork(ctx); err != nil {
			return err
		}
	}
	n.mu.Lock()
	n.life, n.frozen = &life{gone: make(chan struct{})}, false // its end may be told before its start is
	n.mu.Unlock()
	if _, err := callDocker(ctx, nil, "start", n.containerName()); err != nil {
		n.mu.Lock()
		n.life = nil
		n.mu.Unlock()
		return fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	return n.locateAPI(ctx)
}

// prepareContainer makes the container, or a new one if its command has changed.
func (n *node) prepareContainer(ctx context.Context) error {
	if n.exists && n.lost && n.hasVoteLog(ctx) {
		n.lost = false
	}
	if n.exists && n.withLost == n.lost {
		return nil
	}
	if err := n.removeContainer(ctx); err != nil {
		return err
	}
	args := append([]string{"create", "--name", n.containerName(), "--hostname", n.Name, "--network", n.carrier.engineName("net"),
		"--network-alias", n.Name, "--publish", fmt.Sprintf("127.0.0.1::%d/tcp", port), "--volume", n.containerName() + ":" + inside,
		"--init", "--no-healthcheck", "--log-driver", "json-file", "--log-opt", "max-size=16m", "--log-opt", "max-file=4"},
		n.carrier.labels...)
	args = append(args, n.carrier.config.Image, "node", n.Kind, "--config", inside+"/"+n.Name+".toml")
	if n.lost {
		args = append(args, "--lost")
	}
	volume := append(append([]string{"volume", "create"}, n.carrier.labels...), n.containerName())
	if _, err := callDocker(ctx, nil, volume...); err != nil { // there may be one
		return err
	}
	if _, err := callDocker(ctx, nil, args...); err != nil {
		return err
	}
	n.exists, n.withLost = true, n.lost
	return nil
}

// copySettings puts settings and key into the volume as they are now: both may change between
// lives.
func (n *node) copySettings(ctx context.Context) error {
	files, err := n.carrier.archiveFiles(n.Name)
	if err != nil {
		return err
	}
	_, err = callDocker(ctx, files, "cp", "-", n.containerName()+":"+inside)
	return err
}

// containerName is the engine's name of the container, and of the volume.
func (n *node) containerName() string { return n.carrier.engineName(n.Name) }

// removeContainer removes the container, keeps what it wrote, and leaves the volume.
func (n *node) removeContainer(ctx context.Context) error {
	if !n.exists {
		return nil
	}
	if err := n.keepLogs(ctx); err != nil {
		return err
	}
	if _, err := callDocker(ctx, nil, "rm", "--force", n.containerName()); err != nil {
		return err
	}
	n.exists, n.detached = false, false
	return nil
}

// locateAPI finds out where this machine reaches the node's API. A container that ended at
// once has no address, and its end is reported.
func (n *node) locateAPI(ctx context.Context) error {
	answer, err := callDocker(ctx, nil, "port", n.containerName(), fmt.Sprintf("%d/tcp", port))
	at := ""
	if all := splitLines(answer); err == nil && len(all) > 0 {
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

// noteWantedEnd notes that the end of a node is wanted, and returns its life.
func (n *node) noteWantedEnd() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil {
		n.life.asked = true
	}
	return n.life
}

// onContainerDied hears that the container has ended.
func (n *node) onContainerDied(code string) {
	n.mu.Lock()
	l := n.life
	n.life, n.frozen, n.control = nil, false, ""
	n.mu.Unlock()
	if l == nil {
		return
	}
	close(l.gone)
	if !l.asked {
		n.carrier.tellEnd(n, code)
	}
}

// describeEnd returns the engine's and the node's messages about its end.
func (n *node) describeEnd(code string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	said := limitedBuffer{most: maxAnswerBytes}
	if err := n.copyLogs(ctx, &said, "--tail", tailLines); err != nil || said.Len() == 0 {
		return fmt.Errorf("exit status %s", code)
	}
	return fmt.Errorf("exit status %s: %s", code, endOfText(strings.TrimSpace(said.String()), maxTailBytes))
}

// Stop ends it as Ctrl-C does.
func (n *node) Stop(ctx context.Context) error {
	return n.endBy(ctx, "stop", "--time", stopSeconds, n.containerName())
}

// Kill ends it at once.
func (n *node) Kill(ctx context.Context) error {
	return n.endBy(ctx, "kill", n.containerName())
}

// endBy makes the call that ends a node, and waits for its end.
func (n *node) endBy(ctx context.Context, call ...string) error {
	l := n.noteWantedEnd()
	if l == nil {
		return n.notRunning()
	}
	_, err := callDocker(ctx, nil, call...)
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

// Freeze keeps it off every core.
func (n *node) Freeze(ctx context.Context) error {
	return n.pauseOrResume(ctx, true, "is already frozen: thaw it first", "pause")
}

// Thaw lets it go on.
func (n *node) Thaw(ctx context.Context) error {
	return n.pauseOrResume(ctx, false, "is not frozen", "unpause")
}

func (n *node) pauseOrResume(ctx context.Context, frozen bool, already, call string) error {
	n.mu.Lock()
	runs, was := n.life != nil, n.frozen
	n.mu.Unlock()
	switch {
	case !runs:
		return n.notRunning()
	case was == frozen:
		return fmt.Errorf("%s %s", n.Name, already)
	}
	if _, err := callDocker(ctx, nil, call, n.containerName()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = frozen && n.life != nil
	return nil
}

// Wipe removes the container and its volume, which has the home of a validator.
func (n *node) Wipe(ctx context.Context) error {
	switch {
	case n.Kind != cluster.Validator:
		return fmt.Errorf("%s is a runner, and a runner stores only its key", n.Name)
	case n.currentLife() != nil:
		return fmt.Errorf("%s runs: stop it first", n.Name)
	case !n.exists:
		return nil // it has never run
	}
	if err := n.removeContainer(ctx); err != nil {
		return fmt.Errorf("%s is not wiped: %w", n.Name, err)
	}
	n.lost = true
	if _, err := callDocker(ctx, nil, "volume", "rm", n.containerName()); err != nil {
		return fmt.Errorf("%s is not wiped: %w", n.Name, err)
	}
	return nil
}

func (n *node) detachFromNetwork(ctx context.Context) error {
	switch {
	case n.currentLife() == nil:
		return n.notRunning()
	case n.detached:
		return fmt.Errorf("%s is off the network already: attach it first", n.Name)
	}
	if _, err := callDocker(ctx, nil, "network", "disconnect", n.carrier.engineName("net"), n.containerName()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.detached = true
	n.mu.Lock()
	defer n.mu.Unlock()
	n.control = ""
	return nil
}

func (n *node) attachToNetwork(ctx context.Context) error {
	if !n.detached {
		return fmt.Errorf("%s is on the network: detach it first", n.Name)
	}
	if err := n.connectToNetwork(ctx); err != nil {
		return err
	}
	return n.locateAPI(ctx)
}

func (n *node) connectToNetwork(ctx context.Context) error {
	if _, err := callDocker(ctx, nil, "network", "connect", "--alias", n.Name, n.carrier.engineName("net"), n.containerName()); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	n.detached = false
	return nil
}
