package box

import (
	"context"
	"time"
)

// How long the first blocks wait for the runners: a block time, after which late runners
// show in the votes anyway, but at most maxRunnersPatience.
const (
	maxRunnersPatience = 10 * time.Second
	runnersEvery       = 2 * time.Millisecond
)

// awaitsRunners reports whether a network is to make no block before its runners are
// present. The first blocks follow one another at once (decision C7), and after them there
// is one each block time. A runner that connects a moment late would thus be present, and
// the network ready, only one or two block times later.
func (n *Network) awaitsRunners() bool {
	c := &n.config
	return !n.resumed && c.Runners > 0 && c.Elsewhere == nil && c.Here == nil && c.BlockTime > 0 && !c.Auto
}

// awaitRunners waits until each runner has pinged every validator that it belongs to, or
// for as long as that is worth.
func (n *Network) awaitRunners(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(n.config.BlockTime, maxRunnersPatience))
	defer cancel()
	outlook := n.bestState().Outlook()
	want := 0
	for _, r := range n.RunnerList() {
		want += len(outlook.Head(r.key.PublicKey(), nil).Validators)
	}
	tick := time.NewTicker(runnersEvery)
	defer tick.Stop()
	for n.countPingedConnections() < want {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// countPingedConnections counts the connections on which a runner has pinged.
func (n *Network) countPingedConnections() (count int) {
	for _, node := range n.List() {
		for _, live := range node.Validator().Connections() {
			if live.Pinged > 0 {
				count++
			}
		}
	}
	return count
}
