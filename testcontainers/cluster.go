package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	moby "github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/environment/neighbours"
)

// Cluster is a network with a container for each node, and a client of its first
// validator. Each node has a separate key, disk and address, and executes every block
// itself. Such a network refuses actions that need all nodes in one process, such as
// pausing blocks and time travel; its nodes are ended, frozen, wiped and partitioned
// as containers.
type Cluster struct {
	*client.Client
	settings *settings
	image    string
	files    map[string][]byte // that devnet init made, in the image
	engine   *testcontainers.DockerClient
	claim    *claim
	made     []*testcontainers.DockerNetwork // networks of the groups of a partition after the first
	nodes    []*Node                         // validators, then runners

	parting sync.Mutex
}

// RunCluster starts a network with a container of an image for each node, and returns
// when it is ready: every validator's blocks become final, and every runner is present.
// If it fails its containers are gone, and the error ends with the log of one of them. It
// first removes what tests of this machine left that were killed.
func RunCluster(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Cluster, error) {
	s, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	c := &Cluster{settings: s, image: image}
	if err := c.openEngine(ctx); err != nil {
		return nil, errors.Join(err, c.End())
	}
	if err := c.startNodes(ctx); err != nil {
		return nil, errors.Join(err, c.End())
	}
	return c, nil
}

func (c *Cluster) openEngine(ctx context.Context) (err error) {
	if c.engine, err = testcontainers.NewDockerClientWithOpts(ctx); err != nil {
		return err
	}
	if err := c.checkRoom(ctx); err != nil {
		return err
	}
	if c.claim, err = newClaim(ctx, c.engine); err != nil {
		return err
	}
	if err := c.writeFolder(ctx); err != nil {
		return err
	}
	if err := c.addNetwork(ctx); err != nil {
		return err
	}
	for i := range c.settings.validators {
		c.nodes = append(c.nodes, &Node{cluster: c, name: fmt.Sprintf("v%d", i), kind: validator})
	}
	for i := range c.settings.runners {
		c.nodes = append(c.nodes, &Node{cluster: c, name: fmt.Sprintf("r%d", i), kind: runner})
	}
	for _, n := range c.nodes {
		if n.kind == validator {
			if n.at, err = chooseAPI(ctx); err != nil {
				return err
			}
		}
	}
	c.Client = c.nodes[0].Client()
	return eachNode(c.nodes, func(n *Node) error { return n.beginNode(ctx) })
}

// checkRoom refuses more nodes than the engine's machine has room for in its table of
// neighbours. Another machine's table is unknown.
func (c *Cluster) checkRoom(ctx context.Context) error {
	crowded := neighbours.Crowded(c.settings.validators, c.settings.runners)
	if crowded == nil {
		return nil
	}
	engine, err := c.engine.Info(ctx, moby.InfoOptions{})
	if err != nil {
		return err
	}
	if here, err := os.Hostname(); err != nil || engine.Info.Name != here {
		return nil
	}
	return crowded
}

// startNodes starts the validators, and when each answers the runners. Then it waits until
// every validator finds the network ready, which is with every runner present.
func (c *Cluster) startNodes(ctx context.Context) error {
	validators, runners := c.nodes[:c.settings.validators], c.nodes[c.settings.validators:]
	err := eachNode(validators, func(n *Node) error {
		if err := n.startFirst(ctx); err != nil {
			return err
		}
		return waitAnswer(ctx, n.container, n.Client())
	})
	c.Client = c.nodes[0].Client() // which may have moved to another port
	if err != nil {
		return err
	}
	err = eachNode(runners, func(n *Node) error {
		if err := n.container.Start(ctx); err != nil {
			return err
		}
		return whileRunning(ctx, n.container, func(ctx context.Context) error {
			return wait.ForLog(connected).WithPollInterval(answerEvery).WithStartupTimeout(readyPatience).WaitUntilReady(ctx, n.container)
		})
	})
	if err != nil {
		return err
	}
	return eachNode(validators, func(n *Node) error { return waitReady(ctx, n.container, n.Client()) })
}

// connected is what a runner logs of each validator that let it in.
const connected = "connected with a validator"

// eachNode does something to all nodes at a time.
func eachNode(nodes []*Node, do func(*Node) error) error {
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			if err := do(n); err != nil {
				errs[i] = fmt.Errorf("%s: %w", n.name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// addNetwork makes one more network of the engine.
func (c *Cluster) addNetwork(ctx context.Context) error {
	made, err := network.New(ctx, network.WithLabels(c.claim.labels))
	if err == nil {
		c.made = append(c.made, made)
	}
	return err
}

// Nodes lists the nodes: validators, then runners.
func (c *Cluster) Nodes() []*Node { return append([]*Node{}, c.nodes...) }

// Validator returns the validator of a name: v0, v1, …. Orders to an unknown validator are
// refused.
func (c *Cluster) Validator(name string) *Node { return c.findNode(name, validator) }

// Runner returns the runner of a name: r0, r1, …. Orders to an unknown runner are refused.
func (c *Cluster) Runner(name string) *Node { return c.findNode(name, runner) }

func (c *Cluster) findNode(name, kind string) *Node {
	for _, n := range c.nodes {
		if n.name == name && n.kind == kind {
			return n
		}
	}
	return &Node{cluster: c, name: name, kind: kind}
}

// Partition lets containers reach only containers of their group, by networks of
// the engine. Nodes that are not named form one more group, which an empty last group
// stands for. Runners reach all where none is named. It replaces the partition before.
// Their APIs are reached from outside as before.
func (c *Cluster) Partition(ctx context.Context, groups ...[]string) error {
	c.parting.Lock()
	defer c.parting.Unlock()
	wanted, err := c.groupsOf(groups)
	if err != nil {
		return err
	}
	return c.partNodes(ctx, fewestMoves(wanted))
}

// groupsOf numbers the group of each node. Runners that reach all have none.
func (c *Cluster) groupsOf(groups [][]string) (map[string]int, error) {
	if len(groups) < 2 {
		return nil, errors.New("a partition of one group does not say its other side: add an empty group for the rest")
	}
	wanted, namesRunner := map[string]int{}, false
	for i, group := range groups {
		for _, name := range group {
			if _, twice := wanted[name]; twice {
				return nil, fmt.Errorf("%s is named twice", name)
			}
			if c.findNode(name, validator).container == nil && c.findNode(name, runner).container == nil {
				return nil, fmt.Errorf("there is no node %.40q in this cluster", name)
			}
			wanted[name] = i
			namesRunner = namesRunner || c.findNode(name, runner).container != nil
		}
	}
	for _, n := range c.nodes {
		if _, named := wanted[n.name]; !named && (n.kind == validator || namesRunner) {
			wanted[n.name] = len(groups)
		}
	}
	return wanted, nil
}

// fewestMoves numbers groups so that the largest is the first, whose network the nodes
// have anyway.
func fewestMoves(groups map[string]int) map[string]int {
	size := map[int]int{}
	for _, group := range groups {
		size[group]++
	}
	largest := 0
	for group := range len(groups) { // in their order, so that it is the same each time
		if size[group] > size[largest] {
			largest = group
		}
	}
	for name, group := range groups {
		switch group {
		case largest:
			groups[name] = 0
		case 0:
			groups[name] = largest
		}
	}
	return groups
}

// Heal lets all containers reach one another again. Nodes that are down or frozen stay
// so.
func (c *Cluster) Heal(ctx context.Context) error {
	c.parting.Lock()
	defer c.parting.Unlock()
	return c.partNodes(ctx, map[string]int{})
}

// partNodes moves nodes to the networks of their groups; those that are not named, to all of
// them. It is called with the lock held.
func (c *Cluster) partNodes(ctx context.Context, wanted map[string]int) error {
	all := []int{0}
	for _, group := range wanted {
		for len(c.made) <= group {
			if err := c.addNetwork(ctx); err != nil {
				return err
			}
		}
		if !slices.Contains(all, group) {
			all = append(all, group)
		}
	}
	return eachNode(c.nodes, func(n *Node) error {
		if group, is := wanted[n.name]; is {
			return n.moveTo(ctx, []int{group})
		}
		return n.moveTo(ctx, all)
	})
}

// LastLogs implements Network.
func (c *Cluster) LastLogs() string {
	var text strings.Builder
	for _, n := range c.nodes {
		if n.container != nil {
			fmt.Fprintf(&text, "--- %s\n%s\n", n.name, lastLog(n.container))
		}
	}
	return text.String()
}

// endPatience is how long an engine may take to remove a network.
const endPatience = time.Minute

// End implements Network.
func (c *Cluster) End() error {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	err := eachNode(c.nodes, func(n *Node) error { return n.removeNode(ctx) })
	for _, one := range c.made {
		err = errors.Join(err, one.Remove(ctx))
	}
	if c.engine != nil {
		err = errors.Join(err, c.engine.Close())
	}
	err = errors.Join(err, c.claim.releaseClaim()) // what could not be removed, the next network of a test removes
	c.nodes, c.made, c.engine, c.claim = nil, nil, nil, nil
	return err
}
