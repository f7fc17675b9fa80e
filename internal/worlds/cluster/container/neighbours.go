package container

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// neighboursLimit is the setting of Linux that bounds its table of neighbours (ARP), of
// which a machine has one for all of its containers: what finds no room there is dropped,
// packets of nodes and answers to whoever drives them alike.
const neighboursLimit = "net.ipv4.neigh.default.gc_thresh3"

// neighbours is how many entries of that table nodes take that all talk: a validator knows
// every node, a runner every validator, each its gateway, and the machine all of them.
func neighbours(nodes []cluster.Node) int {
	validators := 0
	for _, n := range nodes {
		if n.Kind == cluster.Validator {
			validators++
		}
	}
	runners := len(nodes) - validators
	return validators*len(nodes) + runners*(validators+1) + len(nodes)
}

// roomFor refuses a network for which the engine's machine has no room in its table of
// neighbours. Of another machine, and of one that does not tell, nothing is known.
func roomFor(ctx context.Context, nodes []cluster.Node) error {
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(neighboursLimit, ".", "/"))
	if err != nil {
		return nil
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || neighbours(nodes) <= limit {
		return nil
	}
	name, err := docker(ctx, nil, "info", "--format", "{{.Name}}")
	if err != nil || name != machine() {
		return err
	}
	return tooManyNeighbours(nodes, limit)
}

func tooManyNeighbours(nodes []cluster.Node, limit int) error {
	need := neighbours(nodes)
	return fmt.Errorf("%d containers that reach one another need %d entries in this machine's table of neighbours, which has room for %d: "+
		"sudo sysctl -w %s=%d makes room, or take fewer nodes, or processes", len(nodes), need, limit, neighboursLimit, roundUp(2*need))
}

// roundUp is the power of two that is n or above.
func roundUp(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}
