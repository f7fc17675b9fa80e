package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// chain is an API of which a test says what it answers.
type chain struct {
	answers map[string]string // by path
	asked   []string
	held    *locked
	wrong   bool // the world was not held
}

// locked is a world that knows whether it is held.
type locked struct {
	sync.Mutex
	is bool
}

func (l *locked) Lock()   { l.Mutex.Lock(); l.is = true }
func (l *locked) Unlock() { l.is = false; l.Mutex.Unlock() }

func (c *chain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked = append(c.asked, r.URL.RequestURI())
	c.wrong = c.wrong || !c.held.is
	text, is := c.answers[r.URL.Path]
	if text == "panic" {
		panic("a bug")
	}
	if !is {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.URL.Path == readyPath {
		w.WriteHeader(http.StatusServiceUnavailable) // as of a network that is not ready
	}
	_, _ = w.Write([]byte(text))
}

func newChain() (*chain, *sampler) {
	c := &chain{held: &locked{}, answers: map[string]string{
		readyPath: `{"ready":false,"chain_id":8011,"height":7,"paused":true,"strict":false,"nodes":[` +
			`{"name":"v0","kind":"validator","ready":false,"missing":["the node is stopped"]},{"name":"r0","kind":"runner","ready":true},` +
			`{"name":"r1","kind":"runner","missing":["no connection"]}],` +
			`"troubles":[],"error":{"code":"not_ready","message":"","hint":"Wait."}}`,
		"/validators":     `[{"name":"v0","running":false,"height":7,"view":9},{"name":"v1","elsewhere":true,"running":true}]`,
		"/blocks/columns": `{"head": 7, "height": [7]}`,
		"/views":          `{"latest": 9, "views": []}`,
		"/links":          `{"links": []}`, "/basefee": `{"basefee_cycle":"1"}`, "/devnet/faults": `[]`,
	}}
	return c, &sampler{api: asker{api: c, world: c.held}, life: func() string { return "one" }, views: tail{again: openViews}}
}

func sampled(t *testing.T, s *sampler) state {
	t.Helper()
	var now state
	if err := json.Unmarshal(s.sampleState(t.Context(), s.count == 0), &now); err != nil {
		t.Fatal(err)
	}
	return now
}

func TestABeatTellsWhatTheAPIAnswers(t *testing.T) {
	c, s := newChain()
	now := sampled(t, s)
	switch {
	case now.Ready == nil || now.Ready.ChainID != 8011 || !now.Ready.Paused || now.Ready.Hint != "Wait.":
		t.Errorf("of the network: %+v", now.Ready)
	case len(now.Nodes) != 2 || now.Nodes[0].Height != 7 || now.Nodes[0].Missing[0] != "the node is stopped" || !now.Nodes[1].Elsewhere:
		t.Errorf("of validators: %+v", now.Nodes)
	case now.Runners.All != 2 || now.Runners.Ready != 1 || now.Runners.Waiting[0].Name != "r1":
		t.Errorf("of runners: %+v", now.Runners)
	case string(now.Blocks) != `{"head":7,"height":[7]}` || string(now.Faults) != `[]`:
		t.Errorf("of blocks and faults: %s %s", now.Blocks, now.Faults)
	}
	if c.wrong {
		t.Error("it asked without holding the world")
	}
}

func TestABeatGoesOnWithoutWhatIsNotAnswered(t *testing.T) {
	c, s := newChain()
	delete(c.answers, "/views")
	c.answers["/links"] = "panic"
	c.answers["/basefee"] = "no JSON"
	c.answers["/validators"] = `{"of": "another shape"}`
	now := sampled(t, s)
	if string(now.Views) != "null" || string(now.Links) != "null" || string(now.Fees) != "null" || len(now.Nodes) != 0 || now.Ready == nil {
		t.Fatalf("%+v", now)
	}
	if c.held.is {
		t.Fatal("the world is still held after a panic")
	}
}

func TestAStrictNetworkIsNotAskedForItsFaults(t *testing.T) {
	c, s := newChain()
	c.answers[readyPath] = strings.Replace(c.answers[readyPath], `"strict":false`, `"strict":true`, 1)
	if now := sampled(t, s); !now.Ready.Strict || string(now.Faults) != "null" || strings.Contains(strings.Join(c.asked, " "), "faults") {
		t.Fatalf("%+v after %v", now.Ready, c.asked)
	}
}

func TestAHeadThatFallsBeginsAnotherEra(t *testing.T) {
	c, s := newChain()
	at := func(head int) string {
		c.answers["/blocks/columns"] = fmt.Sprintf(`{"head":%d}`, head)
		return sampled(t, s).Life
	}
	first := at(70)
	if same := at(75); same != first {
		t.Errorf("a head that rose: %s, before %s", same, first)
	}
	if other := at(3); other == first {
		t.Errorf("a head that fell keeps the era %s", other)
	}
}

// A long time without readers: the beat begins with the last rows, and not where it ended.
func TestTheFirstBeatHasTheLastRows(t *testing.T) {
	c, s := newChain()
	for _, head := range []int{2_000, 90_000} {
		c.answers["/blocks/columns"] = fmt.Sprintf(`{"head":%d}`, head)
		c.answers["/views"] = fmt.Sprintf(`{"latest":%d}`, head+5)
		c.asked = nil
		s.sampleState(t.Context(), true)
		asked := strings.Join(c.asked, " ")
		for _, want := range []string{readyPath, "/links", fmt.Sprintf("/blocks/columns?from=%d", head-maxRows+1),
			fmt.Sprintf("/views?from=%d", head+5-maxRows+1)} {
			if !strings.Contains(asked+" ", want) {
				t.Errorf("the first beat at %d asks %s, without %s", head, asked, want)
			}
		}
		s.sampleState(t.Context(), false)
	}
}

func TestRowsBeginSomeSamplesAgoAndAreBounded(t *testing.T) {
	slow, fast := tail{}, tail{again: openViews}
	for n := range uint64(40) {
		slow.noteLatest(n / 10) // one in ten samples
		fast.noteLatest(n * 100)
	}
	if got := slow.firstRow(); got != 3 {
		t.Errorf("of a slow chain at 3 the rows begin at %d", got)
	}
	if got, want := (&tail{heads: [recent]uint64{10, 12, 14, 16, 18}, head: 18}).firstRow(), uint64(11); got != want {
		t.Errorf("after 10 at the first of the last samples the rows begin at %d, want %d", got, want)
	}
	if got := fast.firstRow(); got != 3900-maxRows+1 {
		t.Errorf("of a fast chain at 3900 the rows begin at %d", got)
	}
	if got := (&tail{}).firstRow(); got != 1 {
		t.Errorf("of no chain the rows begin at %d", got)
	}
}
