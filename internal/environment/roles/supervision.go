package roles

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Strategy is what becomes of a node one of whose roles panics (decision C21).
type Strategy uint8

// The strategies.
const (
	// Restart makes the role again alone, where its Part says that this is sound. Any
	// other role takes its node along: all roles end as at a crash, and the node starts
	// again from its disk.
	Restart Strategy = iota
	// Stop ends the node with the role. It stays down until somebody starts it.
	Stop
)

var strategies = [...]string{Restart: "restart", Stop: "stop"}

// String is the strategy as settings have it.
func (s Strategy) String() string { return strategies[s] }

// ParseStrategy reads a strategy as settings have it; "" is Restart.
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
// the node's clock. What panics more often stays down: a bug would repeat it for ever.
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

// Supervision is how a Crew treats a role that panics, and whom it tells.
type Supervision struct {
	Strategy Strategy
	// Now is the node's time, and After calls do when d of it has passed.
	Now   func() types.Time
	After func(d time.Duration, do func())
	// Restarted is told that a role was made again alone, and Along that a role takes
	// its node along. Both run where the role stepped, and must only hand on.
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
	// Then is told what came of it. It may be nil.
	Then func(Fate)
}

// Error implements error.
func (*Ordered) Error() string { return "it was told to panic" }

// Fate is what came of a panic.
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

// OrderOf is the order that a panic's value is; nil where it is a bug.
func OrderOf(value any) *Ordered {
	err, is := value.(error)
	var ordered *Ordered
	if is && errors.As(err, &ordered) {
		return ordered
	}
	return nil
}

func (o *Ordered) then(fate Fate) {
	if o != nil && o.Then != nil {
		o.Then(fate)
	}
}
