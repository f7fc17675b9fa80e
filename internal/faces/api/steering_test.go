package api

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
)

func (m *memory) Steer() answers.Steering { return steered{m} }

func (m *memory) Liveness() answers.Liveness { return m.liveness }

// steered does what it is asked by answering it.
type steered struct{ m *memory }

func (s steered) refuse() error {
	if s.m.strict {
		return Refuse(http.StatusForbidden, "strict", "off")
	}
	return nil
}

func (s steered) Paused() bool { return s.m.paused }

func (s steered) SetPaused(on bool) error {
	if err := s.refuse(); err != nil {
		return err
	}
	s.m.paused = on
	return nil
}

func (s steered) Advance(_ context.Context, t history.Target) (*history.Advance, error) {
	return &history.Advance{To: t.To + types.Height(t.Blocks+t.Make)}, s.refuse()
}

func (s steered) Cheated(e fault.Effect) { s.m.faults = append(s.m.faults, e) }

func (s steered) Join(_ context.Context, name string) (model.Move, error) {
	return model.Move{Name: name, Status: "joining"}, s.refuse()
}

func (s steered) Leave(_ context.Context, name string) (model.Move, error) {
	return model.Move{Name: name, Status: "leaving"}, s.refuse()
}

func (s steered) SetParam(_ context.Context, key, value string, at types.Height) (model.ParamChange, error) {
	return model.ParamChange{Key: key, Value: value, Height: at}, s.refuse()
}

func (s steered) AnswerJob(types.Hash, execution.Given) ([]types.Address, error) {
	return nil, s.refuse()
}
func (s steered) PrepareRunner(name string, _ types.Address) (string, *system.Registration, error) {
	return name, &system.Registration{}, s.refuse()
}
func (s steered) StartRunner(string) error { return s.refuse() }
func (s steered) ReloadRunner(name string) error {
	if err := s.refuse(); err != nil {
		return err
	}
	return answers.NoSettings(name)
}

func (s steered) CancelTimer(context.Context, types.TimerID) (*types.Receipt, error) {
	return &types.Receipt{Height: 77}, s.refuse()
}

func (s steered) ExtendTimer(_ context.Context, _ types.TimerID, to types.Height) (*types.Receipt, error) {
	return &types.Receipt{Height: to}, s.refuse()
}

// Each steering route hands on its arguments, and the refusal.
func TestSteeringRoutes(t *testing.T) {
	for _, strict := range []bool{false, true} {
		w := newWorld(t)
		w.chain.strict = strict
		for _, c := range []struct {
			path string
			body any
			want map[string]any
		}{
			{"/devnet/pause", nil, map[string]any{"paused": true}},
			{"/devnet/pause", nil, map[string]any{"paused": true}},
			{"/devnet/resume", nil, map[string]any{"paused": false}},
			{"/devnet/automine", model.AutomineRequest{}, map[string]any{"paused": true}},
			{"/devnet/automine", model.AutomineRequest{On: true}, map[string]any{"paused": false}},
			{"/devnet/mine", model.MineRequest{Blocks: 3}, map[string]any{"to": 3.0}},
			{"/devnet/mine", model.MineRequest{}, map[string]any{"to": 1.0}},
			{"/devnet/advance", model.AdvanceRequest{Blocks: 7}, map[string]any{"to": 7.0}},
			{"/devnet/advance", model.AdvanceRequest{To: 9}, map[string]any{"to": 9.0}},
			{"/devnet/validator/join", model.MoveRequest{Name: "v4"}, map[string]any{"name": "v4", "status": "joining"}},
			{"/devnet/validator/leave", model.MoveRequest{Name: "v1"}, map[string]any{"name": "v1", "status": "leaving"}},
			{"/devnet/params", model.ParamRequest{Key: "a.b", Value: "1", At: 5}, map[string]any{"key": "a.b", "height": 5.0}},
		} {
			status, data := w.call("POST", c.path, c.body)
			if strict {
				if status != http.StatusForbidden {
					t.Errorf("strict: %s answers %d %s", c.path, status, data)
				}
				continue
			}
			var got map[string]any
			if err := json.Unmarshal(data, &got); err != nil || status != 200 {
				t.Errorf("%s: %d %s", c.path, status, data)
			}
			for key, want := range c.want {
				if got[key] != want {
					t.Errorf("%s: %s is %v, not %v", c.path, key, got[key], want)
				}
			}
		}
		if told := w.chain.faults; !strict && (len(told) != 2 || told[0].Verb != "mine" || !told[0].Ended) {
			t.Errorf("the list of faults has %+v, want two cheats that are over", told)
		}
	}
}

// A paused network reports that, and is ready all the same; a validator that left
// is not missed.
func TestReadyTellsThatItIsPaused(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	w.chain.paused = true
	w.chain.nodes[1].Status, w.chain.nodes[1].Running = "left", false
	status, data := w.call("GET", "/ready", nil)
	var ready model.Ready
	if err := json.Unmarshal(data, &ready); err != nil || status != 200 && len(ready.Nodes) != 1 || !ready.Paused {
		t.Errorf("%d %s", status, data)
	}
}

// A request that waits for a block while none can be made is refused at once, with
// the cause and a remedy; GET /ready reports it with its start.
func TestCallsFailAtOnceWithoutBlocks(t *testing.T) {
	w := newWorld(t)
	w.chain.liveness = answers.Liveness{Since: 12300 * time.Millisecond, Blocked: true,
		Cause: "no quorum: 2 of 4 validators run, 3 are needed", Hint: "start one"}
	e := w.refused(503, CodeNoBlocks, "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob", Value: &types.Wei{}})
	if !strings.Contains(e.Message, "no block for 12.3s: no quorum: 2 of 4") || e.Hint != "start one" {
		t.Errorf("%+v", e)
	}
	timer := w.chain.addTimer(types.Address{7}, 50, types.TimerPending).String()
	for path, body := range map[string]any{
		"/devnet/advance": model.AdvanceRequest{Blocks: 3}, "/devnet/mine": model.MineRequest{Blocks: 3},
		"/devnet/params":         model.ParamRequest{Key: "cip3.min_basefee", Value: "10"},
		"/devnet/validator/join": model.MoveRequest{Name: "v4"}, "/devnet/validator/leave": model.MoveRequest{Name: "v1"},
		"/devnet/timer/cancel": model.TimerRequest{ID: timer}, "/devnet/timer/extend": model.ExtendRequest{ID: timer, By: 5},
	} {
		if e := w.refused(503, CodeNoBlocks, "POST", path, body); !strings.Contains(e.Message, "no quorum") {
			t.Errorf("%s: %+v", path, e)
		}
	}
	var ready model.Ready
	status, data := w.call("GET", "/ready", nil)
	if err := json.Unmarshal(data, &ready); err != nil || status != 503 || ready.Ready || ready.SinceMS != 12300 || ready.Error == nil ||
		!strings.Contains(ready.Error.Message, "no quorum") {
		t.Errorf("%d %+v", status, ready)
	}
}

// Any actor's timer may be cancelled and extended by a prefix of its id. An ended
// timer, an unknown one, and an extension to two heights are refused.
func TestTheSystemKeyChangesAnyTimer(t *testing.T) {
	w := newWorld(t)
	owner := types.Address{7}
	id, ended := w.chain.addTimer(owner, 50, types.TimerPending), w.chain.addTimer(owner, 3, types.TimerFired)
	w.chain.timers[0].ExpiresAt = 60
	w.chain.mine()
	order := func(path string, body any) (m model.TimerOrder) {
		status, data := w.call("POST", "/devnet/timer/"+path, body)
		if err := json.Unmarshal(data, &m); err != nil || status != 200 || m.ID != id {
			t.Errorf("%s: %d %s", path, status, data)
		}
		return m
	}
	if m := order("cancel", model.TimerRequest{ID: id.String()[:12]}); m.Status != "cancelled" || m.Height != 77 {
		t.Errorf("%+v", m)
	}
	if m := order("extend", model.ExtendRequest{ID: id.String(), To: 90}); m.Status != "pending" || m.ExpiresAt != 90 || m.Height != 90 {
		t.Errorf("%+v", m)
	}
	if m := order("extend", model.ExtendRequest{ID: id.String(), By: 5}); m.ExpiresAt != 65 || m.Height != 65 {
		t.Errorf("%+v", m)
	}
	if m := order("extend", model.ExtendRequest{ID: id.String(), By: math.MaxUint64}); m.ExpiresAt != math.MaxUint64 {
		t.Errorf("%+v", m)
	}
	w.refused(409, "timer_ended", "POST", "/devnet/timer/cancel", model.TimerRequest{ID: ended.String()})
	w.refused(404, "unknown_timer", "POST", "/devnet/timer/cancel", model.TimerRequest{ID: exampleHash.String()})
	w.refused(400, "invalid_request", "POST", "/devnet/timer/extend", model.ExtendRequest{ID: id.String()})
	w.refused(400, "invalid_request", "POST", "/devnet/timer/extend", model.ExtendRequest{ID: id.String(), To: 9, By: 9})
	strict := newWorld(t, func(m *memory) { m.strict = true })
	strict.refused(403, "strict", "POST", "/devnet/timer/cancel", model.TimerRequest{ID: id.String()})
	strict.refused(403, "strict", "POST", "/devnet/timer/extend", model.ExtendRequest{ID: id.String(), By: 1})
}

// Travel is refused with the status of its reason.
func TestTravelIsRefusedWithAStatus(t *testing.T) {
	for code, want := range map[string]int{history.CodeStrict: 403, history.CodeNoTimer: 409, history.CodeHeightPassed: 409,
		history.CodeBadTarget: 400, history.CodeTooFar: 400} {
		if got := Answer(refusal.New(code, "no")); got.Status != want || got.Body.Code != code {
			t.Errorf("%s: %d %+v", code, got.Status, got.Body)
		}
	}
}
