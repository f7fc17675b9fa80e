package pyhost

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The types of frames.
const (
	frameLoad    = 'L' // hash, source: kept until dropped
	frameDrop    = 'X' // hash
	frameCosts   = 'P' // u64s, in the order of costs.py
	frameInspect = 'I' // source
	frameCall    = 'C' // callHead, handler, payload, then keys and values known
	frameAnswer  = 'A' // u8 status, u64 cycles, u64 cells, items
	frameHello   = 'H' // version, then names of the wall's parts and why they are missing
	frameRequest = 'Q' // effects, operation
	frameReply   = 'R' // effects, u8 status, u64 steps, u8 count, items
	frameNo      = 'N' // u32 line, reason
	frameFine    = 'D' // names and documentation of handlers
	frameFork    = 'F' // to the fork server; and from its child, which has the pipes now
	frameTry     = 'T' // to the fork server; from it, attempts and how they ended
	frameEnd     = 'E' // to the child
	frameAdvice  = 'V' // source; from the host, findings: kind, u32 line, words
	frameEnded   = 'Z' // from the fork server, which has them again
)

// Limits of what a host may send, which is trusted no more than the actor in it.
const (
	MaxFrameBytes   = 64 << 20
	MaxEffects      = 64 // in one frame
	maxItems        = 16 // of one operation
	maxHandlers     = 4096
	maxStderrBytes  = 4096
	noItem          = 0xffffffff
	frameHeadBytes  = 4
	bufferedReading = 64 << 10
)

var errFrame = errors.New("the host sent a malformed frame")

// reader reads frames; a frame is valid until the next.
type reader struct {
	in  *bufio.Reader
	buf []byte
}

func newReader(in io.Reader) *reader {
	return &reader{in: bufio.NewReaderSize(in, bufferedReading)}
}

// next returns the type and the rest of the next frame.
func (r *reader) next() (byte, []byte, error) {
	var head [frameHeadBytes]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > MaxFrameBytes {
		return 0, nil, fmt.Errorf("%w: %d bytes", errFrame, n)
	}
	// A frame is read as it comes, so that a false length makes no memory.
	r.buf = r.buf[:0]
	for have := 0; have < int(n); {
		step := min(int(n)-have, 1<<20)
		r.buf = append(r.buf, make([]byte, step)...)
		if _, err := io.ReadFull(r.in, r.buf[have:have+step]); err != nil {
			return 0, nil, err
		}
		have += step
	}
	return r.buf[0], r.buf[1:], nil
}

// decoder reads the fields of a frame; the first failure stays.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.data) {
		d.err = errFrame
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) u8() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// item returns a copy of the next item, nil where it has no value.
func (d *decoder) item() []byte {
	n := d.u32()
	if d.err != nil || n == noItem {
		return nil
	}
	b := d.take(int(n))
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// operation is one thing a program asked for: an effect, a request or its end.
type operation struct {
	code  byte
	steps uint64 // of the program since the operation before
	args  [][]byte
}

func (d *decoder) operation() operation {
	op := operation{code: d.u8(), steps: d.u64()}
	n := int(d.u8())
	if n > maxItems {
		d.err = errFrame
	}
	for i := 0; i < n && d.err == nil; i++ {
		op.args = append(op.args, d.item())
	}
	return op
}

// operations decodes the body of a request or a reply: the effects in order,
// and what ends the frame.
func decodeOperations(frame []byte) ([]operation, operation, error) {
	d := &decoder{data: frame}
	n := d.u32()
	if n > MaxEffects {
		return nil, operation{}, fmt.Errorf("%w: %d effects", errFrame, n)
	}
	var effects []operation
	for i := 0; i < int(n) && d.err == nil; i++ {
		effects = append(effects, d.operation())
	}
	last := d.operation()
	if d.err == nil && len(d.data) != 0 {
		d.err = errFrame
	}
	return effects, last, d.err
}

// encoder builds one frame.
type encoder struct{ buf []byte }

func (e *encoder) begin(kind byte) *encoder {
	e.buf = append(e.buf[:0], 0, 0, 0, 0, kind)
	return e
}

func (e *encoder) u8(v byte) *encoder { e.buf = append(e.buf, v); return e }
func (e *encoder) u64(v uint64) *encoder {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, v)
	return e
}
func (e *encoder) raw(b []byte) *encoder { e.buf = append(e.buf, b...); return e }

func (e *encoder) item(b []byte) *encoder {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(len(b)))
	e.buf = append(e.buf, b...)
	return e
}

func (e *encoder) none() *encoder {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, noItem)
	return e
}

func (e *encoder) frame() []byte {
	binary.LittleEndian.PutUint32(e.buf, uint32(len(e.buf)-frameHeadBytes))
	return e.buf
}
