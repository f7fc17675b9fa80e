package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// How long Close waits for nodes that it asked to end. A runner that has no job left
// says Goodbye within two seconds; a validator has blocks to write.
const (
	runnerPatience    = 3 * time.Second
	validatorPatience = 30 * time.Second
)

// endedBuffer is how many ends of nodes wait for their reader.
const endedBuffer = 64

// logsDir is the folder of the logs, as package home names it.
const logsDir = "logs"

// Config is what Open is asked for.
type Config struct {
	Dir   string         // the folder, as devnet init makes it
	Logs  string         // the folder above that of the logs; "": Dir
	Nodes []cluster.Node // those of the folder; Add makes others known
	// Command is devnet with these arguments, neither started nor given its outputs.
	Command func(args ...string) *exec.Cmd
	// Tell is told of each line that a node writes to standard error, one line of a node
	// at a time. It may be nil.
	Tell func(node, line string)
}

// Carrier runs nodes as processes.
type Carrier struct {
	config  Config
	spawner *spawner
	ended   chan cluster.Ended
	closing chan struct{} // closed when Close begins
	waiters sync.WaitGroup

	mu     sync.Mutex // of what is below; orders to one node follow one another by its own
	nodes  map[string]*node
	closed bool
}

var _ cluster.Carrier = (*Carrier)(nil)

// Open makes a carrier of a folder's nodes, of which none runs.
func Open(config Config) (*Carrier, error) {
	if config.Logs == "" {
		config.Logs = config.Dir
	}
	if err := os.MkdirAll(filepath.Join(config.Logs, logsDir), 0o755); err != nil {
		return nil, err
	}
	c := &Carrier{config: config, spawner: newSpawner(), ended: make(chan cluster.Ended, endedBuffer), closing: make(chan struct{}),
		nodes: map[string]*node{}}
	for _, one := range config.Nodes {
		if err := c.Add(context.Background(), one); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Add implements cluster.Carrier.
func (c *Carrier) Add(_ context.Context, one cluster.Node) error {
	n, err := newNode(c, one)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errClosed
	case c.nodes[one.Name] != nil:
		return fmt.Errorf("there is a node %s already: give the new one another name", one.Name)
	}
	c.nodes[one.Name] = n
	return nil
}

var errClosed = errors.New("the nodes were stopped for good: open their folder again")

// find is the node of a name.
func (c *Carrier) find(name string) (*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if n := c.nodes[name]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("there is no node %.40q in %s: its nodes are those whose settings are there", name, c.config.Dir)
}

// Start implements cluster.Carrier.
func (c *Carrier) Start(ctx context.Context, name string) error {
	return c.order(ctx, name, func(n *node) error { return n.start() })
}

// Stop implements cluster.Carrier.
func (c *Carrier) Stop(ctx context.Context, name string) error {
	return c.order(ctx, name, func(n *node) error { return n.stop(ctx) })
}

// Kill implements cluster.Carrier.
func (c *Carrier) Kill(ctx context.Context, name string) error {
	return c.order(ctx, name, func(n *node) error { return n.kill(ctx) })
}

// Freeze implements cluster.Carrier.
func (c *Carrier) Freeze(name string) error {
	return c.order(context.Background(), name, (*node).freeze)
}

// Thaw implements cluster.Carrier.
func (c *Carrier) Thaw(name string) error {
	return c.order(context.Background(), name, (*node).thaw)
}

// Wipe implements cluster.Carrier.
func (c *Carrier) Wipe(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).wipe)
}

// order does something to a node, behind what is being done to it.
func (c *Carrier) order(ctx context.Context, name string, do func(*node) error) error {
	n, err := c.find(name)
	if err != nil {
		return err
	}
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s was busy with another order: %w", name, ctx.Err())
	}
	return do(n)
}

// Control implements cluster.Carrier.
func (c *Carrier) Control(name string) string {
	n, err := c.find(name)
	if err != nil {
		return ""
	}
	return n.control()
}

// Ended implements cluster.Carrier.
func (c *Carrier) Ended() <-chan cluster.Ended { return c.ended }

// Logs implements cluster.Carrier.
func (c *Carrier) Logs(name string) (io.ReadCloser, error) {
	if _, err := c.find(name); err != nil {
		return nil, err
	}
	return home.OpenLog(c.config.Logs, name)
}

// State is whether a node runs, and whether it is frozen.
func (c *Carrier) State(name string) (runs, frozen bool) {
	n, err := c.find(name)
	if err != nil {
		return false, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life != nil, n.frozen
}

// Close implements cluster.Carrier: runners say Goodbye first, while there are
// validators to say it to.
func (c *Carrier) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	var runners, others []*node
	for _, n := range c.nodes {
		if n.Kind == cluster.Runner {
			runners = append(runners, n)
		} else {
			others = append(others, n)
		}
	}
	c.mu.Unlock()
	close(c.closing)
	err := errors.Join(endAll(runners, runnerPatience), endAll(others, validatorPatience))
	c.waiters.Wait()
	c.spawner.close()
	for _, n := range slices.Concat(runners, others) {
		n.log.Close()
	}
	close(c.ended)
	return err
}

// endAll asks nodes to end, all at once, and kills those that have not in time.
func endAll(nodes []*node, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			n.turn <- struct{}{} // what is being done to it comes to its end
			defer func() { <-n.turn }()
			if n.running() == nil {
				return
			}
			if n.stop(ctx) != nil {
				errs[i] = n.kill(context.Background())
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// tell tells of a node that ended by itself.
func (c *Carrier) tell(e cluster.Ended) {
	select {
	case c.ended <- e:
	case <-c.closing:
	}
}
