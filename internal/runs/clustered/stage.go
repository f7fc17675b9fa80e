// Package clustered lets scripts drive a network whose nodes run in separate processes or
// containers: internal/runs/live over separate nodes. A script's view of a node
// follows from executing the node's final blocks here, and the oracles judge those. No
// node's report on its own state is used.
package clustered

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/container"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/process"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// Processes returns what brings networks up whose nodes are processes of this machine:
// command is devnet with some arguments. When ctx ends, so does all waiting.
func Processes(ctx context.Context, command func(args ...string) *exec.Cmd) scenario.Open {
	return live.OpenerOn(ctx, "processes", func(ctx context.Context, c *box.Config) error {
		ports, err := freePorts(c.Validators + c.Runners)
		if err != nil {
			return err
		}
		return prepare(c, hosts.Plan{Format: hosts.Processes, Ports: ports}, cluster.FreePort,
			func(dir string, nodes []cluster.Node) (cluster.Carrier, error) {
				return process.Open(process.Config{Dir: dir, Nodes: nodes, Command: command})
			})
	})
}

// Containers returns what brings networks up whose nodes are containers of an image.
func Containers(ctx context.Context, image string) scenario.Open {
	return live.OpenerOn(ctx, "docker", func(ctx context.Context, c *box.Config) error {
		return prepare(c, hosts.Plan{Format: hosts.Compose, Image: image}, nil,
			func(dir string, nodes []cluster.Node) (cluster.Carrier, error) {
				return container.Open(ctx, container.Config{Dir: dir, Image: image, Nodes: nodes})
			})
	})
}

// folderNodes is a backend, and the folder of its network.
type folderNodes struct {
	*cluster.Backend
	dir string
}

// Close implements remote.Nodes, and leaves no remains.
func (g *folderNodes) Close() error { return errors.Join(g.Backend.Close(), os.RemoveAll(g.dir)) }

// prepare makes a network in a separate folder, and begins to start its nodes.
func prepare(c *box.Config, plan hosts.Plan, port func() (int, error),
	carry func(dir string, nodes []cluster.Node) (cluster.Carrier, error)) error {
	secret := control.NewSecret()
	plan.Chain, plan.Seed, plan.Derived, plan.Driver, plan.Now = c.Plan, c.Seed, true, secret, time.Now()
	plan.Chain.ChainID = wallet.ChainID
	made, err := hosts.Make(plan)
	if err != nil {
		return err
	}
	top, err := os.MkdirTemp("", "devnet-run-")
	if err != nil {
		return err
	}
	dir := filepath.Join(top, "net")
	carrier, err := func() (cluster.Carrier, error) {
		if err := made.Write(dir); err != nil {
			return nil, err
		}
		return carry(dir, nodes(made))
	}()
	if err != nil {
		return errors.Join(err, os.RemoveAll(top))
	}
	backend := cluster.NewBackend(cluster.Config{Carrier: carrier, Hosts: made, Dir: dir, Secret: secret, Port: port, Log: c.Log,
		Scripted: true})
	backend.Launch()
	c.Elsewhere, c.Genesis = &folderNodes{backend, top}, made.Genesis
	return nil
}

// nodes returns the nodes of a network in the form of a carrier.
func nodes(made *hosts.Network) (all []cluster.Node) {
	for _, v := range made.Validators {
		all = append(all, cluster.Node{Name: v.Name, Kind: cluster.Validator})
	}
	for _, r := range made.Runners {
		all = append(all, cluster.Node{Name: r.Name, Kind: cluster.Runner})
	}
	return all
}

// freePorts returns distinct free ports of this machine.
func freePorts(n int) (ports []int, err error) {
	first, err := cluster.FreePorts(0, n)
	for i := range n {
		ports = append(ports, first+i)
	}
	return ports, err
}
