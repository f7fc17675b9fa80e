package box

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators"
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

// named writes the names of validators for their addresses.
func (n *Network) named(text string) string {
	for _, node := range n.List() {
		text = strings.ReplaceAll(text, node.Address.String(), node.Name)
	}
	return text
}

// Liveness implements api.Backend.
func (n *Network) Liveness() api.Liveness {
	l := api.Liveness{Since: n.finality.since()}
	state := n.state()
	running, connected, members, pooled, nullified := 0, 0, 0, 0, uint64(0)
	var latest *validators.Trouble
	behind := ""
	var gaveUp *validators.GivenUp
	for _, node := range n.List() {
		if state.Validators().Index(node.Address) < 0 {
			continue
		}
		members++
		if !node.Running() || node.Frozen() || node.Failure() != nil {
			continue
		}
		running++
		status := node.Validator().Status()
		connected = max(connected, len(status.Connected))
		pooled, nullified = max(pooled, status.Pool), max(nullified, status.Refused.Nullified)
		if g := status.GaveUp; g != nil && (gaveUp == nil || g.At > gaveUp.At) {
			gaveUp = g
		}
		if status.Unfit != "" {
			l.Troubles = append(l.Troubles, fmt.Sprintf("%s neither proposes nor votes: %s", node.Name, status.Unfit))
		}
		if status.Behind > 0 {
			behind = clockBehind(node.Name, status.Behind)
			l.Troubles = append(l.Troubles, behind)
		}
		trouble := status.Trouble
		if trouble == nil {
			continue
		}
		if age := n.clock.Now().Sub(trouble.At); age < troubleAge {
			l.Troubles = append(l.Troubles, fmt.Sprintf("%s, %s ago: %s", node.Name, age.Round(time.Second), n.named(trouble.What)))
		}
		if latest == nil || trouble.At > latest.At {
			latest = trouble
		}
	}
	if _, err := n.Probe(); err != nil && n.unfit == "" {
		l.Troubles = append(l.Troubles, fmt.Sprintf("Python actors cannot run here, and validators skip them: %v", err))
	}
	if n.config.Here != nil && running > 0 { // of the others it knows who is connected
		running, members = running+connected, len(state.Validators().Members)
	}
	need := QuorumPeers(members) + 1
	switch {
	case n.Paused():
		l.Blocked, l.Cause, l.Hint = true, "the network is paused", "Run devnet resume."
	case running < need:
		l.Blocked, l.Cause = true, fmt.Sprintf("no quorum: %d of %d validators run, %d are needed", running, members, need)
		l.Hint = "devnet status shows validators that are down or frozen: run devnet fault validator restart NODE, or thaw NODE."
	case n.config.Auto && pooled == 0 && !state.HasWork():
		// nothing is to be done, and no block is made for it
	case l.Since > max(leastPatience, patienceBlocks*n.config.BlockTime):
		l.Cause = fmt.Sprintf("%d views were nullified since the start", nullified)
		if behind != "" {
			l.Cause += "; " + behind
		} else if latest != nil {
			l.Cause += "; last, " + n.named(latest.What)
		} else if gaveUp != nil {
			l.Cause += "; last, " + n.gaveUp(gaveUp)
		}
		l.Hint = "devnet status shows how nodes are connected, devnet logs what they met."
	}
	return l
}
