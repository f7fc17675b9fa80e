// Package fault is what an operator may do to the nodes and links of a network, in
// any world. A fault is an Order: data, judged alike everywhere by its Check, and
// described to every face by the table of verbs. A World executes orders, and
// returns the result of each as an Effect; the operator's code judges whether it
// had any effect (Idle).
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Link says what happens to frames, live to packets, from one node to another.
// The zero Link delivers each at once.
type Link struct {
	Latency   time.Duration
	Jitter    time.Duration // up to so much more, uniformly; it does not reorder
	Loss      float64       // share of sent packets, 0 to 1
	Duplicate float64       // share of arriving packets that arrive twice, 0 to 1
	Reorder   float64       // share of arriving packets that are delayed and overtaken, 0 to 1
	Bandwidth int64         // bytes a second, 0 for no limit
	OneWay    bool          // from the first to the second only
}

// MaxDelay bounds Latency and Jitter each: what is longer is a partition.
const MaxDelay = time.Minute

// Check says what is wrong with a link, or nil.
func (l Link) Check() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"latency", l.Latency}, {"jitter", l.Jitter}} {
		if d.value < 0 || d.value > MaxDelay {
			return fmt.Errorf("%s %v is not within 0 and %v", d.name, d.value, MaxDelay)
		}
	}
	for _, p := range []struct {
		name  string
		value float64
	}{{"loss", l.Loss}, {"duplicate", l.Duplicate}, {"reorder", l.Reorder}} {
		if !(p.value >= 0 && p.value <= 1) {
			return fmt.Errorf("%s %v is not within 0 and 1", p.name, p.value)
		}
	}
	if l.Bandwidth < 0 {
		return errors.New("bandwidth is negative: give bytes a second, or 0 for no limit")
	}
	return nil
}

// String lists what is set, as the command line takes it.
func (l Link) String() string {
	var parts []string
	add := func(set bool, format string, value any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(l.Latency > 0, "latency %v", l.Latency)
	add(l.Jitter > 0, "jitter %v", l.Jitter)
	add(l.Loss > 0, "loss %v", l.Loss)
	add(l.Duplicate > 0, "duplicate %v", l.Duplicate)
	add(l.Reorder > 0, "reorder %v", l.Reorder)
	add(l.Bandwidth > 0, "bandwidth %d", l.Bandwidth)
	if l.OneWay {
		parts = append(parts, "one way")
	}
	if len(parts) == 0 {
		return "perfect"
	}
	return strings.Join(parts, ", ")
}

// Effect says what a fault did so far.
type Effect struct {
	Verb   string
	Detail string     // nodes and details, from Order.Detail
	Did    string     // "3 connections cut, 41 packets dropped"; "" when nothing yet
	Idle   bool       // it had no effect so far
	Ended  bool       // it can have none any more
	Begun  types.Time // when it was ordered
	Until  types.Time // when it ended or will end; types.Never while nothing ends it
	Order  *Order     // the order that made it; nil without one
}

// Divided is how a partition, or the sides of a bridge, are told.
func Divided(groups ...[]string) string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = strings.Join(g, ",")
		if len(g) == 0 {
			texts[i] = "the rest"
		}
	}
	return strings.Join(texts, " / ")
}

// Separated says which nodes a partition keeps from reaching each other, those that join
// later too. Nodes that no group names form one more group. Where no group names a runner,
// the runners reach every node.
func Separated(isRunner func(name string) bool, groups ...[]string) func(a, b string) bool {
	side := SideOf(groups...)
	sparesRunners := !slices.ContainsFunc(slices.Concat(groups...), isRunner)
	return func(a, b string) bool {
		if sparesRunners && (isRunner(a) || isRunner(b)) {
			return false
		}
		return side(a) != side(b)
	}
}

// SideOf numbers the groups in which nodes are named, from 1; others have 0, those
// that join later too.
func SideOf(groups ...[]string) func(name string) int {
	return func(name string) int {
		return 1 + slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, name) })
	}
}

// Counts are the effects of one fault, counted where they happen by any
// goroutine.
type Counts struct {
	Cut, Ended, Dropped, Held, Delayed, Duplicated, Reordered, Lost, Forged, Withheld, Failed, Signalled atomic.Int64
	// Counts of processes and homes that are not part of this program.
	Stopped, Emptied atomic.Int64
	// Counts of actors that were ordered to panic or to hang.
	Panicked, Hung, Restarted atomic.Int64
	// Counts of second processes with a validator's key.
	Begun, Waited, Settled atomic.Int64
	// Counts for disks and clocks of simulated machines.
	Refused, Flipped, Moved, Slowed atomic.Int64
}

// Effects is how many kinds of effects are counted.
const Effects = 24

// Units name what a world counts: what passes on its links, what waits for a frozen node,
// and what a disk loses.
type Units struct{ Passes, Waits, Loses string }

// Live are the units of a network of processes and packets, Simulated those of a
// simulated one.
var (
	Live      = Units{Passes: "packet", Waits: "packet", Loses: "byte"}
	Simulated = Units{Passes: "frame", Waits: "event", Loses: "record"}
)

// unitsOf are the units of a fault of a verb: its own, or those of its world. Before a frozen
// node wait frames.
func (u Units) unitsOf(verb *Verb) Units {
	switch {
	case verb.Unit != "":
		u.Passes, u.Waits = verb.Unit, verb.Unit
	case verb == Freeze && u == Live:
		u.Passes, u.Waits = "frame", "frame"
	}
	return u
}

// listEffects lists the effects in the order in which they are told.
func (c *Counts) listEffects(u Units) [Effects]struct {
	n          *atomic.Int64
	what, done string
} {
	return [Effects]struct {
		n          *atomic.Int64
		what, done string
	}{
		{&c.Cut, "connection", "cut"}, {&c.Ended, "process", "ended"}, {&c.Stopped, "process", "stopped"}, {&c.Dropped, u.Passes, "dropped"},
		{&c.Held, u.Waits, "held"}, {&c.Delayed, u.Passes, "delayed"}, {&c.Duplicated, u.Passes, "duplicated"},
		{&c.Reordered, u.Passes, "reordered"}, {&c.Lost, u.Loses, "lost"}, {&c.Refused, "disk use", "refused"}, {&c.Flipped, "bit", "flipped"},
		{&c.Moved, "clock", "moved"}, {&c.Slowed, "step", "slowed"}, {&c.Forged, "frame", "forged"}, {&c.Withheld, "frame", "withheld"},
		{&c.Failed, "program", "failed"}, {&c.Signalled, "signal", "sent"}, {&c.Emptied, "home", "emptied"},
		{&c.Panicked, "actor", "panicked"}, {&c.Hung, "actor", "hung"}, {&c.Restarted, "actor", "restarted"},
		{&c.Begun, "second process", "begun"}, {&c.Waited, "process", "made to wait"}, {&c.Settled, "process", "let in"},
	}
}

// Text lists the effects of a fault of a verb that are not 0, in the units of a world.
func (c *Counts) Text(verb *Verb, u Units) string {
	var parts []string
	for _, e := range c.listEffects(u.unitsOf(verb)) {
		if n := e.n.Load(); n > 0 {
			parts = append(parts, plural.Of(n, e.what)+" "+e.done)
		}
	}
	return strings.Join(parts, ", ")
}

// Figures are the effects as numbers, in the order in which they are told.
func (c *Counts) Figures() (all [Effects]int64) {
	for i, e := range c.listEffects(Units{}) {
		all[i] = e.n.Load()
	}
	return all
}

// Grow adds what came to the figures of another since they were before.
func (c *Counts) Grow(before, after [Effects]int64) {
	for i, e := range c.listEffects(Units{}) {
		e.n.Add(after[i] - before[i])
	}
}
