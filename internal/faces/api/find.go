package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

const (
	// maxHashHits bounds the hits of one kind among hashes: a longer beginning tells them apart.
	maxHashHits = 5
	// maxSearchedActors bounds the actors whose names and handlers one search looks through.
	maxSearchedActors = 1000
)

func (s *Server) registerFind() {
	serveRead(s, operation{id: "find", path: "/find", tag: tagNetwork,
		client: "Find(text string, limit int) lists what a text may mean: a height, the beginning of a hash or an address, a " +
			"part of a name or of a handler. Of limit 0 it lists 20.",
		summary: "What a text may mean: blocks, views, timers, jobs, transactions, actors, accounts, nodes and handlers",
		description: "A number is a height, #30 too, and view 17 a view. Digits of a hash or an address are its beginning, four at least. " +
			"Other texts are parts of names, of handlers too: token.transfer is a handler of an actor.",
		response: model.Found{Query: "heart",
			Hits: []model.Hit{{Kind: model.FoundActor, ID: exampleActorAt.String(), Name: "heartbeat"}}}}, s.find)
}

type findInput struct {
	OnNode
	Query string `query:"q" required:"true" minLength:"1" maxLength:"200" example:"heart" doc:"The text."`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of hits."`
}

// search collects hits in the order of how well they fit.
type search struct {
	v     answers.Reader
	d     directory
	text  string // in lower case
	limit int
	ranks [3][]model.Hit // exact names, beginnings, parts
	seen  map[string]bool
	cut   bool
}

func (s *Server) find(_ context.Context, v answers.Reader, in *findInput) (m model.Found, err error) {
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	m.Query = strings.TrimSpace(in.Query)
	q := &search{v: v, d: s.directory, text: strings.ToLower(m.Query), limit: in.Limit, seen: map[string]bool{}}
	for _, part := range []func() error{q.findNumbers, q.findHashes, q.findNodes, q.findAccounts, q.findActors} {
		if err := part(); err != nil {
			return m, err
		}
	}
	m.Hits, m.Cut = []model.Hit{}, q.cut
	for _, rank := range q.ranks {
		m.Hits = append(m.Hits, rank...)
	}
	if len(m.Hits) > in.Limit {
		m.Hits, m.Cut = m.Hits[:in.Limit], true
	}
	return m, nil
}

// addHit adds a hit once; rank 0 is the best.
func (q *search) addHit(rank int, h model.Hit) {
	key := h.Kind + ":" + h.ID + ":" + h.Handler
	if !q.seen[key] {
		q.seen[key] = true
		q.ranks[rank] = append(q.ranks[rank], h)
	}
}

// addNamed adds a hit whose name has the text.
func (q *search) addNamed(name string, h model.Hit) {
	name = strings.ToLower(name)
	switch {
	case name == "":
	case name == q.text:
		q.addHit(0, h)
	case strings.HasPrefix(name, q.text):
		q.addHit(1, h)
	case strings.Contains(name, q.text):
		q.addHit(2, h)
	}
}

// findNumbers reads a number as a height and, after the word, as a view.
func (q *search) findNumbers() error {
	digits := strings.ReplaceAll(q.text, ",", "")
	if number, is := strings.CutPrefix(digits, "view"); is {
		if n, err := strconv.ParseUint(strings.TrimLeft(number, ": "), 10, 63); err == nil {
			q.addHit(0, model.Hit{Kind: model.FoundView, ID: strconv.FormatUint(n, 10)})
		}
		return nil
	}
	for _, prefix := range []string{"block", "h", "#"} {
		digits = strings.TrimPrefix(digits, prefix)
	}
	n, err := strconv.ParseUint(strings.TrimLeft(digits, ": "), 10, 63)
	if err == nil && types.Height(n) <= q.v.Head().Height {
		q.addHit(0, model.Hit{Kind: model.FoundBlock, ID: strconv.FormatUint(n, 10)})
	}
	return nil
}

// hashHits are the kinds of hashes in the order in which they are looked for. A fire has the hash of its timer.
var hashHits = []struct {
	of   history.HashKind
	kind string
}{{history.TimerHash, model.FoundTimer}, {history.JobHash, model.FoundJob}, {history.BlockHash, model.FoundBlock},
	{history.ExecutionHash, model.FoundTx}}

// findHashes reads a text as a hash or an address, or the beginning of one.
func (q *search) findHashes() error {
	text := q.text
	if !strings.HasPrefix(text, "0x") {
		text = "0x" + text
	}
	if hash, err := types.ParseHash(text); err == nil {
		if tx, _ := q.d.backend.Pending(hash); tx != nil {
			q.addHit(0, model.Hit{Kind: model.FoundTx, ID: hash.String()})
		}
	}
	a, short := parseShortID(text, len(types.Hash{}))
	if whole, err := types.ParseHash(text); err == nil {
		a, short = shortID{text: text, begin: strings.TrimPrefix(whole.String(), "0x")}, true
	}
	if !short {
		return nil
	}
	found := map[types.Hash]bool{}
	for _, in := range hashHits {
		if err := q.findHashesOf(in.of, in.kind, a, found); err != nil {
			return err
		}
	}
	return q.findAddresses(text)
}

func (q *search) findHashesOf(of history.HashKind, kind string, a shortID, found map[types.Hash]bool) error {
	var first, last types.Hash
	a.idBounds(first[:], last[:])
	hashes := []types.Hash{}
	err := q.v.Hashes(of, first, last, func(h types.Hash) bool {
		if a.fitsID(h) && !found[h] {
			hashes = append(hashes, h)
		}
		return len(hashes) <= maxHashHits
	})
	if err != nil {
		return err
	}
	if len(hashes) > maxHashHits {
		hashes, q.cut = hashes[:maxHashHits], true
	}
	for _, h := range hashes {
		found[h] = true
		id := h.String()
		if of == history.BlockHash {
			height, is, err := q.v.HeightOf(h)
			if err != nil || !is {
				return err
			}
			id = fmt.Sprint(height)
		}
		q.addHit(1, model.Hit{Kind: kind, ID: id})
	}
	return nil
}

// findAddresses adds the actors and accounts whose address begins so; of a whole address the account also where nobody is known.
func (q *search) findAddresses(text string) error {
	whole, err := types.ParseAddress(text)
	a, short := parseShortID(text, len(types.Address{}))
	if err == nil {
		a, short = shortID{text: text, begin: strings.TrimPrefix(whole.String(), "0x")}, true
	}
	if !short {
		return nil
	}
	var first, last types.Address
	a.idBounds(first[:], last[:])
	fits := func(at types.Address) bool { return first.Compare(at) <= 0 && at.Compare(last) <= 0 && a.fitsID(at) }
	for _, node := range q.d.backend.Nodes() {
		if fits(node.Validator.Address) {
			q.addHit(1, model.Hit{Kind: model.FoundValidator, ID: node.Name, Name: node.Name})
		}
	}
	for _, r := range q.d.backend.Runners() {
		if fits(r.Address) {
			q.addHit(1, model.Hit{Kind: model.FoundRunner, ID: r.Name, Name: r.Name})
		}
	}
	for _, known := range q.d.backend.Accounts() {
		if fits(known.Address) {
			q.addHit(1, model.Hit{Kind: model.FoundAccount, ID: known.Address.String(), Name: known.Name})
		}
	}
	actors, problem := q.v.Addresses(first, last)
	if problem != nil {
		return problem
	}
	for _, at := range actors {
		if fits(at) && len(q.ranks[1]) < q.limit {
			actor, problem := q.v.Actor(at)
			if problem != nil || actor == nil {
				return problem
			}
			q.addHit(1, model.Hit{Kind: model.FoundActor, ID: at.String(), Name: actor.Name})
		}
	}
	if err == nil && len(q.ranks[0])+len(q.ranks[1]) == 0 {
		q.addHit(0, model.Hit{Kind: model.FoundAccount, ID: whole.String()})
	}
	return nil
}

func (q *search) findNodes() error {
	for _, node := range q.d.backend.Nodes() {
		q.addNamed(node.Name, model.Hit{Kind: model.FoundValidator, ID: node.Name, Name: node.Name})
	}
	for _, r := range q.d.backend.Runners() {
		q.addNamed(r.Name, model.Hit{Kind: model.FoundRunner, ID: r.Name, Name: r.Name})
	}
	return nil
}

func (q *search) findAccounts() error {
	for _, known := range q.d.backend.Accounts() {
		q.addNamed(known.Name, model.Hit{Kind: model.FoundAccount, ID: known.Address.String(), Name: known.Name})
	}
	for _, name := range types.ContractNames() {
		at, _ := types.ContractAddress(name)
		q.addNamed(name, model.Hit{Kind: model.FoundAccount, ID: at.String(), Name: name})
	}
	return nil
}

// findActors adds actors by name, and handlers by their own name and with the actor's before it.
func (q *search) findActors() error {
	actors, err := q.v.Actors(0, maxSearchedActors)
	if err != nil {
		return err
	}
	q.cut = q.cut || len(actors) == maxSearchedActors
	handlers := map[types.Hash][]string{}
	for i := range actors {
		a := &actors[i]
		q.addNamed(a.Name, model.Hit{Kind: model.FoundActor, ID: a.Address.String(), Name: a.Name})
		names, known := handlers[a.CodeHash]
		if !known {
			whole, err := q.v.Actor(a.Address)
			if err != nil || whole == nil {
				return err
			}
			for _, h := range whole.Handlers {
				names = append(names, h.Name)
			}
			handlers[a.CodeHash] = names
		}
		for _, name := range names {
			hit := model.Hit{Kind: model.FoundHandler, ID: a.Address.String(), Name: a.Name + "." + name, Handler: name}
			if strings.Contains(q.text, ".") {
				q.addNamed(hit.Name, hit)
			} else {
				q.addNamed(name, hit)
			}
		}
	}
	return nil
}
