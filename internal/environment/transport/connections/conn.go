package connections

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// conn is one connection at one end.
type conn struct {
	host     *end
	id       connection.ID
	admitted atomic.Bool
	judging  sync.Mutex         // who waits for all places of untaken
	untaken  chan struct{}      // a place for each frame that was told and not taken
	reading  chan struct{}      // a place for each large frame that is being read or waits to be told
	giveUp   context.CancelFunc // of dialling

	telling sync.Mutex // one event at a time
	over    bool       // Down was told

	mu      sync.Mutex
	wg      sync.WaitGroup // readers and writers
	ended   bool           // no more of them begin
	dropped bool           // closed before it was up
	quic    *quic.Conn     // nil before it is up
	streams map[connection.Stream]*stream
	opening []*stream // that the peer does not allow yet
	frames  int       // that wait to be written
	bytes   int
	large   []bool // of the frames that were told and not taken: whether each has a token
	stuck   bool   // it was told
}

// addConn makes a connection known under its name, or returns nil where this end does
// not serve, or the name is taken.
func (e *end) addConn(id connection.ID, giveUp context.CancelFunc) *conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.receive == nil || e.conns[id] != nil {
		return nil
	}
	c := &conn{host: e, id: id, untaken: make(chan struct{}, connection.MaxUntaken),
		reading: make(chan struct{}, largeReading), giveUp: giveUp, streams: map[connection.Stream]*stream{}}
	e.conns[id] = c
	return c
}

// spawnUnlessOver begins a reader or writer, unless the connection is over. The caller holds
// mu.
func (c *conn) spawnUnlessOver(run func()) {
	if !c.ended {
		c.wg.Go(run)
	}
}

// attachQUIC gives a connection its QUIC one, unless it was closed before.
func (c *conn) attachQUIC(q *quic.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dropped {
		q.CloseWithError(quic.ApplicationErrorCode(connection.CodeDone), "")
		return false
	}
	c.quic = q
	c.spawnUnlessOver(func() { c.acceptStreams(q) })
	c.spawnUnlessOver(func() { c.acceptUniStreams(q) })
	return true
}

// tellEvent hands an event on, unless the connection is over.
func (c *conn) tellEvent(event connection.Event) {
	c.telling.Lock()
	defer c.telling.Unlock()
	if !c.over {
		c.host.receive(event)
	}
}

// tellFrame hands a frame on; a large frame has a token.
func (c *conn) tellFrame(number connection.Stream, frame []byte, large bool) {
	c.telling.Lock()
	defer c.telling.Unlock()
	if c.over {
		c.host.releaseLarge(large)
		return
	}
	c.mu.Lock()
	c.large = append(c.large, large)
	c.mu.Unlock()
	c.host.receive(connection.Came{ID: c.id, Stream: number, Frame: frame})
}

// endWith reports the end of the connection, once and last, and waits for its
// goroutines.
func (c *conn) endWith(cause error) {
	e := connection.Down{ID: c.id}
	var closed *quic.ApplicationError
	if errors.As(cause, &closed) {
		e.Closed, e.Code, e.Reason = closed.Remote, uint64(closed.ErrorCode), clipReason(closed.ErrorMessage)
	} else if cause != nil {
		e.Reason = clipReason(cause.Error())
	}
	c.telling.Lock()
	c.over = true
	c.host.receive(e)
	c.telling.Unlock()
	c.host.forgetConn(c)
	c.mu.Lock()
	c.ended = true
	for _, large := range c.large {
		c.host.releaseLarge(large)
	}
	c.large = nil
	c.mu.Unlock()
	c.wg.Wait()
}

// clipReason bounds a reason that the peer gave.
func clipReason(reason string) string {
	reason = strings.ToValidUTF8(reason, "�")
	if len(reason) <= connection.MaxReasonBytes {
		return reason
	}
	end := connection.MaxReasonBytes
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}

// closeNow ends the connection at once; one that is not up yet never will be.
func (c *conn) closeNow(code uint64, reason string) {
	c.mu.Lock()
	q := c.quic
	c.dropped = true
	c.mu.Unlock()
	if q == nil {
		c.giveUp()
		return
	}
	q.CloseWithError(quic.ApplicationErrorCode(code), reason)
}

// acceptStreams takes the streams that the peer opens in both directions. QUIC's
// limit bounds their number.
func (c *conn) acceptStreams(q *quic.Conn) {
	for {
		opened, err := q.AcceptStream(q.Context())
		if err != nil {
			return // over
		}
		s := &stream{conn: c, number: connection.Stream(opened.StreamID())}
		c.tellEvent(connection.Opened{ID: c.id, Stream: s.number})
		c.mu.Lock()
		c.streams[s.number] = s
		s.beginStream(opened)
		c.mu.Unlock()
	}
}

// acceptUniStreams reports streams that the peer opened in one direction. The wire
// has none, and nothing is read from them.
func (c *conn) acceptUniStreams(q *quic.Conn) {
	for {
		opened, err := q.AcceptUniStream(q.Context())
		if err != nil {
			return // over
		}
		c.tellEvent(connection.Opened{ID: c.id, Stream: connection.Stream(opened.StreamID())})
	}
}

// openStream opens a stream, at once where the peer allows it.
func (c *conn) openStream(number connection.Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quic == nil || c.streams[number] != nil {
		return
	}
	s := &stream{conn: c, number: number}
	c.streams[number] = s
	if c.opening = append(c.opening, s); len(c.opening) > 1 {
		return // it has its turn after those that wait
	}
	if opened, err := c.quic.OpenStream(); err == nil {
		c.opening = nil
		s.beginStream(opened)
		return
	}
	c.spawnUnlessOver(c.openWaiting)
}

// openWaiting opens streams, in their order, as the peer allows them. A stream that
// is not allowed for the patience of a write counts as a blocked write.
func (c *conn) openWaiting() {
	for {
		ctx, cancel := context.WithTimeout(c.quic.Context(), c.host.writeTime())
		opened, err := c.quic.OpenStreamSync(ctx)
		cancel()
		if err != nil {
			c.tellStuck()
			return
		}
		c.mu.Lock()
		c.opening[0].beginStream(opened)
		c.opening = c.opening[1:]
		done := len(c.opening) == 0
		c.mu.Unlock()
		if done {
			return
		}
	}
}

// tellStuck tells once that the peer takes nothing.
func (c *conn) tellStuck() {
	c.mu.Lock()
	told := c.stuck
	c.stuck = true
	c.mu.Unlock()
	if !told {
		c.tellEvent(connection.Stuck{ID: c.id})
	}
}

// releaseFrameRoom makes room for a frame.
func (c *conn) releaseFrameRoom() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.large) > 0 {
		c.host.releaseLarge(c.large[0])
		c.large = c.large[1:]
		<-c.untaken
	}
}

// awaitAdmission reports whether the peer is admitted once the frames before are taken, since one of
// them may be what admits it. Then the places of all frames are free at once.
func (c *conn) awaitAdmission() bool {
	if c.admitted.Load() {
		return true
	}
	c.judging.Lock()
	defer c.judging.Unlock()
	held, over := 0, c.quic.Context().Done()
	for held < connection.MaxUntaken && enterPlace(c.untaken, over) {
		held++
	}
	for range held {
		<-c.untaken
	}
	return c.admitted.Load()
}
