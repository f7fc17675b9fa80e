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

	"github.com/cowboyinc/devnet/internal/environment/owner"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

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
	*cluster.CarriedNodes[*node]
	config  Config
	id      string
	labels  []string // arguments of calls that make something
	lock    *os.File
	events  *events
	tellers sync.WaitGroup
}

var _ cluster.Carrier = (*Carrier)(nil)

var errClosed = errors.New("the containers were removed: open the folder again")

// Open makes a network for a folder's nodes, of which none runs. It removes first what
// carriers left whose owners died.
func Open(ctx context.Context, config Config) (*Carrier, error) {
	if err := Ready(ctx, config.Image); err != nil {
		return nil, err
	}
	if err := roomFor(ctx, config.Nodes); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	config.Dir = dir
	lock, err := owner.Claim(dir)
	if err != nil {
		return nil, err
	}
	if err := clearDead(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c := &Carrier{CarriedNodes: cluster.NewCarriedNodes[*node](dir, errClosed), config: config, id: newID(), lock: lock}
	for key, value := range owner.Labels(c.id, dir) {
		c.labels = append(c.labels, "--label", key+"="+value)
	}
	if err := c.openEngine(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Ready returns why containers of an image are not possible here, or nil.
func Ready(ctx context.Context, image string) error {
	if err := Available(ctx); err != nil {
		return err
	}
	if _, err := callDocker(ctx, nil, "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		return fmt.Errorf("there is no image %q here: make image makes it", image)
	}
	return nil
}

func (c *Carrier) openEngine(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Join(c.config.Dir, logsDir), 0o755); err != nil {
		return err
	}
	if c.events, err = listenForDeaths(ctx, c.id, c.onContainerDied); err != nil {
		return err
	}
	if _, err := callDocker(ctx, nil, append(append([]string{"network", "create"}, c.labels...), c.engineName("net"))...); err != nil {
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

// engineName is the engine's name of something of this network.
func (c *Carrier) engineName(what string) string { return "devnet-" + c.id + "-" + what }

// Add implements cluster.Carrier.
func (c *Carrier) Add(_ context.Context, one cluster.Node) error {
	if _, err := c.archiveFiles(one.Name); err != nil {
		return fmt.Errorf("%s cannot be added: %w", one.Name, err)
	}
	return c.Put(one.Name, &node{Node: one, carrier: c})
}

// Detach implements cluster.Carrier.
func (c *Carrier) Detach(ctx context.Context, name string) error {
	return c.Order(ctx, name, (*node).detachFromNetwork)
}

// Attach implements cluster.Carrier.
func (c *Carrier) Attach(ctx context.Context, name string) error {
	return c.Order(ctx, name, (*node).attachToNetwork)
}

// Container is what the engine calls the container of a node; its volume is called so
// too.
func (c *Carrier) Container(name string) string { return c.engineName(name) }

// Logs implements cluster.Carrier.
func (c *Carrier) Logs(name string) (io.ReadCloser, error) {
	n, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	return n.readLogs()
}

// onContainerDied handles the end of a container.
func (c *Carrier) onContainerDied(container string, code string) {
	for _, n := range c.List() {
		if n.containerName() == container {
			n.onContainerDied(code)
		}
	}
}

// tellEnd reports a node that ended by itself.
func (c *Carrier) tellEnd(n *node, code string) {
	c.tellers.Go(func() { c.Tell(cluster.Ended{Name: n.Name, Err: n.describeEnd(code)}) })
}

// Close implements cluster.Carrier. No data of the nodes outlives it, so none needs to
// end in good order.
func (c *Carrier) Close() error {
	return c.Shut(func(all []*node) error {
		for _, n := range all {
			n.noteWantedEnd()
		}
		ctx, cancel := context.WithTimeout(context.Background(), closePatience)
		defer cancel()
		err := removeByLabel(ctx, owner.NetworkLabel+"="+c.id)
		if c.events != nil {
			c.events.stopListening()
		}
		c.tellers.Wait()
		return errors.Join(err, c.lock.Close())
	})
}
