package box

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
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

// Liveness implements api.Backend.
func (n *Network) Liveness() answers.Liveness {
	o := n.observe()
	l := answers.Liveness{Since: o.since, TravelsTo: n.UnderWay(), Troubles: o.troubles}
	l.Blocked, l.Cause, l.Hint = o.explain(o.judge())
	return l
}

// observe looks at the network, at each validator of the set once.
func (n *Network) observe() *observation {
	state := n.bestState()
	o := &observation{since: n.finality.sinceLastFinal(), patience: max(leastPatience, patienceBlocks*n.config.BlockTime),
		paused: n.Paused(), full: n.withoutRoom(), cuts: n.LinksInForce(), faults: n.Standing(), troubles: n.keeper.clockNotices()}
	running := n.takeCensus(state, o)
	if _, err := n.Probe(); err != nil && n.unfit == "" {
		o.troubles = append(o.troubles, fmt.Sprintf("Python actors cannot run here, and validators skip them: %v", err))
	}
	o.running, o.reached = len(running), n.mostReachable(running)
	if n.config.Here != nil && o.running > 0 { // of the others it knows who is connected
		o.running, o.members = o.running+o.connected, len(state.Validators().Members)
		o.reached = o.running
	}
	o.idle = n.config.Auto && o.pooled == 0 && !state.HasWork()
	return o
}

// takeCensus asks the validators of the set, notes what they say, and returns those that run.
func (n *Network) takeCensus(state *ledger.State, o *observation) (running []*Node) {
	var trouble *validators.Trouble
	var gaveUp *validators.GivenUp
	for _, node := range n.List() {
		if state.Validators().Index(node.Address) < 0 {
			continue
		}
		o.members++
		if node.Phase() != network.Running {
			continue
		}
		running = append(running, node)
		status := node.Validator().Status()
		o.connected = max(o.connected, len(status.Connected))
		o.pooled, o.nullified = max(o.pooled, status.Pool), max(o.nullified, status.Refused.Nullified)
		if g := status.GaveUp; g != nil && (gaveUp == nil || g.At > gaveUp.At) {
			gaveUp = g
		}
		if status.Unfit != "" {
			o.troubles = append(o.troubles, fmt.Sprintf("%s neither proposes nor votes: %s", node.Name, status.Unfit))
		}
		if status.Twin != "" {
			o.troubles = append(o.troubles, fmt.Sprintf("twin: %s %s", node.Name, status.Twin))
		}
		if status.Behind > 0 {
			o.behind = clockBehind(node.Name, status.Behind)
			o.troubles = append(o.troubles, o.behind)
		}
		if status.Trouble == nil {
			continue
		}
		if age := n.clock.Now().Sub(status.Trouble.At); age < troubleAge {
			o.troubles = append(o.troubles,
				fmt.Sprintf("%s, %s ago: %s", node.Name, age.Round(time.Second), n.nameAddresses(status.Trouble.What)))
		}
		if trouble == nil || status.Trouble.At > trouble.At {
			trouble = status.Trouble
		}
	}
	switch {
	case trouble != nil:
		o.last = n.nameAddresses(trouble.What)
	case gaveUp != nil:
		o.last = n.gaveUp(gaveUp)
	}
	return running
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
