package box

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// How long a network may go without a block before that needs a reason, and how
// long what a validator met is told.
const (
	patienceBlocks = 10 // block times: a leader that is gone costs some
	leastPatience  = 5 * time.Second
	troubleAge     = time.Minute
)

// gaveUp is why a validator gave a view up, in words.
func (n *Network) gaveUp(g *validators.GivenUp) string {
	leader := g.Leader.String()
	for _, node := range n.List() {
		if node.Address == g.Leader {
			leader = node.Name
		}
	}
	text := fmt.Sprintf("view %d, which %s led: %s", g.View, leader, strings.ReplaceAll(g.Cause.String(), "_", " "))
	if g.Detail != "" {
		text += ": " + g.Detail
	}
	return text
}

// clockBehind says that a validator's clock is behind the newest block's stamp (decision C7).
func clockBehind(name string, by time.Duration) string {
	return fmt.Sprintf("the clock of %s is %v earlier than the newest block's timestamp; no block is made until then; set it right or wait",
		name, by.Round(time.Second/10))
}

// nameAddresses writes the names of validators for their addresses.
func (n *Network) nameAddresses(text string) string {
	for _, node := range n.List() {
		text = strings.ReplaceAll(text, node.Address.String(), node.Name)
	}
	return text
}

// census is what the validators of the set say, which run here.
type census struct {
	running   []*Node
	members   int
	connected int // the most that one of them is connected with
	pooled    int
	nullified uint64
	behind    string // a clock that is late; "" without one
	trouble   *validators.Trouble
	gaveUp    *validators.GivenUp
}

// Liveness implements api.Backend.
func (n *Network) Liveness() api.Liveness {
	l := api.Liveness{Since: n.finality.sinceLastFinal(), TravelsTo: n.UnderWay(), Troubles: n.keeper.clockNotices()}
	state := n.bestState()
	c := n.takeCensus(state, &l)
	if _, err := n.Probe(); err != nil && n.unfit == "" {
		l.Troubles = append(l.Troubles, fmt.Sprintf("Python actors cannot run here, and validators skip them: %v", err))
	}
	running, members, reached := len(c.running), c.members, n.mostReachable(c.running)
	if n.config.Here != nil && running > 0 { // of the others it knows who is connected
		running, members = running+c.connected, len(state.Validators().Members)
		reached = running
	}
	need := QuorumPeers(members) + 1
	switch {
	case n.Paused():
		l.Blocked, l.Cause, l.Hint = true, "the network is paused", "Run devnet resume."
	case running < need:
		l.Blocked, l.Cause = true, fmt.Sprintf("no quorum: %d of %d validators run, %d are needed", running, members, need)
		l.Hint = "devnet status shows validators that are down or frozen: run devnet fault validator restart NODE, or thaw NODE."
		if full := n.withoutRoom(); len(full) > 0 {
			l.Hint = fmt.Sprintf("The disk of %s has no room: free some space, then run devnet fault validator restart NODE for each of them.",
				plural.List(full, "and"))
		}
	case reached < need:
		l.Blocked, l.Cause = true, fmt.Sprintf("%s: at most %d of %d validators reach each other, %d are needed",
			inForce(n.LinksInForce()), reached, members, need)
		l.Hint = "Run devnet heal."
	case n.config.Auto && c.pooled == 0 && !state.HasWork():
		// nothing is to be done, and no block is made for it
	case l.Since > max(leastPatience, patienceBlocks*n.config.BlockTime):
		l.Cause = n.slowCause(c)
		l.Hint = "devnet status shows how nodes are connected, devnet logs what they met."
	}
	return l
}

// takeCensus asks the validators of the set, and adds their troubles.
func (n *Network) takeCensus(state *ledger.State, l *api.Liveness) *census {
	c := &census{}
	for _, node := range n.List() {
		if state.Validators().Index(node.Address) < 0 {
			continue
		}
		c.members++
		if node.Phase() != network.Running {
			continue
		}
		c.running = append(c.running, node)
		status := node.Validator().Status()
		c.connected = max(c.connected, len(status.Connected))
		c.pooled, c.nullified = max(c.pooled, status.Pool), max(c.nullified, status.Refused.Nullified)
		if g := status.GaveUp; g != nil && (c.gaveUp == nil || g.At > c.gaveUp.At) {
			c.gaveUp = g
		}
		if status.Unfit != "" {
			l.Troubles = append(l.Troubles, fmt.Sprintf("%s neither proposes nor votes: %s", node.Name, status.Unfit))
		}
		if status.Twin != "" {
			l.Troubles = append(l.Troubles, fmt.Sprintf("twin: %s %s", node.Name, status.Twin))
		}
		if status.Behind > 0 {
			c.behind = clockBehind(node.Name, status.Behind)
			l.Troubles = append(l.Troubles, c.behind)
		}
		trouble := status.Trouble
		if trouble == nil {
			continue
		}
		if age := n.clock.Now().Sub(trouble.At); age < troubleAge {
			l.Troubles = append(l.Troubles, fmt.Sprintf("%s, %s ago: %s", node.Name, age.Round(time.Second), n.nameAddresses(trouble.What)))
		}
		if c.trouble == nil || trouble.At > c.trouble.At {
			c.trouble = trouble
		}
	}
	return c
}

// mostReachable is the most validators of a list that one of them exchanges frames with by the
// rules of links, itself included. Without so many as a quorum no leader has its votes.
func (n *Network) mostReachable(nodes []*Node) (most int) {
	lost := func(from, to *Node) bool {
		rule := n.links.ruleBetween(from.Name, to.Name)
		return rule.Cut != nil || rule.Link.Loss >= 1
	}
	for _, node := range nodes {
		reached := 0
		for _, other := range nodes {
			if other == node || !lost(node, other) && !lost(other, node) {
				reached++
			}
		}
		most = max(most, reached)
	}
	return most
}

// slowCause is why blocks take longer than is usual, the devnet's own faults first.
func (n *Network) slowCause(c *census) string {
	cause := fmt.Sprintf("%d views were nullified since the start", c.nullified)
	switch faults := n.Standing(); {
	case c.behind != "":
		return cause + "; " + c.behind
	case len(faults) > 0:
		return inForce(faults) + "; " + cause
	case c.trouble != nil:
		return cause + "; last, " + n.nameAddresses(c.trouble.What)
	case c.gaveUp != nil:
		return cause + "; last, " + n.gaveUp(c.gaveUp)
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
