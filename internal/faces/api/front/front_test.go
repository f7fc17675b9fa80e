package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// fleet is the validators v0 to v2 and the runner r0, which a test starts and stops; it
// is their Carrier.
type fleet struct {
	t      *testing.T
	height types.Height

	mu      sync.Mutex
	servers map[string]*httptest.Server
	frozen  map[string]bool
	runner  bool
	did     []string
}

var nodes = []Node{{"v0", Validator}, {"v1", Validator}, {"v2", Validator}, {"r0", Runner}}

func newFleet(t *testing.T) (*fleet, *Front, *client.Client) {
	f := &fleet{t: t, height: 7, servers: map[string]*httptest.Server{}, frozen: map[string]bool{}, runner: true}
	for _, n := range nodes[:3] {
		must(t, f.Start(t.Context(), n.Name))
	}
	front := New(Config{Nodes: nodes, Carrier: f, World: f, ChainID: 8011,
		Letters: func() map[string]uint64 { return map[string]uint64{"r0": 3} }})
	server := httptest.NewServer(front.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		must(t, front.Close())
		for name := range f.servers {
			f.drop(name)
		}
	})
	return f, front, client.New(server.URL)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func address(name string) types.Address { return types.Address{name[1]} }

// serve is what one validator answers.
func (f *fleet) serve(name string) http.Handler {
	mux := http.NewServeMux()
	tell := func(path string, v func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v()) })
	}
	tell("/height", func() any { return model.Height{Height: f.height} })
	tell("/who", func() any { return name })
	tell("/ready", func() any {
		m := model.Ready{Ready: true, ChainID: 8011, Node: name, Height: f.height, SinceMS: 5}
		for _, n := range nodes {
			m.Nodes = append(m.Nodes, model.ReadyNode{Name: n.Name, Kind: n.Kind, Ready: true, Height: f.height, Missing: []string{}})
		}
		return m
	})
	tell("/validators", func() any {
		var all []model.Validator
		for _, n := range nodes[:3] {
			v := model.Validator{Name: n.Name, Address: address(n.Name), Running: true, Elsewhere: n.Name != name, Status: "active"}
			if !v.Elsewhere {
				v.Height, v.Connections = f.height, 2
			}
			all = append(all, v)
		}
		return all
	})
	r0 := model.Runner{Name: "r0", Address: address("r0"), Accepting: name != "v1", Connected: []types.Address{address(name)}}
	if name == "v2" {
		r0.Changes = &model.RunnerChanges{RemovedCapabilities: []string{"llm"}}
	}
	tell("/runners", func() any { return []model.Runner{r0, {Name: "r1"}} })
	r0.Heard = []model.RunnerEvent{{Height: types.Height(9 - name[1] + '0'), What: model.HeardConnected, Validator: address(name)}}
	tell("/runner/{address}", func() any { return r0 })
	seen := address(name)
	tell("/job/{id}/story", func() any {
		return model.JobStory{Height: 7, Story: []model.JobEvent{{What: model.JobSubmitted, Height: 5}, {What: model.JobDrawn, Height: 5},
			{What: model.JobPushed, Height: 5, Validator: &seen}, {What: model.JobCompleted, Height: 7}}}
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE devnet_blocks_total counter\ndevnet_blocks_total 7\n# TYPE devnet_height gauge\ndevnet_height{node=%q} 7\n"+
			"# TYPE go_threads gauge\ngo_threads 9\n", name)
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "id: %s.0\nevent: block\ndata: {\"behind\": %q}\n\n", name[1:], r.Header.Get("Last-Event-ID"))
		fmt.Fprint(w, "id: half") // of the next, which never comes
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /devnet/fault", func(w http.ResponseWriter, _ *http.Request) {
		api.Answer(w, api.Refuse(http.StatusBadRequest, "invalid_request", "refused by %s", name))
	})
	return mux
}

func (f *fleet) State(name string) (runs, frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[name] != nil || name == "r0" && f.runner, f.frozen[name]
}

func (f *fleet) Control(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.servers[name]; s != nil {
		return s.URL
	}
	return ""
}

func (f *fleet) Start(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[name] = httptest.NewServer(f.serve(name))
	return nil
}

func (f *fleet) drop(name string) {
	f.mu.Lock()
	s := f.servers[name]
	delete(f.servers, name)
	if name == "r0" {
		f.runner = false
	}
	f.mu.Unlock()
	if s != nil {
		s.CloseClientConnections()
		s.Close()
	}
}

func (f *fleet) Freeze(name string) error { return f.freeze(name, true) }

func (f *fleet) freeze(name string, on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen[name] == on {
		return errors.New(name + " is so already")
	}
	f.frozen[name] = on
	return nil
}

func TestOneAddressAnswersForAllThatRun(t *testing.T) {
	f, front, c := newFleet(t)
	ready, err := c.Ready(t.Context())
	must(t, err)
	if !ready.Ready || ready.Node != "" || len(ready.Nodes) != 4 {
		t.Errorf("%+v", ready)
	}
	all, err := c.Validators(t.Context())
	must(t, err)
	for i, v := range all {
		if v.Elsewhere || v.Height != 7 || v.Index != i {
			t.Errorf("%+v", v)
		}
	}
	runners, err := c.Runners(t.Context(), "", client.Page{})
	must(t, err)
	one, err := c.Runner(t.Context(), "r0")
	must(t, err)
	for _, r := range append(runners[:1], one) {
		if len(r.Connected) != 3 || r.Accepting || r.Changes == nil {
			t.Errorf("%+v", r)
		}
	}

	f.drop("v0")
	front.Ended("v0", "signal: killed")
	must(t, f.Freeze("v1"))
	var who string
	must(t, c.Get(t.Context(), "/who", nil, &who))
	if who != "v2" {
		t.Errorf("%s answers", who)
	}
	if ready, err = c.Ready(t.Context()); err != nil || ready.Ready {
		t.Fatalf("%+v, %v", ready, err)
	}
	for i, want := range []string{"its process has ended by itself: signal: killed", "it is frozen", "", ""} {
		if have := strings.Join(ready.Nodes[i].Missing, "; "); have != want || ready.Nodes[i].Ready != (want == "") {
			t.Errorf("%s lacks %q, want %q", ready.Nodes[i].Name, have, want)
		}
	}
	all, err = c.Validators(t.Context())
	must(t, err)
	for _, v := range all { // of those that do not answer it is told how they were
		if v.Elsewhere || v.Height != 7 || v.Running != (v.Name != "v0") || (v.Connections > 0) != (v.Name == "v2") {
			t.Errorf("%+v", v)
		}
	}
	f.drop("v2")
	if err := c.Get(t.Context(), "/who", nil, &who); !strings.Contains(fmt.Sprint(err), "no validator answers") {
		t.Errorf("%v", err)
	}
	if ready, err = c.Ready(t.Context()); err != nil || ready.Stalled != "no validator answers" || !ready.Blocked || ready.Error == nil {
		t.Errorf("%+v, %v", ready, err)
	}
}

func TestAStreamGoesOnWithAnotherValidator(t *testing.T) {
	f, _, c := newFleet(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Address()+"/events", nil)
	must(t, err)
	request.Header.Set("Last-Event-ID", "before")
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	next := func() (id, behind string) {
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				id = value
			case "data":
				var d struct{ Behind string }
				must(t, json.Unmarshal([]byte(value), &d))
				behind = d.Behind
			case "":
				if id != "" {
					return id, behind
				}
			}
		}
		t.Fatal("the stream has ended")
		return "", ""
	}
	id, behind := next()
	if id != "0.0" || behind != "before" {
		t.Errorf("event %s behind %s", id, behind)
	}
	f.drop("v0")
	if id, behind = next(); id != "1.0" || behind != "0.0" {
		t.Errorf("event %s behind %s", id, behind)
	}
	must(t, f.Freeze("v1")) // which closes nothing
	if id, behind = next(); id != "2.0" || behind != "1.0" {
		t.Errorf("event %s behind %s", id, behind)
	}
}

// A fault is made by who drives all nodes; what is wrong with a request a validator says.
func TestFaultsAreMadeByWhoDrivesAllNodes(t *testing.T) {
	f, front, c := newFleet(t)
	do := func(r model.FaultRequest) string {
		effect, err := c.Fault(t.Context(), r)
		if err != nil {
			return err.Error()
		}
		return effect.Did
	}
	front.Ended("v1", "signal: killed")
	for _, one := range []struct {
		order model.FaultRequest
		want  string
	}{
		{model.FaultRequest{Verb: "crash", Node: "v1"}, "done by the driver"},
		{model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0"}, {"v1"}}}, "done by the driver"},
		{model.FaultRequest{Verb: "crash", Node: "v9"}, `no node is called "v9"`},
		{model.FaultRequest{Verb: "dance", Node: "v0"}, "refused by v0"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v0"}, "refused by v0"},
	} {
		if have := do(one.order); have != one.want {
			t.Errorf("%+v:\n have %s\n want %s", one.order, have, one.want)
		}
	}
	if _, err := c.Heal(t.Context()); err != nil {
		t.Error(err)
	}
	if have := strings.Join(f.did, ", "); have != "crash v1, partition v0 / v1, heal" {
		t.Errorf("it was done: %s", have)
	}
	faults, err := c.Faults(t.Context())
	if must(t, err); len(faults) != 1 || faults[0].Detail != "v0 / v1" {
		t.Errorf("the faults: %+v", faults)
	}
	if why := front.why("v1"); why != "its process does not run" {
		t.Errorf("v1 was crashed since: %s", why)
	}
	for _, n := range nodes[:3] { // nobody is left who could say it
		f.drop(n.Name)
	}
	if have := do(model.FaultRequest{Verb: "dance"}); have != `there is no fault "dance"` {
		t.Error(have)
	}
	if have := do(model.FaultRequest{Verb: "restart", Node: "v1"}); have != "done by the driver" {
		t.Error(have)
	}
}

// Do implements fault.World.
func (f *fleet) Do(o fault.Order) (fault.Effect, error) {
	if o.Node == "v9" {
		return fault.Effect{}, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", o.Node)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, strings.TrimSpace(o.Verb+" "+o.Detail()))
	return fault.Effect{Verb: o.Verb, Detail: o.Detail(), Did: "done by the driver"}, nil
}

// Faults implements fault.World.
func (f *fleet) Faults() []fault.Effect {
	return []fault.Effect{{Verb: "partition", Detail: "v0 / v1"}}
}

// Who has left has no part in the network any more, until it runs again.
func TestWhoHasLeftIsNotWaitedFor(t *testing.T) {
	f, front, c := newFleet(t)
	f.drop("v2")
	if ready, err := c.Ready(t.Context()); err != nil || ready.Ready || len(ready.Nodes) != 4 {
		t.Errorf("v2 has ended: %+v, %v", ready, err)
	}
	front.Left("v2")
	if ready, err := c.Ready(t.Context()); err != nil || !ready.Ready || len(ready.Nodes) != 3 {
		t.Errorf("v2 has left: %+v, %v", ready, err)
	}
	must(t, f.Start(t.Context(), "v2"))
	if ready, err := c.Ready(t.Context()); err != nil || !ready.Ready || len(ready.Nodes) != 4 {
		t.Errorf("v2 runs again: %+v, %v", ready, err)
	}
}

// A node that joins is shown behind those of its kind.
func TestANodeThatJoinsIsShown(t *testing.T) {
	_, front, _ := newFleet(t)
	front.Add(Node{"v3", Validator})
	front.Add(Node{"r1", Runner})
	var names []string
	for _, n := range front.all() {
		names = append(names, n.Name)
	}
	if have := strings.Join(names, " "); have != "v0 v1 v2 v3 r0 r1" {
		t.Error(have)
	}
}

func TestFiguresAreOfTheNodeThatTheyAreOf(t *testing.T) {
	_, _, c := newFleet(t)
	text, err := c.Metrics(t.Context())
	must(t, err)
	for _, line := range []string{"devnet_blocks_total 7", `devnet_height{node="v0"} 7`, `devnet_height{node="v2"} 7`, `go_threads{node="v1"} 9`} {
		if strings.Count(string(text), line+"\n") != 1 {
			t.Errorf("%s is not there once:\n%s", line, text)
		}
	}
}

func TestAPageOfAnotherSiteIsKeptOut(t *testing.T) {
	_, _, c := newFleet(t)
	for field, value := range map[string]string{"Host": "evil.example", "Origin": "http://evil.example"} {
		request, err := http.NewRequest(http.MethodPost, c.Address()+"/devnet/fault", strings.NewReader("{}"))
		must(t, err)
		if field == "Host" {
			request.Host = value
		}
		request.Header.Set(field, value)
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s is answered with %s", field, value, answer.Status)
		}
	}
}

// What validators saw of a job is that of all of them, in pages too, and so is what they
// heard of a runner, in the order of heights (decision J22).
func TestAStoryHasWhatEveryValidatorSaw(t *testing.T) {
	_, _, c := newFleet(t)
	words := func(query url.Values) (all []string, next *int) {
		t.Helper()
		var m model.JobStory
		if err := c.Get(t.Context(), "/job/0x01/story", query, &m); err != nil {
			t.Fatal(err)
		}
		for _, e := range m.Story {
			word := e.What
			if e.Validator != nil {
				word += string(rune(e.Validator[0]))
			}
			all = append(all, word)
		}
		return all, m.Next
	}
	all, next := words(nil)
	if len(all) != 6 || all[0] != "submitted" || all[1] != "drawn" || all[5] != "completed" || next != nil ||
		all[2] == all[3] || all[3] == all[4] {
		t.Errorf("%v, %v", all, next)
	}
	if page, next := words(url.Values{"offset": {"1"}, "limit": {"3"}}); len(page) != 3 ||
		page[0] != "drawn" || page[2] != all[3] || next == nil || *next != 4 {
		t.Errorf("%v, %v", page, next)
	}
	if own, _ := words(url.Values{"node": {"v1"}}); len(own) != 4 {
		t.Errorf("%v", own)
	}
	var r model.Runner
	if err := c.Get(t.Context(), "/runner/r0", nil, &r); err != nil || len(r.Heard) != 3 || r.Heard[0].Validator != address("v2") ||
		r.Heard[2].Validator != address("v0") {
		t.Errorf("%+v, %v", r.Heard, err)
	}
}

// What no validator knows of a runner in a process of its own, who drives the nodes does.
func TestDeadLettersOfRunnersAreShown(t *testing.T) {
	_, _, c := newFleet(t)
	r, err := c.Runner(t.Context(), "r0")
	if err != nil || r.DeadLetters == nil || *r.DeadLetters != 3 {
		t.Errorf("r0 has %v dead letters, want 3: %v", r.DeadLetters, err)
	}
	list, err := c.Runners(t.Context(), "", client.Page{})
	if err != nil || len(list) != 2 || list[0].DeadLetters == nil || list[1].DeadLetters != nil {
		t.Errorf("of r0 and r1, which nobody drives: %+v, %v", list, err)
	}
	text, err := c.Metrics(t.Context())
	if err != nil || !strings.Contains(string(text), `devnet_actors_total{node="r0",what="dead_letters"} 3`) {
		t.Errorf("%v\n%s", err, text)
	}
}
