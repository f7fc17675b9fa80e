package box

import (
	"net/netip"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// links are the sockets of the nodes, and the rules in force.
type links struct {
	mu      sync.Mutex
	sockets map[string]*socket                       // the socket of each node
	driven  map[string]map[netip.AddrPort]lossy.Rule // of each node that is driven
	rules   *network.LinkRules
}

type socket struct {
	conn Packets
	at   netip.AddrPort
}

func newLinks() *links {
	return &links{sockets: map[string]*socket{}, driven: map[string]map[netip.AddrPort]lossy.Rule{}, rules: &network.LinkRules{}}
}

// open enters a node's socket; the rules in force hold for it at once.
func (l *links) open(name string, conn Packets, at netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets[name] = &socket{conn, at}
	if !l.rules.Sound() {
		l.apply()
	}
	if rules := l.driven[name]; rules != nil {
		conn.SetRules(rules)
	}
}

// drive gives a node's socket, and those that it opens later, the rules of the
// supervisor, the only source of rules.
func (l *links) drive(name string, rules map[netip.AddrPort]lossy.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.driven[name] = rules
	l.sockets[name].conn.SetRules(rules)
}

// socketOf is a node's socket, which is entered.
func (l *links) socketOf(name string) *socket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sockets[name]
}

// kill lets a node's socket send nothing any more.
func (l *links) kill(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sockets[name]; s != nil && s.conn != nil {
		s.conn.Kill()
	}
}

// follow has all sockets, those that are opened later too, follow rules.
func (l *links) follow(rules *network.LinkRules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = rules
	l.apply()
}

// apply gives every socket its rules. It is called with the lock held.
func (l *links) apply() {
	for from, s := range l.sockets {
		rules := map[netip.AddrPort]lossy.Rule{}
		for to, other := range l.sockets {
			if to == from {
				continue
			}
			if rule := l.rules.Between(from, to); rule.Counts != nil || rule.Cut != nil {
				rules[other.at] = lossy.Rule{Link: rule.Link, LinkCounts: rule.Counts, Cut: rule.Cut != nil, CutCounts: rule.Cut}
			}
		}
		s.conn.SetRules(rules)
	}
}

// between is the rule in force for frames from one node to another.
func (l *links) between(from, to string) network.Rule {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rules.Between(from, to)
}

// passes reports whether what one node sends another arrives: the links between them are
// not cut. A loss is counted.
func (l *links) passes(from, to string) bool {
	rule := l.between(from, to)
	if rule.Cut != nil {
		rule.Cut.Dropped.Add(1)
	}
	return rule.Cut == nil
}
