package chainhttp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var runner = crypto.DeriveKey(1, "r0")

// api answers what the test has it answer.
type api struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]any // by path; a missing one is 404
	asked   map[string]int
}

func newAPI(t testing.TB) *api {
	a := &api{asked: map[string]int{}}
	var validators []any
	for i := range 3 {
		key := crypto.DeriveKey(1, fmt.Sprint("v", i))
		validators = append(validators, map[string]any{"address": key.Address(), "public_key": key.PublicKey(),
			"quic_address": fmt.Sprint("host:", i)})
	}
	a.answers = map[string]any{
		"/height":                              map[string]any{"height": 100},
		"/runner/" + runner.Address().String(): map[string]any{"health": "Healthy", "stake": "20000000000000"},
		"/params":                              parameters(map[string]string{}),
		"/subsets": map[string]any{"subset_epoch": 2, "height": 90, "overlap_blocks": 5, "former": nil, "current": map[string]any{
			"min_subset": 3, "max_subset": 8, "presence_rule": "quorum", "validators": validators}},
	}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[r.URL.Path]++
		answer, known := a.answers[r.URL.Path]
		a.mu.Unlock()
		if !known {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"unknown"}}`)
			return
		}
		if asked, is := answer.(func(*http.Request) any); is {
			answer = asked(r)
		}
		if text, is := answer.(string); is {
			fmt.Fprint(w, text)
			return
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(a.Close)
	return a
}

// parameters are the defaults, but for some, and one that this version does not know.
func parameters(other map[string]string) (all []any) {
	for _, p := range append(params.Keys(), params.Info{Key: "cip11.of_a_later_version", Default: "what"}) {
		value := p.Default
		if otherwise, is := other[p.Key]; is {
			value = otherwise
		}
		all = append(all, map[string]string{"key": p.Key, "value": value})
	}
	return all
}

func (a *api) set(path string, answer any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[path] = answer
}

// view starts a view, and returns what it tells.
func (a *api) view(t *testing.T) (*View, chan *chainview.Head) {
	t.Helper()
	v, err := New(Config{API: a.URL, Runner: runner.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	heads := make(chan *chainview.Head, 100)
	if err := v.Start(func(h *chainview.Head) { heads <- h }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v, heads
}

func next(t *testing.T, heads chan *chainview.Head) *chainview.Head {
	t.Helper()
	select {
	case h := <-heads:
		return h
	case <-time.After(30 * time.Second):
		t.Fatal("no head is told")
		return nil
	}
}

func jobOf(assigned types.Height, completed any) map[string]any {
	return map[string]any{"runners": 2, "committee": []any{runner.Address(), types.Address{9}}, "attempts": 2,
		"committee_drawn_at": []any{assigned, assigned - 1}, "deadline": 120, "commit_deadline": 110, "completed_at": completed, "spec": "0x0102"}
}

func resultsOf(other []any) []any {
	of := func(attempt int, height types.Height, commitment types.Hash) any {
		return map[string]any{"runner": runner.Address(), "attempt": attempt,
			"commitments": []any{map[string]any{"height": height, "commitment": commitment}}}
	}
	return append([]any{of(1, 80, types.Hash{4}), of(2, 97, types.Hash{5})}, other...)
}

func TestAViewTellsWhatTheDevnetAnswers(t *testing.T) {
	a := newAPI(t)
	v, heads := a.view(t)
	h := next(t, heads)
	if h.Height != 100 || !h.Registered || !h.Staked || h.Epoch != 2 || h.Overlaps || len(h.Validators) != 3 || h.Params.Push != "hot" ||
		h.Params.BlockTime() != time.Second || h.Params.HelloTimeoutMS != 5000 || h.Params.ControlFramesPerSecond != 20 {
		t.Fatalf("told %+v", h)
	}
	if !strings.HasPrefix(h.Validators[0].Endpoint, "host:") {
		t.Errorf("a validator listens at %q", h.Validators[0].Endpoint)
	}
	id := execution.ID{Job: types.Hash{1}, Drawn: 95}
	path := "/job/" + id.Job.String()
	a.set(path, jobOf(95, nil))
	a.set(path+"/results", resultsOf(nil))
	unknown, later := execution.ID{Job: types.Hash{2}, Drawn: 95}, execution.ID{Job: types.Hash{3}, Drawn: 101}
	v.Follow([]execution.ID{id, unknown, later})
	h = next(t, heads)
	s := h.Assignments[id]
	if h.Height != 100 || !s.Open || s.SpecHash != types.Keccak([]byte{1, 2}) || s.Deadline != 120 || s.Alone || s.Reveals != 111 ||
		!slices.Equal(s.Commitments, []types.Hash{{5}}) {
		t.Fatalf("of its job it tells %+v", s)
	}
	if s, told := h.Assignments[unknown]; !told || s.Open {
		t.Errorf("for a missing job it returns %+v, %v", s, told)
	}
	if _, told := h.Assignments[later]; told {
		t.Error("it returns statuses above the head")
	}
	a.set(path+"/results", resultsOf([]any{map[string]any{"runner": types.Address{9}, "attempt": 2,
		"commitments": []any{map[string]any{"height": 99, "commitment": types.Hash{6}}}}}))
	a.set("/height", map[string]any{"height": 101})
	if s := next(t, heads).Assignments[id]; s.Reveals != 100 {
		t.Errorf("when all have committed it tells %+v", s)
	}
	for i, answer := range []any{jobOf(99, nil), jobOf(95, 102)} { // drawn again, and ended
		a.set(path, answer)
		a.set("/height", map[string]any{"height": 102 + i})
		if s := next(t, heads).Assignments[id]; s.Open {
			t.Errorf("of one that is over it tells %+v", s)
		}
		a.set("/height", map[string]any{"height": 0}) // a devnet that falls behind is not listened to
	}
}

// A committee of 31 that is drawn twice has results of 32 MiB, as they are written: one such
// job would keep a runner from hearing of any head, were they asked for.
func TestWhatOthersOfACommitteeRevealedIsNotAskedFor(t *testing.T) {
	a := newAPI(t)
	id := execution.ID{Job: types.Hash{1}, Drawn: 95}
	path := "/job/" + id.Job.String()
	a.set(path, jobOf(95, nil))
	a.set(path+"/results", func(r *http.Request) any {
		if r.FormValue("bare") == "true" {
			return resultsOf([]any{map[string]any{"runner": types.Address{9}, "attempt": 1, "revealed_at": 93, "result": nil}})
		}
		return strings.Repeat(" ", 2*maxAnswer)
	})
	v, heads := a.view(t)
	next(t, heads)
	v.Follow([]execution.ID{id})
	if s, told := next(t, heads).Assignments[id]; !told || !s.Open {
		t.Errorf("of its job it tells %+v", s)
	}
}

// An invalid or too long answer of a devnet is dropped, and the view continues to ask.
func TestWhatIsNoAnswerTellsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		answer any
	}{
		"no JSON":           {"/height", "<html>"},
		"a negative height": {"/height", `{"height":-1}`},
		"too long":          {"/params", `["` + strings.Repeat("x", maxAnswer) + `"]`},
		"no parameters":     {"/params", `[]`},
		"a parameter less":  {"/params", parameters(nil)[1:]},
		"a huge parameter":  {"/params", parameters(map[string]string{"cip11.hello_timeout_ms": "99999999999"})},
		"no rule":           {"/subsets", `{"current":{"presence_rule":"anarchy","min_subset":1,"max_subset":2}}`},
		"many validators": {"/subsets", `{"current":{"presence_rule":"quorum","min_subset":1,"max_subset":2,"validators":[` +
			strings.Repeat("{},", chainview.MaxValidators) + `{}]}}`},
		"a long endpoint": {"/subsets", `{"current":{"presence_rule":"quorum","min_subset":1,"max_subset":2,"validators":[{"quic_address":"` +
			strings.Repeat("x", 300) + `"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			sound := a.answers[c.path]
			a.set(c.path, c.answer)
			v, err := New(Config{API: a.URL, Runner: runner.PublicKey()})
			if err != nil {
				t.Fatal(err)
			}
			if h, err := v.fetchHead(0, true, nil); err == nil {
				t.Fatalf("told %+v", h)
			}
			a.set(c.path, sound)
			if _, err := v.fetchHead(0, true, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestWhoIsNotRegisteredIsToldSo(t *testing.T) {
	a := newAPI(t)
	a.mu.Lock()
	delete(a.answers, "/runner/"+runner.Address().String())
	a.mu.Unlock()
	_, heads := a.view(t)
	if h := next(t, heads); h.Registered || h.Staked {
		t.Fatalf("told %+v", h)
	}
}

func TestNoURLIsRefused(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:4000", "ftp://x", "http://", "http://me:it@x", "http://%zz"} {
		if _, err := New(Config{API: url, Runner: runner.PublicKey()}); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
}

// A server that ends, and one that stops while others continue, cost a runner no
// head.
func TestTheNextIsAskedWhereOneDoesNotGoOn(t *testing.T) {
	first, second := newAPI(t), newAPI(t)
	v, err := New(Config{API: first.URL, Also: []string{second.URL}, Runner: runner.PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	heads := make(chan *chainview.Head, 100)
	if err := v.Start(func(h *chainview.Head) { heads <- h }); err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if h := next(t, heads); h.Height != 100 {
		t.Fatalf("told %+v", h)
	}
	second.set("/height", map[string]any{"height": 101}) // the first stands still
	if h := next(t, heads); h.Height != 101 {
		t.Fatalf("told %+v", h)
	}
	first.Close()
	second.set("/height", map[string]any{"height": 102})
	if h := next(t, heads); h.Height != 102 {
		t.Fatalf("told %+v", h)
	}
}
