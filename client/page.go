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

// Views returns a range of the last 4,096 views, as the validators reported them;
// with 0 for both, all of these.
func (c *Client) Views(ctx context.Context, from, to View) (Views, error) {
	return c.api.Views(ctx, between(from, to))
}

// Links are the links between nodes; faulty selects those on which something is wrong.
func (c *Client) Links(ctx context.Context, faulty bool) (Links, error) {
	return c.api.Links(ctx, faulty)
}

// TimerCalendar counts the pending timers by tier and height, in at most bins bins; 0 is
// the default number, and 0 for a height the default range.
func (c *Client) TimerCalendar(ctx context.Context, from, to Height, bins int) (TimerCalendar, error) {
	return c.api.Calendar(ctx, between(from, to), bins)
}

// PresenceRange is P(H) of heights from one to another, as bitmaps; with 0 for both of the
// latest. Next is the height to continue at.
func (c *Client) PresenceRange(ctx context.Context, from, to Height) (PresenceRange, error) {
	return c.api.Presences(ctx, between(from, to))
}

// NodeLog returns a node's last log lines, at most limit of them at a level or above:
// DEBUG, INFO, WARN or ERROR, "" for all. before comes from the previous answer, or is
// nil.
func (c *Client) NodeLog(ctx context.Context, node string, before *int64, limit int, level string) (NodeLog, error) {
	return c.api.NodeLog(ctx, node, before, limit, level)
}

// between is a range of which 0 is not given.
func between[T Height | View](from, to T) client.Range {
	return client.Range{From: given(uint64(from)), To: given(uint64(to))}
}
