package client

import (
	"net/http"
	"testing"
)

// Each range asks only for the given bounds.
func TestRangesAskForWhatWasGiven(t *testing.T) {
	asked := ""
	c := answering(t, func(r *http.Request) any {
		asked = r.URL.String()
		return map[string]any{}
	})
	ctx, before := t.Context(), int64(9)
	for want, ask := range map[string]func() error{
		"/blocks/columns?from=3&to=4":                func() error { _, err := c.Columns(ctx, 3, 4); return err },
		"/blocks/columns":                            func() error { _, err := c.Columns(ctx, 0, 0); return err },
		"/views?to=7":                                func() error { _, err := c.Views(ctx, 0, 7); return err },
		"/links":                                     func() error { _, err := c.Links(ctx, false); return err },
		"/links?faulty=true":                         func() error { _, err := c.Links(ctx, true); return err },
		"/timers/calendar?bins=8&from=3":             func() error { _, err := c.TimerCalendar(ctx, 3, 0, 8); return err },
		"/presence?from=1&to=2":                      func() error { _, err := c.PresenceRange(ctx, 1, 2); return err },
		"/nodes/v0/log?before=9&level=ERROR&limit=5": func() error { _, err := c.NodeLog(ctx, "v0", &before, 5, "ERROR"); return err },
		"/find?limit=5&q=heart":                      func() error { _, err := c.Find(ctx, "heart", 5); return err },
		"/hold/frames?from=3&lost=true&to=9":         func() error { _, err := c.Frames(ctx, 3, 9, true); return err },
		"/hold":                                      func() error { _, err := c.Held(ctx); return err },
		"/hold/step":                                 func() error { _, err := c.Step(ctx, StepRequest{Unit: "block", Count: 2}); return err },
		"/hold/back":                                 func() error { _, err := c.StepBack(ctx, StepRequest{Count: 2}); return err },
		"/hold/go":                                   func() error { _, err := c.GoToMoment(ctx, "h3"); return err },
		"/nodes/%2F..%2Fx/log":                       func() error { _, err := c.NodeLog(ctx, "/../x", nil, 0, ""); return err },
	} {
		if err := ask(); err != nil || asked != want {
			t.Errorf("asked %s, not %s: %v", asked, want, err)
		}
	}
}
