package quic

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"
)

// deadline of every wait in these tests; a wait ends when it has what it waits
// for.
const deadline = 20 * time.Second

// delivery is a frame that came.
type delivery struct {
	from  types.Address
	frame []byte
}

// node is a transport under test and what it received.
type node struct {
	*Transport
	key      *crypto.Key
	received chan delivery
	stop     chan struct{}
}

func newNode(t testing.TB, name string, change func(*Config)) *node {
	t.Helper()
	n := &node{key: crypto.DeriveKey(1, name), received: make(chan delivery, 1<<16), stop: make(chan struct{})}
	config := Config{Signer: n.key}
	if change != nil {
		change(&config)
	}
	transport, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	n.Transport = transport
	t.Cleanup(func() { n.close() })
	return n
}

func (n *node) close() error {
	select {
	case <-n.stop:
	default:
		close(n.stop)
	}
	return n.Transport.Close()
}

func (n *node) start(t testing.TB) {
	t.Helper()
	err := n.Start(func(from types.Address, frame []byte) {
		select {
		case n.received <- delivery{from, frame}:
		case <-n.stop:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (n *node) validator() types.Validator {
	return types.Validator{Address: n.key.Address(), PublicKey: n.key.PublicKey(), Endpoint: n.Addr().String()}
}

func (n *node) next(t testing.TB) delivery {
	t.Helper()
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case d := <-n.received:
		return d
	case <-timer.C:
		t.Fatalf("%v got nothing; stats %+v", n.key, n.Stats())
		panic("unreachable")
	}
}

// mesh returns n started nodes that name each other, sorted by address.
func mesh(t testing.TB, n int, change func(*Config)) []*node {
	t.Helper()
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = newNode(t, fmt.Sprint("v", i), change)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return a.key.Address().Compare(b.key.Address()) })
	name(nodes...)
	for _, node := range nodes {
		node.start(t)
	}
	return nodes
}

// name makes nodes peers of each other.
func name(nodes ...*node) {
	var all []types.Validator
	for _, n := range nodes {
		all = append(all, n.validator())
	}
	for _, n := range nodes {
		n.SetPeers(all)
	}
}

func TestTwoNodesExchangeFramesOfEverySize(t *testing.T) {
	nodes := mesh(t, 2, nil)
	for _, size := range []int{1, 2, 1199, promptBytes - 1, promptBytes, promptBytes + 1, chunkBytes, 1 << 20, bulkBytes} {
		frame := bytes.Repeat([]byte{byte(size)}, size)
		for i, from := range nodes {
			to := nodes[1-i]
			from.Send(to.key.Address(), frame)
			got := to.next(t)
			if got.from != from.key.Address() || !bytes.Equal(got.frame, frame) {
				t.Fatalf("a frame of %d bytes came as %d from %v", size, len(got.frame), got.from)
			}
		}
	}
	for i, n := range nodes {
		s := n.Stats()
		if len(s) != 1 || !s[0].Connected || s[0].Connects != 1 || s[0].FramesReceived != 9 || s[0].FramesDropped != 0 {
			t.Fatalf("stats %+v", s)
		}
		if got := n.Connected(); len(got) != 1 || got[0] != nodes[1-i].key.Address() {
			t.Fatalf("connected %v", got)
		}
	}
}

func TestFramesOfAKindKeepTheirOrder(t *testing.T) {
	nodes := mesh(t, 2, nil)
	const count = 3000
	for i := range count {
		nodes[0].Send(nodes[1].key.Address(), []byte{byte(i >> 8), byte(i)})
	}
	for i := range count {
		if got := nodes[1].next(t).frame; !bytes.Equal(got, []byte{byte(i >> 8), byte(i)}) {
			t.Fatalf("frame %d is %x", i, got)
		}
	}
}

func TestFourNodesExchange(t *testing.T) {
	nodes := mesh(t, 4, nil)
	for _, from := range nodes {
		for _, to := range nodes {
			from.Send(to.key.Address(), []byte("hi")) // to itself: lost
		}
	}
	for _, n := range nodes {
		seen := map[types.Address]bool{}
		for range 3 {
			seen[n.next(t).from] = true
		}
		if len(seen) != 3 || seen[n.key.Address()] || len(n.Connected()) != 3 {
			t.Fatalf("%v heard %d, connected with %d", n.key, len(seen), len(n.Connected()))
		}
	}
}

func TestSendToNobodyAndOfNoSizeIsLost(t *testing.T) {
	nodes := mesh(t, 2, nil)
	to := nodes[1].key.Address()
	nodes[0].Send(types.Address{1}, []byte("nobody"))
	nodes[0].Send(to, nil)
	nodes[0].Send(to, make([]byte, bulkBytes+1))
	nodes[0].Send(to, []byte("end"))
	if got := nodes[1].next(t); string(got.frame) != "end" {
		t.Fatalf("got %d bytes", len(got.frame))
	}
	if s := nodes[0].Stats()[0]; s.FramesDropped != 2 {
		t.Fatalf("dropped %d", s.FramesDropped)
	}
}

func TestWrapPacketConnSeesEveryPacket(t *testing.T) {
	var mu sync.Mutex
	wrapped := 0
	nodes := mesh(t, 2, func(c *Config) {
		c.WrapPacketConn = func(pc net.PacketConn) net.PacketConn {
			return &countingConn{PacketConn: pc, count: func() { mu.Lock(); wrapped++; mu.Unlock() }}
		}
	})
	nodes[0].Send(nodes[1].key.Address(), []byte("hi"))
	nodes[1].next(t)
	mu.Lock()
	defer mu.Unlock()
	if wrapped < 4 {
		t.Fatalf("%d packets went by the wrapper", wrapped)
	}
}

type countingConn struct {
	net.PacketConn
	count func()
}

func (c *countingConn) WriteTo(p []byte, to net.Addr) (int, error) {
	c.count()
	return c.PacketConn.WriteTo(p, to)
}

func TestReconnectAfterARestartOnTheSamePort(t *testing.T) {
	for _, restarted := range []int{0, 1} { // the side that dials, and the one that is dialled
		t.Run(fmt.Sprint(restarted), func(t *testing.T) {
			nodes := mesh(t, 2, nil)
			stays := nodes[1-restarted]
			stays.Send(nodes[restarted].key.Address(), []byte("before"))
			nodes[restarted].next(t)
			address := nodes[restarted].Addr().String()
			if err := nodes[restarted].close(); err != nil {
				t.Fatal(err)
			}
			again := newNode(t, "unused", func(c *Config) { c.Listen, c.Signer = address, nodes[restarted].key })
			again.key = nodes[restarted].key
			again.SetPeers([]types.Validator{stays.validator()})
			again.start(t)
			again.Send(stays.key.Address(), []byte("after"))
			if got := stays.next(t); string(got.frame) != "after" {
				t.Fatalf("got %q", got.frame)
			}
		})
	}
}

func TestUseAfterClose(t *testing.T) {
	n := newNode(t, "v0", nil)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(func(types.Address, []byte) {}); err != ErrClosed {
		t.Fatalf("start: %v", err)
	}
	n.SetPeers([]types.Validator{{Address: types.Address{1}}})
	n.Send(types.Address{1}, []byte("x"))
}

func TestATakenPortIsNamed(t *testing.T) {
	a := newNode(t, "v0", nil)
	if _, err := New(Config{Signer: a.key, Listen: a.Addr().String()}); err == nil ||
		!bytes.Contains([]byte(err.Error()), []byte(a.Addr().String())) {
		t.Fatalf("got %v", err)
	}
}

// Validators of two chains with the same keys and endpoints never connect, and
// those of one do.
func TestAnotherChainIsRefused(t *testing.T) {
	pair := func(second types.Hash) (a, b *node) {
		a = newNode(t, "a", func(c *Config) { c.Genesis = types.Hash{1} })
		b = newNode(t, "b", func(c *Config) { c.Genesis = second })
		a.SetPeers([]types.Validator{b.validator()})
		b.SetPeers([]types.Validator{a.validator()})
		return a, b
	}
	a, b := pair(types.Hash{1})
	a.start(t)
	b.start(t)
	a.Send(b.key.Address(), []byte("hello"))
	b.next(t)
	a.close()
	b.close()
	for _, reversed := range []bool{false, true} {
		a, b := pair(types.Hash{2})
		if reversed {
			a, b = b, a
		}
		b.start(t)
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		config := identity.Accepting(a.client, a.peerOf(b.key.PublicKey()).expectKey)
		conn, err := a.quic.Dial(ctx, b.Addr(), config, a.Transport.config)
		cancel()
		if err == nil {
			conn.CloseWithError(codeShutdown, "")
			t.Error("a connection with another chain")
		}
		a.close()
		b.close()
	}
}

// Hosts have names: the address of one is looked up at each attempt, and a peer
// that connects from it is recognized before it has shown its key.
func TestPeersAreFoundByHostName(t *testing.T) {
	nodes := []*node{newNode(t, "v0", nil), newNode(t, "v1", nil)}
	var named []types.Validator
	for _, n := range nodes {
		v := n.validator()
		v.Endpoint = strings.Replace(v.Endpoint, "127.0.0.1", "localhost", 1)
		named = append(named, v)
	}
	for i, n := range nodes {
		other := nodes[1-i].Addr()
		n.SetPeers(named)
		if n.isPeers(other) {
			t.Errorf("node %d knows the address before it has looked it up", i)
		}
	}
	for _, n := range nodes {
		n.start(t)
	}
	nodes[0].Send(nodes[1].key.Address(), []byte("a"))
	if got := nodes[1].next(t); string(got.frame) != "a" {
		t.Fatalf("got %q", got.frame)
	}
	nodes[1].Send(nodes[0].key.Address(), []byte("b"))
	nodes[0].next(t)
	for i, n := range nodes {
		if !n.isPeers(nodes[1-i].Addr()) {
			t.Errorf("node %d does not know the address of its peer", i)
		}
	}
}

// C5: a second process with a peer's key replaces no connection of the first one. Both get
// what is sent to the peer, both are heard, and the second stays when the first ends.
func TestTwoProcessesOfOneKeyBothGetFrames(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		for _, second := range []string{"v0", "v1"} { // the lower and the higher address
			peer := newNode(t, map[string]string{"v0": "v1", "v1": "v0"}[second], with)
			first, twin := newNode(t, second, with), newNode(t, second, with)
			name(peer, first)
			twin.SetPeers([]types.Validator{peer.validator()})
			peer.start(t)
			first.start(t)
			time.Sleep(5 * time.Second)
			twin.start(t)
			time.Sleep(10 * time.Second)
			before := peer.Stats()[0].Connects
			peer.Send(first.key.Address(), []byte{1})
			for _, n := range []*node{first, twin} {
				if d := n.next(t); d.frame[0] != 1 {
					t.Fatalf("got %v", d)
				}
				n.Send(peer.key.Address(), []byte{2})
				if d := peer.next(t); d.from != first.key.Address() || d.frame[0] != 2 {
					t.Fatalf("got %v", d)
				}
			}
			if time.Sleep(time.Minute); peer.Stats()[0].Connects != before {
				t.Fatal("the two take the connection from each other")
			}
			if err := first.close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			peer.Send(first.key.Address(), []byte{3})
			if d := twin.next(t); d.frame[0] != 3 {
				t.Fatalf("got %v", d)
			}
			twin.close()
			peer.close()
		}
	})
}
