package box

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// moving is a socket whose packets come from another address from some moment on, as
// behind a network that gives its host a new one. What still comes to the old address is
// lost.
type moving struct {
	mu  sync.Mutex
	now net.PacketConn
}

func (m *moving) socket() net.PacketConn {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// move takes another address.
func (m *moving) move(t *testing.T) {
	next, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	former := m.now
	m.now = next
	m.mu.Unlock()
	former.Close()
}

func (m *moving) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		on := m.socket()
		n, from, err := on.ReadFrom(p)
		if err == nil || on == m.socket() {
			return n, from, err
		}
	}
}

func (m *moving) WriteTo(p []byte, to net.Addr) (int, error) { return m.socket().WriteTo(p, to) }
func (m *moving) Close() error                               { return m.socket().Close() }

// SyscallConn is for what quic-go sets on a socket before it uses it.
func (m *moving) SyscallConn() (syscall.RawConn, error) {
	return m.socket().(*net.UDPConn).SyscallConn()
}

func (m *moving) LocalAddr() net.Addr                { return m.socket().LocalAddr() }
func (m *moving) SetDeadline(t time.Time) error      { return m.socket().SetDeadline(t) }
func (m *moving) SetReadDeadline(t time.Time) error  { return m.socket().SetReadDeadline(t) }
func (m *moving) SetWriteDeadline(t time.Time) error { return m.socket().SetWriteDeadline(t) }

// CIP-11 §6.1: a runner whose address changes keeps its connections, on a whole live
// network: the same ones, without a new Hello; it stays in P, and does a job afterwards.
func TestARunnerThatMovesGoesOn(t *testing.T) {
	b := newDocket()
	var socket *moving
	n := up(t, Config{Plan: setup.Plan{Runners: 1, BlockTime: 100 * time.Millisecond}, Ephemeral: true, Observe: b.observe,
		wrapSocket: func(given net.PacketConn) net.PacketConn { socket = &moving{now: given}; return socket }})
	ready(t, n)
	since := map[string]types.Time{}
	for blocks := 0; len(since) < 3; blocks++ { // its whole subset
		if blocks == 100 {
			t.Fatalf("%d validators have a connection with it", len(since))
		}
		await(t, n, n.Best().finalHeight()+1)
		for _, v := range n.List() {
			for _, live := range v.Validator().Connections() {
				since[v.Name] = live.Since
			}
		}
	}
	before := socket.LocalAddr().String()
	socket.move(t)
	if socket.LocalAddr().String() == before {
		t.Fatal("it did not move")
	}
	await(t, n, n.Best().finalHeight()+20)
	if !n.presence.hasRunner(0) {
		t.Error("it is not present behind its move")
	}
	spec := customJob("echo", "hello", 1, types.Address{})
	spec.Callback = nil
	b.await(t, newPayer(n, "alice").submit(t, spec), "completed", kindIs(types.JobChangeCompleted))
	for _, v := range n.List() {
		for _, live := range v.Validator().Connections() {
			if live.Since != since[v.Name] {
				t.Errorf("%s has a new connection with it", v.Name)
			}
			delete(since, v.Name)
		}
	}
	if len(since) > 0 {
		t.Errorf("it lost its connections with %d validators", len(since))
	}
}
