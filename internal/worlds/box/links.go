package box

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
)

// links are the sockets of the nodes, and the rules in force.
type links struct {
	mu      sync.Mutex
	sockets map[string]*socket                       // the socket of each node
	driven  map[string]map[netip.AddrPort]lossy.Rule // of each node that is driven
	rules   *network.LinkRules
	after   func(time.Duration, func()) // runs a function after a time
}

// socket is where peers find a node, and what sets the rules of what it sends.
type socket struct {
	at       netip.AddrPort
	setRules func(map[netip.AddrPort]lossy.Rule)
	conn     *lossy.Conn // nil of a node elsewhere
}

func newLinks() *links {
	return &links{sockets: map[string]*socket{}, driven: map[string]map[netip.AddrPort]lossy.Rule{}, rules: &network.LinkRules{},
		after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
}

// remoteSockets enters the sockets of a node elsewhere, which is another in each of its processes.
func (l *links) remoteSockets(name string) remote.EnterSocket {
	return func(at netip.AddrPort, setRules func(map[netip.AddrPort]lossy.Rule)) {
		l.enterSocket(name, &socket{at: at, setRules: setRules})
	}
}

// enterSocket enters a node's socket; the rules in force hold for it at once.
func (l *links) enterSocket(name string, s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets[name] = s
	if !l.rules.Sound() {
		l.applyRules()
	}
	if rules := l.driven[name]; rules != nil {
		s.setRules(rules)
	}
}

// driveRules gives a node's socket, and those that it opens later, the rules of the
// supervisor, the only source of rules.
func (l *links) driveRules(name string, rules map[netip.AddrPort]lossy.Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.driven[name] = rules
	l.sockets[name].setRules(rules)
}

// socketOf is a node's socket, which is entered.
func (l *links) socketOf(name string) *socket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sockets[name]
}

// silenceNode lets a node's socket send nothing any more.
func (l *links) silenceNode(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sockets[name]; s != nil && s.conn != nil {
		s.conn.Kill()
	}
}

// followRules has all sockets, those that are opened later too, follow rules.
func (l *links) followRules(rules *network.LinkRules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = rules
	l.applyRules()
}

// applyRules gives every socket its rules. It is called with the lock held.
func (l *links) applyRules() {
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
		s.setRules(rules)
	}
}

// ruleBetween is the rule in force for frames from one node to another.
func (l *links) ruleBetween(from, to string) network.Rule {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rules.Between(from, to)
}

// leastProbe is how long it takes at least until a lost message is sent again.
const leastProbe = 25 * time.Millisecond

// carryMessage brings a message from one node to another by the rule of their link. A lost packet is
// sent again, as on a stream, until a connection would have ended. A cut link, and one that
// loses too much, lose the message. Without a delay do runs at once.
func (l *links) carryMessage(from, to string, do func()) {
	rule := l.ruleBetween(from, to)
	if rule.Cut != nil {
		rule.Cut.Dropped.Add(1)
		return
	}
	travel, dropped := travelOf(&rule.Link, rand.Float64)
	if rule.Counts != nil && dropped > 0 {
		rule.Counts.Dropped.Add(dropped)
	}
	switch {
	case travel > connection.IdleTime:
	case travel > 0:
		if rule.Counts != nil {
			rule.Counts.Delayed.Add(1)
		}
		l.after(travel, do)
	default:
		do()
	}
}

// travelOf draws how long a small message travels on a link, and how many of its packets are
// lost on the way. It is lost itself if that is longer than a connection idles. chance is
// uniform in [0, 1).
func travelOf(link *fault.Link, chance func() float64) (travel time.Duration, dropped int64) {
	travel = link.Latency + time.Duration(chance()*float64(link.Jitter))
	for probe := leastProbe + 2*(link.Latency+link.Jitter); travel <= connection.IdleTime && chance() < link.Loss; probe *= 2 {
		dropped++
		travel += probe
	}
	return travel, dropped
}
