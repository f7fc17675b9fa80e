package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Deed is a call by which a script does something to its network from outside, and that returns nothing: a fault, or
// another order. Without one the rest of the script can go on.
type Deed struct {
	At   Position
	Nth  int // how often the script was at the position before it, from 1 on
	When types.Time
	Verb string
	// Fault is its row of the table of faults, or nil.
	Fault *fault.Verb
	Node  string // whose verb it is; "" of the network's
}

// Text is the deed as it stands in the script, with its place, and for a line that was there before its time in seconds
// after began.
func (d *Deed) Text(began types.Time) string {
	again := ""
	if d.Nth > 1 {
		again = fmt.Sprintf(", at %.3f", d.When.Sub(began).Seconds())
	}
	return fmt.Sprintf("%s (%s:%d%s)", strings.TrimSpace(d.At.Source), d.At.File, d.At.Line, again)
}

// barren are the verbs that return nothing, besides faults.
var barren = []string{"pause", "resume", "automine", "set_param", "cancel_timer", "extend_timer", "set_balance", "set_state",
	"leave_validator", "leave_runner", "offer", "add_stake"}

// undoes reports a deed to who watches the run, before it is done, and returns whether it is to be left out.
func (c *call) undoes(v *verb) bool {
	if c.r.options.Deed == nil || v.fault == nil && !slices.Contains(barren, v.name) {
		return false
	}
	n := c.ofNetwork()
	if n == nil || n.closed {
		return false
	}
	at := c.r.sources.innermostPosition(c.thread.CallStack())
	if c.r.deeds == nil {
		c.r.deeds = map[Position]int{}
	}
	c.r.deeds[at]++
	d := Deed{At: at, Nth: c.r.deeds[at], When: n.backend.Now(), Verb: v.name, Fault: v.fault}
	if of, is := c.on.(nodeOf); is {
		d.Node = of.nodeName()
	} else if v.fault != nil {
		d.Node = argOf[string](c, "node")
	}
	return c.r.options.Deed(d)
}
