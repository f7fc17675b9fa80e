package stage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// connect waits until each validator is connected with a quorum, so that a script's
// patience for blocks does not begin before there can be one.
func (s *Stage) connect() error {
	ctx, cancel := context.WithTimeout(s.ctx, connectPatience)
	defer cancel()
	tick := time.NewTicker(connectEvery)
	defer tick.Stop()
	for {
		lacking := s.unconnected()
		if len(lacking) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err := s.ctx.Err(); err != nil {
				return err
			}
			return fmt.Errorf("cannot start the network: validators are not connected after %v: %s", connectPatience, strings.Join(lacking, ", "))
		}
	}
}

// unconnected names the running validators without a quorum, each with its connections.
func (s *Stage) unconnected() (lacking []string) {
	nodes := s.Nodes()
	need := box.QuorumPeers(len(nodes))
	for _, n := range nodes {
		if n.Running && n.Connections < need {
			lacking = append(lacking, fmt.Sprintf("%s has %d of at least %d", n.Name, n.Connections, need))
		}
	}
	return lacking
}
