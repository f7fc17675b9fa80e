package quic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// kind is one of a session's two streams each way, and the byte such a stream
// begins with.
type kind byte

const (
	prompt kind = iota // frames up to promptBytes
	bulk               // larger ones
)

func kindOf(frame []byte) kind {
	if len(frame) > promptBytes {
		return bulk
	}
	return prompt
}

func (k kind) queueLimit() int {
	if k == prompt {
		return promptBytes
	}
	return bulkBytes
}

// urgency of the streams: the less goes first.
var urgency = [2]int8{prompt: 0, bulk: 5}

// errStream says that a peer opened a stream that the protocol does not have.
var errStream = errors.New("quic: unexpected stream")

// Codes with which a connection is closed.
const (
	codeShutdown  quic.ApplicationErrorCode = iota
	codeReplaced                            // another connection of the pair stays
	codeNotPeer                             // the key is not one of a peer
	codeTooMany                             // more than maxPending without a hello
	codeNoHello                             // the streams did not come within helloTimeout
	codeMalformed                           // a stream or frame that the protocol does not have
	codeSlow                                // writing failed, or was blocked for writeTimeout
)

// session is one connection with a peer.
type session struct {
	peer    *peer
	conn    *quic.Conn
	dialled bool             // by this side
	process types.Hash       // names the peer's process: it has another certificate at each start
	wake    [2]chan struct{} // by kind: there may be something to write
	over    bool             // the peer revoked it; the peer's lock guards this

	hello sync.Once      // of the peer's hello, or of the end without one
	wg    sync.WaitGroup // readers and writers

	mu   sync.Mutex
	seen [2]bool   // by kind: the peer's stream has come
	up   time.Time // when it became the peer's session; zero before
}

func newSession(p *peer, conn *quic.Conn, dialled bool) *session {
	return &session{peer: p, conn: conn, dialled: dialled,
		wake: [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}}
}

// runSession carries the connection to its end. It returns for how long it was up, 0
// if never, and why it ended.
func (s *session) runSession() (lasted time.Duration, err error) {
	s.startLoops()
	over := s.conn.Context()
	select {
	case <-s.peer.gone.Done():
		s.closeSession(codeShutdown, "shutdown")
	case <-over.Done():
	}
	<-over.Done()
	s.peer.endSession(s)
	s.wg.Wait()
	s.hello.Do(s.peer.endHelloWait)
	if !s.up.IsZero() {
		lasted = time.Since(s.up)
	}
	err = context.Cause(over)
	s.peer.transport.log.Debug("disconnected", "peer", s.peer.Address, "dialled", s.dialled, "error", err)
	return lasted, err
}

func (s *session) startLoops() {
	for _, k := range []kind{prompt, bulk} {
		stream, err := s.conn.OpenUniStream()
		if err != nil {
			s.closeSession(codeMalformed, "no stream to write on")
			return
		}
		s.wg.Go(func() { s.writeFrames(stream, k) })
	}
	s.wg.Go(s.acceptStreams)
	s.wg.Go(s.refuseStreams)
}

// refuseStreams ends the connection when the peer opens a stream that goes both ways.
// A peer that came from elsewhere than its endpoint could be a runner, and is let.
func (s *session) refuseStreams() {
	if _, err := s.conn.AcceptStream(s.conn.Context()); err == nil {
		s.closeSession(codeMalformed, "a stream in both directions")
	}
}

func (s *session) closeSession(code quic.ApplicationErrorCode, reason string) {
	s.conn.CloseWithError(code, reason)
}

// acceptStreams takes the peer's two streams; more it cannot open.
func (s *session) acceptStreams() {
	ctx, cancel := context.WithTimeout(s.conn.Context(), helloTimeout)
	defer cancel()
	for range streamsEach {
		stream, err := s.conn.AcceptUniStream(ctx)
		if err != nil {
			s.closeSession(codeNoHello, "a stream is missing")
			return
		}
		s.wg.Go(func() {
			if err := s.readFrames(stream); err != nil {
				s.closeSession(codeMalformed, err.Error())
			}
		})
	}
}

// readFrames hands on frames from one of the peer's streams. It returns nil where the
// session is closed already.
func (s *session) readFrames(stream *quic.ReceiveStream) error {
	r := bufio.NewReaderSize(stream, readBuffer)
	k, err := s.readKind(stream, r)
	if err != nil {
		return err
	}
	if k == prompt && !s.greetPeer() {
		return nil
	}
	t, counters := s.peer.transport, &s.peer.counters
	for {
		frame, err := readFrame(r, k.queueLimit())
		if err != nil {
			return err
		}
		counters.framesReceived.Add(1)
		counters.bytesReceived.Add(uint64(len(frame)))
		t.receive(s.peer.Address, frame)
	}
}

// readKind reads the byte that a stream begins with.
func (s *session) readKind(stream *quic.ReceiveStream, r *bufio.Reader) (kind, error) {
	stream.SetReadDeadline(time.Now().Add(helloTimeout))
	b, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	stream.SetReadDeadline(time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(b) >= len(s.seen) || s.seen[b] {
		return 0, fmt.Errorf("%w: a stream of kind %d", errStream, b)
	}
	s.seen[b] = true
	return kind(b), nil
}

// greetPeer makes the session the peer's, or closes it where another stays.
func (s *session) greetPeer() bool {
	s.hello.Do(s.peer.endHelloWait)
	replaced, ok := s.peer.admitSession(s)
	if !ok {
		s.closeSession(codeReplaced, "another connection stays")
		return false
	}
	if replaced != nil {
		replaced.closeSession(codeReplaced, "a newer connection came up")
	}
	s.mu.Lock()
	s.up = time.Now()
	s.mu.Unlock()
	s.peer.transport.log.Debug("connected", "peer", s.peer.Address, "dialled", s.dialled)
	return true
}

// writeFrames says hello by a stream, and then writes what the peer's queue of that
// kind holds, from when the session is the peer's until it ends.
func (s *session) writeFrames(stream *quic.SendStream, k kind) {
	stream.SetPriority(urgency[k], true)
	w := writer{stream: stream, buf: []byte{byte(k)}}
	err := w.flushBuffer()
	var batch [][]byte
	for err == nil {
		batch = s.peer.takeFrames(s, k, batch[:0])
		if len(batch) > 0 {
			err = s.writeBatch(&w, batch)
			clear(batch)
			continue
		}
		select {
		case <-s.wake[k]:
		case <-s.conn.Context().Done():
			return
		}
	}
	s.closeSession(codeSlow, "writing: "+err.Error())
}

func (s *session) writeBatch(w *writer, batch [][]byte) error {
	size := 0
	for _, frame := range batch {
		if err := w.writeFrame(frame); err != nil {
			return err
		}
		size += len(frame)
	}
	if err := w.flushBuffer(); err != nil {
		return err
	}
	s.peer.counters.framesSent.Add(uint64(len(batch)))
	s.peer.counters.bytesSent.Add(uint64(size))
	return nil
}
