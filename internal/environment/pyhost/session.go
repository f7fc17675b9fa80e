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

// begin has a host ready and sets the deadline of a conversation.
func (s *session) begin(during string) error {
	if s.closed || s.dead || s.host != nil && s.host.broken {
		return failure(during, errDead, false, 0, "")
	}
	if s.depth > 0 {
		return nil
	}
	if s.proves && s.pool.isClosed() { // a network that ends waits for no proof
		return failure(during, errClosed, false, 0, "")
	}
	left := s.bounds.Left
	if left != nil && left() <= 0 {
		return failure(during, program.ErrNotBegun, true, 0, "")
	}
	if s.host == nil {
		if !s.proves && !s.pool.awaitProof(left) {
			return failure(during, program.ErrNotBegun, true, 0, "")
		}
		h, err := s.pool.take(during, s.free, left)
		if err != nil {
			return err
		}
		s.host = h
	}
	patience, bounded := within(s.wall(), left)
	if patience <= 0 {
		return failure(during, program.ErrNotBegun, true, 0, "")
	}
	s.host.until(time.Now().Add(patience), bounded)
	if err := s.host.fork(); err != nil {
		return s.host.fail(during, err)
	}
	return nil
}

// wall is the wall time of a message. In a strict session CPU time decides what is late, and
// the wall clock is ten times as patient: a busy machine puts no honest program in doubt.
//
// Spec: decision C18.
func (s *session) wall() time.Duration {
	if s.bounds.Strict {
		return wallTimes * s.pool.config.CallTimeout
	}
	return s.pool.config.CallTimeout
}

// within returns the smaller of a limit and what is left, and whether that is
// what is left.
func within(limit time.Duration, left func() time.Duration) (time.Duration, bool) {
	if left != nil {
		if rest := left(); rest < limit {
			return rest, true
		}
	}
	return limit, false
}

// charge makes the host count by costs.
func (s *session) charge(during string, costs params.StepCosts) error {
	table := make([]uint64, len(costs))
	for i, c := range costs {
		table[i] = uint64(c)
	}
	if err := s.host.tell(table); err != nil {
		return s.host.fail(during, err)
	}
	return nil
}

// Inspect checks code as a deploy does. What the pool found before of the same code it takes from there.
func (s *session) Inspect(code program.Code) (program.Description, error) {
	const during = "inspection of code"
	if err := s.begin(during); err != nil {
		return program.Description{}, err
	}
	limit := code.Units
	if limit == 0 {
		limit = math.MaxUint64
	}
	if known := s.pool.verdicts.find(code.Hash, limit); known != nil {
		return known.answer()
	}
	found, err := s.inspectAnew(during, code.Source, limit)
	s.pool.verdicts.keep(code.Hash, limit, found, err)
	return found, err
}

// inspectAnew has the host inspect a source, which may do limit units of compiling.
func (s *session) inspectAnew(during string, source []byte, limit uint64) (program.Description, error) {
	h := s.host
	if s.bounds.Strict && s.depth == 0 {
		h.strictly(program.InspectionCycles(len(source), limit))
	}
	h.enc.begin(frameInspect, 2).number("limit", limit).bytes("source", source)
	if err := h.send(); err != nil {
		return program.Description{}, h.fail(during, err)
	}
	kind, body, err := h.read.next()
	if err != nil {
		return program.Description{}, h.fail(during, err)
	}
	d := &decoder{data: body}
	switch kind {
	case frameNo:
		refusal := d.refusal()
		if d.end(); d.err == nil {
			return program.Description{}, refusal
		}
	case frameFine:
		found := d.description()
		if d.end(); d.err == nil {
			return found, nil
		}
	default:
		d.fail("a frame %q", kind)
	}
	return program.Description{}, h.fail(during, d.err)
}

func (d *decoder) refusal() *program.Refusal {
	a := &arguments{record: d.record(refusalForm)}
	found := &program.Refusal{Units: a.number("units"), Line: int(a.number("line")), Reason: text(a.data("reason")),
		Code: clip(text(a.data("code")), maxFaultCode)}
	d.keep(a.err)
	return found
}

func (d *decoder) description() program.Description {
	a := &arguments{record: d.record(descriptionForm)}
	found := program.Description{Units: a.number("units"), Schema: a.data("schema")}
	if len(found.Schema) > maxSchema {
		d.fail("a schema of %d bytes", len(found.Schema))
	}
	d.keep(a.err)
	for len(d.data) > 0 && len(found.Handlers) <= maxHandlers {
		a := &arguments{record: d.record(handlerForm)}
		found.Handlers = append(found.Handlers, program.Handler{Name: text(a.data("name")), Doc: text(a.data("doc"))})
		d.keep(a.err)
	}
	return found
}

// Handle runs one message. Its error is a *program.HostError, or an error of the
// Context other than a *program.Fault. The session is dead after an error.
func (s *session) Handle(ctx program.Context, code program.Code, m program.Message) (program.Outcome, error) {
	during := fmt.Sprintf("handler %s of %s", m.Handler, m.Self)
	if err := s.begin(during); err != nil {
		return program.Outcome{}, err
	}
	costs := s.pool.config.Costs
	if c, ok := ctx.(Coster); ok {
		costs = c.StepCosts()
	}
	if err := s.charge(during, costs); err != nil {
		return program.Outcome{}, err
	}
	h := s.host
	if err := h.ensure(code.Hash, code.Source); err != nil {
		return program.Outcome{}, h.fail(during, err)
	}
	if s.bounds.Strict && s.depth == 0 {
		limit, _ := ctx.Remaining()
		h.strictly(limit)
	}
	c := &conversation{session: s, host: h, ctx: ctx, code: code, site: site{code.Hash, m.Handler}}
	s.writeCall(ctx, code.Hash, m, c)
	if err := h.send(); err != nil {
		return program.Outcome{}, h.fail(during, err)
	}
	h.served++
	s.depth++
	out, err := c.run()
	s.depth--
	if err != nil {
		s.dead = true
		switch host := (*program.HostError)(nil); {
		case errors.Is(err, errFrame):
			return program.Outcome{}, h.fail(during, err)
		case !errors.As(err, &host) && (!h.forked || h.endChild() != nil): // it waits for an answer that never comes
			h.stop()
		}
		return program.Outcome{}, err
	}
	s.pool.hints.put(c.site, c.read)
	return out, nil
}

// writeCall builds the frame of a call: what running it takes, what the program
// may ask about it, and the values it is likely to read where the Context can
// show them.
func (s *session) writeCall(ctx program.Context, hash types.Hash, m program.Message, c *conversation) {
	cycles, _ := ctx.Remaining()
	known := s.known(ctx, c.site)
	entries := len(callFixed) + 2
	if len(known) > 0 {
		entries++
	}
	b := ctx.Block()
	e := s.host.enc.begin(frameCall, entries).number("kind", uint64(m.Kind)).bytes("code", hash[:]).number("cycles", clampCycles(cycles))
	e.bytes("sender", m.Sender[:]).bytes("me", m.Self[:]).bytes("owner", m.Owner[:]).bytes("tx_hash", b.TxHash[:])
	e.number("height", uint64(b.Height)).number("timestamp", uint64(b.TimestampMS)).number("chain_id", b.ChainID)
	value := m.Value.Bytes32()
	e.bytes("value", value[:])
	e.bytes("handler", []byte(m.Handler)).bytes("payload", m.Payload)
	if len(known) == 0 {
		return
	}
	at := e.open("known", len(known))
	for _, k := range known {
		e.value(k.key)
		if k.found {
			e.value(k.value)
		} else {
			e.null()
		}
	}
	e.close(at)
}

// seen is a value that a handler is likely to read.
type seen struct {
	key, value []byte
	found      bool
}

func (s *session) known(ctx program.Context, at site) (all []seen) {
	peeker, ok := ctx.(Peeker)
	if !ok {
		return nil
	}
	for _, key := range s.pool.hints.get(at) {
		value, found := peeker.Peek(key)
		all = append(all, seen{key, value, found})
	}
	return all
}

// clampCycles keeps what the host counts within a signed 62-bit number.
func clampCycles(c types.Cycles) uint64 { return min(uint64(c), 1<<61) }

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
