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

// logsDir is the folder of the logs, as package home names it.
const logsDir = "logs"

// Config is what Open is asked for.
type Config struct {
	Dir   string         // the folder, as devnet init makes it
	Logs  string         // the folder above that of the logs; "": Dir
	Nodes []cluster.Node // those of the folder; Add makes others known
	Args  []string       // of each node, besides those that it needs
	// Command is devnet with these arguments, neither started nor given its outputs.
	Command func(args ...string) *exec.Cmd
	// Tell is called for each line that a node writes to standard error, one line of a
	// node at a time. It may be nil.
	Tell func(node, line string)
}

// Carrier runs nodes as processes.
type Carrier struct {
	*cluster.CarriedNodes[*node]
	config  Config
	spawner *spawner
	waiters sync.WaitGroup
}

var _ cluster.Carrier = (*Carrier)(nil)

// Open makes a carrier of a folder's nodes, of which none runs.
func Open(config Config) (*Carrier, error) {
	if config.Logs == "" {
		config.Logs = config.Dir
	}
	if err := os.MkdirAll(filepath.Join(config.Logs, logsDir), 0o700); err != nil {
		return nil, err
	}
	c := &Carrier{CarriedNodes: cluster.NewCarriedNodes[*node](config.Dir, errClosed), config: config, spawner: newSpawner()}
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
	return c.Put(one.Name, n)
}

// Detach implements cluster.Carrier: it refuses.
func (c *Carrier) Detach(_ context.Context, name string) error { return c.refuseDetaching(name) }

// Attach implements cluster.Carrier: it refuses.
func (c *Carrier) Attach(_ context.Context, name string) error { return c.refuseDetaching(name) }

func (c *Carrier) refuseDetaching(name string) error {
	return fmt.Errorf("%s shares its network with this machine, and cannot be taken off: cut its links instead", name)
}

var errClosed = errors.New("the nodes were stopped for good: open their folder again")

// Logs implements cluster.Carrier.
func (c *Carrier) Logs(name string) (io.ReadCloser, error) {
	if _, err := c.Find(name); err != nil {
		return nil, err
	}
	return home.OpenLog(c.config.Logs, name)
}

// Close implements cluster.Carrier: runners say Goodbye first, while there are
// validators to say it to.
func (c *Carrier) Close() error {
	return c.Shut(func(all []*node) error {
		runs := func(n *node) bool { return n.Kind == cluster.Runner }
		runners := slices.DeleteFunc(slices.Clone(all), func(n *node) bool { return !runs(n) })
		others := slices.DeleteFunc(slices.Clone(all), runs)
		err := errors.Join(endAll(runners, runnerPatience), endAll(others, validatorPatience))
		c.waiters.Wait()
		c.spawner.stopThread()
		for _, n := range all {
			n.log.Close()
		}
		return err
	})
}

// endAll asks nodes to end, all at once, and kills those that have not in time.
func endAll(nodes []*node, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			if n.currentLife() == nil {
				return
			}
			if n.Stop(ctx) != nil {
				errs[i] = n.Kill(context.Background())
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
