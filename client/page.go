package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

// Columns are the final blocks of heights from one to another, as one array of each
// figure; with 0 for both the latest. For more than 4,096 blocks, Next is where to continue.
func (c *Client) Columns(ctx context.Context, from, to Height) (Columns, error) {
	return c.api.Columns(ctx, between(from, to))
}

// Views are the views from one to another as the validators told of them, of the last
// 4,096; with 0 for both all of these.
func (c *Client) Views(ctx context.Context, from, to View) (Views, error) {
	return c.api.Views(ctx, between(from, to))
}

// Links are the links between nodes; faulty selects those on which something is wrong.
func (c *Client) Links(ctx context.Context, faulty bool) (Links, error) {
	return c.api.Links(ctx, faulty)
}

// TimerCalendar counts the pending timers by tier and height, in at most so many bins; 0
// is the usual number, and 0 for a height the usual range.
func (c *Client) TimerCalendar(ctx context.Context, from, to Height, bins int) (TimerCalendar, error) {
	return c.api.Calendar(ctx, between(from, to), bins)
}

// PresenceRange is P(H) of heights from one to another, as bitmaps; with 0 for both of the
// latest. Next says where to go on.
func (c *Client) PresenceRange(ctx context.Context, from, to Height) (PresenceRange, error) {
	return c.api.Presences(ctx, between(from, to))
}

// NodeLog is what a node logged last, at most so many lines of a level or above: DEBUG,
// INFO, WARN or ERROR, "" for all. before is that of the answer before, or nil.
func (c *Client) NodeLog(ctx context.Context, node string, before *int64, limit int, level string) (NodeLog, error) {
	return c.api.NodeLog(ctx, node, before, limit, level)
}

// between is a range of which 0 is not given.
func between[T Height | View](from, to T) client.Range {
	return client.Range{From: given(uint64(from)), To: given(uint64(to))}
}
