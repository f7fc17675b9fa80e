package pyhost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A length that lies makes no memory: the frame is read in steps.
func TestFalseLengthMakesNoMemory(t *testing.T) {
	r := newReader(bytes.NewReader([]byte{0, 0, 0, 3, 'Q'}))
	if _, _, err := r.next(); err == nil || cap(r.buf) > 4<<20 {
		t.Errorf("got %v with %d bytes held", err, cap(r.buf))
	}
	r = newReader(bytes.NewReader([]byte{255, 255, 255, 255, 'Q'}))
	if _, _, err := r.next(); !errors.Is(err, errFrame) {
		t.Errorf("got %v", err)
	}
}

// FuzzFrames hands a conversation whatever a hostile host may write: no panic,
// and nothing beyond the limits reaches the Context.
func FuzzFrames(f *testing.F) {
	var e encoder
	frame := append([]byte{}, e.begin(frameReply).raw([]byte{0, 0, 0, 0}).u8(endOK).u64(5).u8(1).item([]byte("x")).frame()...)
	f.Add(frame)
	op := e.begin(frameRequest).raw([]byte{1, 0, 0, 0}).u8(effectSet).u64(1).u8(2).item([]byte("k")).item([]byte("v"))
	f.Add(append(append([]byte{}, op.u8(opGet).u64(2).u8(1).item([]byte("k")).frame()...), frame...))
	op = e.begin(frameRequest).raw(make([]byte, 4)).u8(opSchedule).u64(2).u8(10).item(make([]byte, 8)).item(nil).item(nil)
	f.Add(op.none().none().none().item(make([]byte, 33)).none().none().none().frame())
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(nil)
		at := w.deploy(1, "")
		ctx := w.context(program.Message{Self: at}, 10_000)
		h := &host{read: newReader(bytes.NewReader(data)), broken: true, in: devNull(t)}
		defer h.in.Close()
		h.stderr = &tail{}
		c := &conversation{session: &session{}, host: h, ctx: noPeek{ctx}}
		out, err := c.run()
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
