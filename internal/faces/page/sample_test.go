package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// chain is a network of which a test says what it answers.
type chain struct {
	ready      model.Ready
	validators []model.Validator
	head       types.Height
	view       types.View
	refused    string // what it refuses
	panics     string // which question meets a bug
	asked      []string
	held       *locked
	wrong      bool // the world was not held
}

// locked is a world that knows whether it is held.
type locked struct {
	sync.Mutex
	is bool
}

func (l *locked) Lock()   { l.Mutex.Lock(); l.is = true }
func (l *locked) Unlock() { l.is = false; l.Mutex.Unlock() }

func (c *chain) note(question string) error {
	c.asked = append(c.asked, question)
	c.wrong = c.wrong || !c.held.is
	switch {
	case strings.HasPrefix(question, c.panics):
		panic("a bug")
	case strings.HasPrefix(question, c.refused):
		return errors.ErrUnsupported
	}
	return nil
}

func (c *chain) Ready() model.Ready { _ = c.note("ready"); return c.ready }

func (c *chain) Validators() []model.Validator { _ = c.note("validators"); return c.validators }

func (c *chain) Columns(from uint64) (model.Columns, error) {
	return model.Columns{Head: c.head, Height: []types.Height{c.head}}, c.note(fmt.Sprint("columns from ", from))
}

func (c *chain) Views(from uint64) (model.Views, error) {
	return model.Views{Latest: c.view}, c.note(fmt.Sprint("views from ", from))
}

func (c *chain) FaultyLinks() (model.Links, error) { return model.Links{}, c.note("links") }

func (c *chain) BaseFee() (model.BaseFee, error) { return model.BaseFee{}, c.note("fees") }

func (c *chain) Faults() ([]model.FaultReceipt, error) {
	return []model.FaultReceipt{}, c.note("faults")
}

func newChain() (*chain, *sampler) {
	c := &chain{held: &locked{}, head: 7, view: 9, refused: "nothing", panics: "nothing",
		ready: model.Ready{ChainID: 8011, Height: 7, Paused: true, Error: &model.ErrorBody{Code: "not_ready", Hint: "Wait."},
			Nodes: []model.ReadyNode{{Name: "v0", Kind: "validator", Missing: []string{"the node is stopped"}},
				{Name: "r0", Kind: "runner", Ready: true}, {Name: "r1", Kind: "runner", Missing: []string{"no connection"}}}},
		validators: []model.Validator{{Name: "v0", Height: 7, View: 9}, {Name: "v1", Elsewhere: true, Running: true}}}
	return c, &sampler{network: c, world: c.held, life: func() string { return "one" }, views: tail{again: openViews}}
}

func sampled(t *testing.T, s *sampler) state {
	t.Helper()
	var now state
	if err := json.Unmarshal(s.sampleState(s.count == 0), &now); err != nil {
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
	case now.Blocks.Head != 7 || !slices.Equal(now.Blocks.Height, []types.Height{7}) || string(now.Faults) != `[]`:
		t.Errorf("of blocks and faults: %+v %s", now.Blocks, now.Faults)
	}
	if c.wrong {
		t.Error("it asked without holding the world")
	}
}

func TestABeatGoesOnWithoutWhatIsNotAnswered(t *testing.T) {
	for _, bug := range []string{"links", "validators"} {
		c, s := newChain()
		c.refused, c.panics = "views", bug
		now := sampled(t, s)
		if now.Views != nil || now.Blocks == nil || now.Ready == nil || string(now.Links) == "null" != (bug == "links") ||
			len(now.Nodes) == 0 != (bug == "validators") {
			t.Errorf("%+v", now)
		}
		if c.held.is {
			t.Error("the world is still held after a panic")
		}
	}
	c, s := newChain()
	c.refused = "fees"
	if now := sampled(t, s); string(now.Fees) != "null" || now.Views == nil {
		t.Errorf("%+v", now)
	}
}

func TestAStrictNetworkIsNotAskedForItsFaults(t *testing.T) {
	c, s := newChain()
	c.ready.Strict = true
	if now := sampled(t, s); !now.Ready.Strict || string(now.Faults) != "null" || slices.Contains(c.asked, "faults") {
		t.Fatalf("%+v after %v", now.Ready, c.asked)
	}
}

func TestAHeadThatFallsBeginsAnotherEra(t *testing.T) {
	c, s := newChain()
	at := func(head types.Height) string {
		c.head = head
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
	for _, head := range []types.Height{2_000, 90_000} {
		c.head, c.view, c.asked = head, types.View(head+5), nil
		s.sampleState(true)
		for _, want := range []string{"ready", "links", fmt.Sprint("columns from ", head-maxRows+1),
			fmt.Sprint("views from ", head+5-maxRows+1)} {
			if !slices.Contains(c.asked, want) {
				t.Errorf("the first beat at %d asks %s, without %s", head, c.asked, want)
			}
		}
		s.sampleState(false)
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
