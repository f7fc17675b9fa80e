package quic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// headerBytes is the length before every frame: u32 big-endian.
const headerBytes = 4

// errFrameSize says that a peer announced a frame of no or too many bytes.
var errFrameSize = errors.New("quic: frame size")

// readFrame reads one frame of 1 to limit bytes. Memory is taken as bytes come,
// so that a claimed length costs nothing. io.EOF means the end between frames.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size == 0 || uint64(size) > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes, want 1 to %d", errFrameSize, size, limit)
	}
	total := int(size)
	frame := make([]byte, min(total, chunkBytes))
	for done := 0; ; {
		n, err := io.ReadFull(r, frame[done:])
		done += n
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || done == total {
			return frame, err
		}
		grown := make([]byte, min(total, 2*done)) // doubling: the copied bytes stay fewer than the read ones
		copy(grown, frame)
		frame = grown
	}
}

// deadlineStream is a stream that can be written on with a deadline.
type deadlineStream interface {
	io.Writer
	SetWriteDeadline(time.Time) error
}

// writer joins frames into few writes.
type writer struct {
	stream deadlineStream
	buf    []byte // not written yet
}

// writeFrame writes a frame, or keeps a small one for flush.
func (w *writer) writeFrame(frame []byte) error {
	head := frame[:min(len(frame), chunkBytes)]
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(frame)))
	w.buf = append(w.buf, head...)
	for rest := frame[len(head):]; len(rest) > 0; {
		if err := w.flushBuffer(); err != nil {
			return err
		}
		next := rest[:min(len(rest), chunkBytes)]
		if err := w.writeChunk(next); err != nil {
			return err
		}
		rest = rest[len(next):]
	}
	return nil
}

// flushBuffer writes what was kept.
func (w *writer) flushBuffer() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.writeChunk(w.buf)
	w.buf = w.buf[:0]
	return err
}

// writeChunk fails when the peer takes no chunk for writeTimeout.
func (w *writer) writeChunk(chunk []byte) error {
	w.stream.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := w.stream.Write(chunk)
	return err
}
