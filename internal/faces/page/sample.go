package page

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

const (
	// rare is the number of samples between two questions for slow answers: readiness,
	// links, faults and fees.
	rare = 5
	// maxWaiting bounds the runners of a beat that are not ready.
	maxWaiting = 64
	// beyond is above each block and view: from there on the answer has the latest number and no rows.
	beyond = 1_000_000_000_000_000_000
)

// Network is what a beat asks, in this process: the answers of the API's operations of these names. An error is a refusal.
type Network interface {
	Ready() model.Ready
	Validators() []model.Validator
	// Columns and Views are rows of the blocks and views from a number on, and the latest numbers.
	Columns(from uint64) (model.Columns, error)
	Views(from uint64) (model.Views, error)
	FaultyLinks() (model.Links, error)
	BaseFee() (model.BaseFee, error)
	Faults() ([]model.FaultReceipt, error)
}

// sampler asks for the state of the network. One goroutine uses it.
type sampler struct {
	network Network
	world   sync.Locker // nil: many may ask at once
	life    func() string

	count  int // of samples
	blocks tail
	views  tail
	turned uint64 // how often the chain's head fell

	ready  *model.Ready
	links  json.RawMessage
	faults json.RawMessage
	fees   json.RawMessage
}

// state is the content of a beat. A part without an answer of the API is null.
type state struct {
	Life    string          `json:"g"` // a browser keeps nothing from another one
	Ready   *network        `json:"ready"`
	Nodes   []node          `json:"nodes"`
	Runners runners         `json:"runners"`
	Blocks  *model.Columns  `json:"blocks"`
	Views   *model.Views    `json:"views"`
	Links   json.RawMessage `json:"links"` // model.Links, only the faulty ones
	Faults  json.RawMessage `json:"faults"`
	Fees    json.RawMessage `json:"fees"` // model.BaseFee
}

// network has the fields of model.Ready about the whole network, without the time since
// the last block, which changes with each sample.
type network struct {
	Ready   bool     `json:"ready"`
	ChainID uint64   `json:"chain_id"`
	Genesis string   `json:"genesis"`
	Height  uint64   `json:"height"`
	Paused  bool     `json:"paused"`
	Node    string   `json:"node"`
	Strict  bool     `json:"strict"`
	Version string   `json:"version"`
	Stalled string   `json:"stalled"`
	Blocked bool     `json:"blocked"`
	Trouble []string `json:"troubles"`
	Hint    string   `json:"hint"`
	Held    string   `json:"held"` // the moment of a held run; "" of another network
}

// node is a validator.
type node struct {
	Name      string   `json:"name"`
	Address   string   `json:"address"`
	Status    string   `json:"status"`
	Running   bool     `json:"running"`
	Elsewhere bool     `json:"elsewhere,omitempty"` // what follows is not known
	Height    uint64   `json:"height"`
	View      uint64   `json:"view"`
	Peers     int      `json:"peers"`
	Runners   int      `json:"runners"`
	Dead      uint64   `json:"dead_letters"`
	Restarted uint64   `json:"restarted"`
	Missing   []string `json:"missing,omitempty"`
}

// runners are the runners of this devnet's own, of which those that are ready are counted.
type runners struct {
	Ready   int       `json:"ready"`
	All     int       `json:"all"`
	Waiting []waiting `json:"waiting"`
}

type waiting struct {
	Name    string   `json:"name"`
	Missing []string `json:"missing"`
}

// sampleState is the state now, as JSON. After a time without readers nothing is known: the first
// sample asks all, and begins with the last rows.
func (s *sampler) sampleState(first bool) []byte {
	if first {
		s.count = 0
		if blocks := s.askBlocks(beyond); blocks != nil && s.blocks.beginAt(uint64(blocks.Head)) {
			s.turned++
		}
		if views := s.askViews(beyond); views != nil {
			s.views.beginAt(uint64(views.Latest))
		}
	}
	if s.count%rare == 0 {
		s.askSeldom()
	}
	s.count++
	validators := ask(s.world, func() ([]model.Validator, error) { return s.network.Validators(), nil })
	blocks, views := s.askBlocks(s.blocks.firstRow()), s.askViews(s.views.firstRow())
	if blocks != nil && s.blocks.noteLatest(uint64(blocks.Head)) {
		s.turned++ // another chain, or an earlier state of this one
	}
	if views != nil {
		s.views.noteLatest(uint64(views.Latest)) // a new set of validators may number its views from 1 again
	}
	return encodeJSON(state{Life: fmt.Sprintf("%s.%d", s.life(), s.turned), Ready: s.sampleNetwork(), Nodes: s.sampleNodes(validators),
		Runners: s.sampleRunners(),
		Blocks:  blocks, Views: views, Links: s.links, Faults: s.faults, Fees: s.fees})
}

func (s *sampler) askBlocks(from uint64) *model.Columns {
	return ask(s.world, func() (model.Columns, error) { return s.network.Columns(from) })
}

func (s *sampler) askViews(from uint64) *model.Views {
	return ask(s.world, func() (model.Views, error) { return s.network.Views(from) })
}

func (s *sampler) askSeldom() {
	s.ready = ask(s.world, func() (model.Ready, error) { return s.network.Ready(), nil })
	s.links = encodeJSON(ask(s.world, s.network.FaultyLinks))
	s.fees = encodeJSON(ask(s.world, s.network.BaseFee))
	if s.faults = nil; s.ready != nil && !s.ready.Strict {
		s.faults = encodeJSON(ask(s.world, s.network.Faults))
	}
}

func encodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a type of the API's answers
	}
	return data
}

func (s *sampler) sampleNetwork() *network {
	r := s.ready
	if r == nil {
		return nil
	}
	n := &network{Ready: r.Ready, ChainID: r.ChainID, Genesis: r.Genesis.String(), Height: uint64(r.Height), Paused: r.Paused, Node: r.Node,
		Strict: r.Strict, Version: r.Version, Stalled: r.Stalled, Blocked: r.Blocked, Trouble: r.Trouble, Held: r.Held}
	if r.Error != nil {
		n.Hint = r.Error.Hint
	}
	return n
}

func (s *sampler) sampleNodes(validators *[]model.Validator) []node {
	missing := map[string][]string{}
	if s.ready != nil {
		for _, n := range s.ready.Nodes {
			missing[n.Name] = n.Missing
		}
	}
	all := []node{}
	if validators == nil {
		return all
	}
	for _, v := range *validators {
		all = append(all, node{Name: v.Name, Address: v.Address.String(), Status: v.Status, Running: v.Running, Elsewhere: v.Elsewhere,
			Height: uint64(v.Height), View: uint64(v.View), Peers: v.Connections, Runners: v.Runners, Dead: v.DeadLetters,
			Restarted: v.Restarted, Missing: missing[v.Name]})
	}
	return all
}

func (s *sampler) sampleRunners() runners {
	all := runners{Waiting: []waiting{}}
	if s.ready == nil {
		return all
	}
	for _, n := range s.ready.Nodes {
		if n.Kind != "runner" {
			continue
		}
		all.All++
		if n.Ready {
			all.Ready++
		} else if len(all.Waiting) < maxWaiting {
			all.Waiting = append(all.Waiting, waiting{n.Name, n.Missing})
		}
	}
	return all
}

// ask returns the answer to one question, or nil after a refusal. A bug ends no network. The question holds the world, which
// may be nil.
func ask[T any](world sync.Locker, question func() (T, error)) (answer *T) {
	if world != nil {
		world.Lock()
		defer world.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("the page's question met a bug", "answer", fmt.Sprintf("%T", *new(T)), "panic", fmt.Sprint(p))
		}
	}()
	if is, err := question(); err == nil {
		answer = &is
	}
	return answer
}
