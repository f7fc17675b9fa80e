package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// The data of events, by their kinds; other kinds have an answer of the same name.
type (
	PresenceEvent = model.PresenceEvent
	TimerEvent    = model.TimerEvent
	ViewEvent     = model.ViewEvent
	ViewLost      = model.ViewLost
)

// maxEventBytes bounds one event: a block's largest receipt in hexadecimal.
const maxEventBytes = 64 << 20

// The kinds of events.
const (
	EventBlock    = model.EventBlock
	EventTx       = model.EventTx
	EventTimer    = model.EventTimer
	EventLog      = model.EventLog
	EventJob      = model.EventJob
	EventPresence = model.EventPresence
	EventRunner   = model.EventRunner
	EventFault    = model.EventFault
	EventView     = model.EventView
)

// Follow says which events to follow. The zero Follow is all from the next final block
// on.
type Follow struct {
	From   Height   // 0: the next final block
	To     Height   // the stream ends with this final block; 0: it does not end
	LastID string   // continue after this event; wins over From
	Kinds  []string // EventBlock and its like; none: all
	Actor  string   // only what is about this account or actor
}

// Event is one effect of a final block, or of an operator's order on the network. The
// method of its kind has what it is.
type Event struct {
	ID   string
	Kind string
	Data json.RawMessage
}

// Events calls each with every event, in order. It ends when ctx is done, when each returns
// an error, after the events of f.To, or when the network ends the stream. The end of
// ctx and of f.To is not an error; an end by the network is an *Error with its reason.
func (a *API) Events(ctx context.Context, f Follow, each func(Event) error) error {
	q := query(nil).withNumber("from", uint64(f.From)).withNumber("to", uint64(f.To)).withText("actor", f.Actor).
		withText("type", strings.Join(f.Kinds, ","))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+q.pathWithQuery("/events"), nil)
	if err != nil {
		return a.withoutAnswer(err)
	}
	if f.LastID != "" {
		request.Header.Set("Last-Event-ID", f.LastID)
	}
	endless := http.Client{Transport: a.http.Transport}
	response, err := endless.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return a.unreachableError(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return decodeRefusal(response.StatusCode, data)
	}
	whole, err := scanEvents(response.Body, each)
	if ctx.Err() != nil || whole {
		return nil
	}
	if err == nil {
		err = a.withoutAnswer(io.ErrUnexpectedEOF)
	}
	return err
}

// endOfStream is the comment that ends a stream.
const endOfStream = ": end"

// scanEvents reads events until the stream ends, and reports whether that was its end.
func scanEvents(body io.Reader, each func(Event) error) (whole bool, err error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), maxEventBytes)
	var e Event
	for lines.Scan() {
		line := lines.Text()
		if line == endOfStream {
			return true, nil
		}
		if strings.HasPrefix(line, ":") {
			continue // a comment: the network shows that it lives
		}
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "id":
			e.ID = value
		case "event":
			e.Kind = value
		case "data":
			e.Data = json.RawMessage(value)
		case "":
			if e.Kind == model.EventDropped {
				return false, decodeDropReason(e.Data)
			}
			if e.Kind != "" {
				if err := each(e); err != nil {
					return false, err
				}
			}
			e = Event{}
		}
	}
	return false, lines.Err()
}

func decodeDropReason(data []byte) error {
	e := &Error{Status: http.StatusOK}
	if err := json.Unmarshal(data, &e.ErrorBody); err != nil {
		return fmt.Errorf("the network ended the stream of events: %s", data)
	}
	return e
}

// Block is what an event of the kind block is.
func (e Event) Block() (Block, error) { return decodeEvent[Block](e, EventBlock) }

// Receipt is what an event of the kind tx is.
func (e Event) Receipt() (Receipt, error) { return decodeEvent[Receipt](e, EventTx) }

// Timer is what an event of the kind timer is.
func (e Event) Timer() (TimerEvent, error) { return decodeEvent[TimerEvent](e, EventTimer) }

// Log is what an event of the kind log is.
func (e Event) Log() (LogLine, error) { return decodeEvent[LogLine](e, EventLog) }

// Job is what an event of the kind job is.
func (e Event) Job() (JobEvent, error) { return decodeEvent[JobEvent](e, EventJob) }

// Presence is what an event of the kind presence is.
func (e Event) Presence() (PresenceEvent, error) { return decodeEvent[PresenceEvent](e, EventPresence) }

// Runner is what an event of the kind runner is.
func (e Event) Runner() (RunnerEvent, error) { return decodeEvent[RunnerEvent](e, EventRunner) }

// Fault is what an event of the kind fault is.
func (e Event) Fault() (FaultEffect, error) { return decodeEvent[FaultEffect](e, EventFault) }

// View is what an event of the kind view is.
func (e Event) View() (ViewEvent, error) { return decodeEvent[ViewEvent](e, EventView) }

func decodeEvent[T any](e Event, kind string) (out T, err error) {
	if e.Kind != kind {
		return out, fmt.Errorf("event %s is of the kind %s, and no %s", e.ID, e.Kind, kind)
	}
	if err = json.Unmarshal(e.Data, &out); err != nil {
		err = fmt.Errorf("event %s: %w", e.ID, err)
	}
	return out, err
}
