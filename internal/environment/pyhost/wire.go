package pyhost

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// nextFrame returns the type and the rest of the next frame.
func (r *reader) nextFrame() (byte, []byte, error) {
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

// skipTo reads up to a token, and at most most bytes.
func (r *reader) skipTo(token []byte, most int) error {
	var last []byte
	for range most {
		b, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if last = append(last, b); len(last) > len(token) {
			last = last[1:]
		}
		if b == token[len(token)-1] && bytes.Equal(last, token) {
			return nil
		}
	}
	return fmt.Errorf("%w: %d bytes before its token", errFrame, most)
}

// The kinds of CBOR's values (RFC 8949 §3.1) that cross the pipe, and its
// first bytes. A number is written in eight bytes, whatever it is, and a host
// writes lengths in four, since that is faster; both are read in any.
const (
	majorNumber = 0
	majorBytes  = 2
	majorText   = 3
	majorMap    = 5
	bigNumber   = 0xc2 // tag 2, and bytes
	null        = 0xf6
	number64    = majorNumber<<5 | 27
	bytes32     = majorBytes<<5 | 26
	shortest    = 24 // from here on a number is not within its first byte
)

// decoder reads the maps of a frame, one after the other. err is the first error;
// later reads keep it.
type decoder struct {
	data []byte
	err  error
}

func (d *decoder) failWith(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errFrame, fmt.Sprintf(format, args...))
	}
	d.data = nil
}

// keepError takes over what was wrong with a record.
func (d *decoder) keepError(err error) {
	if err != nil {
		d.failWith("%v", err)
	}
}

// expectEnd refuses what follows.
func (d *decoder) expectEnd() {
	if len(d.data) > 0 {
		d.failWith("more than was to come")
	}
}

func (d *decoder) takeBytes(n uint64) []byte {
	if n > uint64(len(d.data)) {
		d.failWith("unexpected end within a value")
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

// readHead reads the kind of a value and the number in its head.
func (d *decoder) readHead() (major byte, n uint64) {
	first := d.takeBytes(1)
	if first == nil {
		return 0, 0
	}
	major, n = first[0]>>5, uint64(first[0]&31)
	if n < shortest {
		return major, n
	}
	if n > 27 {
		d.failWith("a length that is not definite")
		return 0, 0
	}
	var whole [8]byte
	size := 1 << (n - shortest)
	copy(whole[8-size:], d.takeBytes(uint64(size)))
	return major, binary.BigEndian.Uint64(whole[:])
}

// readText reads a text and returns its bytes, which belong to the frame.
func (d *decoder) readText() []byte {
	major, n := d.readHead()
	if major != majorText {
		d.failWith("a name that is not a text")
		return nil
	}
	return d.takeBytes(n)
}

// field is an entry of a map: a number, bytes, or with big bytes that are a number.
type field struct {
	name   string
	number uint64
	bytes  []byte // nil for a number; a copy
	big    bool
}

func (d *decoder) readField() field {
	key := d.readText()
	name, known := fieldNames()[string(key)]
	if !known {
		d.failWith("the name %.32q", key)
		return field{}
	}
	f := field{name: name}
	if len(d.data) > 0 && d.data[0] == bigNumber {
		d.data, f.big = d.data[1:], true
	}
	major, n := d.readHead()
	switch {
	case major == majorNumber && !f.big:
		f.number = n
	case major == majorBytes:
		f.bytes = append([]byte{}, d.takeBytes(n)...)
	default:
		d.failWith("%s is neither a number nor bytes", name)
	}
	return f
}

// record is a map with exactly the names of its form, without duplicates.
type record struct {
	form   *form
	steps  uint64 // of an operation: the program's, since the operation before
	fields []field
}

// readEntryCount reads the head of a map and says how many entries follow.
func (d *decoder) readEntryCount() int {
	major, n := d.readHead()
	if major != majorMap || n >= shortest {
		d.failWith("no map of less than %d entries", shortest)
		return 0
	}
	return int(n)
}

// readRecord reads a map of a form that is known beforehand.
func (d *decoder) readRecord(of *form) *record {
	n := d.readEntryCount()
	r := &record{form: of, fields: make([]field, 0, n)}
	for range n {
		r.fields = append(r.fields, d.readField())
	}
	d.checkFields(r)
	return r
}

// readOperation reads a map that says itself, first of all, what it is.
func (d *decoder) readOperation() *record {
	n := d.readEntryCount()
	if string(d.readText()) != fieldOperation {
		d.failWith("a map that does not begin with its %s", fieldOperation)
	}
	name := d.readText()
	r := &record{form: operations[string(name)]}
	if r.form == nil {
		d.failWith("the operation %.32q", name)
		return r
	}
	r.fields = make([]field, 0, n)
	for range n - 1 {
		f := d.readField()
		if f.name == fieldSteps && f.bytes == nil {
			r.steps = f.number
		} else {
			r.fields = append(r.fields, f)
		}
	}
	d.checkFields(r)
	return r
}

// checkFields refuses a map that lacks a field of its form, has one twice or another.
func (d *decoder) checkFields(r *record) {
	if d.err != nil {
		return
	}
	found := 0
	for _, f := range r.form.fields {
		switch have := r.countOf(f.name); {
		case have > 1:
			d.failWith("%s has %s more than once", r.form.name, f.name)
		case have == 0 && f.needed:
			d.failWith("%s lacks %s", r.form.name, f.name)
		default:
			found += have
		}
	}
	if found != len(r.fields) {
		d.failWith("%s has more than its fields", r.form.name)
	}
}

func (r *record) countOf(name string) (n int) {
	for i := range r.fields {
		if r.fields[i].name == name {
			n++
		}
	}
	return n
}

// decodeOperations decodes the body of a request or a reply: the effects in
// order, and what ends the frame.
func decodeOperations(frame []byte) ([]*record, *record, error) {
	d := &decoder{data: frame}
	var all []*record
	for len(d.data) > 0 {
		if len(all) > MaxEffects {
			return nil, nil, fmt.Errorf("%w: more than %d effects", errFrame, MaxEffects)
		}
		all = append(all, d.readOperation())
	}
	if d.err == nil && len(all) == 0 {
		d.failWith("no operation")
	}
	if d.err != nil {
		return nil, nil, d.err
	}
	last := len(all) - 1
	return all[:last], all[last], nil
}

// encoder builds one frame, of one map.
type encoder struct{ buf []byte }

// beginFrame starts a frame; n is how many entries its map will have.
func (e *encoder) beginFrame(kind byte, n int) *encoder {
	e.buf = append(e.buf[:0], 0, 0, 0, 0, kind, majorMap<<5|byte(n))
	return e
}

// beginBare starts a frame without a map.
func (e *encoder) beginBare(kind byte) *encoder {
	e.buf = append(e.buf[:0], 0, 0, 0, 0, kind)
	return e
}

// writeName writes a name of less than shortest bytes.
func (e *encoder) writeName(name string) *encoder {
	e.buf = append(e.buf, majorText<<5|byte(len(name)))
	e.buf = append(e.buf, name...)
	return e
}

func (e *encoder) writeNumber(name string, v uint64) *encoder {
	e.writeName(name)
	e.buf = binary.BigEndian.AppendUint64(append(e.buf, number64), v)
	return e
}

func (e *encoder) writeBytes(name string, v []byte) *encoder { return e.writeName(name).writeValue(v) }

// writeValue writes bytes with their length in its shortest form, which Python reads fastest.
func (e *encoder) writeValue(v []byte) *encoder {
	switch n := len(v); {
	case n < shortest:
		e.buf = append(e.buf, majorBytes<<5|byte(n))
	case n < 1<<8:
		e.buf = append(e.buf, majorBytes<<5|shortest, byte(n))
	default:
		e.buf = binary.BigEndian.AppendUint32(append(e.buf, bytes32), uint32(n))
	}
	e.buf = append(e.buf, v...)
	return e
}

func (e *encoder) writeNull() { e.buf = append(e.buf, null) }

// openMap begins bytes that are a map themselves, of n entries; close ends them.
func (e *encoder) openMap(name string, n int) (at int) {
	e.writeName(name)
	at = len(e.buf)
	e.buf = append(e.buf, bytes32, 0, 0, 0, 0, majorMap<<5|byte(n))
	return at
}

func (e *encoder) closeMap(at int) {
	binary.BigEndian.PutUint32(e.buf[at+1:], uint32(len(e.buf)-at-5))
}

func (e *encoder) finishFrame() []byte {
	binary.LittleEndian.PutUint32(e.buf, uint32(len(e.buf)-frameHeadBytes))
	return e.buf
}
