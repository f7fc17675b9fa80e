package pyhost

import (
	"encoding/binary"
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
	left   func() time.Duration
	depth  int // of messages within messages
	closed bool
}

// Bound implements program.Session.
func (s *session) Bound(left func() time.Duration) { s.left = left }

// Close gives the host back, or its place if it has ended.
func (s *session) Close() {
	if s.host != nil && !s.closed {
		s.pool.giveBack(s.free, s.host)
	}
	s.closed = true
}

// begin has a host ready and sets the deadline of a conversation.
func (s *session) begin(during string) error {
	if s.closed || s.host != nil && s.host.broken {
		return failure(during, errDead, false, "")
	}
	if s.depth > 0 {
		return nil
	}
	if s.left != nil && s.left() <= 0 {
		return failure(during, program.ErrNotBegun, true, "")
	}
	if s.host == nil {
		h, err := s.pool.take(during, s.free, s.left)
		if err != nil {
			return err
		}
		s.host = h
	}
	patience, bounded := within(s.pool.config.CallTimeout, s.left)
	if patience <= 0 {
		return failure(during, program.ErrNotBegun, true, "")
	}
	s.host.until(time.Now().Add(patience), bounded)
	if err := s.host.fork(); err != nil {
		return s.host.fail(during, err)
	}
	return nil
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

// charge has the host count by costs.
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

// Inspect checks code as a deploy does.
func (s *session) Inspect(code program.Code) (program.Description, error) {
	const during = "inspection of code"
	if err := s.begin(during); err != nil {
		return program.Description{}, err
	}
	h := s.host
	limit := code.Units
	if limit == 0 {
		limit = math.MaxUint64
	}
	h.enc.begin(frameInspect).u64(limit).raw(code.Source)
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
		refusal := &program.Refusal{Units: d.u64(), Line: int(d.u32()), Reason: text(d.item())}
		if d.err == nil {
			return program.Description{}, refusal
		}
	case frameFine:
		found := program.Description{Units: d.u64()}
		for len(d.data) > 0 && d.err == nil && len(found.Handlers) <= maxHandlers {
			found.Handlers = append(found.Handlers, program.Handler{Name: text(d.item()), Doc: text(d.item())})
		}
		if d.err == nil && len(d.data) == 0 {
			return found, nil
		}
	}
	return program.Description{}, h.fail(during, errFrame)
}

// Handle runs one message. Its error is a *program.HostError, or what the Context
// returned that was no *program.Fault; the session is dead then.
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
	c := &conversation{session: s, host: h, ctx: ctx, site: site{code.Hash, m.Handler}}
	s.writeCall(ctx, code.Hash, m, c)
	if err := h.send(); err != nil {
		return program.Outcome{}, h.fail(during, err)
	}
	h.served++
	s.depth++
	out, err := c.run()
	s.depth--
	if err != nil {
		if errors.Is(err, errFrame) {
			return program.Outcome{}, h.fail(during, err)
		}
		h.stop() // it waits for an answer that nobody will give
		return program.Outcome{}, err
	}
	s.pool.hints.put(c.site, c.read)
	return out, nil
}

// writeCall builds the frame of a call, with the values the handler is likely
// to read where the Context can show them.
func (s *session) writeCall(ctx program.Context, hash types.Hash, m program.Message, c *conversation) {
	b := ctx.Block()
	cycles, cells := ctx.Remaining()
	e := s.host.enc.begin(frameCall).u8(byte(m.Kind)).raw(hash[:]).raw(m.Sender[:]).raw(m.Self[:]).raw(m.Owner[:])
	e.u64(uint64(b.Height)).u64(uint64(b.TimestampMS)).u64(b.ChainID).raw(b.TxHash[:])
	e.u64(clampCycles(cycles)).u64(uint64(cells)).item([]byte(m.Handler)).item(m.Payload)
	peeker, ok := ctx.(Peeker)
	if !ok {
		return
	}
	for _, key := range s.pool.hints.get(c.site) {
		value, found := peeker.Peek(key)
		e.item(key)
		if found {
			e.item(value)
		} else {
			e.none()
		}
	}
}

// clampCycles keeps what the host counts within a signed 62-bit number.
func clampCycles(c types.Cycles) uint64 { return min(uint64(c), 1<<61) }

func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

func u64(b []byte) (uint64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}
