package pyhost

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// session is a host lent out, from its first message on. It is used by one
// goroutine.
type session struct {
	pool   *Pool
	free   chan *host // where its host comes from and goes back to
	host   *host      // nil until it is needed
	bounds program.Bounds
	depth  int  // of messages within messages
	proves bool // its messages are those of the proof, for which others wait
	dead   bool // a message had no end
	closed bool
}

// Bound implements program.Session.
func (s *session) Bound(by program.Bounds) { s.bounds = by }

// Close gives the host back, or its place if it has ended.
func (s *session) Close() {
	if s.host != nil && !s.closed {
		s.pool.giveBack(s.free, s.host)
	}
	s.closed = true
}

// beginConversation has a host ready and sets the deadline of a conversation.
func (s *session) beginConversation(during string) error {
	if s.closed || s.dead || s.host != nil && s.host.broken {
		return newFailure(during, errDead, false, 0, "")
	}
	if s.depth > 0 {
		return nil
	}
	if s.proves && s.pool.isClosed() { // a network that ends waits for no proof
		return newFailure(during, errClosed, false, 0, "")
	}
	left := s.bounds.Left
	if left != nil && left() <= 0 {
		return newFailure(during, program.ErrNotBegun, true, 0, "")
	}
	if s.host == nil {
		if !s.proves && !s.pool.awaitProof(left) {
			return newFailure(during, program.ErrNotBegun, true, 0, "")
		}
		h, err := s.pool.takeHost(during, s.free, left)
		if err != nil {
			return err
		}
		s.host = h
	}
	patience, bounded := lesserTime(s.wallLimit(), left)
	if patience <= 0 {
		return newFailure(during, program.ErrNotBegun, true, 0, "")
	}
	s.host.setDeadline(time.Now().Add(patience), bounded)
	if err := s.host.forkChild(); err != nil {
		return s.host.failDuring(during, err)
	}
	return nil
}

// wallLimit is the wall time of a message. In a strict session CPU time decides what is late, and
// the wall clock is ten times as patient: a busy machine puts no honest program in doubt.
//
// Spec: decision C18.
func (s *session) wallLimit() time.Duration {
	if s.bounds.Strict {
		return wallTimes * s.pool.config.CallTimeout
	}
	return s.pool.config.CallTimeout
}

// lesserTime returns the smaller of a limit and what is left, and whether that is
// what is left.
func lesserTime(limit time.Duration, left func() time.Duration) (time.Duration, bool) {
	if left != nil {
		if rest := left(); rest < limit {
			return rest, true
		}
	}
	return limit, false
}

// setCosts makes the host count by costs.
func (s *session) setCosts(during string, costs params.StepCosts) error {
	table := make([]uint64, len(costs))
	for i, c := range costs {
		table[i] = uint64(c)
	}
	if err := s.host.sendCosts(table); err != nil {
		return s.host.failDuring(during, err)
	}
	return nil
}

// Inspect checks code as a deploy does. What the pool found before of the same code it takes from there.
func (s *session) Inspect(code program.Code) (program.Description, error) {
	const during = "inspection of code"
	if err := s.beginConversation(during); err != nil {
		return program.Description{}, err
	}
	limit := code.Units
	if limit == 0 {
		limit = math.MaxUint64
	}
	if known := s.pool.verdicts.findVerdict(code.Hash, limit); known != nil {
		return known.inspectAnswer()
	}
	found, err := s.inspectAnew(during, code.Source, limit)
	s.pool.verdicts.keepVerdict(code.Hash, limit, found, err)
	return found, err
}

// inspectAnew has the host inspect a source, which may do limit units of compiling.
func (s *session) inspectAnew(during string, source []byte, limit uint64) (program.Description, error) {
	h := s.host
	if s.bounds.Strict && s.depth == 0 {
		h.limitStrictly(program.InspectionCycles(len(source), limit), program.LateInspectionPages)
	}
	h.enc.beginFrame(frameInspect, 2).writeNumber("limit", limit).writeBytes("source", source)
	if err := h.sendFrame(); err != nil {
		return program.Description{}, h.failDuring(during, err)
	}
	kind, body, err := h.read.nextFrame()
	if err != nil {
		return program.Description{}, h.failDuring(during, err)
	}
	d := &decoder{data: body}
	switch kind {
	case frameNo:
		refusal := d.readRefusal()
		if d.expectEnd(); d.err == nil {
			return program.Description{}, refusal
		}
	case frameFine:
		found := d.readDescription()
		if d.expectEnd(); d.err == nil {
			return found, nil
		}
	default:
		d.failWith("a frame %q", kind)
	}
	return program.Description{}, h.failDuring(during, d.err)
}

func (d *decoder) readRefusal() *program.Refusal {
	a := &arguments{record: d.readRecord(refusalForm)}
	found := &program.Refusal{Units: a.numberOf("units"), Line: int(a.numberOf("line")), Reason: validText(a.dataOf("reason")),
		Code: clipText(validText(a.dataOf("code")), maxFaultCode)}
	d.keepError(a.err)
	return found
}

func (d *decoder) readDescription() program.Description {
	a := &arguments{record: d.readRecord(descriptionForm)}
	found := program.Description{Units: a.numberOf("units"), Schema: a.dataOf("schema")}
	if len(found.Schema) > maxSchema {
		d.failWith("a schema of %d bytes", len(found.Schema))
	}
	d.keepError(a.err)
	for len(d.data) > 0 && len(found.Handlers) <= maxHandlers {
		a := &arguments{record: d.readRecord(handlerForm)}
		found.Handlers = append(found.Handlers, program.Handler{Name: validText(a.dataOf("name")), Doc: validText(a.dataOf("doc"))})
		d.keepError(a.err)
	}
	return found
}

// Handle runs one message. Its error is a *program.HostError, or an error of the
// Context other than a *program.Fault. The session is dead after an error.
func (s *session) Handle(ctx program.Context, code program.Code, m program.Message) (program.Outcome, error) {
	during := fmt.Sprintf("handler %s of %s", m.Handler, m.Self)
	if err := s.beginConversation(during); err != nil {
		return program.Outcome{}, err
	}
	costs := s.pool.config.Costs
	if c, ok := ctx.(Coster); ok {
		costs = c.StepCosts()
	}
	if err := s.setCosts(during, costs); err != nil {
		return program.Outcome{}, err
	}
	h := s.host
	if err := h.ensureCode(code.Hash, code.Source); err != nil {
		return program.Outcome{}, h.failDuring(during, err)
	}
	if s.bounds.Strict && s.depth == 0 {
		limit, _ := ctx.Remaining()
		h.limitStrictly(limit, program.LatePages)
	}
	c := &conversation{session: s, host: h, ctx: ctx, code: code, site: site{code.Hash, m.Handler}}
	s.writeCall(ctx, code.Hash, m, c)
	if err := h.sendFrame(); err != nil {
		return program.Outcome{}, h.failDuring(during, err)
	}
	h.served++
	s.depth++
	out, err := c.runToReply()
	s.depth--
	if err != nil {
		s.dead = true
		switch host := (*program.HostError)(nil); {
		case errors.Is(err, errFrame):
			return program.Outcome{}, h.failDuring(during, err)
		case !errors.As(err, &host) && (!h.forked || h.endChild() != nil): // it waits for an answer that never comes
			h.stopProcess()
		}
		return program.Outcome{}, err
	}
	s.pool.hints.putHints(c.site, c.read)
	return out, nil
}

// writeCall builds the frame of a call: what running it takes, what the program
// may ask about it, and the values it is likely to read where the Context can
// show them.
func (s *session) writeCall(ctx program.Context, hash types.Hash, m program.Message, c *conversation) {
	cycles, _ := ctx.Remaining()
	known := s.hintedValues(ctx, c.site)
	entries := len(callFixed) + 2
	if len(known) > 0 {
		entries++
	}
	b := ctx.Block()
	e := s.host.enc.beginFrame(frameCall, entries).writeNumber("kind", uint64(m.Kind)).writeBytes("code", hash[:]).writeNumber("cycles",
		clampCycles(cycles))
	e.writeBytes("sender", m.Sender[:]).writeBytes("me", m.Self[:]).writeBytes("owner", m.Owner[:]).writeBytes("tx_hash", b.TxHash[:])
	e.writeNumber("height", uint64(b.Height)).writeNumber("timestamp", uint64(b.TimestampMS)).writeNumber("chain_id", b.ChainID)
	value := m.Value.Bytes32()
	e.writeBytes("value", value[:])
	e.writeBytes("handler", []byte(m.Handler)).writeBytes("payload", m.Payload)
	if len(known) == 0 {
		return
	}
	at := e.openMap("known", len(known))
	for _, k := range known {
		e.writeValue(k.key)
		if k.found {
			e.writeValue(k.value)
		} else {
			e.writeNull()
		}
	}
	e.closeMap(at)
}

// hintedValue is a value that a handler is likely to read.
type hintedValue struct {
	key, value []byte
	found      bool
}

func (s *session) hintedValues(ctx program.Context, at site) (all []hintedValue) {
	peeker, ok := ctx.(Peeker)
	if !ok {
		return nil
	}
	for _, key := range s.pool.hints.hintsFor(at) {
		value, found := peeker.Peek(key)
		all = append(all, hintedValue{key, value, found})
	}
	return all
}

// clampCycles keeps what the host counts within a signed 62-bit number.
func clampCycles(c types.Cycles) uint64 { return min(uint64(c), 1<<61) }

func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
