package roles

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Strategy decides the effect on a node when one of its roles panics (decision
// C21).
type Strategy uint8

// The strategies.
const (
	// Restart makes only the role again, if its Part declares that this is sound. Any
	// other role takes its node along: all roles end as at a crash, and the node starts
	// again from its disk.
	Restart Strategy = iota
	// Stop ends the node with the role. It stays down until it is started.
	Stop
)

var strategies = [...]string{Restart: "restart", Stop: "stop"}

// String returns the strategy in the form of settings.
func (s Strategy) String() string { return strategies[s] }

// ParseStrategy reads a strategy in the form of settings; "" is Restart.
func ParseStrategy(text string) (Strategy, error) {
	for s, name := range strategies {
		if text == name || text == "" {
			return Strategy(s), nil
		}
	}
	return Restart, fmt.Errorf("%.40q is neither restart nor stop", text)
}

// MarshalText implements encoding.TextMarshaler.
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Strategy) UnmarshalText(text []byte) (err error) {
	*s, err = ParseStrategy(string(text))
	return err
}

// MaxRestarts is how often a role, or a node, is started again within RestartWindow of
// the node's clock. After more panics it stays down: a bug would repeat without end.
const (
	MaxRestarts   = 5
	RestartWindow = time.Minute
)

// Restarts are the latest of a role or a node, oldest first. The zero value has none.
type Restarts []types.Time

// Allow notes a restart and reports true, or reports false at the bound.
func (r *Restarts) Allow(now types.Time) bool {
	for len(*r) > 0 && now.Sub((*r)[0]) >= RestartWindow {
		*r = (*r)[1:]
	}
	if len(*r) >= MaxRestarts {
		return false
	}
	*r = append(*r, now)
	return true
}

// Supervision configures a Group's reaction to a role that panics, and its reports.
type Supervision struct {
	Strategy Strategy
	// Now is the node's time, and After calls do when d of it has passed.
	Now   func() types.Time
	After func(d time.Duration, do func())
	// Restarted is called when only the role was made again, and Along when a role
	// takes its node along. Both run where the role stepped, and must only hand on.
	Restarted func(role string)
	Along     func(*Failure)
}

// Failure is why a role takes its node along.
type Failure struct {
	Role     string // "parent" of the actor above the roles
	Reason   any    // what it panicked with
	Strategy Strategy
}

func (f *Failure) Error() string {
	if ordered := OrderOf(f.Reason); ordered != nil {
		return fmt.Sprintf("its role %s panicked, as it was told", f.Role)
	}
	return fmt.Sprintf("a bug of devnet: its role %s panicked: %v", f.Role, f.Reason)
}

// Ordered is what an actor panics with that was ordered to: no bug, and reported as
// none.
type Ordered struct {
	// Then is called with the outcome. It may be nil.
	Then func(Fate)
}

// Error implements error.
func (*Ordered) Error() string { return "it was told to panic" }

// Fate is the outcome of a panic.
type Fate uint8

// The fates.
const (
	MadeAgain  Fate = iota // the role, alone
	TakenAlong             // its node went along
)

// Count adds one to what counts panics, and to what counts the fate.
func (f Fate) Count(panicked, again, along *atomic.Int64) {
	panicked.Add(1)
	if f == MadeAgain {
		again.Add(1)
	} else {
		along.Add(1)
	}
}

// OrderOf returns the order in a panic's value; nil for a bug.
func OrderOf(value any) *Ordered {
	err, is := value.(error)
	var ordered *Ordered
	if is && errors.As(err, &ordered) {
		return ordered
	}
	return nil
}

func (o *Ordered) thenFate(fate Fate) {
	if o != nil && o.Then != nil {
		o.Then(fate)
	}
}
