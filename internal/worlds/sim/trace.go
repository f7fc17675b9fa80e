package sim

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// kind is what a step of the trace was.
type kind uint8

const (
	kindRun     kind = iota // a role stepped
	kindFrame               // a frame arrived
	kindAlarm               // an alarm rang
	kindSend                // a frame was sent
	kindAppend              // records were appended to the log
	kindRewrite             // the log was replaced
	kindCommit              // writes were committed to the store
	kindBoot
	kindStop
	kindCrash
	kindFault // another fault verb
	kindNote
	kindSaid // a frame was sent to or by a runner
	kindTold // something of a connection was told
)

var kindNames = [...]string{"run", "frame", "alarm", "send", "append", "rewrite", "commit", "boot", "stop", "crash", "fault", "note",
	"said", "told"}

// trace is the hash chain over all steps, and the lines of JSON if they are read. A
// step is 23 bytes; every chunkSteps of them extend the chain by one SHA-256.
// Contents enter as their 64-bit xxHash: a digest distinguishes runs, and does not
// defend against attackers.
type trace struct {
	chain [sha256.Size]byte
	chunk []byte
	shape xxhash.Digest // the hash of all steps without contents, but those of chunk
	lines *bufio.Writer
	err   error
}

const (
	shapeBytes = 1 + 2 + 4 + 8
	stepBytes  = shapeBytes + 8
	chunkSteps = 256
)

func newTrace(seed uint64, out io.Writer) trace {
	t := trace{chunk: make([]byte, 0, stepBytes*chunkSteps)}
	binary.BigEndian.PutUint64(t.chain[:], seed)
	t.shape.Reset()
	if out != nil {
		t.lines = bufio.NewWriter(out)
	}
	return t
}

// addStep extends the trace by a step: of a node, with a detail (a role, or a peer)
// and a content's hash.
func (t *trace) addStep(now types.Time, k kind, node int, detail uint32, content uint64) {
	end := len(t.chunk) + stepBytes
	step := t.chunk[len(t.chunk):end]
	step[0] = byte(k)
	binary.LittleEndian.PutUint16(step[1:], uint16(node))
	binary.LittleEndian.PutUint32(step[3:], detail)
	binary.LittleEndian.PutUint64(step[7:], uint64(now))
	binary.LittleEndian.PutUint64(step[15:], content)
	if t.chunk = t.chunk[:end]; end == cap(t.chunk) {
		t.chain, t.shape = t.extendedChain(), t.extendedShape()
		t.chunk = t.chunk[:0]
	}
}

// extendedShape is the shape with the steps of the chunk. One write of them all is faster than one of each.
func (t *trace) extendedShape() xxhash.Digest {
	var shapes [chunkSteps * shapeBytes]byte
	n := 0
	for at := 0; at < len(t.chunk); at += stepBytes {
		n += copy(shapes[n:], t.chunk[at:at+shapeBytes])
	}
	shape := t.shape
	shape.Write(shapes[:n])
	return shape
}

func (t *trace) extendedChain() [sha256.Size]byte {
	h := sha256.New()
	h.Write(t.chain[:])
	h.Write(t.chunk)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// chainDigest is the chain up to now.
func (t *trace) chainDigest() types.Hash { return types.Hash(t.extendedChain()) }

func (t *trace) traceRun(now types.Time, l *roleLoop) {
	t.addStep(now, kindRun, l.process.node.index, l.process.number<<8|uint32(l.index), 0)
	if t.lines != nil {
		t.writeStepLine(now, kindRun, l.process.node, "role", l.role, 0)
	}
}

func (t *trace) tracePlain(now types.Time, k kind, n *node) {
	t.addStep(now, k, n.index, n.started, 0)
	if t.lines != nil {
		t.writeStepLine(now, k, n, "", "", 0)
	}
}

func (t *trace) traceFrame(now types.Time, k kind, n, peer *node, content uint64, frame []byte) {
	t.addStep(now, k, n.index, uint32(peer.index), content)
	if t.lines != nil {
		t.writeFrameLine(now, kindNames[k], n, peer, content, frame, "")
	}
}

// traceSentFrame enters a frame that is sent over a connection.
func (t *trace) traceSentFrame(now types.Time, n, peer *node, frame []byte) {
	content := xxhash.Sum64(frame)
	t.addStep(now, kindSaid, n.index, uint32(peer.index), content)
	if t.lines != nil && len(frame) > 0 {
		t.writeText("{\"time\":%d,\"kind\":\"said\",\"node\":%q,\"life\":%d,\"peer\":%q,\"what\":%q,\"content\":\"%016x\"}\n",
			now.Sub(firstInstant), n.name, n.started, peer.name, push.Type(frame[0]), content)
	}
}

// traceConnectionEvent enters the events of a connection, except frames to readers: these have a line at their sending, and their contents
// are in the
// chain.
func (t *trace) traceConnectionEvent(now types.Time, n, peer *node, e connection.Event) {
	what, on := "down", uint64(0)
	switch e := e.(type) {
	case connection.Up:
		what, on = "up", 1
	case connection.Opened:
		what, on = "opened", 2|uint64(e.Stream)<<8
	case connection.Came:
		what, on = "", 3|uint64(e.Stream)<<8
	case connection.Ended:
		what, on = "ended", 4|uint64(e.Stream)<<8
	case connection.Cut:
		what, on = "cut", 5|uint64(e.Stream)<<8
	case connection.TooLong:
		what, on = "too_long", 6|uint64(e.Stream)<<8
	case connection.Stalled:
		what, on = "stalled", 7|uint64(e.Stream)<<8
	case connection.Stuck:
		what, on = "stuck", 8
	}
	at, name := -1, ""
	if peer != nil {
		at, name = peer.index, peer.name
	}
	t.addStep(now, kindTold, n.index, uint32(at), on)
	if t.lines != nil && what != "" {
		t.writeText("{\"time\":%d,\"kind\":\"told\",\"node\":%q,\"life\":%d,\"peer\":%q,\"what\":%q}\n",
			now.Sub(firstInstant), n.name, n.started, name, what)
	}
}

// traceDrop records why a frame does not arrive. Only readers get it: its
// consequences are in the chain of hashes.
func (t *trace) traceDrop(now types.Time, n, peer *node, f *flight, why string) {
	if t.lines != nil {
		t.writeFrameLine(now, "drop", n, peer, f.hash, f.frame, why)
	}
}

// writeFrameLine writes one line about a frame, from its content.
func (t *trace) writeFrameLine(now types.Time, kind string, n, peer *node, content uint64, frame []byte, why string) {
	said := describeFrame(frame)
	if why != "" {
		said += fmt.Sprintf(",\"why\":%q", why)
	}
	t.writeText("{\"time\":%d,\"kind\":%q,\"node\":%q,\"life\":%d,\"peer\":%q%s,\"content\":\"%016x\"}\n",
		now.Sub(firstInstant), kind, n.name, n.started, peer.name, said, content)
}

func (t *trace) traceContent(now types.Time, k kind, n *node, count int, content uint64) {
	t.addStep(now, k, n.index, uint32(count), content)
	if t.lines != nil {
		t.writeStepLine(now, k, n, "count", fmt.Sprint(count), content)
	}
}

func (t *trace) traceNote(now types.Time, n *node, what string, content []byte) {
	sum := xxhash.New()
	sum.WriteString(what)
	sum.Write([]byte{0})
	sum.Write(content)
	t.addStep(now, kindNote, n.index, uint32(len(content)), sum.Sum64())
	if t.lines != nil {
		t.writeStepLine(now, kindNote, n, "what", what, sum.Sum64())
	}
}

// traceFault enters a fault verb, as it reads in its receipt.
func (t *trace) traceFault(now types.Time, text string) {
	t.addStep(now, kindFault, 0, uint32(len(text)), xxhash.Sum64String(text))
	if t.lines != nil {
		t.writeText("{\"time\":%d,\"kind\":\"fault\",\"what\":%q}\n", now.Sub(firstInstant), text)
	}
}

// traceReport writes a report of a validator's consensus on a view. Only readers get it:
// it follows from the chain of hashes.
func (t *trace) traceReport(now types.Time, n *node, report simplex.Report, name func(types.Address) string) {
	if t.lines == nil {
		return
	}
	said := ""
	switch r := report.(type) {
	case simplex.Entered:
		said = fmt.Sprintf(`"what":"entered","view":%d,"leader":%q`, r.View, name(r.Leader))
	case simplex.GaveUp:
		said = fmt.Sprintf(`"what":"gave_up","view":%d,"leader":%q,"cause":%q,"detail":%q`, r.View, name(r.Leader), r.Cause, r.Detail)
	case simplex.Rejected:
		said = fmt.Sprintf(`"what":"rejected","view":%d,"why":%q`, r.View, r.Reason)
	case simplex.Notarized:
		said = fmt.Sprintf(`"what":"notarized","view":%d,"height":%d`, r.Certificate.View, r.Certificate.Height)
	case simplex.Nullified:
		said = fmt.Sprintf(`"what":"nullified","view":%d`, r.Certificate.View)
	case simplex.Behind:
		said = fmt.Sprintf(`"what":"behind","view":%d,"height":%d`, r.Certificate.View, r.Certificate.Height)
	case simplex.SitsOut:
		said = `"what":"sits_out"`
	case simplex.Waits:
		said = fmt.Sprintf(`"what":"twin_waits","answers":%d`, r.Answers)
	case simplex.Settled:
		said = `"what":"settled"`
	case simplex.Stranger:
		said = fmt.Sprintf(`"what":"twin_voted","view":%d`, r.Vote.View)
	case simplex.ComesBack:
		said = `"what":"comes_back"`
	case simplex.Evidence:
		said = fmt.Sprintf(`"what":"evidence","offender":%q`, name(r.Offender))
	default:
		return // a final block has a separate note
	}
	t.writeText("{\"time\":%d,\"kind\":\"view\",\"node\":%q,\"life\":%d,%s}\n", now.Sub(firstInstant), n.name, n.started, said)
}

// writeStepLine writes one step as a JSON object; time is in nanoseconds from the start.
func (t *trace) writeStepLine(now types.Time, k kind, n *node, key, value string, content uint64) {
	detail := ""
	if key != "" {
		detail = fmt.Sprintf(",%q:%q", key, value)
	}
	if content != 0 {
		detail += fmt.Sprintf(",\"content\":\"%016x\"", content)
	}
	t.writeText("{\"time\":%d,\"kind\":%q,\"node\":%q,\"life\":%d%s}\n", now.Sub(firstInstant), kindNames[k], n.name, n.started, detail)
}

func (t *trace) writeText(format string, args ...any) {
	if _, err := fmt.Fprintf(t.lines, format, args...); err != nil && t.err == nil {
		t.err = fmt.Errorf("sim: writing the trace: %w", err)
	}
}

// flushBuffer writes out what is buffered and returns the first error of writing.
func (t *trace) flushBuffer() error {
	if t.lines == nil {
		return nil
	}
	if err := t.lines.Flush(); err != nil && t.err == nil {
		t.err = fmt.Errorf("sim: writing the trace: %w", err)
	}
	return t.err
}
