package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

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

// Events calls each with every event, in order, until ctx is done, without an error,
// or until each returns an error, which is returned.
func (c *Client) Events(ctx context.Context, f Follow, each func(Event) error) error {
	return c.api.Events(ctx, client.Follow{From: f.From, LastID: f.LastID, Kinds: f.Kinds, Actor: f.Actor}, func(e client.Event) error {
		return each(Event{e.ID, e.Kind, e.Data})
	})
}

// Block is what an event of the kind block is.
func (e Event) Block() (Block, error) { return as[Block](e, EventBlock) }

// Receipt is what an event of the kind tx is.
func (e Event) Receipt() (Receipt, error) { return as[Receipt](e, EventTx) }

// Timer is what an event of the kind timer is.
func (e Event) Timer() (TimerEvent, error) { return as[TimerEvent](e, EventTimer) }

// Log is what an event of the kind log is.
func (e Event) Log() (LogLine, error) { return as[LogLine](e, EventLog) }

// Job is what an event of the kind job is.
func (e Event) Job() (JobEvent, error) { return as[JobEvent](e, EventJob) }

// Presence is what an event of the kind presence is.
func (e Event) Presence() (PresenceEvent, error) { return as[PresenceEvent](e, EventPresence) }

// Runner is what an event of the kind runner is.
func (e Event) Runner() (RunnerEvent, error) { return as[RunnerEvent](e, EventRunner) }

// Fault is what an event of the kind fault is.
func (e Event) Fault() (FaultEffect, error) { return as[FaultEffect](e, EventFault) }

// View is what an event of the kind view is.
func (e Event) View() (ViewEvent, error) { return as[ViewEvent](e, EventView) }

func as[T any](e Event, kind string) (out T, err error) {
	if e.Kind != kind {
		return out, fmt.Errorf("event %s is of the kind %s, and no %s", e.ID, e.Kind, kind)
	}
	if err = json.Unmarshal(e.Data, &out); err != nil {
		err = fmt.Errorf("event %s: %w", e.ID, err)
	}
	return out, err
}
