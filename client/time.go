package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Run lets N blocks become final, and returns the height reached. It ends early, without
// an error, after N block times without a block, and at least seven. Two lost views in
// a row end no run. Each block time counts as at least a second. A network of real time
// gets twice its block times.
func (c *Client) Run(ctx context.Context, blocks uint64) (Height, error) {
	at, _, err := c.goOn(ctx, blocks, func() (bool, error) { return false, nil })
	return at, err
}

// RunUntil lets the network run until a condition is true. It is asked at the start
// and after every block, and its error ends it. If it is not true within that many
// blocks, as Run counts them, the error is a *WithinError.
func (c *Client) RunUntil(ctx context.Context, within uint64, done func() (bool, error)) error {
	at, ended, err := c.goOn(ctx, within, done)
	if err == nil && !ended {
		err = &WithinError{within, at}
	}
	return err
}

// leastQuiet is the number of passes without a block after which a run of fewer blocks
// ends. It covers two views in a row that are lost to their leaders, and the block
// after them.
const leastQuiet = 7

// goOn lets the network make N blocks. It ends earlier when done, or after N passes
// without a block, at least leastQuiet.
func (c *Client) goOn(ctx context.Context, blocks uint64, done func() (bool, error)) (at Height, ended bool, err error) {
	start, err := c.Height(ctx)
	if err != nil {
		return 0, false, err
	}
	at = start
	for quiet := uint64(0); ; {
		if ended, err = done(); ended || err != nil || uint64(at-start) >= blocks || quiet >= max(blocks, leastQuiet) {
			return at, ended, err
		}
		now, err := c.pass(ctx, at)
		if err != nil {
			return at, false, err
		}
		if now > at {
			at, quiet = now, 0
		} else {
			quiet++
		}
	}
}

// leastPatience is how long a network of real time has for a block at least: other
// programs of the machine take their turns.
const leastPatience = time.Second

// followBlocks is the Pass of a network whose time passes by itself.
func (c *Client) followBlocks(ctx context.Context, above Height) (at Height, err error) {
	c.once.Do(func() {
		c.patience = leastPatience
		if text, err := c.Param(ctx, "chain.block_time_ms"); err == nil {
			if ms, err := strconv.ParseUint(text, 10, 32); err == nil {
				c.patience = max(leastPatience, 2*time.Duration(ms)*time.Millisecond)
			}
		}
	})
	patience, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	at = above
	heard := errors.New("a block came")
	err = c.API.Events(patience, Follow{From: above + 1, Kinds: []string{model.EventBlock}}, func(e Event) error {
		b, err := e.Block()
		if err != nil {
			return err
		}
		at = b.Height
		return heard
	})
	if errors.Is(err, heard) {
		err = nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return at, err
}

// AdvanceBlocks travels a number of heights through time, and returns what fired on
// the way.
func (c *Client) AdvanceBlocks(ctx context.Context, blocks uint64) (Advance, error) {
	return c.API.Advance(ctx, model.AdvanceRequest{Blocks: blocks})
}

// AdvanceTo travels through time to a height.
func (c *Client) AdvanceTo(ctx context.Context, h Height) (Advance, error) {
	return c.API.Advance(ctx, model.AdvanceRequest{To: h})
}

// AdvanceToNextTimer travels to the height at which the next timer is due.
func (c *Client) AdvanceToNextTimer(ctx context.Context) (Advance, error) {
	return c.API.Advance(ctx, model.AdvanceRequest{ToNextTimer: true})
}
