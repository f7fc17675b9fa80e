package devnet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"github.com/cowboyinc/devnet/client"
)

// askPatience is how long one validator may take to answer about a node: one that is
// frozen does not.
const askPatience = 2 * time.Second

// WaitReady waits until this node takes part, whatever other nodes do. A validator has the
// connections that it needs, and the highest block that the others had at the call. A
// runner is present in the votes, as one validator at least knows them. It waits for two
// minutes at most, and no longer than the container runs.
func (n *Node) WaitReady(ctx context.Context) error {
	var container *testcontainers.DockerContainer
	if err := n.orderNode(ctx, true, func() error {
		container = n.container
		return nil
	}); err != nil {
		return err
	}
	return whileRunning(ctx, container, n.awaitReady)
}

func (n *Node) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(answerEvery)
	defer tick.Stop()
	var others client.Height
	if n.kind == validator {
		others = n.cluster.highestBlock(ctx)
	}
	why := "no validator answers"
	for {
		for _, from := range n.informedClients() {
			ready, err := askReady(ctx, from)
			if err != nil {
				continue
			}
			if why = n.whyNotReady(ready, others); why == "" {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s: %w", n.name, why, ctx.Err())
		}
	}
}

// informedClients are the clients of those who know how the node does: of a validator, itself.
func (n *Node) informedClients() (all []*client.Client) {
	if n.kind == validator {
		return []*client.Client{n.Client()}
	}
	for _, v := range n.cluster.nodes[:n.cluster.settings.validators] {
		all = append(all, v.Client())
	}
	return all
}

func askReady(ctx context.Context, from *client.Client) (client.Ready, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return from.Ready(ctx)
}

// whyNotReady is the reason for waiting; "": the node is ready.
func (n *Node) whyNotReady(ready client.Ready, others client.Height) string {
	for _, one := range ready.Nodes {
		switch {
		case one.Name != n.name || one.Kind != n.kind:
		case len(one.Missing) > 0:
			return one.Missing[0]
		case one.Height < others && n.kind == validator:
			return fmt.Sprintf("it is at height %d, others were at %d", one.Height, others)
		case one.Ready:
			return ""
		}
	}
	return "it is not known yet"
}

// highestBlock is the highest block that a validator has now.
func (c *Cluster) highestBlock(ctx context.Context) (most client.Height) {
	var mu sync.Mutex
	_ = eachNode(c.nodes[:c.settings.validators], func(n *Node) error {
		if ready, err := askReady(ctx, n.Client()); err == nil { // one that does not answer is not waited for
			mu.Lock()
			defer mu.Unlock()
			most = max(most, ready.Height)
		}
		return nil
	})
	return most
}
