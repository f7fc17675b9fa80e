package connections

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// headerBytes is the length before every frame: u32 big-endian.
const headerBytes = 4

// stream is one that goes both ways. Its connection's mu guards it.
type stream struct {
	conn   *conn
	number connection.Stream
	quic   *quic.Stream // nil while the peer does not allow it

	queue   [][]byte // frames to be written, oldest first
	direct  int      // bytes that went past the queue since a writer was at work
	ending  bool     // this side ends after the queue
	writing bool     // a writer is at work
	dead    bool     // nothing is written any more
	wrote   bool     // our side is over
	read    bool     // the peer's side is over
}

// beginStream gives a stream its QUIC one, and reads and writes on it. The numbers that
// verbs give are those that QUIC gives, or the streams of two jobs would be mixed up.
func (s *stream) beginStream(opened *quic.Stream) {
	if number := connection.Stream(opened.StreamID()); number != s.number {
		panic(fmt.Sprintf("connections: stream %d was opened as %d", number, s.number))
	}
	s.quic = opened
	if s.dead { // it was broken off before it was opened
		s.breakOff(connection.CodeDone)
		return
	}
	s.conn.spawnUnlessOver(s.readFrames)
	s.wakeWriter()
}

// wakeWriter starts a writer, if there is something to write. An end without data needs no
// writer.
func (s *stream) wakeWriter() {
	switch {
	case s.quic == nil || s.writing || s.dead:
	case len(s.queue) > 0:
		s.writing, s.direct = true, 0
		s.conn.spawnUnlessOver(s.writeQueue)
	case s.ending:
		s.finishSending()
	}
}

// finishSending ends this side, after which nothing is queued.
func (s *stream) finishSending() {
	s.quic.Close()
	s.dead, s.wrote = true, true
	s.forgetIfOver()
}

// queueFrame queues a frame.
func (c *conn) queueFrame(number connection.Stream, frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[number]
	if s == nil || s.ending || s.dead {
		return
	}
	if c.frames >= connection.QueueFrames || c.bytes+len(frame) > connection.QueueBytes {
		c.spawnUnlessOver(c.tellStuck)
		return
	}
	if s.writeDirectly(frame) {
		return
	}
	s.queue = append(s.queue, frame)
	c.frames, c.bytes = c.frames+1, c.bytes+len(frame)
	s.wakeWriter()
}

// writeDirectly hands a small frame to QUIC, if no frame waits before it and QUIC
// takes it at once, and reports whether it did. Why it did not, a writer finds out.
func (s *stream) writeDirectly(frame []byte) bool {
	size := headerBytes + len(frame)
	if s.quic == nil || s.writing || len(s.queue) > 0 || s.direct+size > directBytes {
		return false
	}
	var chunk [directBytes]byte // QUIC copies it
	binary.BigEndian.PutUint32(chunk[:], uint32(len(frame)))
	copy(chunk[headerBytes:], frame)
	if s.quic.TryWriteAll(chunk[:size]) != nil {
		return false
	}
	s.direct += size
	return true
}

// endStream ends this side after the queued frames.
func (c *conn) endStream(number connection.Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[number]; s != nil {
		s.ending = true
		s.wakeWriter()
	}
}

// resetStream breaks both sides off.
func (c *conn) resetStream(number connection.Stream, code uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[number]
	if s == nil {
		return
	}
	s.dropQueue()
	if s.quic != nil {
		s.breakOff(code)
	}
}

// breakOff breaks both sides of an open stream off and forgets it.
func (s *stream) breakOff(code uint64) {
	s.quic.CancelWrite(quic.StreamErrorCode(code))
	s.quic.CancelRead(quic.StreamErrorCode(code))
	delete(s.conn.streams, s.number)
}

// dropQueue drops what is queued.
func (s *stream) dropQueue() {
	s.dead = true
	for _, frame := range s.queue {
		s.conn.frames, s.conn.bytes = s.conn.frames-1, s.conn.bytes-len(frame)
	}
	s.queue = nil
}

// forgetIfOver forgets a stream whose sides are both over.
func (s *stream) forgetIfOver() {
	if s.wrote && s.read {
		delete(s.conn.streams, s.number)
	}
}

// nextFrames takes the oldest frame, and following frames that go into one write with it;
// without one the writer is done.
func (s *stream) nextFrames() (frames [][]byte) {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(s.queue) == 0 {
		s.writing = false
		if s.ending && !s.dead {
			s.finishSending()
		}
		return nil
	}
	n, size := 0, 0
	for n < len(s.queue) && (n == 0 || size+headerBytes+len(s.queue[n]) <= joinedBytes) {
		size += headerBytes + len(s.queue[n])
		c.frames, c.bytes = c.frames-1, c.bytes-len(s.queue[n])
		n++
	}
	frames, s.queue = s.queue[:n:n], s.queue[n:]
	return frames
}

// writeQueue writes what is queued.
func (s *stream) writeQueue() {
	for {
		frames := s.nextFrames()
		if len(frames) == 0 {
			return
		}
		if err := s.writeFrames(frames); err != nil {
			s.conn.mu.Lock()
			s.dropQueue()
			s.wrote = true
			s.forgetIfOver()
			s.conn.mu.Unlock()
			if errors.Is(err, os.ErrDeadlineExceeded) {
				s.conn.tellStuck()
			}
			return // otherwise the peer broke it off, or the connection is over
		}
	}
}

// writeFrames fails where the peer takes no chunk in time. Frames that are more than
// one fit into a chunk together.
func (s *stream) writeFrames(frames [][]byte) error {
	size := 0
	for _, frame := range frames {
		size += headerBytes + len(frame)
	}
	chunk := make([]byte, 0, min(size, headerBytes+chunkBytes))
	var rest []byte
	for _, frame := range frames {
		first := min(len(frame), chunkBytes)
		chunk = binary.BigEndian.AppendUint32(chunk, uint32(len(frame)))
		chunk, rest = append(chunk, frame[:first]...), frame[first:]
	}
	for {
		deadline := time.Now().Add(s.conn.host.writeTime())
		s.quic.SetWriteDeadline(deadline)
		_, err := s.quic.Write(chunk)
		if err == nil && !time.Now().Before(deadline) {
			err = os.ErrDeadlineExceeded // QUIC took in bytes that it could not send
		}
		if err != nil || len(rest) == 0 {
			return err
		}
		next := min(len(rest), chunkBytes)
		chunk, rest = rest[:next], rest[next:]
	}
}

// readFrames reports arriving frames until the peer's side is over.
func (s *stream) readFrames() {
	r := bufio.NewReaderSize(s.quic, readBuffer)
	for s.readFrame(r) {
	}
	s.conn.mu.Lock()
	s.read = true
	s.forgetIfOver()
	s.conn.mu.Unlock()
}

// readFrame reads one frame and reports it, or why there is none, and returns
// whether more may come.
func (s *stream) readFrame(r *bufio.Reader) bool {
	c := s.conn
	if _, err := r.Peek(1); err != nil { // a stream may be silent for long
		s.tellEnd(err, false)
		return false
	}
	if !hasWholeFrame(r) {
		s.quic.SetReadDeadline(time.Now().Add(connection.FrameTime))
		defer s.quic.SetReadDeadline(time.Time{})
	}
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		s.tellEnd(err, true)
		return false
	}
	long := connection.TooLong{ID: c.id, Stream: s.number, Length: binary.BigEndian.Uint32(header[:])}
	if long.Length == 0 || long.Length > connection.MaxFrameBytes {
		c.tellEvent(long)
		return false
	}
	if long.Length > connection.MaxGreetingBytes && !c.awaitAdmission() {
		first, err := r.Peek(1)
		if err != nil {
			s.tellEnd(err, true)
			return false
		}
		long.Type = first[0]
		c.tellEvent(long)
		return false
	}
	return s.readBody(r, int(long.Length))
}

// hasWholeFrame reports whether a frame is in the buffer already, so that reading it does not
// wait.
func hasWholeFrame(r *bufio.Reader) bool {
	header, err := r.Peek(min(headerBytes, r.Buffered()))
	if err != nil || len(header) < headerBytes {
		return false
	}
	return uint64(binary.BigEndian.Uint32(header)) <= uint64(r.Buffered()-headerBytes)
}

// readBody reads the bytes after the length and reports them.
func (s *stream) readBody(r io.Reader, size int) bool {
	c, large := s.conn, size > smallBytes
	over := c.quic.Context().Done()
	if large {
		if !enterPlace(c.reading, over) {
			return false
		}
		defer func() { <-c.reading }()
		if !enterPlace(c.host.large, over) {
			return false
		}
		s.quic.SetReadDeadline(time.Now().Add(connection.FrameTime)) // it may have waited
	}
	frame, err := readAll(r, size)
	if err != nil {
		c.host.releaseLarge(large)
		s.tellEnd(err, true)
		return false
	}
	select {
	case c.untaken <- struct{}{}:
		c.tellFrame(s.number, frame, large)
		return true
	case <-over:
		c.host.releaseLarge(large)
		return false
	}
}

// enterPlace waits for a place, and reports whether there was one before the end.
func enterPlace(places chan<- struct{}, over <-chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-over:
		return false
	}
}

// tellEnd reports why nothing more is read. Where the connection is over, or our
// side broke the stream off, that is known.
func (s *stream) tellEnd(err error, within bool) {
	c := s.conn
	var broken *quic.StreamError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		c.tellEvent(connection.Ended{ID: c.id, Stream: s.number, Torn: within})
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.tellEvent(connection.Stalled{ID: c.id, Stream: s.number})
	case errors.As(err, &broken) && broken.Remote:
		c.tellEvent(connection.Cut{ID: c.id, Stream: s.number})
	}
}

// readAll reads size bytes. Memory is taken as they come, so that a claimed length
// costs nothing.
func readAll(r io.Reader, size int) ([]byte, error) {
	frame := make([]byte, min(size, smallBytes))
	for done := 0; ; {
		n, err := io.ReadFull(r, frame[done:])
		done += n
		if err != nil || done == size {
			return frame, err
		}
		grown := make([]byte, min(size, 2*done)) // doubling: the copied bytes stay fewer than the read ones
		copy(grown, frame)
		frame = grown
	}
}
