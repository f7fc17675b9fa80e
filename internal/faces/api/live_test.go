package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// live is a real network under the API: consensus, ledger and stores in this
// process, and a Go sample for an actor.
type live struct {
	*testing.T
	server *api.Server
	client *client.API
	ctx    context.Context
}

func newLive(t *testing.T, validators int, change ...func(*box.Config)) *live {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	seed := uint64(1)
	config := box.Config{Plan: setup.Plan{Validators: validators, BlockTime: 10 * time.Millisecond, Seed: &seed}, Version: "test",
		Ephemeral: true}
	for _, c := range change {
		c(&config)
	}
	n, err := box.Up(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	server := api.New(n, api.Config{})
	t.Cleanup(func() { _ = server.Close() })
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	return &live{t, server, client.NewAPI(web.URL), ctx}
}

// heartbeat deploys the sample and waits for two fires, by their events.
func (l *live) heartbeat() (model.Deployed, []model.TimerEvent) {
	l.Helper()
	fund := types.WeiOf(100 * types.CBY)
	d, err := l.client.Deploy(l.ctx, model.DeployRequest{From: "alice", Code: string(samples.Code("heartbeat")), Name: "hb", Fund: &fund})
	if err != nil || d.Receipt.Status != "ok" {
		l.Fatalf("%v %+v", err, d)
	}
	if r, err := l.client.Send(l.ctx, model.SendRequest{From: "bob", To: "hb", Handler: "start", Payload: "0x000000000000000a"}); err != nil ||
		r.Status != "ok" {
		l.Fatalf("%v %+v", err, r)
	}
	var fires []model.TimerEvent
	enough := errors.New("enough")
	err = l.client.Events(l.ctx, client.Follow{From: 1, Actor: "hb", Kinds: []string{model.EventTimer}}, func(e client.Event) error {
		var t model.TimerEvent
		if err := json.Unmarshal(e.Data, &t); err != nil {
			return err
		}
		if t.Receipt != nil {
			fires = append(fires, t)
		}
		if len(fires) == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		l.Fatal(err)
	}
	return d, fires
}

// TestARealNetworkAnswersAsDocumented asks every route that reads, with values
// of a real chain, and holds the answers against the OpenAPI document.
func TestARealNetworkAnswersAsDocumented(t *testing.T) {
	l := newLive(t, 2)
	d, fires := l.heartbeat()
	l.answers("/health", "/height", "/block/latest", "/block/1", "/blocks?from=1&limit=1000",
		"/transaction/"+d.Receipt.Hash.String(),
		"/transaction/"+d.Receipt.Hash.String()+"/receipt", "/transaction/"+fires[0].ID.String()+"/receipt", "/account/hb",
		"/account/alice",
		"/actor/hb", "/actor/hb/state", "/actor/hb/logs", "/actors", "/basefee", "/ready", "/timers", "/timers?actor=hb&status=fired",
		"/timers?status=pending",
		"/timer/"+fires[0].ID.String(), "/timer/"+fires[0].ID.String()+"/story", "/timer/"+fires[0].ID.String()+"/story?from=5&limit=1",
		"/timers/lane", "/timers/lane?last=5", "/validators", "/params", "/devnet/accounts", "/account/hb?node=v1")
}

// answers asks paths, and holds what they answer against the document.
func (l *live) answers(paths ...string) {
	l.Helper()
	for _, path := range paths {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest("GET", "http://localhost"+path, nil)
		l.server.Handler().ServeHTTP(recorder, request)
		if recorder.Code != 200 {
			l.Errorf("%s: %d %s", path, recorder.Code, recorder.Body)
			continue
		}
		var body any
		if err := json.Unmarshal(recorder.Body.Bytes(), &body); err != nil {
			l.Fatal(path, err)
		}
		result := &huma.ValidateResult{}
		huma.Validate(l.server.OpenAPI().Components.Schemas, l.schema(path), huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, body, result)
		for _, err := range result.Errors {
			l.Errorf("%s: %v", path, err)
		}
	}
}

// A job on a real network is followed from its submission to its callback, with
// validators' sightings on their connections, and every path reports it as documented.
func TestAJobOnARealNetworkIsFollowedToItsEnd(t *testing.T) {
	l := newLive(t, 2, func(c *box.Config) { c.Runners, c.BlockTime = 2, 100*time.Millisecond })
	d, _ := l.heartbeat()
	j, err := l.client.SubmitJob(l.ctx, model.JobRequest{From: "bob", Kind: "custom", Executor: "echo", Params: "hello",
		Callback: d.Address.String() + ".start"})
	if err != nil {
		t.Fatal(err)
	}
	whats := map[string]bool{}
	over := errors.New("over")
	err = l.client.Events(l.ctx, client.Follow{From: j.SubmittedAt, Kinds: []string{model.EventJob}}, func(e client.Event) error {
		var told model.JobEvent
		if err := json.Unmarshal(e.Data, &told); err != nil || told.ID != j.ID || told.Height < j.SubmittedAt {
			return fmt.Errorf("%s: %w", e.Data, err)
		}
		whats[told.What] = true
		if told.What == model.JobCalledBack {
			return over
		}
		return nil
	})
	if !errors.Is(err, over) {
		t.Fatal(err)
	}
	for _, what := range []string{model.JobSubmitted, model.JobDrawn, model.JobPushed, model.JobAcked, model.JobResulted, model.JobRevealed,
		model.JobCompleted} {
		if !whats[what] {
			t.Errorf("no event reports that it was %s: %v", what, whats)
		}
	}
	if j, err = l.client.Job(l.ctx, j.ID.String()); err != nil || j.Status != "Completed" || string(*j.Result) != "hello" {
		t.Errorf("%+v, %v", j, err)
	}
	r, err := l.client.Runner(l.ctx, "r0")
	if err != nil || r.Name != "r0" || !r.Present || len(r.Connected) != 2 || !r.Accepting {
		t.Errorf("%+v, %v", r, err)
	}
	id := "/job/" + j.ID.String()
	l.answers(id, id+"/status", id+"/runners", id+"/results", id+"/verified", id+"/story", id+"/story?limit=1", "/jobs", "/jobs?status=Failed",
		"/jobs?runner=r1&submitter=bob", "/runners", "/runners/active", "/runners?status=Healthy", "/runner/r1", "/runner/r1/jobs", "/subsets",
		"/presence/0", fmt.Sprintf("/presence/%d", j.SubmittedAt), fmt.Sprintf("/block/%d", j.SubmittedAt+1), "/validators")
}

// schema is what the document says that a path answers.
func (l *live) schema(path string) *huma.Schema {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
next:
	for pattern, item := range l.server.OpenAPI().Paths {
		words := strings.Split(pattern, "/")
		if item.Get == nil || len(words) != len(parts) {
			continue
		}
		for i, word := range words {
			if word != parts[i] && !strings.HasPrefix(word, "{") {
				continue next
			}
		}
		return item.Get.Responses["200"].Content["application/json"].Schema
	}
	l.Fatalf("%s is not documented", path)
	return nil
}

func TestWhatAnAnswerSaysIsReadAtOnce(t *testing.T) {
	l := newLive(t, 1)
	amount := types.WeiOf(5)
	to := "0x00000000000000000000000000000000000000aa"
	for i := range uint64(5) {
		r, err := l.client.Send(l.ctx, model.SendRequest{From: "carol", To: to, Value: &amount})
		if err != nil || r.Status != "ok" {
			t.Fatalf("%v %+v", err, r)
		}
		if a, err := l.client.Account(l.ctx, to); err != nil || a.Balance != types.WeiOf(5*(i+1)) {
			t.Fatalf("after %d transfers: %v %+v", i+1, err, a)
		}
		if again, err := l.client.Receipt(l.ctx, r.Hash.String()); err != nil || again.Height != r.Height {
			t.Fatalf("%v %+v", err, again)
		}
	}
}

func TestFiresArePaidAndTold(t *testing.T) {
	l := newLive(t, 1)
	_, fires := l.heartbeat()
	for _, f := range fires {
		timer, err := l.client.Timer(l.ctx, f.ID.String())
		if err != nil || timer.Status != "fired" || timer.Receipt == nil || timer.FeePaid != timer.Receipt.Fee || timer.FeePaid.IsZero() {
			t.Fatalf("%v %+v", err, timer)
		}
	}
	if fires[1].Height-fires[0].Height != 10 {
		t.Fatalf("fires at %d and %d, not 10 apart", fires[0].Height, fires[1].Height)
	}
}

// TestRefusedTransactionsHaveTheirCodes sends what is signed by the devnet's
// own key and wrong in one point each.
func TestRefusedTransactionsHaveTheirCodes(t *testing.T) {
	l := newLive(t, 1)
	_, err := l.client.Submit(l.ctx, []byte{0x8c, 0x01})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 400 || refused.Code == "invalid_request" {
		t.Fatalf("%v %+v", err, refused)
	}
	much := types.MaxWei
	_, err = l.client.Send(l.ctx, model.SendRequest{From: "dave", To: "alice", Value: &much})
	if refused = nil; !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused.Code != "insufficient_funds" {
		t.Fatalf("%+v", refused)
	}
	few := types.Cycles(1)
	_, err = l.client.Send(l.ctx, model.SendRequest{From: "dave", To: "alice", CyclesLimit: &few})
	if refused = nil; !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused.Code != "limit_too_low" {
		t.Fatalf("%+v", refused)
	}
	if r, err := l.client.Send(l.ctx, model.SendRequest{From: "dave", To: "alice"}); err != nil || r.Status != "ok" {
		t.Fatalf("after refusals: %v %+v", err, r)
	}
	read, err := l.client.Read(l.ctx, model.ReadRequest{Actor: "alice", Handler: "x"})
	if !errors.As(err, &refused) || refused.Code != "unknown_actor" {
		t.Fatalf("%v %+v", err, read)
	}
}
