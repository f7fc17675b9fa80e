package api

import (
	"net/http"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// claims are the names under which actors are being deployed.
type claims struct {
	directory
	mu   sync.Mutex
	held map[string]bool
}

func newClaims(d directory) *claims { return &claims{directory: d, held: map[string]bool{}} }

// claimName holds a name while an actor is deployed under it, and refuses a taken name:
// only its owner may replace its actor.
func (c *claims) claimName(v answers.Reader, name string, owner types.Address, replace bool) (release func(), err error) {
	taken := Refuse(http.StatusConflict, "name_taken", "the name %q is taken", clipText(name)).
		Hint("Choose another name, or give it to the new actor with replace: true.").At("name")
	if strings.HasPrefix(name, "0x") || strings.ContainsAny(name, "/?#% \t\r\n") {
		return nil, Refuse(http.StatusBadRequest, "invalid_name", "the name %q begins with 0x or has a space or one of / ? # %%",
			clipText(name)).At("name")
	}
	for _, known := range c.listNames() {
		if known.Name == name {
			return nil, taken
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[name] {
		return nil, taken
	}
	found, err := v.Named(name)
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		if !replace {
			return nil, taken
		}
		old, err := v.Actor(a)
		if err != nil {
			return nil, err
		}
		if old != nil && old.Owner != owner {
			return nil, Refuse(http.StatusConflict, "not_owner", "the name %q is an actor's whose owner is %s", clipText(name), old.Owner).
				Hint("Only its owner may have another actor take it over: deploy it from that account.").At("name")
		}
	}
	c.held[name] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, name)
	}, nil
}
