package pyhost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A length that lies makes no memory: the frame is read in steps.
func TestFalseLengthMakesNoMemory(t *testing.T) {
	r := newReader(bytes.NewReader([]byte{0, 0, 0, 3, 'Q'}))
	if _, _, err := r.nextFrame(); err == nil || cap(r.buf) > 4<<20 {
		t.Errorf("got %v with %d bytes held", err, cap(r.buf))
	}
	r = newReader(bytes.NewReader([]byte{255, 255, 255, 255, 'Q'}))
	if _, _, err := r.nextFrame(); !errors.Is(err, errFrame) {
		t.Errorf("got %v", err)
	}
}

// done writes a map as a host does: its operation first.
func (e *encoder) done(operation string, steps uint64, n int) *encoder {
	e.buf = append(e.buf, majorMap<<5|byte(n+2))
	e.writeName(fieldOperation).writeName(operation)
	return e.writeNumber(fieldSteps, steps)
}

// asked is a frame of a host's.
func asked(kind byte, write func(*encoder)) []byte {
	e := &encoder{}
	write(e.beginBare(kind))
	return e.finishFrame()
}

// played is a host that has written these bytes and ended.
func played(t testing.TB, data []byte) *host {
	h := &host{cmd: &exec.Cmd{}, read: newReader(bytes.NewReader(data)), broken: true, in: devNull(t), stderr: &tail{},
		gone: make(chan struct{})}
	close(h.gone)
	t.Cleanup(func() { h.in.Close() })
	return h
}

// A map has exactly the names of its form, and its values have their kinds. Any
// other map is the host's fault, and reaches no Context.
func TestMapsAreOfTheirForms(t *testing.T) {
	address, id := make([]byte, 20), make([]byte, 32)
	for _, c := range []struct {
		name  string
		write func(*encoder)
		want  string // of the error; "": no error
	}{
		{"as it should be", func(e *encoder) { e.done(opTransfer, 0, 2).writeBytes("to", address).writeNumber("amount", 1) }, ""},
		{"in another order", func(e *encoder) { e.done(opTransfer, 0, 2).writeNumber("amount", 1).writeBytes("to", address) }, ""},
		{"a big number", func(e *encoder) {
			e.done(opTransfer, 0, 2).writeBytes("to", address).writeName("amount").buf = append(e.buf, bigNumber)
			e.writeValue(bytes.Repeat([]byte{255}, 32))
		}, ""},
		{"one too big", func(e *encoder) {
			e.done(opTransfer, 0, 2).writeBytes("to", address).writeName("amount").buf = append(e.buf, bigNumber)
			e.writeValue(bytes.Repeat([]byte{255}, 33))
		}, "transfer: amount is not a number below 2^256"},
		{"bytes for a number", func(e *encoder) { e.done(opTransfer, 0, 2).writeBytes("to", address).writeBytes("amount", nil) },
			"amount is not a number below 2^256"},
		{"a number for bytes", func(e *encoder) { e.done(opGet, 0, 1).writeNumber("key", 1) }, "get_state: key is no bytes"},
		{"an address too short", func(e *encoder) { e.done(opBalance, 0, 1).writeBytes("address", address[1:]) }, "address is not of 20 bytes"},
		{"an address too long", func(e *encoder) { e.done(opBalance, 0, 1).writeBytes("address", id) }, "address is not of 20 bytes"},
		{"a field is missing", func(e *encoder) { e.done(opTransfer, 0, 1).writeBytes("to", address) }, "transfer lacks amount"},
		{"a field twice", func(e *encoder) { e.done(opGet, 0, 2).writeBytes("key", nil).writeBytes("key", nil) },
			"get_state has key more than once"},
		{"another's field", func(e *encoder) { e.done(opGet, 0, 2).writeBytes("key", nil).writeBytes("value", nil) },
			"get_state has more than its fields"},
		{"a name that is none", func(e *encoder) { e.done(opGet, 0, 1).writeBytes("kez", nil) }, `the name "kez"`},
		{"an operation that is none", func(e *encoder) { e.done("get", 0, 1).writeBytes("key", nil) }, `the operation "get"`},
		{"an effect that is asked", func(e *encoder) { e.done(effectDelete, 0, 1).writeBytes("key", nil) },
			"delete_state: it waits for no answer"},
		{"an end that is asked", func(e *encoder) { e.done(endOK, 0, 1).writeBytes("output", nil) }, "ok: it waits for no answer"},
		{"a watched actor without its key", func(e *encoder) {
			e.done(opSchedule, 0, 4).writeNumber("height", 1).writeBytes("payload", nil).writeBytes("handler", nil).writeBytes("watched", address)
		}, "schedule_timer: key is no bytes"},
		{"the steps as bytes", func(e *encoder) {
			e.buf = append(e.buf, majorMap<<5|3)
			e.writeName(fieldOperation).writeName(opGet).writeBytes(fieldSteps, nil).writeBytes("key", nil)
		}, "get_state has more than its fields"},
		{"no operation", func(e *encoder) {}, "no operation"},
		{"no map", func(e *encoder) { e.writeValue(nil) }, "no map of less than 24 entries"},
		{"a map too large", func(e *encoder) { e.buf = append(e.buf, majorMap<<5|shortest, 200) }, "no map of less than 24 entries"},
		{"a map without end", func(e *encoder) { e.buf = append(e.buf, 0xbf) }, "a length that is not definite"},
		{"bytes that lie about their length", func(e *encoder) {
			e.done(opGet, 0, 1).writeName("key").buf = append(e.buf, bytes32, 255, 255, 255, 255)
		}, "unexpected end within a value"},
		{"an effect of another frame", func(e *encoder) {
			e.done(opGet, 0, 1).writeBytes("key", nil).done(opGet, 0, 1).writeBytes("key", nil)
		}, "get_state: it waits for an answer"},
		{"too many effects", func(e *encoder) {
			for range MaxEffects + 2 {
				e.done(effectDelete, 0, 1).writeBytes("key", nil)
			}
		}, "more than 64 effects"},
	} {
		w := newWorld(nil)
		at := w.deploy(1, "")
		frame := asked(frameRequest, c.write)
		end := asked(frameReply, func(e *encoder) { e.done(endOK, 0, 1).writeBytes("output", nil) })
		h := played(t, append(frame, end...))
		conversation := &conversation{session: &session{}, host: h, ctx: noPeek{w.context(program.Message{Self: at}, 10_000)}}
		_, err := conversation.runToReply()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, errFrame) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzFrames hands a conversation whatever a hostile host may write: no panic,
// and nothing beyond the limits reaches the Context.
func FuzzFrames(f *testing.F) {
	reply := asked(frameReply, func(e *encoder) { e.done(endOK, 5, 1).writeBytes("output", []byte("x")) })
	f.Add(reply)
	f.Add(append(asked(frameRequest, func(e *encoder) {
		e.done(effectSet, 1, 2).writeBytes("key", []byte("k")).writeBytes("value", []byte("v")).done(opGet, 2, 1).writeBytes("key", []byte("k"))
	}), reply...))
	f.Add(append(asked(frameRequest, func(e *encoder) {
		e.done(opSchedule, 2, 7).writeNumber("height", 9).writeBytes("payload", nil).writeBytes("handler", nil).writeBytes("watched",
			make([]byte, 20))
		e.writeBytes("key", nil).writeNumber("bid", 7).writeBytes("priority_tier_hint", []byte("fast"))
	}), reply...))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(nil)
		at := w.deploy(1, "")
		ctx := w.context(program.Message{Self: at}, 10_000)
		h := played(t, data)
		c := &conversation{session: &session{}, host: h, ctx: noPeek{ctx}}
		out, err := c.runToReply()
		if err == nil && out.Status == "" {
			t.Error("an outcome without a status")
		}
		if len(c.read) > maxHintKeys {
			t.Errorf("%d keys remembered", len(c.read))
		}
		if n := binary.Size(data); len(w.trace) > n+1 {
			t.Errorf("%d operations from %d bytes", len(w.trace), n)
		}
		if out.Fault != nil && len(out.Fault.Message) > types.MaxFaultBytes {
			t.Error("a fault beyond its bound")
		}
	})
}
