package quic

import (
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"

	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// These tests run real QUIC over packets in memory, in virtual time. A bubble
// ends only when its last goroutine has: each of them shows as well that Close
// leaves none.

// virtual runs a test on a fresh network.
func virtual(t *testing.T, test func(t *testing.T, net *memnet.Net, with func(*Config))) {
	synctest.Test(t, func(t *testing.T) {
		net := memnet.New()
		test(t, net, func(c *Config) { c.PacketConn = net.Listen(0) })
	})
}

// pair returns two nodes that are connected.
func pair(t *testing.T, with func(*Config)) []*node {
	t.Helper()
	nodes := mesh(t, 2, with)
	time.Sleep(50 * time.Millisecond)
	for _, n := range nodes {
		if len(n.Connected()) != 1 {
			t.Fatalf("not connected: %+v", n.Stats())
		}
	}
	return nodes
}

func TestFourNodesAreConnectedInFourRoundTrips(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := mesh(t, 4, with) // a packet travels a millisecond
		time.Sleep(8 * time.Millisecond)
		synctest.Wait()
		for _, n := range nodes {
			if len(n.Connected()) != 3 {
				t.Fatalf("%v: %+v", n.key, n.Stats())
			}
		}
	})
}

func TestWhatIsSentBeforeTheConnectionArrives(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		a, b := newNode(t, "v0", with), newNode(t, "v1", with)
		name(a, b)
		a.start(t)
		a.Send(b.key.Address(), []byte("early"))
		time.Sleep(patience / 2)
		b.start(t)
		if got := b.next(t); string(got.frame) != "early" {
			t.Fatalf("got %q", got.frame)
		}
	})
}

func TestWhatWaitsTooLongForAConnectionIsLost(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		a, b := newNode(t, "v0", with), newNode(t, "v1", with)
		name(a, b)
		a.start(t)
		a.Send(b.key.Address(), []byte("stale"))
		time.Sleep(patience + time.Millisecond)
		a.Send(b.key.Address(), []byte("fresh"))
		b.start(t)
		if got := b.next(t); string(got.frame) != "fresh" {
			t.Fatalf("got %q", got.frame)
		}
		if s := a.Stats()[0]; s.FramesDropped != 1 || s.FramesSent != 1 {
			t.Fatalf("stats %+v", s)
		}
	})
}

func TestAStrangerIsRefused(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		for _, stranger := range []string{"x0", "x1", "x2"} { // above and below in address
			s := newNode(t, stranger, with)
			s.SetPeers([]types.Validator{nodes[0].validator(), nodes[1].validator()})
			s.start(t)
			s.Send(nodes[0].key.Address(), []byte("let me in"))
			time.Sleep(2 * fallbackDial)
			if c := s.Connected(); len(c) != 0 {
				t.Fatalf("%s is connected with %v", stranger, c)
			}
		}
		if len(nodes[0].received) != 0 || len(nodes[0].Connected()) != 1 {
			t.Fatal("a stranger was heard")
		}
	})
}

func TestAnotherKeyAtTheEndpointIsRefused(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := mesh(t, 3, with)
		low, mid, high := nodes[0], nodes[1], nodes[2]
		time.Sleep(50 * time.Millisecond)
		wrong := high.validator() // said to be where mid is, who would accept low
		wrong.Endpoint = mid.Addr().String()
		low.SetPeers([]types.Validator{wrong})
		high.close()
		time.Sleep(idleTimeout + 5*time.Second)
		if c := low.Connected(); len(c) != 0 {
			t.Fatalf("connected with %v", c)
		}
	})
}

func TestAPeerThatIsNamedNoMoreIsDisconnected(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		for i, n := range nodes {
			n.SetPeers(nil)
			time.Sleep(10 * time.Millisecond)
			if len(n.Connected()) != 0 || len(nodes[1-i].Connected()) != 0 {
				t.Fatal("still connected")
			}
			n.SetPeers([]types.Validator{nodes[0].validator(), nodes[1].validator()})
			time.Sleep(3 * time.Second)
			if len(n.Connected()) != 1 || len(nodes[1-i].Connected()) != 1 {
				t.Fatalf("not connected again: %+v, %+v", n.Stats(), nodes[1-i].Stats())
			}
		}
	})
}

func TestNamingThePeersAgainKeepsTheConnection(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		name(nodes...)
		moved := nodes[1].validator()
		moved.Endpoint = "127.0.0.1:1"
		nodes[0].SetPeers([]types.Validator{moved})
		time.Sleep(10 * time.Second)
		if s := nodes[0].Stats()[0]; !s.Connected || s.Connects != 1 {
			t.Fatalf("stats %+v", s)
		}
	})
}

func TestASilentPeerIsNoticedInTime(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		net.SetFate(func(string, string, int) (time.Duration, bool) { return 0, true })
		time.Sleep(idleTimeout + keepAlive)
		for _, n := range nodes {
			if len(n.Connected()) != 0 {
				t.Fatalf("still connected: %+v", n.Stats())
			}
		}
		net.SetFate(nil)
		time.Sleep(maxBackoff + maxDialTimeout)
		for _, n := range nodes {
			if s := n.Stats()[0]; !s.Connected || s.Connects != 2 {
				t.Fatalf("not connected again: %+v", s)
			}
		}
	})
}

func TestAnIdleConnectionStays(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		time.Sleep(10 * time.Minute)
		if s := nodes[0].Stats()[0]; !s.Connected || s.Connects != 1 {
			t.Fatalf("stats %+v", s)
		}
	})
}

func TestAKilledPeerIsBackAtOnce(t *testing.T) {
	for _, killed := range []int{0, 1} {
		t.Run(fmt.Sprint(killed), func(t *testing.T) {
			virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
				nodes := pair(t, with)
				stays, dies := nodes[1-killed], nodes[killed]
				socket := dies.socket.(*memnet.Conn)
				socket.Close() // no goodbye gets out
				dies.close()
				again := newNode(t, "unused", func(c *Config) { c.Signer, c.PacketConn = dies.key, net.Listen(socket.Port()) })
				again.key = dies.key
				name(again, stays)
				again.start(t)
				stays.Send(dies.key.Address(), []byte("provokes the reset"))
				time.Sleep(time.Second)
				if len(again.Connected()) != 1 || len(stays.Connected()) != 1 {
					t.Fatalf("%+v, %+v", again.Stats(), stays.Stats())
				}
			})
		})
	}
}

func TestTheGreaterAddressDialsWhenTheLowerCannot(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := mesh(t, 2, with)
		hidden := nodes[1].validator()
		hidden.Endpoint = ""
		nodes[0].SetPeers([]types.Validator{hidden})
		nodes[1].SetPeers(nil)
		time.Sleep(time.Second)
		nodes[1].SetPeers([]types.Validator{nodes[0].validator()})
		time.Sleep(fallbackDial + 100*time.Millisecond)
		if len(nodes[0].Connected()) != 1 || len(nodes[1].Connected()) != 1 {
			t.Fatalf("%+v, %+v", nodes[0].Stats(), nodes[1].Stats())
		}
	})
}

// TestAPeerThatComesLateIsMetSoon, though the other has tried without success for
// so long that it waits long between attempts.
func TestAPeerThatComesLateIsMetSoon(t *testing.T) {
	for _, late := range []int{0, 1} {
		virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
			nodes := []*node{newNode(t, "v0", with), newNode(t, "v1", with)}
			name(nodes...)
			nodes[1-late].start(t)
			time.Sleep(20*time.Second + 300*time.Millisecond)
			nodes[late].start(t)
			time.Sleep(fallbackDial + 100*time.Millisecond)
			for _, n := range nodes {
				if len(n.Connected()) != 1 {
					t.Fatalf("stats %+v", n.Stats())
				}
			}
		})
	}
}

func TestBothDialAtOnceAndOneConnectionStays(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := mesh(t, 2, with)
		for range 20 {
			for i, n := range nodes {
				p := n.byAddress[nodes[1-i].key.Address()]
				go p.dialOnce(nodes[1-i].Addr().String(), time.Second)
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		before := [2]uint64{nodes[0].Stats()[0].Connects, nodes[1].Stats()[0].Connects}
		for i, n := range nodes {
			n.Send(nodes[1-i].key.Address(), []byte{byte(i)})
			if got := nodes[1-i].next(t); got.frame[0] != byte(i) {
				t.Fatalf("got %v", got)
			}
		}
		time.Sleep(time.Minute)
		if after := [2]uint64{nodes[0].Stats()[0].Connects, nodes[1].Stats()[0].Connects}; after != before {
			t.Fatalf("connections continued to change: %v, %v", before, after)
		}
	})
}

// TestOfTwoConnectionsOneStays: the lower address's before the greater's, and
// of one side's the newer, in whatever order they come up.
func TestOfTwoConnectionsOneStays(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := mesh(t, 2, with)
		for i, n := range nodes {
			p := newPeer(n.Transport, nodes[1-i].validator())
			lowers := func() *session { return newSession(p, nil, p.dialsFirst()) }
			greaters := func() *session { return newSession(p, nil, !p.dialsFirst()) }
			for _, step := range []struct {
				s    *session
				want bool
			}{{greaters(), true}, {greaters(), true}, {lowers(), true}, {greaters(), false}, {lowers(), true}} {
				before := p.session
				replaced, ok := p.admitSession(step.s)
				if ok != step.want || ok && (replaced != before || p.session != step.s) || !ok && p.session != before {
					t.Fatalf("admitted %v, want %v", ok, step.want)
				}
			}
			p.leave()
			if _, ok := p.admitSession(lowers()); ok {
				t.Fatal("a peer no more, and admitted")
			}
		}
	})
}
