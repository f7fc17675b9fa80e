package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Range is a part of a row of heights or views; the zero value asks for the latest.
type Range struct {
	From *uint64 // nil: the latest up to To
	To   *uint64 // nil: up to the latest
}

func (r Range) query() url.Values {
	q := url.Values{}
	set(q, "from", r.From)
	set(q, "to", r.To)
	return q
}

func set(q url.Values, name string, value *uint64) {
	if value != nil {
		q.Set(name, strconv.FormatUint(*value, 10))
	}
}

// whole returns the client of all nodes, for requests that no node's state answers.
func (c *Client) whole() *Client { return c.OnNode("") }

// Columns asks GET /blocks/columns.
func (c *Client) Columns(ctx context.Context, r Range) (model.Columns, error) {
	return read[model.Columns](ctx, c, "/blocks/columns", r.query())
}

// Views asks GET /views.
func (c *Client) Views(ctx context.Context, r Range) (model.Views, error) {
	return read[model.Views](ctx, c.whole(), "/views", r.query())
}

// Links asks GET /links.
func (c *Client) Links(ctx context.Context, faulty bool) (model.Links, error) {
	q := url.Values{}
	if faulty {
		q.Set("faulty", "true")
	}
	return read[model.Links](ctx, c.whole(), "/links", q)
}

// Calendar asks GET /timers/calendar, for at most bins bins; 0 is the default number.
func (c *Client) Calendar(ctx context.Context, r Range, bins int) (model.Calendar, error) {
	q := r.query()
	if bins > 0 {
		q.Set("bins", strconv.Itoa(bins))
	}
	return read[model.Calendar](ctx, c, "/timers/calendar", q)
}

// Presences asks GET /presence.
func (c *Client) Presences(ctx context.Context, r Range) (model.PresenceRange, error) {
	return read[model.PresenceRange](ctx, c, "/presence", r.query())
}

// NodeLog asks GET /nodes/{name}/log for lines of a level or above that end before a byte
// of the file; nil is its end.
func (c *Client) NodeLog(ctx context.Context, node string, before *int64, limit int, level string) (model.NodeLog, error) {
	q := Page{Limit: limit}.query()
	if before != nil {
		q.Set("before", strconv.FormatInt(*before, 10))
	}
	if level != "" {
		q.Set("level", level)
	}
	return read[model.NodeLog](ctx, c.whole(), "/nodes/"+url.PathEscape(node)+"/log", q)
}
