package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Answers and requests of this part, with the field names of their JSON forms.
type (
	CalendarTier  = model.CalendarTier
	Columns       = model.Columns
	Found         = model.Found
	Hit           = model.Hit
	Link          = model.Link
	LinkNode      = model.LinkNode
	LinkRule      = model.LinkRule
	Links         = model.Links
	NamedNode     = model.NamedValidator
	NodeLog       = model.NodeLog
	NodeLogLine   = model.NodeLogLine
	PresenceAt    = model.PresenceAt
	PresenceRange = model.PresenceRange
	PresenceVote  = model.PresenceVote
	TimerCalendar = model.Calendar
	Views         = model.Views
)

// Find lists what a text may mean: a height, the beginning of a hash or an address, a part of a name or of a handler. Of
// limit 0 it lists 20.
func (a *API) Find(ctx context.Context, text string, limit int) (Found, error) {
	return getJSON[Found](ctx, a, "/find", query(nil).withText("q", text).withNumber("limit", uint64(limit)))
}

// rangeQuery is a range of which 0 is not given.
func rangeQuery[T Height | View](from, to T) query {
	return query(nil).withNumber("from", uint64(from)).withNumber("to", uint64(to))
}

// Columns are the final blocks of heights from one to another, as one array of each
// figure; with 0 for both the latest. For more than 4,096 blocks, Next is where to continue.
func (a *API) Columns(ctx context.Context, from, to Height) (Columns, error) {
	return getJSON[Columns](ctx, a, "/blocks/columns", rangeQuery(from, to))
}

// Views returns a range of the last 4,096 views, as the validators reported them;
// with 0 for both, all of these.
func (a *API) Views(ctx context.Context, from, to View) (Views, error) {
	return getJSON[Views](ctx, a.wholeNetwork(), "/views", rangeQuery(from, to))
}

// Links are the links between nodes; faulty selects those on which something is wrong.
func (a *API) Links(ctx context.Context, faulty bool) (Links, error) {
	return getJSON[Links](ctx, a.wholeNetwork(), "/links", query(nil).withBool("faulty", faulty))
}

// TimerCalendar counts the pending timers by tier and height, in at most bins bins. 0 is
// the default number of bins, and 0 for a height the default range.
func (a *API) TimerCalendar(ctx context.Context, from, to Height, bins int) (TimerCalendar, error) {
	return getJSON[TimerCalendar](ctx, a, "/timers/calendar", rangeQuery(from, to).withNumber("bins", uint64(bins)))
}

// PresenceRange is P(H) of heights from one to another, as bitmaps; with 0 for both of the
// latest. Next is the height to continue at.
func (a *API) PresenceRange(ctx context.Context, from, to Height) (PresenceRange, error) {
	return getJSON[PresenceRange](ctx, a, "/presence", rangeQuery(from, to))
}

// NodeLog returns a node's last log lines, at most limit of them at a level or above:
// DEBUG, INFO, WARN or ERROR, "" for all. before comes from the previous answer, or is
// nil.
func (a *API) NodeLog(ctx context.Context, node string, before *int64, limit int, level string) (NodeLog, error) {
	q := query(nil).withNumber("limit", uint64(limit)).withText("level", level)
	if before != nil {
		q = q.withText("before", strconv.FormatInt(*before, 10))
	}
	return getJSON[model.NodeLog](ctx, a.wholeNetwork(), "/nodes/"+url.PathEscape(node)+"/log", q)
}
