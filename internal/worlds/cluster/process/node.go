package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// outputPatience is how long the carrier waits for the outputs of a node that has
// ended: processes that inherited them end with it.
const outputPatience = 2 * time.Second

// node is one node of the folder.
type node struct {
	cluster.Node
	carrier *Carrier
	log     *home.LogFile
	home    string // of a validator
	listens string // host:port of its HTTP API, "" without one

	mu     sync.Mutex
	life   *life // nil: it does not run
	frozen bool
}

// life is a process of a node.
type life struct {
	cmd   *exec.Cmd
	leash io.Closer     // its standard input ends with it
	asked bool          // to end; guarded by the node's mu
	gone  chan struct{} // closed when it has ended and its outputs are read
	err   error         // how; before gone is closed
}

// settings is the part of a node's settings that a carrier needs; the node's own
// program judges them.
type settings struct {
	Home    string `toml:"home"`
	HTTP    string `toml:"http"`
	Control string `toml:"control"`
}

func newNode(c *Carrier, one cluster.Node) (*node, error) {
	n := &node{Node: one, carrier: c, log: home.NewLogFile(c.config.Logs, one.Name)}
	var s settings
	path := n.filePath(".toml")
	// The rest of a file is ignored: in a runner's file http is a table.
	var err error
	if one.Kind == cluster.Validator {
		err = configfile.Peek(path, &s)
	} else {
		var only struct {
			Control string `toml:"control"`
		}
		err = configfile.Peek(path, &only)
		s.Control = only.Control
	}
	if err != nil {
		return nil, fmt.Errorf("%s: its settings cannot be read: %w", one.Name, err)
	}
	n.listens = s.Control
	if one.Kind == cluster.Validator {
		if s.Home == "" {
			return nil, fmt.Errorf("%s: %s names no home", one.Name, path)
		}
		n.listens, n.home = s.HTTP, s.Home
		if !filepath.IsAbs(n.home) {
			n.home = filepath.Join(c.config.Dir, n.home)
		}
	}
	return n, nil
}

// filePath is a file of the node's in the folder.
func (n *node) filePath(suffix string) string {
	return filepath.Join(n.carrier.config.Dir, n.Name+suffix)
}

// Control is the URL of the node's API, "" if it has none.
func (n *node) Control() string {
	host, port, err := net.SplitHostPort(n.listens)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// currentLife is its life, nil where it does not run.
func (n *node) currentLife() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// Start starts the process.
func (n *node) Start(context.Context) error {
	if n.currentLife() != nil {
		return fmt.Errorf("%s runs already: stop it first", n.Name)
	}
	if err := n.carrier.Over(); err != nil {
		return err
	}
	args := []string{"node", n.Kind, "--attached", "--config", n.filePath(".toml")}
	lost, err := n.hasLostLog()
	if err != nil {
		return err
	}
	if lost {
		args = append(args, "--lost")
	}
	args = append(args, n.carrier.config.Args...)
	l := &life{cmd: n.carrier.config.Command(args...), gone: make(chan struct{})}
	bindToParent(l.cmd)
	if l.leash, err = l.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	out, err := newPipes(l.cmd)
	if err != nil {
		return fmt.Errorf("%s does not start: %w", n.Name, errors.Join(err, l.leash.Close()))
	}
	if err := n.carrier.spawner.startProcess(l.cmd); err != nil {
		out.closeBoth()
		return fmt.Errorf("%s does not start: %w", n.Name, errors.Join(err, l.leash.Close()))
	}
	n.mu.Lock()
	n.life, n.frozen = l, false
	n.mu.Unlock()
	n.carrier.waiters.Go(func() { n.readUntilEnd(l, out) })
	return nil
}

// readUntilEnd reads a process's output until it has ended, and reports an end without an
// order.
func (n *node) readUntilEnd(l *life, from *pipes) {
	var each func(string)
	if tell := n.carrier.config.Tell; tell != nil {
		each = func(line string) { tell(n.Name, line) }
	}
	read := from.readBoth(newOutput(n.Name, n.log, each))
	l.err = l.cmd.Wait()
	_ = l.leash.Close()
	words := read()
	if words != "" {
		words = ": " + words
	}
	how := "exit status 0"
	if l.err != nil {
		how = l.err.Error()
	}
	l.err = fmt.Errorf("%s%s", how, words)
	n.mu.Lock()
	asked := l.asked
	n.life, n.frozen = nil, false
	n.mu.Unlock()
	close(l.gone)
	if !asked {
		n.carrier.Tell(cluster.Ended{Name: n.Name, Err: l.err})
	}
}

// signalEnd sends a signal that ends a running node.
func (n *node) signalEnd(signal syscall.Signal) (*life, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life == nil {
		return nil, fmt.Errorf("%s does not run: start it first", n.Name)
	}
	n.life.asked = true
	if err := n.life.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("%s cannot be asked to end: %w", n.Name, err)
	}
	if n.frozen && signal != syscall.SIGKILL { // it gets the signal once it runs
		_ = n.life.cmd.Process.Signal(syscall.SIGCONT)
	}
	return n.life, nil
}

// Stop ends it as Ctrl-C does.
func (n *node) Stop(ctx context.Context) error { return n.endBySignal(ctx, syscall.SIGTERM) }

// Kill ends it at once.
func (n *node) Kill(ctx context.Context) error { return n.endBySignal(ctx, syscall.SIGKILL) }

func (n *node) endBySignal(ctx context.Context, signal syscall.Signal) error {
	l, err := n.signalEnd(signal)
	if err != nil {
		return err
	}
	select {
	case <-l.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s has not ended yet (process %d): %w", n.Name, l.cmd.Process.Pid, ctx.Err())
	}
}

// Freeze keeps it off every core.
func (n *node) Freeze(context.Context) error {
	return n.pauseOrResume(true, "is already frozen: thaw it first", syscall.SIGSTOP)
}

// Thaw lets it go on.
func (n *node) Thaw(context.Context) error {
	return n.pauseOrResume(false, "is not frozen", syscall.SIGCONT)
}

func (n *node) pauseOrResume(frozen bool, already string, signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.life == nil:
		return fmt.Errorf("%s does not run: start it first", n.Name)
	case n.frozen == frozen:
		return fmt.Errorf("%s %s", n.Name, already)
	}
	if err := n.life.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("%s cannot be told: %w", n.Name, err)
	}
	n.frozen = frozen
	return nil
}

// Wipe empties the home of a validator, and notes that it
// had one.
func (n *node) Wipe(context.Context) error {
	switch {
	case n.Kind != cluster.Validator:
		return fmt.Errorf("%s is a runner, and a runner stores only its key", n.Name)
	case n.currentLife() != nil:
		return fmt.Errorf("%s runs: stop it first", n.Name)
	}
	if err := os.WriteFile(n.filePath(lostSuffix), nil, 0o600); err != nil {
		return fmt.Errorf("%s is not wiped: %w", n.Name, err)
	}
	if err := os.RemoveAll(n.home); err != nil {
		return fmt.Errorf("%s is not wiped whole: %w", n.Name, err)
	}
	return nil
}

// lostSuffix is the suffix of the file that records that a home was wiped.
const lostSuffix = ".lost"

// hasLostLog reports whether a validator has to be told that it has run before. Once it has
// its log of votes again it knows.
func (n *node) hasLostLog() (bool, error) {
	if _, err := os.Stat(n.filePath(lostSuffix)); err != nil {
		return false, nil
	}
	if _, err := os.Stat(home.NodeFiles(n.home, n.Name).Votes); err != nil {
		return true, nil
	}
	if err := os.Remove(n.filePath(lostSuffix)); err != nil {
		return false, fmt.Errorf("%s does not start: %w", n.Name, err)
	}
	return false, nil
}
