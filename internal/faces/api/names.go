package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/typo"
	"github.com/cowboyinc/devnet/validators/history"
)

// OnNode is the parameter of every read.
type OnNode struct {
	Node string `query:"node" maxLength:"64" example:"v0" doc:"Read this validator's state instead of the highest final one."`
}

// OnMoment is the parameters of a read that can look at an earlier moment.
type OnMoment struct {
	OnNode
	At string `query:"at" maxLength:"300" doc:"Read an earlier moment: h12 is after the block of height 12, SCRIPT@SEED:h12 the same of a held run."`
}

// momentParameter returns the moment, "" for the present.
func (m OnMoment) momentParameter() string { return m.At }

// nodeParameter returns it out of the parameters that it is a part of.
func (n OnNode) nodeParameter() OnNode { return n }

// directory finds what clients call by names: nodes, accounts, runners and actors.
type directory struct{ backend Backend }

// readerOf reads the state of the validator that is asked for.
func (d directory) readerOf(n OnNode) (answers.Reader, error) {
	v, err := d.backend.Reader(n.Node)
	if err != nil && slices.ContainsFunc(d.backend.Runners(), func(r answers.NamedAccount) bool { return r.Name == n.Node }) {
		return nil, answers.NoState(n.Node)
	}
	return v, err
}

// Page is the parameters of every list.
type Page struct {
	Offset int `query:"offset" minimum:"0" maximum:"1000000000" default:"0" doc:"Entries to leave out."`
	Limit  int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Maximum number of entries."`
}

// OrderedPage is the parameters of a list that history makes longer.
type OrderedPage struct {
	Page
	Order string `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which entries come first."`
}

func (p OrderedPage) historyPage() history.Page {
	return history.Page{Newest: p.Order == "newest", Offset: p.Offset, Limit: p.Limit}
}

// resolveAddress resolves a client's address or name: a devnet account or runner, otherwise
// the actor deployed under that name. field is what an error points at.
func (d directory) resolveAddress(v answers.Reader, name, field string) (types.Address, error) {
	if a, ok := parseShortID(name, len(types.Address{})); ok {
		return d.findAddress(v, a, field)
	}
	if strings.HasPrefix(name, "0x") {
		a, err := types.ParseAddress(name)
		if err != nil {
			return a, Refuse(http.StatusBadRequest, "invalid_address", "%v", err).At(field)
		}
		return a, nil
	}
	for _, known := range d.listNames() {
		if known.Name == name {
			return known.Address, nil
		}
	}
	found, err := v.Named(name)
	switch {
	case err != nil:
		return types.Address{}, err
	case len(found) == 0:
		return types.Address{}, Refuse(http.StatusNotFound, "unknown_name", "no account and no actor is named %q%s", clipText(name),
			d.suggestName(v, name)).
			Hint("GET /devnet/accounts and GET /actors list the names; an address is 0x and 40 hexadecimal digits.").At(field)
	case len(found) > 1:
		if newest, err := newestOfOneOwner(v, found); err != nil || !newest.IsZero() {
			return newest, err
		}
		return types.Address{}, Refuse(http.StatusConflict, "ambiguous_name", "%d actors are named %q, %s and %s among them", len(found),
			clipText(name), found[0], found[1]).
			Hint("Use the address.").At(field)
	}
	return found[0], nil
}

// maxMeant bounds the actors of whom one may have been meant.
const maxMeant = 1000

// suggestName asks for the account or actor whose name may have been meant; "" for none.
func (d directory) suggestName(v answers.Reader, name string) string {
	var known []string
	for _, account := range d.listNames() {
		known = append(known, account.Name)
	}
	actors, err := v.Actors(0, maxMeant)
	if err != nil {
		return ""
	}
	for i := range actors {
		known = append(known, actors[i].Name)
	}
	return typo.Suggestion(name, known)
}

// newestOfOneOwner is the actor that replaced the others of its name: the last
// deployed, where one account deployed them all. It is zero if that is undecidable.
func newestOfOneOwner(v answers.Reader, found []types.Address) (newest types.Address, err error) {
	var last *answers.Actor
	for _, a := range found {
		actor, err := v.Actor(a)
		if err != nil || actor == nil {
			return types.Address{}, err
		}
		switch {
		case last != nil && last.Owner != actor.Owner:
			return types.Address{}, nil
		case last == nil || actor.DeployedAt > last.DeployedAt:
			last, newest = actor, a
		case actor.DeployedAt == last.DeployedAt:
			newest = types.Address{} // unless a later one follows
		}
	}
	return newest, nil
}

// findActor finds an actor by its address or name.
func (d directory) findActor(v answers.Reader, name, field string) (*answers.Actor, error) {
	a, err := d.resolveAddress(v, name, field)
	if err != nil {
		return nil, err
	}
	actor, err := v.Actor(a)
	if err == nil && actor == nil {
		err = Refuse(http.StatusNotFound, "unknown_actor", "there is no actor at %s", a).
			Hint("GET /actors lists those that are final.").At(field)
	}
	return actor, err
}

// listNames are the accounts and the runners that the devnet has the keys of.
func (d directory) listNames() []answers.NamedAccount {
	return slices.Concat(d.backend.Accounts(), d.backend.Runners())
}

// nameOf is the devnet's name of an account or runner, or "".
func (d directory) nameOf(a types.Address) string {
	for _, known := range d.listNames() {
		if known.Address == a {
			return known.Name
		}
	}
	return ""
}

// nodeNames are the names of nodes by the addresses of their validators.
func (d directory) nodeNames() map[types.Address]string {
	names := map[types.Address]string{}
	for _, n := range d.backend.Nodes() {
		names[n.Validator.Address] = n.Name
	}
	return names
}

// parseHash reads a hash parameter.
func parseHash(text, field string) (types.Hash, error) {
	h, err := types.ParseHash(text)
	if err != nil {
		return h, Refuse(http.StatusBadRequest, "invalid_hash", "%v", err).
			Hint("An id may be shortened to its first digits, %d at least.", minPrefix).At(field)
	}
	return h, nil
}
