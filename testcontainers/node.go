package devnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/moby/moby/api/types/network"
	moby "github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/cowboyinc/devnet/client"
)

// Kinds of nodes, as devnet node calls them.
const (
	validator = "validator"
	runner    = "runner"
)

// Node is one node of a cluster, and its container.
type Node struct {
	cluster *Cluster
	name    string
	kind    string
	at      publishedAPI // of a validator

	mu        sync.Mutex // orders to it follow one another
	container *testcontainers.DockerContainer
	groups    []int // of the partition in force: the networks that it has, none for the first alone
	lost      bool  // it was wiped, and may not know
	told      bool  // its container was started with --lost
}

// Name is v0, r1 and so on.
func (n *Node) Name() string { return n.name }

// Container returns the container that runs it; nil if the node does not exist.
// Wiping and restarting may put another in its place.
func (n *Node) Container() testcontainers.Container {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.container == nil {
		return nil
	}
	return n.container
}

// Client is one of this validator's API; nil of a runner, which has none. Its WaitReady
// waits for the whole network, every runner included; that of the node for this node.
func (n *Node) Client() *client.Client {
	if n.at.URL == "" {
		return nil
	}
	return client.New(n.at.URL, nil)
}

// volumeName is what the engine calls the node's disk.
func (n *Node) volumeName() string { return n.cluster.made[0].Name + "-" + n.name }

// beginNode makes its disk and its first container.
func (n *Node) beginNode(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	volume := moby.VolumeCreateOptions{Name: n.volumeName(), Labels: n.cluster.claim.volumeLabels()}
	if _, err := n.cluster.engine.VolumeCreate(ctx, volume); err != nil {
		return err
	}
	return n.createContainer(ctx)
}

// createContainer makes a container on the node's volume, and does not start it.
func (n *Node) createContainer(ctx context.Context) (err error) {
	c := n.cluster
	command := []string{"node", n.kind, "--config", inside + "/" + n.name + ".toml"}
	if n.lost {
		command = append(command, "--lost")
	}
	if n.kind == runner { // no validator may answer yet, or the engine's DNS know none
		command = append(command, "--wait")
	}
	made := []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd(command...), testcontainers.WithNoStart(), c.claim.labelOption(),
		testcontainers.CustomizeRequestOption(func(r *testcontainers.GenericContainerRequest) error {
			r.Hostname = n.name //nolint:staticcheck // as the settings of the others call it
			r.Networks, r.NetworkAliases = nil, map[string][]string{}
			for _, group := range n.networkNumbers() {
				r.Networks = append(r.Networks, c.made[group].Name)
				r.NetworkAliases[c.made[group].Name] = []string{n.name}
			}
			r.Mounts = append(r.Mounts, testcontainers.VolumeMount(n.volumeName(), inside))
			return nil
		}),
	}
	for _, file := range []string{"genesis.cbor", n.name + ".toml", n.name + ".key"} {
		made = append(made, testcontainers.WithFiles(testcontainers.ContainerFile{Reader: bytes.NewReader(c.files[file]),
			ContainerFilePath: inside + "/" + file, FileMode: 0o644}))
	}
	if n.at.URL != "" {
		made = append(made, n.at.publishOption(), testcontainers.WithExposedPorts(fmt.Sprintf("%d/tcp", port)))
	}
	n.container, err = testcontainers.Run(ctx, c.image, append(made, c.settings.customizers...)...)
	n.told = n.lost
	return err
}

// startFirst starts its first container, at another port where the one it has was taken
// meanwhile. Later starts have to keep the port.
func (n *Node) startFirst(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range startTries {
		if err = n.container.Start(ctx); !isPortTaken(err) {
			return err
		}
		if err := testcontainers.TerminateContainer(n.container, testcontainers.StopContext(ctx)); err != nil {
			return err
		}
		if n.at, err = chooseAPI(ctx); err != nil {
			return err
		}
		if err := n.createContainer(ctx); err != nil {
			return err
		}
	}
	return err
}

// isRunning reports whether its container runs.
func (n *Node) isRunning(ctx context.Context) (bool, error) {
	state, err := n.container.State(ctx)
	if err != nil {
		return false, err
	}
	return state.Running, nil
}

// orderNode does something to a node that runs, or to one that does not.
func (n *Node) orderNode(ctx context.Context, runs bool, do func() error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.container == nil {
		return fmt.Errorf("there is no %s %.40q in this cluster", n.kind, n.name)
	}
	is, err := n.isRunning(ctx)
	switch {
	case err != nil:
		return err
	case is && !runs:
		return fmt.Errorf("%s runs: kill it first", n.name)
	case !is && runs:
		return fmt.Errorf("%s does not run: restart it first", n.name)
	}
	return do()
}

// Kill ends its process at once, as kill -9 and a power cut do.
func (n *Node) Kill(ctx context.Context) error {
	return n.orderNode(ctx, true, func() error {
		_, err := n.cluster.engine.ContainerKill(ctx, n.container.GetContainerID(), moby.ContainerKillOptions{Signal: "SIGKILL"})
		if err != nil {
			return err
		}
		return n.waitForEnd(ctx)
	})
}

// waitForEnd waits until the container has ended.
func (n *Node) waitForEnd(ctx context.Context) error {
	wait := n.cluster.engine.ContainerWait(ctx, n.container.GetContainerID(), moby.ContainerWaitOptions{})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		return err
	}
}

// Drop is what ends a runner: its process is killed, and its connections close without
// a Goodbye.
func (n *Node) Drop(ctx context.Context) error { return n.Kill(ctx) }

// Stop ends it in good order, as Ctrl-C does.
func (n *Node) Stop(ctx context.Context) error {
	return n.orderNode(ctx, true, func() error { return n.container.Stop(ctx, nil) })
}

// Restart starts a node that does not run: a validator continues from its disk, and a
// runner has lost its jobs. It returns when a validator's API answers, and of a runner
// when the container has started. WaitReady waits until the node takes part.
func (n *Node) Restart(ctx context.Context) error {
	return n.orderNode(ctx, false, func() error {
		if err := n.renewContainer(ctx); err != nil {
			return err
		}
		if err := n.container.Start(ctx); err != nil || n.kind == runner {
			return err
		}
		return waitAnswer(ctx, n.container, n.Client())
	})
}

// renewContainer makes another container on the same disk where the command has to say something
// else: that the disk was lost, or no longer that.
func (n *Node) renewContainer(ctx context.Context) error {
	if n.lost && n.told {
		n.lost = false // it has run since, and has a new log of votes
	}
	if n.lost == n.told {
		return nil
	}
	if err := testcontainers.TerminateContainer(n.container, testcontainers.StopContext(ctx)); err != nil {
		return err
	}
	return n.createContainer(ctx)
}

// Freeze stops its process from running, as docker pause does, while frames arrive and
// time passes.
func (n *Node) Freeze(ctx context.Context) error {
	return n.orderNode(ctx, true, func() error {
		_, err := n.cluster.engine.ContainerPause(ctx, n.container.GetContainerID(), moby.ContainerPauseOptions{})
		return err
	})
}

// Thaw lets it run on.
func (n *Node) Thaw(ctx context.Context) error {
	return n.orderNode(ctx, true, func() error {
		_, err := n.cluster.engine.ContainerUnpause(ctx, n.container.GetContainerID(), moby.ContainerUnpauseOptions{})
		return err
	})
}

// Wipe empties the disk of a validator that does not run, and tells it so at its next
// start: it votes again once the others have gone on.
func (n *Node) Wipe(ctx context.Context) error {
	if n.kind != validator {
		return fmt.Errorf("%s is a runner, which keeps only its key", n.name)
	}
	return n.orderNode(ctx, false, func() error {
		if err := testcontainers.TerminateContainer(n.container, testcontainers.StopContext(ctx)); err != nil {
			return err
		}
		if _, err := n.cluster.engine.VolumeRemove(ctx, n.volumeName(), moby.VolumeRemoveOptions{}); err != nil {
			return err
		}
		volume := moby.VolumeCreateOptions{Name: n.volumeName(), Labels: n.cluster.claim.volumeLabels()}
		if _, err := n.cluster.engine.VolumeCreate(ctx, volume); err != nil {
			return err
		}
		n.lost = true
		return n.createContainer(ctx)
	})
}

// Logs are the last lines that it logged.
func (n *Node) Logs() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.container == nil {
		return ""
	}
	return lastLog(n.container)
}

// networkNumbers are those of its groups, by their numbers.
func (n *Node) networkNumbers() []int {
	if len(n.groups) == 0 {
		return []int{0}
	}
	return n.groups
}

// moveTo takes it from networks of the engine to others.
func (n *Node) moveTo(ctx context.Context, groups []int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.networkNumbers()
	n.groups = groups
	id := n.container.GetContainerID()
	for _, group := range n.networkNumbers() {
		if slices.Contains(before, group) {
			continue
		}
		if _, err := n.cluster.engine.NetworkConnect(ctx, n.cluster.made[group].ID, moby.NetworkConnectOptions{Container: id,
			EndpointConfig: &network.EndpointSettings{Aliases: []string{n.name}}}); err != nil {
			return err
		}
	}
	for _, group := range before {
		if slices.Contains(n.networkNumbers(), group) {
			continue
		}
		if _, err := n.cluster.engine.NetworkDisconnect(ctx, n.cluster.made[group].ID,
			moby.NetworkDisconnectOptions{Container: id, Force: true}); err != nil {
			return err
		}
	}
	return nil
}

// removeNode ends it, with its disk.
func (n *Node) removeNode(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	if n.container != nil {
		err = testcontainers.TerminateContainer(n.container, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
	}
	_, gone := n.cluster.engine.VolumeRemove(ctx, n.volumeName(), moby.VolumeRemoveOptions{Force: true})
	return errors.Join(err, gone)
}
