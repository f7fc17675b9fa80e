package box

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// observation is what a network shows of itself at one moment.
type observation struct {
	since    time.Duration // since the last block became final
	patience time.Duration // how long it may take until the next without a reason
	paused   bool
	idle     bool // nothing is to be done, and no block is made for it

	members, running int // validators of the set, and those of them that run
	reached          int // the most of those that exchange frames with one of them, itself included
	connected        int // the most that one of them is connected with
	pooled           int // transactions, the most in one pool
	full             []string
	cuts, faults     []*network.Fault // faults of links in force, and all in force
	nullified        uint64           // views, the most that a validator counts
	behind           string           // a clock that is late, in words; "" without one
	last             string           // what a validator met last, in words; "" if nothing
	troubles         []string
}

// standstill is why a network makes no blocks.
type standstill int

// The reasons, each before those that would follow from it.
const (
	moves       standstill = iota // it makes blocks, or has nothing to do
	isPaused                      // by its operator
	hasNoQuorum                   // too few validators run
	isCutApart                    // enough run, and too few of them reach each other
	isSlow                        // nothing prevents blocks, and none came for long
)

// need is how many validators decide together.
func (o *observation) need() int { return QuorumPeers(o.members) + 1 }

// judge decides why the network makes no blocks.
func (o *observation) judge() standstill {
	switch {
	case o.paused:
		return isPaused
	case o.running < o.need():
		return hasNoQuorum
	case o.reached < o.need():
		return isCutApart
	case !o.idle && o.since > o.patience:
		return isSlow
	}
	return moves
}

// explain says whether a network that stands still can make no block, why, and what to do.
func (o *observation) explain(why standstill) (blocked bool, cause, hint string) {
	switch why {
	case isPaused:
		return true, "the network is paused", "Run devnet resume."
	case hasNoQuorum:
		hint = "devnet status shows validators that are down or frozen: run devnet fault validator restart NODE, or thaw NODE."
		if len(o.full) > 0 {
			hint = fmt.Sprintf("The disk of %s has no room: free some space, then run devnet fault validator restart NODE for each of them.",
				plural.List(o.full, "and"))
		}
		return true, fmt.Sprintf("no quorum: %d of %d validators run, %d are needed", o.running, o.members, o.need()), hint
	case isCutApart:
		return true, fmt.Sprintf("%s: at most %d of %d validators reach each other, %d are needed", inForce(o.cuts), o.reached, o.members,
			o.need()), "Run devnet heal."
	case isSlow:
		return false, o.slowCause(), "devnet status shows how nodes are connected, devnet logs what they met."
	}
	return false, "", ""
}

// slowCause is why blocks take longer than is usual, the devnet's own faults first.
func (o *observation) slowCause() string {
	cause := fmt.Sprintf("%d views were nullified since the start", o.nullified)
	switch {
	case o.behind != "":
		return cause + "; " + o.behind
	case len(o.faults) > 0:
		return inForce(o.faults) + "; " + cause
	case o.last != "":
		return cause + "; last, " + o.last
	}
	return cause
}

// maxNamedFaults bounds the faults that one line names.
const maxNamedFaults = 3

// inForce names faults, the latest first.
func inForce(faults []*network.Fault) string {
	var names []string
	for _, f := range slices.Backward(faults) {
		if len(names) == maxNamedFaults {
			names = append(names, fmt.Sprintf("%d more", len(faults)-maxNamedFaults))
			break
		}
		names = append(names, f.Order.String())
	}
	if len(names) == 1 {
		return names[0] + " is in force"
	}
	return strings.Join(names, ", ") + " are in force"
}
