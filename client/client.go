package client

import (
	"context"
	"sync"
	"time"
)

// Client calls one network, over the HTTP API. It is safe for concurrent use.
type Client struct {
	*API // every operation of the HTTP API; the methods of Client take their place where they take less
	pass Pass

	once     sync.Once
	patience time.Duration // of followed, once it is known
}

// Pass lets a network's time pass until a block above a height is final, or for a
// block time, at least a second, and returns the height of the latest.
type Pass func(ctx context.Context, above Height) (Height, error)

// New returns a client of the network at a URL, or at HOST:PORT. It does not look
// whether one answers there. pass is nil but for networks of virtual time.
func New(url string, pass Pass) *Client {
	c := &Client{API: NewAPI(url), pass: pass}
	if pass == nil {
		c.pass = c.followBlocks
	}
	return c
}

// Connect returns a client of the network at a URL, or at HOST:PORT, once it is
// ready. Then its blocks become final, and its nodes take part.
func Connect(ctx context.Context, url string) (*Client, error) {
	c := New(url, nil)
	if _, err := c.Ready(ctx); err != nil {
		return nil, err
	}
	return c, c.WaitReady(ctx)
}

// OnNode returns a client whose reads use that validator's state.
func (c *Client) OnNode(validator string) *Client {
	return &Client{API: c.API.OnNode(validator), pass: c.pass}
}

// At returns a client whose reads are of an earlier moment, such as h12 (API.At).
func (c *Client) At(moment string) *Client { return &Client{API: c.API.At(moment), pass: c.pass} }

// readyEvery is how often WaitReady looks.
const readyEvery = 20 * time.Millisecond

// WaitReady waits until the network is ready. Where the context ends before, the error
// is a *NotReadyError.
func (c *Client) WaitReady(ctx context.Context) error {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	last := &NotReadyError{URL: c.URL()}
	for {
		r, err := c.Ready(ctx)
		switch {
		case err == nil && r.Ready:
			return nil
		case err == nil:
			last.Ready, last.Cause = r, nil
		case ctx.Err() == nil:
			last.Cause = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if last.Cause == nil {
				last.Cause = ctx.Err()
			}
			return last
		}
	}
}
