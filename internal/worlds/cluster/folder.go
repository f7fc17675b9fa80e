package cluster

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// nodeOfFolder returns a node of the folder, nil if it has none of that name. The lock is
// held.
func (c *Backend) nodeOfFolder(name string) *hosts.Node {
	for _, kind := range [][]hosts.Node{c.hosts.Validators, c.hosts.Runners} {
		if at := slices.IndexFunc(kind, func(n hosts.Node) bool { return n.Name == name }); at >= 0 {
			return &kind[at]
		}
	}
	return nil
}

func (c *Backend) findNode(name string) (one hosts.Node, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.nodeOfFolder(name); found != nil {
		return *found, true
	}
	return one, false
}

// Validators implements remote.Nodes.
func (c *Backend) Validators() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.hosts.Validators {
		names = append(names, one.Name)
	}
	return names
}

// Key implements remote.Nodes.
func (c *Backend) Key(name string) *crypto.Key {
	one, _ := c.findNode(name)
	return one.Key
}

// Left implements remote.Nodes.
func (c *Backend) Left(name string) bool {
	one, _ := c.findNode(name)
	return one.Left
}

// SetLeft implements remote.Nodes. A node that Launch began to start is ended again.
func (c *Backend) SetLeft(name string) {
	c.noteLeft(name, true)
	c.mu.Lock()
	started := c.early[name]
	delete(c.early, name)
	c.mu.Unlock()
	if started != nil && <-started == nil {
		if err := c.carrier.Kill(c.ctx, name); err != nil {
			c.keepFirstError(err)
		}
	}
}

// noteLeft notes in the folder whether a node has left. A node that starts is noted as
// back before that: one that is started for nothing is ended again, and one that is not
// started would be missed.
func (c *Backend) noteLeft(name string, left bool) {
	c.mu.Lock()
	one := c.nodeOfFolder(name)
	changed := one != nil && one.Left != left
	if changed {
		one.Left = left
	}
	c.mu.Unlock()
	if !changed {
		return
	}
	if err := hosts.SetLeft(c.dir, name, left); err != nil {
		c.log.Error("whether a node has left is not noted", "node", name, "left", left, "error", err)
	}
}

// namesByAddress are the names of all nodes, by address.
func (c *Backend) namesByAddress() map[types.Address]string {
	all := map[types.Address]string{}
	for _, m := range c.allMembers() {
		all[m.identity.Address] = m.identity.Name
	}
	return all
}

// introduceNodes tells validators, which answer people too, what nodes are called and where the
// network's API is. A validator that is not reached gets them when it starts again.
func (c *Backend) introduceNodes(to ...*member) {
	if c.url == "" || c.isClosing() {
		return
	}
	names := c.namesByAddress()
	for _, m := range to {
		if m.isFollowed() && m.canAnswer() {
			c.calling.Go(func() { _ = m.client.Call(c.ctx, names, c.url) })
		}
	}
}

// giveKey writes the key of a node, if the folder has another.
func (c *Backend) giveKey(name string, key *crypto.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.nodeOfFolder(name)
	if one.Key.Address() == key.Address() {
		return nil
	}
	if err := hosts.ReplaceKey(c.dir, name, key); err != nil {
		return err
	}
	one.Key = key
	return nil
}
