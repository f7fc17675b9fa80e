package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// TimerFilter selects timers; zero fields select all.
type TimerFilter struct {
	Actor  string
	Status string // one of TimerPending and its like
	DueBy  Height
}

// Timers lists timers by due height.
func (c *Client) Timers(ctx context.Context, f TimerFilter) ([]Timer, error) {
	return Collect(c.API.Timers(ctx, f, Page{}))
}

// Timer is a timer in any state, with the receipt of its fire.
func (c *Client) Timer(ctx context.Context, id TimerID) (TimerDetail, error) {
	return c.API.Timer(ctx, id.String())
}

// TimerStory returns all changes of a timer by final blocks.
func (c *Client) TimerStory(ctx context.Context, id TimerID) (TimerStory, error) {
	told, err := c.API.TimerStory(ctx, id.String(), 0, 0)
	for err == nil && told.Next != nil {
		var more TimerStory
		if more, err = c.API.TimerStory(ctx, id.String(), *told.Next, 0); err == nil && more.Next != nil && *more.Next <= *told.Next {
			err = errNoProgress
		}
		told.Story, told.Next = mergeStory(told.Story, more.Story), more.Next
	}
	return told, err
}

// mergeStory returns a story with the content of a further answer. Each answer has the whole
// story except the blocks that deferred the timer, of which it has a part.
func mergeStory(story, more []model.StoryEntry) []model.StoryEntry {
	for _, entry := range more {
		if entry.Kind != model.StoryDeferred {
			continue
		}
		at := len(story)
		for at > 0 && story[at-1].From > entry.From {
			at--
		}
		story = append(story[:at:at], append([]model.StoryEntry{entry}, story[at:]...)...)
	}
	return story
}

// CancelTimer has the system key cancel a timer of any actor.
func (c *Client) CancelTimer(ctx context.Context, id TimerID) (TimerOrder, error) {
	return c.API.CancelTimer(ctx, id.String())
}

// ExtendTimer has the system key move the expires_at of a timer of any actor to a
// height.
func (c *Client) ExtendTimer(ctx context.Context, id TimerID, to Height) (TimerOrder, error) {
	return c.API.ExtendTimer(ctx, model.ExtendRequest{ID: id.String(), To: to})
}
