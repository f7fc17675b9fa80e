package quic

import (
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"

	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"github.com/quic-go/quic-go"
	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// rawPeer is a peer with the right key that speaks what the test writes.
type rawPeer struct {
	*quic.Conn
	key       *crypto.Key
	transport *quic.Transport
	socket    net.PacketConn
}

// raw returns a node, and a named peer of its that has dialled it by hand.
func raw(t *testing.T, net *memnet.Net, with func(*Config)) (*node, *rawPeer) {
	t.Helper()
	n := newNode(t, "v0", with)
	r := &rawPeer{key: crypto.DeriveKey(1, "raw"), socket: net.Listen(0)}
	n.SetPeers([]types.Validator{{Address: r.key.Address(), PublicKey: r.key.PublicKey()}})
	n.start(t)
	r.transport = &quic.Transport{Conn: r.socket}
	t.Cleanup(func() { r.transport.Close(); r.socket.Close() })
	r.Conn = r.dial(t, n)
	return n, r
}

func (r *rawPeer) dial(t *testing.T, n *node) *quic.Conn {
	t.Helper()
	config, err := identity.ClientConfig(r.key, n.alpn, func(types.PublicKey) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	c := connectionConfig()
	c.KeepAlivePeriod = time.Second
	conn, err := r.transport.Dial(context.Background(), n.Addr(), config, c)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// stream opens a stream and writes the parts on it.
func (r *rawPeer) stream(t *testing.T, parts ...[]byte) *quic.SendStream {
	t.Helper()
	s, err := r.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	s.Write(bytes.Join(parts, nil))
	return s
}

// closedWith waits for the end of the connection and returns its code.
func (r *rawPeer) closedWith(t *testing.T) quic.ApplicationErrorCode {
	t.Helper()
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
	case <-timer.C:
		t.Fatal("the connection stays open")
	}
	var closed *quic.ApplicationError
	if err := context.Cause(r.Context()); !errors.As(err, &closed) || !closed.Remote {
		t.Fatalf("got %v", err)
	}
	return closed.ErrorCode
}

func length(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func TestAHostilePeerIsCutOff(t *testing.T) {
	ok := append(length(2), "ok"...)
	for name, c := range map[string]struct {
		act  func(t *testing.T, r *rawPeer)
		code quic.ApplicationErrorCode
		gets int // frames that the node takes before
	}{
		"oversized bulk frame": {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{0}); r.stream(t, []byte{1}, length(bulkBytes+1)) },
			codeMalformed, 0},
		"the greatest length": {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{0}); r.stream(t, []byte{1}, length(1<<32-1)) }, codeMalformed,
			0},
		"oversized prompt frame": {func(t *testing.T, r *rawPeer) {
			r.stream(t, []byte{1})
			r.stream(t, []byte{0}, ok, length(promptBytes+1))
		}, codeMalformed, 1},
		"empty frame": {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{1}); r.stream(t, []byte{0}, ok, ok, length(0)) }, codeMalformed,
			2},
		"unknown kind":    {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{0}); r.stream(t, []byte{2}) }, codeMalformed, 0},
		"one kind twice":  {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{0}); r.stream(t, []byte{0}) }, codeMalformed, 0},
		"an ended stream": {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{1}); r.stream(t, []byte{0}, ok).Close() }, codeMalformed, 1},
		"half a frame": {func(t *testing.T, r *rawPeer) {
			r.stream(t, []byte{1})
			r.stream(t, []byte{0}, length(5), []byte("abc")).Close()
		}, codeMalformed, 0},
		"a reset stream": {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{1}); r.stream(t, []byte{0}).CancelWrite(1) }, codeMalformed, 0},
		"no hello":       {func(*testing.T, *rawPeer) {}, codeNoHello, 0},
		"half a hello":   {func(t *testing.T, r *rawPeer) { r.stream(t, []byte{0}) }, codeNoHello, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
				n, r := raw(t, net, with)
				c.act(t, r)
				if got := r.closedWith(t); got != c.code {
					t.Fatalf("closed with %d, want %d: %v", got, c.code, context.Cause(r.Context()))
				}
				time.Sleep(time.Second)
				if len(n.received) != c.gets || len(n.Connected()) != 0 {
					t.Fatalf("%d frames taken, %+v", len(n.received), n.Stats())
				}
			})
		})
	}
}

func TestAPeerOpensTwoStreamsAndNoMore(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		_, r := raw(t, net, with)
		r.stream(t, []byte{0})
		r.stream(t, []byte{1})
		var limit *quic.StreamLimitReachedError
		if _, err := r.OpenUniStream(); !errors.As(err, &limit) {
			t.Fatalf("got %v", err)
		}
		if _, err := r.OpenStream(); !errors.As(err, &limit) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestAPeerHoldsFewConnectionsWithoutHello(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		n, r := raw(t, net, with)
		for range maxPending - 1 {
			r.dial(t, n)
		}
		time.Sleep(100 * time.Millisecond)
		last := *r
		last.Conn = r.dial(t, n)
		if got := last.closedWith(t); got != codeTooMany {
			t.Fatalf("closed with %d", got)
		}
		time.Sleep(helloTimeout) // the others are gone
		last.Conn = r.dial(t, n)
		last.stream(t, []byte{0})
		last.stream(t, []byte{1})
		time.Sleep(100 * time.Millisecond)
		if len(n.Connected()) != 1 {
			t.Fatalf("stats %+v", n.Stats())
		}
	})
}

func TestAPeerThatReadsNothingIsCutOff(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		n, r := raw(t, net, with)
		r.stream(t, []byte{0})
		r.stream(t, []byte{1})
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		for range 100 {
			n.Send(r.key.Address(), make([]byte, promptBytes))
		}
		if got := r.closedWith(t); got != codeSlow {
			t.Fatalf("closed with %d", got)
		}
		if took := time.Since(began); took > writeTimeout+time.Second {
			t.Fatalf("after %v", took)
		}
	})
}

// TestAStrangerIsRefusedByTLS, before it can open a stream.
func TestAStrangerIsRefusedByTLS(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		n, r := raw(t, net, with)
		r.key = crypto.DeriveKey(1, "stranger")
		conn := r.dial(t, n)
		time.Sleep(100 * time.Millisecond)
		var refused *quic.TransportError
		if err := context.Cause(conn.Context()); !errors.As(err, &refused) || !refused.ErrorCode.IsCryptoError() {
			t.Fatalf("got %v", err)
		}
	})
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		n, r := raw(t, net, with)
		config, err := identity.ClientConfig(r.key, "cowboy-p2p/2", func(types.PublicKey) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.transport.Dial(context.Background(), n.Addr(), config, nil); err == nil {
			t.Fatal("it was accepted")
		}
	})
}

// TestFramesReadAsTheyWereWritten: in whatever pieces they arrive.
func TestFramesReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 3*chunkBytes)), 0, 6).Draw(r, "sizes")
		var sink pipe
		w := writer{stream: &sink}
		for i, size := range sizes {
			if err := w.writeFrame(bytes.Repeat([]byte{byte(i)}, size)); err != nil {
				r.Fatal(err)
			}
		}
		if err := w.flushBuffer(); err != nil {
			r.Fatal(err)
		}
		var in io.Reader = &sink.Buffer
		if rapid.Bool().Draw(r, "halves") {
			in = iotest.HalfReader(in)
		}
		for i, size := range sizes {
			frame, err := readFrame(in, bulkBytes)
			if err != nil || !bytes.Equal(frame, bytes.Repeat([]byte{byte(i)}, size)) {
				r.Fatalf("frame %d: %d bytes, %v", i, len(frame), err)
			}
		}
		if _, err := readFrame(in, bulkBytes); err != io.EOF {
			r.Fatalf("at the end: %v", err)
		}
	})
}

type pipe struct{ bytes.Buffer }

func (*pipe) SetWriteDeadline(time.Time) error { return nil }

// TestAClaimedLengthTakesNoMemory: of a frame announced with 4 MiB no more than
// twice what came is made room for, or a chunk.
func TestAClaimedLengthTakesNoMemory(t *testing.T) {
	for _, came := range []int{0, 10, chunkBytes, 3 * chunkBytes} {
		r := &roomReader{Reader: bytes.NewReader(append(length(bulkBytes), make([]byte, came)...))}
		if _, err := readFrame(r, bulkBytes); err != io.ErrUnexpectedEOF {
			t.Fatalf("got %v", err)
		}
		if r.room > max(2*came, chunkBytes) {
			t.Fatalf("room for %d bytes, %d came", r.room, came)
		}
	}
}

// roomReader remembers the largest room that it was given.
type roomReader struct {
	io.Reader
	room int
}

func (r *roomReader) Read(p []byte) (int, error) {
	r.room = max(r.room, len(p))
	return r.Reader.Read(p)
}

// TestAQueueKeepsItsBounds: compared with a list of the pushed frames.
func TestAQueueKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		q := queue{maxFrames: 5, maxBytes: 100}
		var twin []queuedFrame
		start := time.Unix(1000, 0)
		for i := range rapid.IntRange(0, 60).Draw(r, "steps") {
			now := start.Add(time.Duration(i) * time.Second)
			size := 0
			for _, f := range twin {
				size += len(f.frame)
			}
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				age := rapid.IntRange(0, 10).Draw(r, "age")
				before := now.Add(-time.Duration(age) * time.Second)
				want := 0
				for len(twin) > 0 && twin[0].at.Before(before) {
					twin, want = twin[1:], want+1
				}
				if got := q.dropOlderThan(before); got != uint64(want) {
					r.Fatalf("expired %d, want %d", got, want)
				}
			case 1:
				limit := rapid.IntRange(0, 60).Draw(r, "limit")
				taken := 0
				for i, f := range q.takeBatch(nil, limit) {
					if &f[0] != &twin[i].frame[0] || i > 0 && taken+len(f) > limit {
						r.Fatalf("took %d bytes after %d of %d", len(f), taken, limit)
					}
					taken += len(f)
				}
				for taken > 0 {
					taken, twin = taken-len(twin[0].frame), twin[1:]
				}
			default:
				frame := make([]byte, rapid.IntRange(1, 60).Draw(r, "size"))
				want := len(twin) < 5 && size+len(frame) <= 100
				if q.pushFrame(frame, now) != want {
					r.Fatalf("pushed %v with %d frames, %d bytes", !want, len(twin), size)
				}
				if want {
					twin = append(twin, queuedFrame{frame, now})
				}
			}
			if len(q.frames) != len(twin) {
				r.Fatalf("%d frames, want %d", len(q.frames), len(twin))
			}
		}
	})
}

// FuzzReadFrame: no input makes it panic, hand out an empty or too long frame,
// or take more memory than came.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 'h', 'i', 0, 0, 0, 1, 'x'})
	f.Add(length(bulkBytes))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			frame, err := readFrame(r, promptBytes)
			if err != nil {
				return
			}
			if len(frame) == 0 || len(frame) > promptBytes {
				t.Fatalf("a frame of %d bytes", len(frame))
			}
		}
	})
}

// A session whose end its reader learns late must be ignored: otherwise the peer would count
// as connected permanently, and not be dialled again.
func TestASessionThatIsOverIsNotAdmitted(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		n, r := raw(t, net, with)
		r.stream(t, []byte{0})
		r.stream(t, []byte{1})
		time.Sleep(time.Second)
		p := n.peerOf(r.key.PublicKey())
		over := p.liveSession()
		if over == nil {
			t.Fatal("it was never connected")
		}
		over.closeSession(codeMalformed, "over")
		time.Sleep(time.Second)
		if p.liveSession() != nil {
			t.Fatal("it is still connected")
		}
		if _, admitted := p.admitSession(over); admitted || p.liveSession() != nil {
			t.Error("the peer still has a session that is over")
		}
	})
}
