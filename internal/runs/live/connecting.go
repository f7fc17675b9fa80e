package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// waitForQuorumConnections waits until each validator is connected with a quorum, so that a script's
// patience for blocks does not begin before there can be one. Each connection
// beyond the most so far renews its own patience.
func (s *Stage) waitForQuorumConnections() error {
	tick := time.NewTicker(connectEvery)
	defer tick.Stop()
	left := progress{fewest: math.MaxInt}
	for {
		lacking, missing := s.listWithoutQuorum()
		switch {
		case missing == 0:
			return nil
		case left.hasStalled(missing, time.Now()):
			return fmt.Errorf("cannot start the network: no further validators connected within %v: %s", connectPatience,
				strings.Join(lacking, ", "))
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// listWithoutQuorum names the running validators without a quorum, each with its connections, and
// counts the connections that they lack.
func (s *Stage) listWithoutQuorum() (lacking []string, missing int) {
	nodes := s.Nodes()
	need := box.QuorumPeers(len(nodes))
	for _, n := range nodes {
		if n.Running && n.Connections < need {
			lacking = append(lacking, fmt.Sprintf("%s has %d of at least %d", n.Name, n.Connections, need))
			missing += need - n.Connections
		}
	}
	return lacking, missing
}

// progress is the patience for connections that are still missing.
type progress struct {
	fewest int       // that were missing at a look
	until  time.Time // the end of the patience
}

// hasStalled reports, at a look, whether the number of missing connections fell to no new least
// one within connectPatience.
func (p *progress) hasStalled(missing int, now time.Time) bool {
	if missing < p.fewest {
		p.fewest, p.until = missing, now.Add(connectPatience)
	}
	return now.After(p.until)
}
