package container

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// endedBuffer is how many ends of nodes wait for their reader.
const endedBuffer = 64

// closePatience is how long Close waits for the engine.
const closePatience = 2 * time.Minute

// Config is what Open is asked for.
type Config struct {
	Dir   string         // the folder
	Image string         // as make image calls it
	Nodes []cluster.Node // those of the folder; Add makes others known
}

// Carrier runs nodes as containers.
type Carrier struct {
	config  Config
	id      string
	labels  []string // arguments of calls that make something
	lock    *os.File
	events  *events
	ended   chan cluster.Ended
	closing chan struct{} // closed when Close begins
	tellers sync.WaitGroup

	mu     sync.Mutex // of what is below; orders to one node follow one another by its own
	nodes  map[string]*node
	closed bool
}

var _ cluster.Carrier = (*Carrier)(nil)

var errClosed = errors.New("the containers were removed: open the folder again")

// Open makes a network for a folder's nodes, of which none runs. It removes first what
// carriers left whose owners died.
func Open(ctx context.Context, config Config) (*Carrier, error) {
	if err := Ready(ctx, config.Image); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	config.Dir = dir
	lock, err := claim(dir)
	if err != nil {
		return nil, err
	}
	if _, err := Reap(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c := &Carrier{config: config, id: newID(), lock: lock, ended: make(chan cluster.Ended, endedBuffer), closing: make(chan struct{}),
		nodes: map[string]*node{}}
	for _, label := range labelsOf(c.id, dir) {
		c.labels = append(c.labels, "--label", label)
	}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Ready says why there can be no containers of an image here, or nil.
func Ready(ctx context.Context, image string) error {
	if err := Available(ctx); err != nil {
		return err
	}
	if _, err := docker(ctx, nil, "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		return fmt.Errorf("there is no image %q here: make image makes it", image)
	}
	return nil
}

func (c *Carrier) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Join(c.config.Dir, logsDir), 0o755); err != nil {
		return err
	}
	if c.events, err = listen(ctx, c.id, c.died); err != nil {
		return err
	}
	if _, err := docker(ctx, nil, append(append([]string{"network", "create"}, c.labels...), c.called("net"))...); err != nil {
		return err
	}
	for _, one := range c.config.Nodes {
		if err := c.Add(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// newID draws what no other network is called.
func newID() string {
	var id [5]byte
	_, _ = rand.Read(id[:]) // ends the process where the system has no chance to give
	return hex.EncodeToString(id[:])
}

// called is the engine's name of something of this network.
func (c *Carrier) called(what string) string { return "devnet-" + c.id + "-" + what }

// Add implements cluster.Carrier.
func (c *Carrier) Add(_ context.Context, one cluster.Node) error {
	if _, err := c.files(one.Name); err != nil {
		return fmt.Errorf("%s cannot be added: %w", one.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errClosed
	case c.nodes[one.Name] != nil:
		return fmt.Errorf("there is a node %s already: give the new one another name", one.Name)
	}
	c.nodes[one.Name] = &node{Node: one, carrier: c, turn: make(chan struct{}, 1)}
	return nil
}

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

// order does something to a node, behind what is being done to it.
func (c *Carrier) order(ctx context.Context, name string, do func(*node, context.Context) error) error {
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
	return do(n, ctx)
}

// Start implements cluster.Carrier.
func (c *Carrier) Start(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).start)
}

// Stop implements cluster.Carrier.
func (c *Carrier) Stop(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).stop)
}

// Kill implements cluster.Carrier.
func (c *Carrier) Kill(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).kill)
}

// Freeze implements cluster.Carrier.
func (c *Carrier) Freeze(name string) error {
	return c.order(context.Background(), name, (*node).freeze)
}

// Thaw implements cluster.Carrier.
func (c *Carrier) Thaw(name string) error { return c.order(context.Background(), name, (*node).thaw) }

// Wipe implements cluster.Carrier.
func (c *Carrier) Wipe(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).wipe)
}

// Detach takes a running node off the network, as a pulled cable would: nobody reaches
// it, nor does Control.
func (c *Carrier) Detach(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).detach)
}

// Attach brings a node back that was detached; its address may be another.
func (c *Carrier) Attach(ctx context.Context, name string) error {
	return c.order(ctx, name, (*node).attach)
}

// Control implements cluster.Carrier.
func (c *Carrier) Control(name string) string {
	n, err := c.find(name)
	if err != nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.control
}

// Container is what the engine calls the container of a node; its volume is called so
// too.
func (c *Carrier) Container(name string) string { return c.called(name) }

// Ended implements cluster.Carrier.
func (c *Carrier) Ended() <-chan cluster.Ended { return c.ended }

// Logs implements cluster.Carrier.
func (c *Carrier) Logs(name string) (io.ReadCloser, error) {
	n, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return n.logs()
}

// died hears of the end of a container.
func (c *Carrier) died(container string, code string) {
	c.mu.Lock()
	var found *node
	for name, n := range c.nodes {
		if c.called(name) == container {
			found = n
		}
	}
	c.mu.Unlock()
	if found != nil {
		found.died(code)
	}
}

// tell tells of a node that ended by itself.
func (c *Carrier) tell(n *node, code string) {
	c.tellers.Go(func() {
		e := cluster.Ended{Name: n.Name, Err: n.howEnded(code)}
		select {
		case c.ended <- e:
		case <-c.closing:
		}
	})
}

// Close implements cluster.Carrier. Nothing of what the nodes keep outlives it, so none
// is asked to end in good order.
func (c *Carrier) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	all := make([]*node, 0, len(c.nodes))
	for _, n := range c.nodes {
		all = append(all, n)
	}
	c.mu.Unlock()
	close(c.closing)
	for _, n := range all {
		n.turn <- struct{}{} // what is being done to it comes to its end
		n.asked()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	err := remove(ctx, "label="+carrierLabel+"="+c.id)
	if c.events != nil {
		c.events.close()
	}
	c.tellers.Wait()
	close(c.ended)
	for _, n := range all {
		<-n.turn
	}
	return errors.Join(err, c.lock.Close())
}
