package api

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (s *Server) registerNetwork() {
	s.registerReady()
	serveRoute(s, operation{id: "validators", path: "/validators", tag: tagNetwork,
		client:  "Validators() lists the validators with their status.",
		summary: "The validator set, and how each validator does", response: []model.Validator{exampleValidator}}, s.listValidators)
	s.registerMetrics()
}

type readyAnswer struct {
	Status int
	Body   model.Ready
}

// registerReady is apart from the others since 503 has the same body as 200.
func (s *Server) registerReady() {
	op := operation{id: "ready", path: "/ready", tag: tagNetwork,
		summary:     "Whether blocks finalize and every configured node takes part; since when not, and why",
		description: "503 has the same body with ready = false, per node what is missing, and an error.",
		response:    exampleReady}
	h := op.asHuma()
	h.Errors = slices.DeleteFunc(h.Errors, func(status int) bool { return status == http.StatusServiceUnavailable })
	schema := s.api.OpenAPI().Components.Schemas.Schema(readyType, true, "")
	waiting := exampleReady
	waiting.Ready, waiting.Nodes = false, []model.ReadyNode{{Name: "v3", Kind: "validator", Missing: []string{"the node is stopped"}}}
	waiting.Error = NotReady(waiting.Nodes)
	h.Responses = map[string]*huma.Response{strconv.Itoa(http.StatusServiceUnavailable): {
		Description: http.StatusText(http.StatusServiceUnavailable),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema, Example: example{waiting}}}}}
	registerRoute(s, op, h, func(context.Context, *struct{}) (*readyAnswer, error) {
		m := s.Ready()
		status := http.StatusOK
		if !m.Ready {
			status = http.StatusServiceUnavailable
		}
		return &readyAnswer{status, m}, nil
	})
}

// Ready is the answer of GET /ready.
func (s *Server) Ready() model.Ready {
	info := s.info
	m := model.Ready{Ready: true, ChainID: info.ChainID, Genesis: info.Genesis, Strict: info.Strict, Paused: s.backend.Steer().Paused(),
		Version: info.Version, Strategy: info.Strategy.String(), Node: info.Node, Origins: s.origins, Nodes: []model.ReadyNode{}}
	if s.held != nil {
		m.Held = s.held.Moment()
	}
	for _, n := range s.backend.Nodes() {
		missing := append([]string{}, n.Missing...)
		if n.Status == "left" {
			continue // it has no part in the network any more
		}
		if !n.Running && len(missing) == 0 {
			missing = append(missing, "the node is stopped")
		}
		if n.Running && !n.Elsewhere && n.Height == 0 && !info.Auto && n.Status != "joining" && len(missing) == 0 {
			missing = append(missing, "no block is final yet")
		}
		m.Nodes = append(m.Nodes, model.ReadyNode{Name: n.Name, Kind: "validator", Ready: len(missing) == 0, Height: n.Height, Missing: missing})
		m.Ready = m.Ready && len(missing) == 0
		m.Height = max(m.Height, n.Height) // of stopped ones too: their blocks are final
	}
	for _, r := range s.backend.RunnerNodes() {
		if r.Left {
			continue
		}
		missing := append([]string{}, r.Missing...)
		m.Nodes = append(m.Nodes, model.ReadyNode{Name: r.Name, Kind: "runner", Ready: len(missing) == 0, Height: r.Height, Missing: missing})
		m.Ready = m.Ready && len(missing) == 0
	}
	if !m.Ready {
		m.Error = NotReady(m.Nodes)
	}
	s.tellLiveness(&m)
	return m
}

// tellLiveness adds whether blocks are made: without them, the network is not
// ready, whatever its nodes report.
func (s *Server) tellLiveness(m *model.Ready) {
	l := s.backend.Liveness()
	m.SinceMS, m.Stalled, m.Trouble = uint64(max(0, l.Since.Milliseconds())), l.Cause, append([]string{}, l.Troubles...)
	m.Blocked, m.TravelsTo = l.Blocked, l.TravelsTo
	if !l.Stalled() {
		return
	}
	m.Ready = false
	if m.Error == nil {
		m.Error = &model.ErrorBody{Code: "not_ready", Message: l.Message(), Hint: l.Hint}
		return
	}
	m.Error.Message = l.Message() + "; " + m.Error.Message
}

// NotReady returns why a network is not ready, by the missing parts of its nodes.
func NotReady(nodes []model.ReadyNode) *model.ErrorBody {
	var parts []string
	for _, n := range nodes {
		for _, what := range n.Missing {
			parts = append(parts, n.Name+": "+what)
		}
	}
	return &model.ErrorBody{Code: "not_ready", Message: strings.Join(parts, "; "),
		Hint: "Wait and ask again; devnet logs NODE says what a node does."}
}

func (s *Server) listValidators(context.Context, *struct{}) ([]model.Validator, error) {
	return s.Validators(), nil
}

// Validators is the answer of GET /validators.
func (s *Server) Validators() []model.Validator {
	nodes := slices.Clone(s.backend.Nodes())
	slices.SortFunc(nodes, func(a, b answers.Node) int {
		return bytes.Compare(a.Validator.Address[:], b.Validator.Address[:])
	})
	out := []model.Validator{}
	for i, n := range nodes {
		out = append(out, answers.ShowValidator(i, n))
	}
	return out
}

// pageAnswers answers the page, which runs in this process and asks for some figures many times a second: with what
// the operations answer.
type pageAnswers struct{ *Server }

func (a pageAnswers) Columns(from uint64) (m model.Columns, err error) {
	v, err := a.backend.Reader("")
	if err != nil {
		return m, err
	}
	return a.getColumns(context.Background(), v, &rangeInput{HeightRange: HeightRange{From: optional[types.Height]{types.Height(from), true}}})
}

func (a pageAnswers) Views(from uint64) (model.Views, error) {
	return a.viewsOf(context.Background(), &viewsInput{From: optional[types.View]{types.View(from), true}})
}

func (a pageAnswers) FaultyLinks() (model.Links, error) {
	return a.listLinks(context.Background(), &linksInput{Faulty: true})
}

func (a pageAnswers) BaseFee() (m model.BaseFee, err error) {
	v, err := a.backend.Reader("")
	if err != nil {
		return m, err
	}
	return a.baseFee(context.Background(), v, nil)
}

func (a pageAnswers) Faults() ([]model.FaultReceipt, error) { return a.faultReceipts(), nil }
