package box

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// toldSocket is a socket, and the rules that it was told.
type toldSocket struct {
	times int
	rules map[netip.AddrPort]lossy.Rule
}

func (s *toldSocket) SetRules(rules map[netip.AddrPort]lossy.Rule) {
	s.times, s.rules = s.times+1, rules
}

// onLinks is a network of which links alone are ordered.
type onLinks struct {
	backend
	links *links
}

func (onLinks) Capabilities() network.Capabilities {
	return network.Capabilities{Can: network.Links}
}

func (onLinks) Node(string) network.Node { return plainNode{} }

// plainNode is a validator that no order asks for more.
type plainNode struct{ network.Node }

func (plainNode) Who() network.Identity { return network.Identity{} }

func (b onLinks) SetLinks(rules *network.LinkRules) { b.links.followRules(rules) }

// A node may be another process, which is told its rules by a request: the links of a
// whole network are set by one each.
func TestAllLinksAreSetByOneOrderToEachSocket(t *testing.T) {
	const nodes = 31
	l, told := newLinks(), [nodes]toldSocket{}
	at := func(i int) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(4000+i))
	}
	for i := range told {
		l.remoteSockets(fmt.Sprint("v", i))(at(i), told[i].SetRules)
	}
	for i := range told {
		told[i].times = 0
	}
	usual, bad := fault.Link{Latency: time.Millisecond}, fault.Link{Loss: 0.5}
	b := onLinks{backend{newScheduler(nil), nil}, l}
	w := network.NewOrders(b, network.NewTurn(b), fault.Live)
	order := func(o fault.Order) {
		if _, err := w.Order(&o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetUsualLink(usual); err != nil {
		t.Fatal(err)
	}
	for i := range told {
		if told[i].times != 1 || len(told[i].rules) != nodes-1 || told[i].rules[at((i+1)%nodes)].Link != usual {
			t.Fatalf("v%d was told %d times, at last %v", i, told[i].times, told[i].rules)
		}
	}
	order(fault.Order{Verb: fault.SetLink, A: "v0", B: "v1", Link: bad})
	if told[0].rules[at(1)].Link != bad || told[1].rules[at(0)].Link != bad || told[0].rules[at(2)].Link != usual {
		t.Errorf("v0 has %v", told[0].rules)
	}
	order(fault.Order{Verb: fault.Heal})
	if told[0].rules[at(1)].Link != usual {
		t.Errorf("once it is healed v0 has %v", told[0].rules)
	}
	var joins toldSocket
	l.remoteSockets("r0")(at(nodes), joins.SetRules)
	if joins.rules[at(0)].Link != usual || told[0].rules[at(nodes)].Link != usual {
		t.Errorf("who joins has %v", joins.rules)
	}
}

// J11: a poll and its answer go over the link. A link that loses all loses them, latency delays
// them, and a sound link does neither.
func TestJ11APollGoesOverTheLink(t *testing.T) {
	l := newLinks()
	var delays []time.Duration
	l.after = func(d time.Duration, do func()) {
		delays = append(delays, d)
		do()
	}
	b := onLinks{backend{newScheduler(nil), nil}, l}
	w := network.NewOrders(b, network.NewTurn(b), fault.Live)
	for _, test := range []struct {
		link    fault.Link
		arrives bool
		delayed time.Duration
	}{
		{fault.Link{}, true, 0},
		{fault.Link{Latency: 30 * time.Millisecond}, true, 30 * time.Millisecond},
		{fault.Link{Loss: 1}, false, 0},
		{fault.Link{Loss: 1, Latency: 30 * time.Millisecond}, false, 0},
	} {
		if _, err := w.Order(&fault.Order{Verb: fault.SetLink, A: "r0", B: "v1", Link: test.link}); err != nil {
			t.Fatal(err)
		}
		delays = nil
		arrived := false
		l.carryMessage("r0", "v1", func() { arrived = true })
		if arrived != test.arrives ||
			test.delayed > 0 && (len(delays) != 1 || delays[0] != test.delayed) ||
			test.delayed == 0 && len(delays) > 0 {
			t.Errorf("%+v: it arrives: %t, after %v", test.link, arrived, delays)
		}
	}
	lost := 0
	draws := []float64{0, 0.1, 0.1, 0.9} // the jitter, two losses, one that arrives
	travel, dropped := travelOf(&fault.Link{Latency: 10 * time.Millisecond, Loss: 0.5}, func() float64 {
		lost++
		return draws[lost-1]
	})
	if dropped != 2 || travel != 10*time.Millisecond+45*time.Millisecond+90*time.Millisecond {
		t.Errorf("%d packets are lost, and it takes %v", dropped, travel)
	}
}
