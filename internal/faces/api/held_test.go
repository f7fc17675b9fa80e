package api

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// moving is a held run that answers with what it is asked, and has another network after a way back.
type moving struct{ networks uint64 }

func (*moving) Held() model.Held { return exampleHeld }
func (*moving) Moment() string   { return exampleHeld.Moment }
func (*moving) Frames(from, to types.View, lost bool) (all []model.Frame) {
	for v := types.View(1); v <= 3; v++ {
		for range maxFrames / 2 {
			f := exampleFrame
			switch f.View = v; v {
			case 1:
				f.Why, f.By = "", ""
			case 3:
				f.Why, f.By, f.ArrivesMS = "late", "", new(f.SentMS+50)
			}
			if v >= from && v <= to && (!lost || f.Why != "") {
				all = append(all, f)
			}
		}
	}
	return all
}
func (m *moving) Networks() uint64 {
	return m.networks
}

func (*moving) Step(r model.StepRequest) (model.Held, error) {
	m := exampleHeld
	m.Step += r.Count
	return m, nil
}

func (m *moving) Back(r model.StepRequest) (model.Held, error) {
	m.networks++
	held := exampleHeld
	held.Step -= r.Count
	return held, nil
}

func (*moving) Go(r model.GoRequest) (model.Held, error) {
	return model.Held{}, refusal.New("invalid_moment", "no %s", r.To).At("to")
}

// A network whose time passes by itself is at no moment, and says what would be.
func TestALiveNetworkIsNotHeld(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	for path, body := range map[string]any{"/hold/step": model.StepRequest{Count: 1}, "/hold/back": model.StepRequest{Unit: model.UnitBlock},
		"/hold/go": model.GoRequest{To: "h1"}} {
		if e := w.refused(409, "not_held", "POST", path, body); e.Hint == "" {
			t.Errorf("%s: %+v has no remedy", path, e)
		}
	}
	w.refused(409, "not_held", "GET", "/hold", nil)
	w.refused(409, "not_held", "GET", "/hold/frames", nil)
	if ready := get[model.Ready](w, "/ready"); ready.Held != "" {
		t.Errorf("it is ready as held at %s", ready.Held)
	}
}

// A held run is asked, on a strict network too: nothing of the chain is changed. What was remembered of another network
// is forgotten.
func TestAHeldRunIsAsked(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.strict = true })
	w.server.held = &moving{}
	w.chain.mine()
	for query, want := range map[string][3]int{ // frames that were cut, late, and as usual: order: each is judged alone
		"": {maxFrames / 2, maxFrames / 2, 0}, "?lost=true": {maxFrames / 2, maxFrames / 2, 0}, "?to=2": {maxFrames / 2, 0, maxFrames / 2},
		"?from=1&to=1": {0, 0, maxFrames / 2}, "?from=9": {0, 0, 0}} {
		m, got := get[model.Frames](w, "/hold/frames"+query), [3]int{}
		for _, f := range m.Frames {
			got[slices.Index([]string{"cut", "late", ""}, f.Why)]++
		}
		if got != want || query == "" && m.Omitted != maxFrames/2 {
			t.Errorf("%q is answered with %d frames, and %d are left out; want %d", query, got, m.Omitted, want)
		}
	}
	w.refused(400, "invalid_range", "GET", "/hold/frames?from=3&to=2", nil)
	if at := get[model.Held](w, "/hold"); at.Moment != exampleHeld.Moment || at.Step != exampleHeld.Step {
		t.Errorf("it is at %+v", at)
	}
	if ready := get[model.Ready](w, "/ready"); ready.Held != exampleHeld.Moment {
		t.Errorf("it is ready as held at %q", ready.Held)
	}
	if at := post[model.Held](w, "/hold/step", model.StepRequest{Count: 7}); at.Step != exampleHeld.Step+7 || w.server.feed.reverts != 0 {
		t.Errorf("7 steps lead to %+v, with %d reverts", at, w.server.feed.reverts)
	}
	if at := post[model.Held](w, "/hold/back", model.StepRequest{Count: 2}); at.Step != exampleHeld.Step-2 || w.server.feed.reverts != 1 {
		t.Errorf("2 steps back are %+v, with %d reverts", at, w.server.feed.reverts)
	}
	w.refused(400, "invalid_moment", "POST", "/hold/go", model.GoRequest{To: "57"})
	w.refused(422, "invalid_request", "POST", "/hold/step", map[string]any{"unit": "year"})
	w.refused(422, "invalid_request", "POST", "/hold/step", model.StepRequest{Count: model.MaxSteps + 1})
}
