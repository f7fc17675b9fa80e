package box

import (
	"cmp"
	"net/netip"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
)

// links holds the sockets of the nodes, and the rules that partitions and link
// faults make for each.
type links struct {
	mu      sync.Mutex
	sockets map[string]*socket // the socket of each node
	ruled   map[pair]*ruled
	driven  map[string]map[netip.AddrPort]lossy.Rule // of each node that is driven
	usual   *ruled                                   // the links that no fault has set; nil: they are sound
	cut     *Fault                                   // the partition or bridge in force, or nil
	apart   func(a, b string) bool
}

// pair is a link from one node to another.
type pair struct{ from, to string }

// ruled is a link that a fault has set.
type ruled struct {
	link fault.Link
	by   *Fault
}

type socket struct {
	conn Packets
	at   netip.AddrPort
}

func newLinks() *links {
	return &links{sockets: map[string]*socket{}, ruled: map[pair]*ruled{}, driven: map[string]map[netip.AddrPort]lossy.Rule{}}
}

// open enters a node's socket; the rules in force hold for it at once.
func (l *links) open(name string, conn Packets, at netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets[name] = &socket{conn, at}
	if !l.sound() {
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

// sound reports whether no rule is in force. It is called with the lock held.
func (l *links) sound() bool { return l.usual == nil && l.cut == nil && len(l.ruled) == 0 }

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

// apply gives every socket its rules. It is called with the lock held.
func (l *links) apply() {
	for from, s := range l.sockets {
		rules := map[netip.AddrPort]lossy.Rule{}
		for to, other := range l.sockets {
			if to == from {
				continue
			}
			var rule lossy.Rule
			if set := cmp.Or(l.ruled[pair{from, to}], l.usual); set != nil {
				rule.Link, rule.LinkCounts = set.link, &set.by.counts
			}
			if l.cut != nil && l.apart(from, to) {
				rule.Cut, rule.CutCounts = true, &l.cut.counts
			}
			if rule.LinkCounts != nil || rule.Cut {
				rules[other.at] = rule
			}
		}
		s.conn.SetRules(rules)
	}
}

// passes reports whether what one node sends another arrives: the links between them are
// not cut. A loss is counted.
func (l *links) passes(from, to string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut == nil || !l.apart(from, to) {
		return true
	}
	l.cut.counts.Dropped.Add(1)
	return false
}

// sever cuts the links between the pairs that apart names, both ways, in place
// of those that were cut before.
func (l *links) sever(by *Fault, apart func(a, b string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut != nil {
		l.cut.end()
	}
	l.cut, l.apart = by, apart
	l.apply()
}

// set sets the link between two nodes, or with OneWay that from a to b.
func (l *links) set(by *Fault, a, b string, to fault.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pairs := []pair{{a, b}, {b, a}}
	if to.OneWay {
		pairs = pairs[:1]
	}
	for _, p := range pairs {
		before := l.ruled[p]
		l.ruled[p] = &ruled{to, by}
		if before != nil && !l.inForce(before.by) {
			before.by.end()
		}
	}
	l.apply()
}

// usually sets how links are that no fault has set, also those of nodes that join later.
func (l *links) usually(to fault.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usual = &ruled{to, &Fault{}}
	l.apply()
}

// inForce reports whether a fault still sets a link.
func (l *links) inForce(f *Fault) bool {
	for _, set := range l.ruled {
		if set.by == f {
			return true
		}
	}
	return false
}

// heal restores every link to its usual state.
func (l *links) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut != nil {
		l.cut.end()
	}
	for _, set := range l.ruled {
		set.by.end()
	}
	l.cut, l.apart = nil, nil
	clear(l.ruled)
	l.apply()
}
