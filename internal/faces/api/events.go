package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/page"
)

// kinds are the types of events a reader may ask for.
var kinds = []string{model.EventBlock, model.EventTx, model.EventTimer, model.EventLog, model.EventJob, model.EventPresence,
	model.EventRunner, model.EventFault, model.EventView}

type eventsInput struct {
	From        optional[types.Height] `query:"from" doc:"Begin with this height; without it with the next final block."`
	To          optional[types.Height] `query:"to" doc:"End with this height, at most the latest final block's; without it the stream does not end."`
	Type        string                 `query:"type" maxLength:"64" example:"timer,log" doc:"Only these types, separated by commas: block, tx, timer, log, job, presence, runner, fault, view."`
	Actor       string                 `query:"actor" maxLength:"256" doc:"Only what is about this account or actor; blocks then only where type names them."`
	LastEventID string                 `header:"Last-Event-ID" maxLength:"64" doc:"Start after this event; overrides from."`
}

func (s *Server) registerEvents() {
	op := operation{id: "events", path: "/events", tag: tagChain,
		summary: "Follow final blocks as server-sent events",
		description: "Sends events of these types: block (a Block), tx (a Receipt), timer (a block's effect on it, with a fire's receipt). " +
			"Also log (a line that an actor printed), job (a block's effect on a job) and presence (a bit of P that changed). A job " +
			"event may " +
			"also come from a validator that saw it outside the chain. runner is such an event about a runner, and fault is a fault of nodes and " +
			"links. view is a view that failed, as a sentence with its cause. Events from outside the chain are sent with the next final block. " +
			fmt.Sprintf("All streams together are woken at most %d times a second. ", EventWrites) +
			"Each has an id: a reader that reconnects with Last-Event-ID misses nothing. One whose last event was of another chain, as after " +
			"up --reset, is refused with other_chain. " +
			"If each validator answers for itself, events from outside the chain are those that this validator saw. The header Devnet-Node and " +
			"the first comment name it. " +
			"The last event of a stream the server ends is of type dropped and says why; one with to ends with the comment end.",
		errors:   []int{400, 404, 409},
		response: "id: 12.1.4f5e6a7b\nevent: tx\ndata: {\"hash\":\"0x11…\",\"status\":\"ok\",…}\n\n"}
	h := op.asHuma()
	h.Responses = map[string]*huma.Response{"200": describeAnswer("A stream that does not end, but for to", "text/event-stream",
		huma.TypeString)}
	registerRoute(s, op, h, func(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
		r, err := s.newReader(in)
		if err != nil {
			return nil, err
		}
		free, err := s.readers.takePlace()
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			defer free()
			request, w := humago.Unwrap(ctx)
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Accel-Buffering", "no") // nginx holds back 4,096 bytes otherwise
			if r.node != "" {
				w.Header().Set(NodeHeader, r.node)
			}
			r.sendEvents(request.Context(), stream{w, http.NewResponseController(w)})
		}}, nil
	})
}

// Endless reports whether the answer of a path does not end, or waits for questions to the
// world. A server that holds the world during a request must not hold it for such a one.
func Endless(path string) bool {
	return path == "/events" || path == page.LivePath || path == page.NowPath
}

// reader is one client's walk through the events.
type reader struct {
	feed   *feed
	height types.Height // the next to send
	last   types.Height // to send; 0: there is no end
	skip   int          // events of that height it has already
	kinds  []string
	actor  *types.Address
	live   bool // the reader has been within the ring

	// after is the mark of the block of height, of which the reader has had an event; "" once it
	// is compared, or if the reader does not know it.
	after  string
	awaits bool // that event's height, which may be that of another chain

	node string // whose events these are, where the others run elsewhere; "": a whole network's
}

// NodeHeader is the header of an answer that names the validator whose events follow. Its
// sightings of jobs and runners outside the chain are its own; the other events are the
// same at all validators.
const NodeHeader = "Devnet-Node"

// greetingText begins a stream.
func (r *reader) greetingText() string {
	if r.node == "" {
		return ": devnet events\nretry: 1000\n\n"
	}
	return ": devnet events of " + r.node + "\nretry: 1000\n\n"
}

func (s *Server) newReader(in *eventsInput) (*reader, error) {
	s.feed.world.Lock()
	defer s.feed.world.Unlock()
	r := &reader{feed: s.feed, height: s.feed.latestHeight() + 1, kinds: kinds, node: s.info.Node}
	if in.Type != "" {
		r.kinds = strings.Split(in.Type, ",")
		for _, kind := range r.kinds {
			if !slices.Contains(kinds, kind) {
				return nil, Refuse(http.StatusBadRequest, "invalid_type", "unknown event type %q", clipText(kind)).
					Hint("The types are %s.", strings.Join(kinds, ", ")).At("type")
			}
		}
	} else if in.Actor != "" {
		r.kinds = kinds[1:]
	}
	if in.Actor != "" {
		v, err := s.backend.Reader("")
		if err != nil {
			return nil, err
		}
		a, err := s.resolveAddress(v, in.Actor, "actor")
		if err != nil {
			return nil, err
		}
		r.actor = &a
	}
	if err := s.setEnd(r, in); err != nil {
		return nil, err
	}
	switch {
	case in.LastEventID != "":
		if err := r.resumeAfter(in.LastEventID); err != nil {
			return nil, err
		}
		return r, s.ofThisChain(r)
	case in.From.set:
		r.height = max(1, in.From.Value)
	}
	return r, s.requireKeptBlock(r.height)
}

// setEnd says with which height a reader's stream ends, where it does.
func (s *Server) setEnd(r *reader, in *eventsInput) error {
	if !in.To.set {
		return nil
	}
	if !in.From.set && in.LastEventID == "" {
		return Refuse(http.StatusBadRequest, "missing_from", "to needs from or Last-Event-ID: the stream would start after its end").At("from")
	}
	v, err := s.backend.Reader("")
	if err != nil {
		return err
	}
	// Use the final height, and not the height of the sent events: events follow
	// their block.
	if r.last = in.To.Value; r.last == 0 || r.last > v.Head().Height {
		return Refuse(http.StatusBadRequest, "invalid_to", "to %d is not between 1 and %d, the latest final block", r.last, v.Head().Height).
			Hint("Leave it out to follow what comes.").At("to")
	}
	return nil
}

// requireKeptBlock refuses to begin with a block that was dropped.
func (s *Server) requireKeptBlock(h types.Height) error {
	v, err := s.backend.Reader("")
	if err != nil {
		return err
	}
	kept, err := v.Kept()
	if err == nil && h < kept.From {
		err = answers.NotKept(kept, h).At("from")
	}
	return err
}

// resumeAfter continues after the event with an id.
func (r *reader) resumeAfter(id string) error {
	height, rest, found := strings.Cut(id, ".")
	number, mark, _ := strings.Cut(rest, ".")
	h, err := strconv.ParseUint(height, 10, 64)
	n, err2 := strconv.ParseUint(number, 10, 31)
	if !found || err != nil || err2 != nil || mark != "" && len(mark) != markDigits {
		return Refuse(http.StatusBadRequest, "invalid_event_id", "invalid Last-Event-ID %q", clipText(id)).
			Hint("It is the height, the number of the event in its block, and the beginning of the block's hash, with points between, as the " +
				"stream sent it.").At("Last-Event-ID")
	}
	r.height, r.skip, r.after, r.awaits = types.Height(h), int(n)+1, mark, true
	return nil
}

// ofThisChain refuses a reader whose last event was of another chain, if that can be seen now.
func (s *Server) ofThisChain(r *reader) error {
	v, err := s.backend.Reader("")
	if err != nil || v.Head().Height < r.height {
		return err
	}
	b, err := v.Block(r.height)
	if err != nil || b == nil {
		return nil // it was dropped, as the stream says
	}
	if r.after != "" && r.after != markOf(b) {
		return otherChain(r)
	}
	r.after, r.awaits = "", false
	return nil
}

// codeOtherChain is the code of what belongs to another chain.
const codeOtherChain = "other_chain"

// otherChain refuses to continue a stream of another chain.
func otherChain(r *reader) *Error {
	return Refuse(http.StatusConflict, codeOtherChain, "the last event was of another chain: block %d is another one here", r.height).
		Hint("The network was begun anew, or set back to an earlier state. Connect without Last-Event-ID.").At("Last-Event-ID")
}

// sendEvents sends events until the client leaves or has to.
func (r *reader) sendEvents(ctx context.Context, out stream) {
	if out.writeText(r.greetingText()) != nil {
		return
	}
	for r.last == 0 || r.height <= r.last {
		events, through, at := r.followAlive(ctx, out)
		switch at {
		case ended:
			out.dropReader(ctx, "stopped", "the network stops",
				"Connect again when it is up; with Last-Event-ID the stream continues where this one "+
					"ended.")
			return
		case behind:
			if r.live {
				out.dropReader(ctx, "slow_reader", fmt.Sprintf("the reader is too slow: the events of height %d are no longer kept", r.height),
					"Connect again with Last-Event-ID, or from=, and read faster; type= and actor= make the stream smaller.")
				return
			}
			if events, at = r.readOlderEvents(ctx, out); at == ended {
				return
			} else if at == coming {
				continue
			}
			through = r.height
		case ready:
			r.live = true
		}
		if r.after != "" && len(events) > 0 && events[0].height == r.height && events[0].mark != r.after {
			wrong := otherChain(r)
			out.dropReader(ctx, codeOtherChain, wrong.Body.Message, wrong.Body.Hint)
			return
		}
		r.after, r.awaits = "", false
		if r.sendWanted(events, out) != nil {
			return
		}
		r.height, r.skip = through+1, 0
	}
	_ = out.writeText(": end\n\n") // the client may be gone
}

// readOlderEvents returns the events of a height that the feed no longer keeps. It waits a moment if they
// are coming: the best validator is below the height. After ended the stream is over.
func (r *reader) readOlderEvents(ctx context.Context, out stream) ([]event, position) {
	events, _, err := r.feed.loadEvents(r.height)
	switch {
	case err == nil:
		return r.feed.appendFromMemory(r.height, events), ready
	case errors.Is(err, errBelow):
		select {
		case <-time.After(loadAgain):
			return nil, coming
		case <-ctx.Done(): // the client has left
		}
	case isNotKept(err):
		out.dropReader(ctx, answers.CodeNotKept, err.Error(), "Connect again without from= and Last-Event-ID: what was missed is gone.")
	default:
		out.dropReader(ctx, "internal", fmt.Sprintf("the block of height %d cannot be read: %v", r.height, err), "")
	}
	return nil, ended
}

// followAlive returns the result of follow, and keeps the stream alive meanwhile.
func (r *reader) followAlive(ctx context.Context, out stream) ([]event, types.Height, position) {
	for {
		patience, cancel := context.WithTimeout(ctx, EventKeepAlive)
		events, through, at := r.feed.followEvents(patience, r.height, r.last)
		timedOut := patience.Err() == context.DeadlineExceeded
		cancel()
		if at != ended || !timedOut || ctx.Err() != nil {
			return events, through, at
		}
		if r.awaits {
			out.dropReader(ctx, codeOtherChain,
				fmt.Sprintf("the last event was of another chain: it was of block %d, and the highest one here is %d",
					r.height, r.feed.latestHeight()), "The network was begun anew, or set back to an earlier state. Connect without Last-Event-ID.")
			return nil, 0, ended
		}
		if out.writeText(": alive\n\n") != nil {
			return nil, 0, ended
		}
	}
}

func (r *reader) sendWanted(events []event, out stream) error {
	var text strings.Builder
	for _, e := range events {
		if (e.number >= r.skip || e.height > r.height) && r.wantsEvent(e) {
			text.WriteString(e.text)
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return out.writeText(text.String())
}

func (r *reader) wantsEvent(e event) bool {
	if !slices.Contains(r.kinds, e.kind) {
		return false
	}
	return r.actor == nil || e.kind == model.EventBlock || slices.Contains(e.actors, *r.actor)
}

// stream writes and flushes; a client that takes nothing for EventWriteTimeout
// fails it.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

func (o stream) writeText(text string) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(EventWriteTimeout)) // a recorder in tests has none
	if _, err := io.WriteString(o.w, text); err != nil {
		return err
	}
	return o.control.Flush()
}

// dropReader sends the last event of a stream that the server ends.
func (o stream) dropReader(ctx context.Context, code, message, hint string) {
	if ctx.Err() != nil && code != "stopped" {
		return
	}
	data := mustSucceed(json.Marshal(model.ErrorBody{Code: code, Message: message, Hint: hint}))
	_ = o.writeText(fmt.Sprintf("event: %s\ndata: %s\n\n", model.EventDropped, data)) // the client may be gone
}
