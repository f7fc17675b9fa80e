package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerTraces() {
	serveRead(s, operation{id: "trace", path: "/transaction/{hash}/trace", tag: tagChain,
		client: "Trace(hash string, profile bool, sources bool) executes a transaction, a timer's fire or a delivered message " +
			"once more, by its hash or id, and returns its trace. profile adds the use of each line of code, sources the " +
			"code that ran.",
		summary: "Trace a transaction, a timer's fire or a delivered message: its block is executed again",
		description: "Returns a tree of calls, each with the values it read, wrote, sent and printed, its cycles and cells, and the fee to " +
			"the wei. Old states are not kept: the blocks since the nearest remembered state, or since genesis, are executed again, for at most " +
			"20 seconds. If that is not enough, the answer is 503 still_replaying, and the next request continues there. A network that drops " +
			"its oldest blocks (--history) answers not_kept for executions that are not recent. The time counts as that of reads.",
		errors: []int{400, 429, 500}, response: exampleTrace}, s.getTrace)
}

type traceInput struct {
	HashInput
	Profile bool `query:"profile" doc:"Add the cost of each line of code."`
	Sources bool `query:"sources" doc:"With the code that ran."`
	Text    bool `query:"text" doc:"With the same in lines for people."`
}

func (s *Server) getTrace(ctx context.Context, v answers.Reader, in *traceInput) (m model.Trace, err error) {
	h, err := findHash(v, history.ExecutionHash, in.Hash, "hash")
	if err != nil {
		return m, err
	}
	free, err := s.beginRead(ctx, s.traces)
	if err != nil {
		return m, err
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, TraceTimeout)
	defer cancel()
	found, err := v.Trace(ctx, h, answers.TraceRequest{Profile: in.Profile, Sources: in.Sources})
	if err != nil {
		return m, err
	}
	if found == nil {
		if tx, _ := s.backend.Pending(h); tx != nil && in.At == "" {
			return m, Refuse(http.StatusNotFound, "not_final", "the transaction %s waits in a pool", h).
				Hint("Ask again after the next block.").At("hash")
		}
		return m, unknownTransaction(v, h)
	}
	if in.Text {
		found.Text = TraceLines(v, found, s.nameOf)
	} else {
		TypesOf(v).typeTrace(found)
	}
	return *found, nil
}

// TraceLines is a trace for people, in lines of 80 columns. called returns the name of
// an address that is not a named actor's, or "". Values are shown by their types.
func TraceLines(v answers.Reader, m *model.Trace, called func(types.Address) string) []string {
	TypesOf(v).typeTrace(m)
	known := words.SystemNames()
	names := func(a types.Address) string {
		if name, found := known[a]; found {
			return name
		}
		name := called(a)
		if actor, err := v.Actor(a); name == "" && err == nil && actor != nil {
			name = actor.Name
		}
		if name = words.Printable(name); name == "" {
			name = words.Short(a.String())
		}
		known[a] = name
		return name
	}
	r := &m.Receipt
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s in block %d: %s\n", r.Origin, words.Short(r.Hash.String()), r.Height, r.Status)
	words.Trace(&text, m, names)
	return strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
}
