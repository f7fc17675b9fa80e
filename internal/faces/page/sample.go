package page

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

const (
	readyPath = "/ready"
	// rare is the number of samples between two questions for slow answers: readiness,
	// links, faults and fees.
	rare = 5
	// maxWaiting bounds the runners of a beat that are not ready.
	maxWaiting = 64
	// beyond begins above each block and view: the answer has the latest number and no rows.
	beyond = "?from=1000000000000000000"
)

// sampler asks for the state of the network. One goroutine uses it.
type sampler struct {
	api  asker
	life func() string

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
	Blocks  json.RawMessage `json:"blocks"` // model.Columns
	Views   json.RawMessage `json:"views"`  // model.Views
	Links   json.RawMessage `json:"links"`  // model.Links, only the faulty ones
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
func (s *sampler) sampleState(ctx context.Context, first bool) []byte {
	if first {
		s.count = 0
		if blocks := s.api.askAPI(ctx, "/blocks/columns"+beyond); blocks != nil && s.blocks.beginAt(decodeAnswer[latest](blocks).Head) {
			s.turned++
		}
		if views := s.api.askAPI(ctx, "/views"+beyond); views != nil {
			s.views.beginAt(decodeAnswer[latest](views).Latest)
		}
	}
	if s.count%rare == 0 {
		s.askSeldom(ctx)
	}
	s.count++
	validators := decodeAnswer[[]model.Validator](s.api.askAPI(ctx, "/validators"))
	blocks := s.api.askAPI(ctx, fmt.Sprintf("/blocks/columns?from=%d", s.blocks.firstRow()))
	views := s.api.askAPI(ctx, fmt.Sprintf("/views?from=%d", s.views.firstRow()))
	if blocks != nil && s.blocks.noteLatest(decodeAnswer[latest](blocks).Head) {
		s.turned++ // another chain, or an earlier state of this one
	}
	if views != nil {
		s.views.noteLatest(decodeAnswer[latest](views).Latest) // a new set of validators may number its views from 1 again
	}
	now := state{Life: fmt.Sprintf("%s.%d", s.life(), s.turned), Ready: s.sampleNetwork(), Nodes: s.sampleNodes(validators),
		Runners: s.sampleRunners(),
		Blocks:  blocks, Views: views, Links: s.links, Faults: s.faults, Fees: s.fees}
	data, err := json.Marshal(now)
	if err != nil {
		panic(err) // raw parts are JSON: ask looked
	}
	return data
}

func (s *sampler) askSeldom(ctx context.Context) {
	s.ready = nil
	if answer := s.api.askAPI(ctx, readyPath); answer != nil {
		ready := decodeAnswer[model.Ready](answer)
		s.ready = &ready
	}
	s.links = s.api.askAPI(ctx, "/links?faulty=true")
	s.fees = s.api.askAPI(ctx, "/basefee")
	s.faults = nil
	if s.ready == nil || !s.ready.Strict {
		s.faults = s.api.askAPI(ctx, "/devnet/faults")
	}
}

// latest is the newest row's number, of blocks or of views.
type latest struct {
	Head   uint64 `json:"head"`
	Latest uint64 `json:"latest"`
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

func (s *sampler) sampleNodes(validators []model.Validator) []node {
	missing := map[string][]string{}
	if s.ready != nil {
		for _, n := range s.ready.Nodes {
			missing[n.Name] = n.Missing
		}
	}
	all := make([]node, 0, len(validators))
	for _, v := range validators {
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

// decodeAnswer decodes an answer; without one it returns the zero value.
func decodeAnswer[T any](answer json.RawMessage) (v T) {
	if answer != nil && json.Unmarshal(answer, &v) != nil {
		var none T
		return none
	}
	return v
}
