package box

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// Links implements api.Backend. A process that has one node lists the links from that.
func (n *Network) Links() (all []model.Link) {
	ends := n.listEnds()
	for i := range ends {
		from := &ends[i]
		if from.elsewhere {
			continue
		}
		for j := range ends {
			to := &ends[j]
			if i == j || from.runner && to.runner {
				continue
			}
			if l := n.links.showLink(from, to); !from.runner && !to.runner || l.Up || l.Cut || l.Rule != nil {
				all = append(all, l)
			}
		}
	}
	return all
}

// end is a node as the links between nodes find it.
type end struct {
	name      string
	address   types.Address
	runner    bool
	elsewhere bool                             // another process has it
	peers     []types.Address                  // that it is connected with
	counted   map[types.Address]quic.PeerStats // packets sent to validators; nil: unknown
}

// listEnds are all nodes that are part of the network.
func (n *Network) listEnds() (all []end) {
	for _, node := range n.List() {
		one := end{name: node.Name, address: node.Address}
		if node.Phase() == network.Running {
			one.peers = node.Validator().Status().Connected
			for _, c := range node.Validator().Connections() {
				one.peers = append(one.peers, c.Runner)
			}
		}
		if local, is := node.ValidatorNode.(*localValidator); is {
			one.counted = countedBy(local.Socket())
		}
		all = append(all, one)
	}
	for _, other := range n.others.listValidators(n.bestState()) {
		all = append(all, end{name: other.Name, address: other.Validator.Address, elsewhere: true})
	}
	for _, r := range n.RunnerList() {
		one := end{name: r.Name, address: r.Address, runner: true}
		if r.Phase() == network.Running {
			one.peers = r.Status().Connected
		}
		all = append(all, one)
	}
	for _, other := range n.others.listRunners() {
		all = append(all, end{name: other.Name, address: other.Address, runner: true, elsewhere: true})
	}
	return all
}

// countedBy returns a socket's counters, by peer; nil if it is closed.
func countedBy(socket *quic.Transport) map[types.Address]quic.PeerStats {
	if socket == nil {
		return nil
	}
	counted := map[types.Address]quic.PeerStats{}
	for _, s := range socket.Stats() {
		counted[s.Address] = s
	}
	return counted
}

// showLink is the link from one node to another.
func (l *links) showLink(from, to *end) model.Link {
	m := model.Link{From: from.name, To: to.name, Up: slices.Contains(from.peers, to.address)}
	if s, known := from.counted[to.address]; known {
		m.Frames, m.Bytes, m.Lost = &s.FramesSent, &s.BytesSent, &s.FramesDropped
		if s.RTT > 0 {
			rtt := uint64(s.RTT.Microseconds())
			m.RTTMicro = &rtt
		}
	}
	rule := l.ruleBetween(from.name, to.name)
	m.Cut = rule.Cut != nil
	if rule.Counts != nil && rule.Link != (fault.Link{OneWay: rule.Link.OneWay}) {
		m.Rule = answers.ShowRule(rule.Link)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tallyPackets(&m)
	return m
}

// tallyPackets adds what rules did to a link's packets, where a socket of this process counts. It is called with the lock held.
func (l *links) tallyPackets(m *model.Link) {
	from, to := l.sockets[m.From], l.sockets[m.To]
	if from == nil || to == nil || from.conn == nil {
		return
	}
	dropped, delayed := from.conn.Tally(to.at)
	m.Dropped, m.Delayed = &dropped, &delayed
}
