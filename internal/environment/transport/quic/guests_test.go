package quic

import (
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"

	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// far is an end of connections under test, and what it told.
type far struct {
	env.Connections
	events chan connection.Event
	hold   bool // what comes is not taken
}

func newFar(t testing.TB, c env.Connections) *far {
	t.Helper()
	f := &far{Connections: c, events: make(chan connection.Event, 1<<16)}
	if err := c.Start(func(e connection.Event) { f.events <- e }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return f
}

// next takes the next event, of the kind that the test waits for.
func next[E connection.Event](t testing.TB, f *far) E {
	t.Helper()
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case e := <-f.events:
		if came, is := e.(connection.Came); is && !f.hold {
			f.Do(connection.Taken{ID: came.ID})
		}
		want, is := e.(E)
		if !is {
			t.Fatalf("%T %v was told, want %T", e, e, want)
		}
		return want
	case <-timer.C:
		var want E
		t.Fatalf("nothing was told, want %T", want)
		panic("unreachable")
	}
}

func (f *far) nothing(t testing.TB) {
	t.Helper()
	select {
	case e := <-f.events:
		t.Fatalf("%T %v was told", e, e)
	default:
	}
}

// host is a validator with a mesh, to whose socket runners come.
func host(t testing.TB, with func(*Config)) (*node, *far) {
	t.Helper()
	gateway := connections.NewGateway(nil)
	n := newNode(t, "v0", func(c *Config) {
		if with != nil {
			with(c)
		}
		c.Runners = gateway
	})
	return n, newFar(t, gateway)
}

// guest is a runner's end.
func guest(t testing.TB, name string, socket net.PacketConn) *far {
	t.Helper()
	dialer, err := connections.NewDialer(connections.DialerConfig{Signer: crypto.DeriveKey(1, name), PacketConn: socket})
	if err != nil {
		t.Fatal(err)
	}
	return newFar(t, dialer)
}

// met returns a validator and a runner with a live control stream.
func met(t testing.TB, memory *memnet.Net, with func(*Config)) (n *node, gateway, runner *far, id connection.ID) {
	t.Helper()
	n, gateway = host(t, with)
	n.start(t)
	runner = guest(t, "r0", memory.Listen(0))
	runner.Do(connection.Dial{ID: 7, Endpoint: n.Addr().String()})
	if up := next[connection.Up](t, runner); up.ID != 7 || up.Peer != n.key.PublicKey() {
		t.Fatalf("the runner is connected with %v", up)
	}
	up := next[connection.Up](t, gateway)
	if up.Peer != crypto.DeriveKey(1, "r0").PublicKey() || up.Remote != (connection.Address{10: 0xff, 11: 0xff, 12: 127, 15: 1}) {
		t.Fatalf("the validator is connected with %v", up)
	}
	runner.Do(connection.Open{ID: 7, Stream: connection.Control})
	runner.Do(connection.Send{ID: 7, Stream: connection.Control, Frame: []byte("hello")})
	if e := next[connection.Opened](t, gateway); e.Stream != connection.Control {
		t.Fatalf("opened %v", e)
	}
	if e := next[connection.Came](t, gateway); string(e.Frame) != "hello" {
		t.Fatalf("came %v", e)
	}
	return n, gateway, runner, up.ID
}

func TestARunnerAndAValidatorExchangeFramesOfEverySize(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		_, gateway, runner, id := met(t, memory, with)
		for end, far := range map[connection.ID]*far{id: gateway, 7: runner} {
			far.Do(connection.Admit{ID: end})
		}
		job := connection.Job(0)
		gateway.Do(connection.Open{ID: id, Stream: job})
		for i, size := range []int{1, 4 << 10, 4<<10 + 1, 64 << 10, connection.MaxFrameBytes} {
			frame := bytes.Repeat([]byte{byte(size), 1}, size)[:size]
			gateway.Do(connection.Send{ID: id, Stream: job, Frame: frame})
			if i == 0 {
				if e := next[connection.Opened](t, runner); e.Stream != job {
					t.Fatalf("opened %v", e)
				}
			}
			if e := next[connection.Came](t, runner); e.Stream != job || !bytes.Equal(e.Frame, frame) {
				t.Fatalf("%d bytes came of %d", len(e.Frame), size)
			}
			runner.Do(connection.Send{ID: 7, Stream: job, Frame: frame})
			if e := next[connection.Came](t, gateway); e.Stream != job || !bytes.Equal(e.Frame, frame) {
				t.Fatalf("%d bytes were returned of %d", len(e.Frame), size)
			}
		}
		runner.Do(connection.End{ID: 7, Stream: job})
		if e := next[connection.Ended](t, gateway); e.Stream != job || e.Torn {
			t.Fatalf("told %v", e)
		}
		gateway.Do(connection.Send{ID: id, Stream: job, Frame: []byte("last")})
		gateway.Do(connection.End{ID: id, Stream: job})
		next[connection.Came](t, runner)
		next[connection.Ended](t, runner)
		gateway.Do(connection.Open{ID: id, Stream: connection.Job(1)})
		gateway.Do(connection.Send{ID: id, Stream: connection.Job(1), Frame: []byte("job")})
		next[connection.Opened](t, runner)
		next[connection.Came](t, runner)
		gateway.Do(connection.Reset{ID: id, Stream: connection.Job(1), Code: connection.CodeRefused})
		if e := next[connection.Cut](t, runner); e.Stream != connection.Job(1) {
			t.Fatalf("told %v", e)
		}
		runner.Do(connection.Close{ID: 7, Code: 1, Reason: "not_registered"})
		if e := next[connection.Down](t, gateway); !e.Closed || e.Code != 1 || e.Reason != "not_registered" {
			t.Fatalf("told %v", e)
		}
		if e := next[connection.Down](t, runner); e.Closed {
			t.Fatalf("told %v", e)
		}
		// Requests on a connection that is over have no effect.
		for _, v := range []connection.Verb{connection.Send{ID: 7, Frame: []byte{1}}, connection.Open{ID: 7}, connection.Taken{ID: 7},
			connection.Close{ID: 7}} {
			runner.Do(v)
		}
		time.Sleep(time.Minute)
		runner.nothing(t)
		gateway.nothing(t)
	})
}

// TestRunnersAndPeersShareASocket: neither gets the other's frames.
func TestRunnersAndPeersShareASocket(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway, _, _ := met(t, memory, with)
		peer := newNode(t, "v1", with)
		name(n, peer)
		peer.start(t)
		time.Sleep(fallbackDial + 100*time.Millisecond)
		peer.Send(n.key.Address(), []byte("vote"))
		if got := n.next(t); string(got.frame) != "vote" {
			t.Fatalf("got %q", got.frame)
		}
		n.Send(peer.key.Address(), []byte("vote"))
		peer.next(t)
		gateway.nothing(t)
		if len(n.received) != 0 || len(n.Connected()) != 1 {
			t.Fatal("a runner came to the mesh")
		}
	})
}

// TestTheMeshIsAsStrictWithRunners as without: at the endpoint of a peer by QUIC, and
// elsewhere by our own count.
func TestTheMeshIsAsStrictWithRunners(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway := host(t, with)
		r := &rawPeer{key: crypto.DeriveKey(1, "raw"), socket: memory.Listen(0)}
		r.transport = &quic.Transport{Conn: r.socket}
		t.Cleanup(func() { r.transport.Close(); r.socket.Close() })
		peer := types.Validator{Address: r.key.Address(), PublicKey: r.key.PublicKey()}
		n.SetPeers([]types.Validator{peer})
		n.start(t)
		for _, c := range []struct {
			name string
			act  func()
		}{
			{"both ways", func() { s, _ := r.OpenStream(); s.Write([]byte{1}) }},
			{"a third one way", func() {
				for range 2 {
					r.stream(t, []byte{0}).Close()
				}
			}},
		} {
			r.Conn = r.dial(t, n)
			c.act()
			if code := r.closedWith(t); code != codeMalformed {
				t.Fatalf("%s: closed with %d", c.name, code)
			}
		}
		peer.Endpoint = r.socket.LocalAddr().String()
		n.SetPeers([]types.Validator{peer})
		r.Conn = r.dial(t, n)
		var limit *quic.StreamLimitReachedError
		if _, err := r.OpenStream(); !errors.As(err, &limit) {
			t.Fatalf("at its endpoint a peer opens streams both ways: %v", err)
		}
		r.key = crypto.DeriveKey(1, "stranger")
		stranger := r.dial(t, n)
		time.Sleep(100 * time.Millisecond)
		var refused *quic.TransportError
		if err := context.Cause(stranger.Context()); !errors.As(err, &refused) || !refused.ErrorCode.IsCryptoError() {
			t.Fatalf("a stranger to the mesh: %v", err)
		}
		gateway.nothing(t)
	})
}

// rough is a runner that speaks what the test writes.
type rough struct {
	*quic.Conn
	control *quic.Stream
}

// roughly dials a validator by hand, changed as the test says.
func roughly(t *testing.T, memory *memnet.Net, n *node, change func(*tls.Config)) (*rough, error) {
	t.Helper()
	return roughlyFor(t, memory, n, 2, change)
}

// roughlyFor is roughly, if the validator may open streams streams.
func roughlyFor(t *testing.T, memory *memnet.Net, n *node, streams int64, change func(*tls.Config)) (*rough, error) {
	t.Helper()
	socket := memory.Listen(0)
	transport := &quic.Transport{Conn: socket}
	t.Cleanup(func() { transport.Close(); socket.Close() })
	config, err := identity.ClientConfig(crypto.DeriveKey(1, "r0"), push.ALPN, func(types.PublicKey) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(config)
	}
	conn, err := transport.Dial(context.Background(), n.Addr(), config, &quic.Config{MaxIncomingStreams: streams, KeepAlivePeriod: time.Second,
		InitialStreamReceiveWindow: 1 << 10, MaxStreamReceiveWindow: 1 << 10})
	if err != nil {
		return nil, err
	}
	// A client is done before the server has judged its certificate.
	time.Sleep(100 * time.Millisecond)
	if conn.Context().Err() != nil {
		return nil, context.Cause(conn.Context())
	}
	return &rough{Conn: conn}, nil
}

// said is a rough runner that has said something on its control stream.
func said(t *testing.T, memory *memnet.Net, with func(*Config), parts ...[]byte) (*far, *rough, connection.ID) {
	t.Helper()
	n, gateway := host(t, with)
	n.start(t)
	r, err := roughly(t, memory, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := next[connection.Up](t, gateway).ID
	r.control, _ = r.OpenStream()
	r.control.Write(bytes.Join(parts, nil))
	next[connection.Opened](t, gateway)
	return gateway, r, id
}

func TestOnlyTheRunnersProtocolAndAProvenKey(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway := host(t, with)
		n.start(t)
		stolen, err := identity.Certificate(crypto.DeriveKey(1, "r1"))
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*tls.Config){
			"another protocol":     func(c *tls.Config) { c.NextProtos = []string{"h3"} },
			"a later version":      func(c *tls.Config) { c.NextProtos = []string{"cowboy-cip11/2"} },
			"no protocol":          func(c *tls.Config) { c.NextProtos = nil },
			"no certificate":       func(c *tls.Config) { c.Certificates = nil },
			"a stolen certificate": func(c *tls.Config) { c.Certificates[0].Certificate = stolen.Certificate },
			"a second certificate": func(c *tls.Config) {
				c.Certificates[0].Certificate = append(c.Certificates[0].Certificate, stolen.Certificate[0])
			},
		} {
			if _, err := roughly(t, memory, n, change); err == nil {
				t.Errorf("%s: let in", name)
			}
		}
		time.Sleep(time.Second)
		gateway.nothing(t)
		if _, err := roughly(t, memory, n, nil); err != nil {
			t.Fatal(err)
		}
		next[connection.Up](t, gateway)
	})
}

func framed(frame string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// TestWhatIsNoFrameIsAnEvent, since the machine judges it.
func TestWhatIsNoFrameIsAnEvent(t *testing.T) {
	large := string(make([]byte, connection.MaxGreetingBytes+1))
	for _, c := range []struct {
		name string
		says []byte
		act  func(*rough)
		want func(id connection.ID) connection.Event
	}{
		{"length 0", length(0), nil, func(id connection.ID) connection.Event { return connection.TooLong{ID: id} }},
		{"too long", length(connection.MaxFrameBytes + 1), nil, func(id connection.ID) connection.Event {
			return connection.TooLong{ID: id, Length: connection.MaxFrameBytes + 1}
		}},
		{"the greatest length", length(1<<32 - 1), nil, func(id connection.ID) connection.Event {
			return connection.TooLong{ID: id, Length: 1<<32 - 1}
		}},
		{"too long for a greeting", append(length(uint32(len(large))), 0x42), nil, func(id connection.ID) connection.Event {
			return connection.TooLong{ID: id, Length: uint32(len(large)), Type: 0x42}
		}},
		{"a torn length", length(5)[:3], func(r *rough) { r.control.Close() }, func(id connection.ID) connection.Event {
			return connection.Ended{ID: id, Torn: true}
		}},
		{"a torn frame", append(length(5), "abc"...), func(r *rough) { r.control.Close() }, func(id connection.ID) connection.Event {
			return connection.Ended{ID: id, Torn: true}
		}},
		{"a stalled length", length(5)[:1], func(*rough) {}, func(id connection.ID) connection.Event { return connection.Stalled{ID: id} }},
		{"a stalled frame", append(length(5), "abc"...), func(*rough) {},
			func(id connection.ID) connection.Event { return connection.Stalled{ID: id} }},
		{"a stream broken off", append(length(5), "abc"...), func(r *rough) { r.control.CancelWrite(3) },
			func(id connection.ID) connection.Event {
				return connection.Cut{ID: id}
			}},
		{"another stream both ways", nil, func(r *rough) { s, _ := r.OpenStream(); s.Write([]byte{1}) }, func(id connection.ID) connection.Event {
			return connection.Opened{ID: id, Stream: 4}
		}},
		{"a stream one way", nil, func(r *rough) { s, _ := r.OpenUniStream(); s.Write([]byte{1}) }, func(id connection.ID) connection.Event {
			return connection.Opened{ID: id, Stream: 2}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
				gateway, r, id := said(t, memory, with, framed("first"), c.says)
				if e := next[connection.Came](t, gateway); string(e.Frame) != "first" {
					t.Fatalf("came %v", e)
				}
				if c.act != nil {
					time.Sleep(100 * time.Millisecond)
					c.act(r)
				}
				got := next[connection.Event](t, gateway)
				if got != c.want(id) {
					t.Fatalf("told %T %v", got, got)
				}
				time.Sleep(time.Minute)
				if opened, is := got.(connection.Opened); is && opened.Stream == 4 {
					next[connection.Stalled](t, gateway) // its one byte is not a frame
				}
				gateway.nothing(t) // and nothing more of that stream
			})
		})
	}
}

func TestASilentStreamDoesNotStall(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway, r, _ := said(t, memory, with, framed("first"))
		next[connection.Came](t, gateway)
		time.Sleep(10 * time.Minute)
		gateway.nothing(t)
		r.control.Write(framed("second"))
		next[connection.Came](t, gateway)
	})
}

func TestARunnerOpensOneStreamTooManyOfEachKindAndNoMore(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		_, r, _ := said(t, memory, with, framed("first"))
		var limit *quic.StreamLimitReachedError
		opened := 1
		for ; opened < 10; opened++ {
			if _, err := r.OpenStream(); errors.As(err, &limit) {
				break
			}
		}
		uni := 0
		for ; uni < 10; uni++ {
			if _, err := r.OpenUniStream(); errors.As(err, &limit) {
				break
			}
		}
		if opened != 2 || uni != 2 {
			t.Fatalf("%d streams both ways, %d one way", opened, uni)
		}
	})
}

// TestWhatIsNotTakenHoldsItsSenderUp, and no other.
func TestWhatIsNotTakenHoldsItsSenderUp(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway, runner, id := met(t, memory, with)
		gateway.hold = true
		for i := range 100 {
			runner.Do(connection.Send{ID: 7, Stream: connection.Control, Frame: []byte{byte(i)}})
		}
		other := guest(t, "r1", memory.Listen(0))
		time.Sleep(time.Second)
		if len(gateway.events) != connection.MaxUntaken {
			t.Fatalf("%d frames were told and not taken", len(gateway.events))
		}
		for i := range 100 {
			if e := next[connection.Came](t, gateway); e.Frame[0] != byte(i) {
				t.Fatalf("frame %d is %d", i, e.Frame[0])
			}
			if i == 1 {
				other.Do(connection.Dial{ID: 1, Endpoint: n.Addr().String()})
				next[connection.Up](t, other)
				for e := next[connection.Event](t, gateway); ; e = next[connection.Event](t, gateway) {
					if _, is := e.(connection.Up); is {
						break
					}
					i++
				}
				return // it was served meanwhile
			}
			gateway.Do(connection.Taken{ID: id})
		}
	})
}

// TestLargeFramesThatDoNotComeKeepNoOthersOut: a runner of many jobs begins a result on
// each stream, and another's comes at once.
func TestLargeFramesThatDoNotComeKeepNoOthersOut(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		const jobs = 300
		n, gateway := host(t, with)
		n.start(t)
		r, err := roughlyFor(t, memory, n, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := next[connection.Up](t, gateway).ID
		gateway.Do(connection.Admit{ID: id})
		for i := range uint64(jobs) {
			gateway.Do(connection.Open{ID: id, Stream: connection.Job(i)})
			gateway.Do(connection.Send{ID: id, Stream: connection.Job(i), Frame: []byte("job")})
			s, err := r.AcceptStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.Write([]byte{0, 1, 0, 0, 'x'}) // of 64 KiB the first byte
		}
		other := guest(t, "r1", memory.Listen(0))
		other.Do(connection.Dial{ID: 1, Endpoint: n.Addr().String()})
		next[connection.Up](t, other)
		gateway.Do(connection.Admit{ID: next[connection.Up](t, gateway).ID})
		other.Do(connection.Open{ID: 1, Stream: connection.Control})
		other.Do(connection.Send{ID: 1, Stream: connection.Control, Frame: make([]byte, 1<<16)})
		next[connection.Opened](t, gateway)
		if e := next[connection.Came](t, gateway); len(e.Frame) != 1<<16 {
			t.Fatalf("came %d bytes", len(e.Frame))
		}
	})
}

func TestASlowReaderIsStuckInTime(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway, _, id := said(t, memory, with, framed("first")) // it reads nothing
		next[connection.Came](t, gateway)
		gateway.Do(connection.Patience{Write: 300 * time.Millisecond})
		began := time.Now()
		for range 10 {
			gateway.Do(connection.Send{ID: id, Stream: connection.Control, Frame: make([]byte, 1<<10)})
		}
		next[connection.Stuck](t, gateway)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Fatalf("after %v", took)
		}
		gateway.Do(connection.Close{ID: id, Code: 1, Reason: "slow_reader"})
		next[connection.Down](t, gateway)
	})
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway, _, id := said(t, memory, with, framed("first"))
		next[connection.Came](t, gateway)
		for range 5 { // more than the queue holds, at once
			gateway.Do(connection.Send{ID: id, Stream: connection.Control, Frame: make([]byte, 1<<20)})
		}
		next[connection.Stuck](t, gateway)
		time.Sleep(time.Minute)
		gateway.nothing(t) // it is told once
	})
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway, _, id := said(t, memory, with, framed("first"))
		next[connection.Came](t, gateway)
		for i := range uint64(3) { // it allows two
			gateway.Do(connection.Open{ID: id, Stream: connection.Job(i)})
			gateway.Do(connection.Send{ID: id, Stream: connection.Job(i), Frame: []byte("job")})
		}
		next[connection.Stuck](t, gateway)
	})
}

// TestAStreamThatIsNotAllowedYetWaits for one to end.
func TestAStreamThatIsNotAllowedYetWaits(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		_, gateway, runner, id := met(t, memory, with)
		const allowed = 16
		for i := range uint64(allowed + 2) {
			gateway.Do(connection.Open{ID: id, Stream: connection.Job(i)})
			gateway.Do(connection.Send{ID: id, Stream: connection.Job(i), Frame: []byte{byte(i)}})
		}
		seen := map[connection.Stream]bool{}
		take := func(n int) {
			t.Helper()
			for range n {
				if e, is := next[connection.Event](t, runner).(connection.Came); is {
					seen[e.Stream] = e.Frame[0] == byte(e.Stream/4)
				}
			}
		}
		take(2 * allowed)
		time.Sleep(time.Second)
		runner.nothing(t)
		for _, end := range []struct {
			far *far
			id  connection.ID
		}{{runner, 7}, {gateway, id}} {
			for i := range uint64(2) {
				end.far.Do(connection.End{ID: end.id, Stream: connection.Job(i)})
			}
		}
		take(2 + 4) // two ends, and two streams with a frame each
		for i := range uint64(allowed + 2) {
			if !seen[connection.Job(i)] {
				t.Fatalf("job %d did not come, or on another stream", i)
			}
		}
	})
}

// TestARunnerThatMovesStaysConnected: its packets come from another address, as in
// a network that assigned a new one (CIP-11 §6.1).
func TestARunnerThatMovesStaysConnected(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway := host(t, with)
		n.start(t)
		socket := memory.Listen(0)
		runner := guest(t, "r0", socket)
		runner.Do(connection.Dial{ID: 1, Endpoint: n.Addr().String()})
		id := next[connection.Up](t, gateway).ID
		next[connection.Up](t, runner)
		runner.Do(connection.Open{ID: 1, Stream: connection.Control})
		runner.Do(connection.Send{ID: 1, Stream: connection.Control, Frame: []byte("here")})
		next[connection.Opened](t, gateway)
		next[connection.Came](t, gateway)
		memory.Move(socket)
		runner.Do(connection.Send{ID: 1, Stream: connection.Control, Frame: []byte("there")})
		if e := next[connection.Came](t, gateway); string(e.Frame) != "there" {
			t.Fatalf("came %v", e)
		}
		time.Sleep(time.Second)
		gateway.Do(connection.Send{ID: id, Stream: connection.Control, Frame: []byte("pong")})
		if e := next[connection.Came](t, runner); string(e.Frame) != "pong" {
			t.Fatalf("came %v", e)
		}
		time.Sleep(time.Minute)
		gateway.nothing(t)
		runner.nothing(t)
	})
}

func TestALostRunnerIsNoticedAndAKilledValidatorDialledInVain(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		n, gateway, runner, _ := met(t, memory, with)
		memory.SetFate(func(string, string, int) (time.Duration, bool) { return 0, true })
		began := time.Now()
		if e := next[connection.Down](t, gateway); e.Closed || e.Reason == "" {
			t.Fatalf("told %v", e)
		}
		if e := next[connection.Down](t, runner); e.Closed {
			t.Fatalf("told %v", e)
		}
		runner.Do(connection.Dial{ID: 8, Endpoint: n.Addr().String()})
		if e := next[connection.Down](t, runner); e.ID != 8 {
			t.Fatalf("told %v", e)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Fatalf("after %v", took)
		}
		for i, endpoint := range []string{"", "nowhere", "127.0.0.1"} {
			runner.Do(connection.Dial{ID: connection.ID(20 + i), Endpoint: endpoint})
			next[connection.Down](t, runner)
		}
		memory.SetFate(nil)
		runner.Do(connection.Dial{ID: 9, Endpoint: n.Addr().String()})
		runner.Do(connection.Close{ID: 9}) // before it is up
		if e := next[connection.Down](t, runner); e.ID != 9 {
			t.Fatalf("told %v", e)
		}
	})
}

// TestAGatewayThatDoesNotServeLetsNobodyIn.
func TestAGatewayThatDoesNotServeLetsNobodyIn(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		for _, runners := range []*connections.Gateway{nil, connections.NewGateway(nil)} {
			n := newNode(t, "v0", func(c *Config) { with(c); c.Runners = runners })
			n.start(t)
			runner := guest(t, "r0", memory.Listen(0))
			runner.Do(connection.Dial{ID: 1, Endpoint: n.Addr().String()})
			for {
				if _, over := next[connection.Event](t, runner).(connection.Down); over {
					break
				}
			}
		}
	})
}

func TestAStormOfHandshakesIsBounded(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway := connections.NewGateway(nil)
		ctx, cancel := context.WithCancel(context.Background())
		let := func(a, b byte) int {
			n := 0
			for range 1_200 {
				if gateway.Refuses(ctx, &net.UDPAddr{IP: net.IPv4(10, 0, a, b)}) == nil {
					n++
				}
			}
			return n
		}
		if let(0, 1) != 1000 || let(0, 2) != 1000 || let(0, 1) != 0 {
			t.Fatal("an address begins more handshakes than it may, or fewer")
		}
		if !gateway.Strained() {
			t.Fatal("two thousand handshakes cause no strain")
		}
		time.Sleep(time.Second)
		total := 2000
		for b := range byte(40) {
			total += let(1, b)
		}
		if total != connection.MaxConnections {
			t.Fatalf("%d connections", total)
		}
		cancel() // they all fail
		time.Sleep(time.Second)
		if gateway.Strained() || gateway.Refuses(context.Background(), &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1)}) != nil {
			t.Fatal("handshakes that failed still count")
		}
		gateway.Close()
	})
}

// TestAHandshakeUnderStrainProvesItsAddress: by one round trip more, and a peer's
// does not.
func TestAHandshakeUnderStrainProvesItsAddress(t *testing.T) {
	virtual(t, func(t *testing.T, memory *memnet.Net, with func(*Config)) {
		gateway := connections.NewGateway(nil)
		n := newNode(t, "v0", func(c *Config) { with(c); c.Runners = gateway })
		far := newFar(t, gateway)
		n.start(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		took := func(name string) time.Duration {
			began := time.Now()
			runner := guest(t, name, memory.Listen(0))
			runner.Do(connection.Dial{ID: 1, Endpoint: n.Addr().String()})
			next[connection.Up](t, runner)
			next[connection.Up](t, far)
			return time.Since(began)
		}
		calm := took("r0")
		for range 300 {
			gateway.Refuses(ctx, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1)})
		}
		if strained := took("r1"); strained != calm+2*time.Millisecond {
			t.Fatalf("a handshake takes %v, under strain %v", calm, strained)
		}
	})
}

// BenchmarkConnections measures the cost of a connection, both ends together: run it
// with -benchtime 1000x.
func BenchmarkConnections(b *testing.B) {
	n, gateway := host(b, nil)
	n.start(b)
	runner := guest(b, "r0", nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	routines := runtime.NumGoroutine()
	b.ResetTimer()
	for i := range b.N {
		id := connection.ID(i + 1)
		runner.Do(connection.Dial{ID: id, Endpoint: n.Addr().String()})
		next[connection.Up](b, runner)
		runner.Do(connection.Open{ID: id, Stream: connection.Control})
		runner.Do(connection.Send{ID: id, Stream: connection.Control, Frame: []byte("ping")})
		peer := next[connection.Up](b, gateway).ID
		next[connection.Opened](b, gateway)
		next[connection.Came](b, gateway)
		gateway.Do(connection.Send{ID: peer, Stream: connection.Control, Frame: []byte("pong")})
		next[connection.Came](b, runner)
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(b.N), "B/connection")
	b.ReportMetric(float64(runtime.NumGoroutine()-routines)/float64(b.N), "goroutines/connection")
}
