package chainhttp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// polledAPI is an API that answers runners that poll, and notes their questions.
type polledAPI struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string
	answers map[string]func(http.ResponseWriter)
}

func newPolledAPI(t testing.TB) *polledAPI {
	a := &polledAPI{answers: map[string]func(http.ResponseWriter){}}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		if r.URL.Path != "/validators" {
			a.asked = append(a.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		}
		answer := a.answers[r.URL.Path]
		a.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer(w)
	}))
	t.Cleanup(a.Close)
	return a
}

func says(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, text) }
}

func pollsOf(t *testing.T, apis ...string) func(polling.Question) polling.Answer {
	t.Helper()
	p, err := NewPolls(Config{API: apis[0], Also: apis[1:], Runner: runner.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan polling.Answer, 10)
	if err := p.Start(func(a polling.Answer) { answers <- a }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return func(q polling.Question) polling.Answer {
		p.Ask(q)
		select {
		case a := <-answers:
			return a
		case <-time.After(30 * time.Second):
			t.Fatal("nothing is answered")
			return polling.Answer{}
		}
	}
}

func validatorOf(name string) types.Validator {
	key := crypto.DeriveKey(1, name)
	return types.Validator{Address: key.Address(), PublicKey: key.PublicKey()}
}

func jobSpec() *push.JobSpec {
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:   push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		MaxPrice: types.WeiOf(1), TimeoutBlocks: 10, Verification: push.Verification{Mode: push.None, Runners: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
}

// J11: jobs, results and heartbeats use the paths of the API, at the validator that
// a question names, if the API serves that one.
func TestJ11PollsAreAsked(t *testing.T) {
	a := newPolledAPI(t)
	v0, v1 := validatorOf("v0"), validatorOf("v1")
	path := "/runner/" + runner.Address().String()
	told, _ := json.Marshal([]map[string]any{{"name": "v0", "address": v0.Address}, {"name": "v1", "address": v1.Address, "elsewhere": true}})
	a.answers["/validators"] = says(string(told))
	jobs, _ := json.Marshal([]map[string]any{{"job_id": types.Hash{7}, "job_spec": types.Bytes(jobSpec().AppendCBOR(nil)), "block_height": 95,
		"deadline_block": 120}, {"job_id": types.Hash{8}, "job_spec": "0x01", "block_height": 95, "deadline_block": 120}})
	a.answers[path+"/jobs"] = says(string(jobs))
	a.answers[path+"/job_result"] = says("{}")
	a.answers[path+"/job_refusal"] = says("{}")
	a.answers[path+"/heartbeat"] = says("{}")
	ask := pollsOf(t, a.URL)
	got := ask(polling.Question{ID: 1, Validator: v0})
	want := execution.ID{Job: types.Hash{7}, Drawn: 95}
	if got.ID != 1 || got.Lost || got.Refused != "" || len(got.Jobs) != 1 || got.Jobs[0].ID != want ||
		got.Jobs[0].Deadline != 120 || got.Jobs[0].Spec.Hash() != jobSpec().Hash() {
		t.Errorf("%+v", got)
	}
	result := &push.JobResult{JobID: types.Hash{7}, ResultData: []byte("done"), CommitSigned: &types.Signature{9}}
	if got := ask(polling.Question{ID: 2, Validator: v1, Result: result}); got.Lost || got.Refused != "" || got.ID != 2 {
		t.Errorf("%+v", got)
	}
	ping := &push.HeartbeatPing{BlockHeight: 99, Nonce: 1}
	if got := ask(polling.Question{ID: 3, Validator: v0, Heartbeat: ping}); got.Lost || got.Refused != "" {
		t.Errorf("%+v", got)
	}
	why, text := push.Unsupported, "no such executor"
	refusal := &push.JobAck{JobID: types.Hash{7}, Status: push.AckStatus{Reject: &why}, Reason: &text, RefusalSigned: &types.Signature{8}}
	if got := ask(polling.Question{ID: 4, Validator: v0, Refusal: refusal}); got.Lost || got.Refused != "" || got.ID != 4 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(a.asked[1], `"commit_signed":"0x09`) {
		t.Errorf("a committee's result goes without its signed commitment: %s", a.asked[1])
	}
	if want := `"reason":"no such executor","refusal_signed":"0x08`; !strings.Contains(a.asked[3], want) ||
		!strings.Contains(a.asked[3], `"reject":"Unsupported"`) {
		t.Errorf("asked %q, want %s", a.asked[3], want)
	}
	for i, want := range []string{"GET " + path + "/jobs?node=v0", "POST " + path + `/job_result {`,
		"POST " + path + `/heartbeat?node=v0 {"block_height":99,"nonce":1,"signed":"0x`, "POST " + path + `/job_refusal?node=v0 {"job_id":"0x07`} {
		if !strings.HasPrefix(a.asked[i], want) {
			t.Errorf("asked %q, want %q…", a.asked[i], want)
		}
	}
}

// A refusal is reported with its code. A missing answer, a server's own error or an invalid
// answer is lost, and another URL is asked.
func TestAnAPIThatDoesNotAnswerIsLost(t *testing.T) {
	a, b := newPolledAPI(t), newPolledAPI(t)
	v := validatorOf("v0")
	path := "/runner/" + runner.Address().String() + "/jobs"
	b.answers[path] = says("[]")
	for name, answer := range map[string]func(http.ResponseWriter){
		"an error": func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"no JSON":  says("<html>"),
		"too much": says(strings.Repeat(" ", maxAnswer+1)),
	} {
		a.answers[path] = answer
		ask := pollsOf(t, a.URL, b.URL)
		if got := ask(polling.Question{ID: 1, Validator: v}); !got.Lost {
			t.Errorf("%s: %+v", name, got)
		}
		if got := ask(polling.Question{ID: 2, Validator: v}); got.Lost || got.Refused != "" {
			t.Errorf("%s: the next answers %+v", name, got)
		}
	}
	a.answers[path] = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, `{"error":{"code":"polling_ended"}}`)
	}
	if got := pollsOf(t, a.URL)(polling.Question{ID: 1, Validator: v}); got.Lost || !strings.Contains(got.Refused, "410 polling_ended") {
		t.Errorf("%+v", got)
	}
	a.CloseClientConnections()
	a.Server.Close()
	if got := pollsOf(t, a.URL)(polling.Question{ID: 1, Validator: v}); !got.Lost {
		t.Errorf("of one that is gone: %+v", got)
	}
}

// J11: the view shows assignments that were not followed, if the registry counts more than
// are open.
func TestTheViewFindsWhatNobodyFollows(t *testing.T) {
	a := newAPI(t)
	id := types.Hash{1}
	a.set("/job/"+id.String(), jobOf(95, nil))
	a.set("/job/"+id.String()+"/results", resultsOf(nil))
	a.set("/jobs", func(r *http.Request) any {
		if r.FormValue("status") != "Assigned" || r.FormValue("runner") != runner.Address().String() {
			return []any{}
		}
		of := func(id types.Hash, drawn types.Height) any {
			return map[string]any{"id": id, "committee": []any{runner.Address()}, "committee_drawn_at": []any{drawn}}
		}
		return []any{of(id, 95), of(types.Hash{2}, 999)}
	})
	_, heads := a.view(t)
	if h := next(t, heads); len(h.Assignments) != 0 || a.asked["/jobs"] != 0 {
		t.Fatalf("told %+v", h.Assignments)
	}
	a.set("/runner/"+runner.Address().String(), map[string]any{"health": "Healthy", "stake": "20000000000000", "active_jobs": 1,
		"last_heartbeat": 44})
	a.set("/height", map[string]any{"height": 101})
	h := next(t, heads)
	if h.Heartbeat != 44 || len(h.Assignments) != 1 {
		t.Fatalf("told %+v", h)
	}
	for of, s := range h.Assignments {
		if of.Job != id || of.Drawn != 95 || !s.Open {
			t.Errorf("told %+v %+v", of, s)
		}
	}
	a.set("/jobs", "<html>")
	a.set("/height", map[string]any{"height": 102})
	if h := next(t, heads); h.Height != 102 || len(h.Assignments) != 0 {
		t.Errorf("told %+v", h)
	}
}
