package cluster

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
)

// Detach takes a node off the network that all nodes are on, where the carrier can.
// The supervisor does not reach it either: its events of that time are read when it
// is attached again.
func (c *Backend) Detach(ctx context.Context, name string) error {
	m, err := c.findMember(name)
	if err != nil {
		return err
	}
	if err := c.carrier.Detach(ctx, name); err != nil {
		return err
	}
	m.away.Store(true)
	m.mu.Lock()
	l := m.life
	m.mu.Unlock()
	if l != nil {
		l.cutStreams()
	}
	m.client.Close()
	return nil
}

// Attach brings a node back that was detached, and returns when it answers. Its address may be another,
// which the rules of all links follow.
func (c *Backend) Attach(ctx context.Context, name string) error {
	m, err := c.findMember(name)
	if err != nil {
		return err
	}
	if err := c.carrier.Attach(ctx, name); err != nil {
		return err
	}
	m.mu.Lock()
	l := m.life
	m.mu.Unlock()
	if l == nil {
		m.away.Store(false)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	var hello control.Hello
	if hello, err = m.awaitHello(ctx, l); err != nil {
		return fmt.Errorf("%s does not answer after it was attached: %w", name, err)
	}
	socket, err := netip.ParseAddrPort(hello.Socket)
	if err != nil {
		return fmt.Errorf("%s has no address after it was attached: %w", name, err)
	}
	m.mu.Lock()
	l.socket = socket
	m.mu.Unlock()
	m.away.Store(false)
	m.enterSocket(l)
	m.applyRules() // which it missed
	return nil
}

func (c *Backend) findMember(name string) (*member, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("there is no node %.40q", name)
}

// cutStreams breaks the streams that follow a process off; each is begun again.
func (l *life) cutStreams() {
	l.cutting.Lock()
	defer l.cutting.Unlock()
	for _, end := range l.streams { // all of them
		end()
	}
	clear(l.streams)
}

// streamContext is the context of one stream that follows a process, until it is cut.
func (l *life) streamContext() (ctx context.Context, over func()) {
	ctx, end := context.WithCancel(l.ctx)
	l.cutting.Lock()
	defer l.cutting.Unlock()
	l.made++
	number := l.made
	if l.streams == nil {
		l.streams = map[int]func(){}
	}
	l.streams[number] = end
	return ctx, func() {
		end()
		l.cutting.Lock()
		defer l.cutting.Unlock()
		delete(l.streams, number)
	}
}
