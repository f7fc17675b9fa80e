package devnet

import (
	"context"
	"errors"

	"github.com/testcontainers/testcontainers-go"
)

// Open makes the containers of a cluster, and starts none.
func Open(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Cluster, error) {
	s, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	c := &Cluster{settings: s, image: image}
	if err := c.openEngine(ctx); err != nil {
		return nil, errors.Join(err, c.End())
	}
	return c, nil
}

// Start starts them.
func (c *Cluster) Start(ctx context.Context) error { return c.startNodes(ctx) }

// Published is where a validator's API is to be reached.
func (n *Node) Published() (bind string, port uint16) { return n.at.bind.String(), n.at.port }

// FreePort is one that a container may have.
var FreePort = freePort
