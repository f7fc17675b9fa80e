package api

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

func (s *Server) registerLinks() {
	serveRoute(s, operation{id: "links", path: "/links", tag: tagNetwork,
		client:  "Links(faulty bool) are the links between nodes; faulty selects those on which something is wrong.",
		summary: "The links between nodes, one for each direction: up or cut, the rule in force, what was dropped and delayed",
		description: "Links between validators, and links of runners with validators that are up or have a fault. A figure that " +
			"the network does not count is null.",
		response: exampleLinks}, s.listLinks)
}

var exampleLinks = model.Links{Nodes: []model.LinkNode{{Name: "v0", Kind: "validator", Running: true},
	{Name: "v1", Kind: "validator", Running: true}},
	Links: []model.Link{{From: "v0", To: "v1", Cut: true, Rule: &model.LinkRule{Latency: "20ms", Loss: 0.1}, Dropped: new(uint64(906)),
		Delayed: new(uint64(12)), Frames: new(uint64(1200)), Bytes: new(uint64(480_000)), Lost: new(uint64(0))}}}

type linksInput struct {
	Faulty bool `query:"faulty" doc:"Only links that are down or cut, that have a rule, or on which something was dropped or delayed."`
}

func (s *Server) listLinks(_ context.Context, in *linksInput) (model.Links, error) {
	m := model.Links{Nodes: []model.LinkNode{}, Links: []model.Link{}}
	for _, n := range s.backend.Nodes() {
		if n.Status != "left" {
			m.Nodes = append(m.Nodes, model.LinkNode{Name: n.Name, Kind: "validator", Running: n.Running})
		}
	}
	for _, r := range s.backend.RunnerNodes() {
		if !r.Left {
			m.Nodes = append(m.Nodes, model.LinkNode{Name: r.Name, Kind: "runner", Running: r.Running})
		}
	}
	for _, l := range s.backend.Links() {
		if !in.Faulty || isFaulty(&l) {
			m.Links = append(m.Links, l)
		}
	}
	return m, nil
}

func isFaulty(l *model.Link) bool {
	some := func(n *uint64) bool { return n != nil && *n > 0 }
	return !l.Up || l.Cut || l.Rule != nil || some(l.Dropped) || some(l.Delayed) || some(l.Lost)
}
