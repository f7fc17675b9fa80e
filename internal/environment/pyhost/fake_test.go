package pyhost

import (
	"fmt"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// world is a chain in memory: actors by address, each with code and state.
type world struct {
	session program.Session
	actors  map[types.Address]*fakeActor
	trace   []string // every operation of every context, in order
	sent    []string
	timers  []program.TimerRequest
	jobs    []*push.JobSpec
	height  types.Height // of the block, beyond 100
	logs    []string
	peeks   bool
	costs   *params.StepCosts
	failing error // of Get: an environment that breaks
}

type fakeActor struct {
	code    program.Code
	state   map[string][]byte
	balance uint64
}

func keccak(data ...[]byte) (h types.Hash) {
	k := sha3.NewLegacyKeccak256()
	for _, d := range data {
		k.Write(d)
	}
	k.Sum(h[:0])
	return h
}

func codeOf(source string) program.Code {
	return program.Code{Hash: keccak([]byte(source)), Source: []byte(source)}
}

func newWorld(s program.Session) *world {
	return &world{session: s, actors: map[types.Address]*fakeActor{}}
}

func (w *world) deploy(n byte, source string) types.Address {
	at := types.Address{0: 0xaa, 19: n}
	w.actors[at] = &fakeActor{code: codeOf(source), state: map[string][]byte{}, balance: 1000}
	return at
}

var (
	alice = types.Address{0: 1}
	owner = types.Address{0: 2}
)

// fakeContext charges like CIP-3's table and keeps writes until the end.
type fakeContext struct {
	w       *world
	m       program.Message
	cycles  types.Cycles
	cells   types.Cells
	pending map[string][]byte
	depth   int
}

func (c *fakeContext) fail(code string) error {
	return &program.Fault{Status: types.StatusReverted, Code: code, Message: "refused by the test"}
}

func (c *fakeContext) charge(op string, n types.Cycles) error {
	if n > c.cycles {
		c.cycles = 0
		c.w.trace = append(c.w.trace, "over")
		return &program.Fault{Status: types.StatusOutOfCycles, Code: "out_of_cycles", Message: "no cycles are left", Abort: true}
	}
	c.cycles -= n
	c.w.trace = append(c.w.trace, op)
	return nil
}

func (c *fakeContext) write(op string) error {
	if c.m.Kind == program.Read {
		return c.fail("read_only")
	}
	return c.charge(op, 200)
}

func (c *fakeContext) Block() program.BlockInfo {
	return program.BlockInfo{ChainID: 8011, Height: 100 + c.w.height, TimestampMS: 1_700_000_000_000, TxHash: types.Hash{0: 9}}
}
func (c *fakeContext) Message() program.Message               { return c.m }
func (c *fakeContext) Remaining() (types.Cycles, types.Cells) { return c.cycles, c.cells }
func (c *fakeContext) Spend(n types.Cycles, _ types.Cells) error {
	return c.charge(fmt.Sprint("spend ", n), n)
}

func (c *fakeContext) Get(key []byte) ([]byte, bool, error) {
	if c.w.failing != nil {
		return nil, false, c.w.failing
	}
	if err := c.charge(fmt.Sprintf("get %q", key), 10); err != nil {
		return nil, false, err
	}
	v, ok := c.Peek(key)
	return v, ok, nil
}

func (c *fakeContext) Peek(key []byte) ([]byte, bool) {
	if v, ok := c.pending[string(key)]; ok {
		return v, v != nil
	}
	v, ok := c.w.actors[c.m.Self].state[string(key)]
	return v, ok
}

func (c *fakeContext) Set(key, value []byte) error {
	if len(key) > 256 {
		return c.fail("key_too_long")
	}
	if err := c.write(fmt.Sprintf("set %q", key)); err != nil {
		return err
	}
	if n := types.Cells(len(key) + len(value)); n > c.cells {
		return &program.Fault{Status: types.StatusOutOfCells, Code: "out_of_cells", Message: "no cells are left", Abort: true}
	} else {
		c.cells -= n
	}
	c.pending[string(key)] = append([]byte{}, value...)
	return nil
}

func (c *fakeContext) Delete(key []byte) error {
	c.pending[string(key)] = nil
	return c.write(fmt.Sprintf("delete %q", key))
}

func (c *fakeContext) Balance(of types.Address) (types.Wei, error) {
	if a := c.w.actors[of]; a != nil {
		return types.WeiOf(a.balance), c.charge("balance", 10)
	}
	return types.Wei{}, c.charge("balance", 10)
}

func (c *fakeContext) Transfer(to types.Address, amount types.Wei) error {
	n, _ := amount.Uint64()
	if c.w.actors[c.m.Self].balance < n {
		return c.fail("insufficient_balance")
	}
	c.w.actors[c.m.Self].balance -= n
	return c.write("transfer")
}

func (c *fakeContext) Emit(name string, data []byte) error {
	return c.write(fmt.Sprintf("emit %s %q", name, data))
}

func (c *fakeContext) Send(to types.Address, handler string, payload []byte, cycles types.Cycles, cells types.Cells) error {
	c.w.sent = append(c.w.sent, fmt.Sprintf("%x %s %q %d %d", to[19], handler, payload, cycles, cells))
	return c.write("send")
}

func (c *fakeContext) Call(to types.Address, handler string, payload []byte, limit types.Cycles) ([]byte, error) {
	if err := c.charge("call "+handler, 100); err != nil {
		return nil, err
	}
	if to == types.DispatcherAddress && handler == "cancel" {
		return nil, c.write(fmt.Sprintf("cancel job %x", payload[:4]))
	}
	if c.w.actors[to] == nil {
		return nil, c.fail("no_actor")
	}
	if c.depth >= 32 {
		return nil, c.fail("call_depth")
	}
	if limit == 0 || limit > c.cycles {
		limit = c.cycles
	}
	inner := c.w.context(program.Message{Kind: program.Call, Sender: c.m.Self, Self: to, Handler: handler, Payload: payload, Owner: owner},
		limit)
	inner.depth = c.depth + 1
	out, err := c.w.session.Handle(inner, c.w.actors[to].code, inner.m)
	if err != nil {
		return nil, err
	}
	c.cycles -= limit - inner.cycles
	if out.Status != types.StatusOK {
		return nil, c.fail(out.Fault.Code)
	}
	inner.keep()
	return out.Output, nil
}

func (c *fakeContext) ScheduleTimer(r program.TimerRequest) (types.TimerID, error) {
	c.w.timers = append(c.w.timers, r)
	return keccak([]byte{byte(len(c.w.timers))}), c.write(fmt.Sprint("schedule ", r.Height))
}
func (c *fakeContext) CancelTimer(types.TimerID) error { return c.write("cancel") }
func (c *fakeContext) ExtendTimer(_ types.TimerID, h types.Height) error {
	return c.write(fmt.Sprint("extend ", h))
}

// SubmitJob reads a job as the dispatcher does, and takes any that is one.
func (c *fakeContext) SubmitJob(spec []byte) (types.Hash, error) {
	if err := c.write(fmt.Sprint("submit ", len(spec))); err != nil {
		return types.Hash{}, err
	}
	job, err := push.ParseOrder(spec, c.m.Self, 100)
	if err != nil {
		return types.Hash{}, &program.Fault{Status: types.StatusReverted, Code: "malformed",
			Message: "the payload must be a JobSpec without submitter and submitted_at: " + err.Error()}
	}
	if err := job.Check(); err != nil {
		return types.Hash{}, &program.Fault{Status: types.StatusReverted, Code: "bad_spec", Message: err.Error()}
	}
	c.w.jobs = append(c.w.jobs, job)
	return jobID(len(c.w.jobs)), nil
}

// jobID is the id of the n-th job, counted from 1.
func jobID(n int) types.Hash { return keccak([]byte("job"), []byte{byte(n)}) }
func (c *fakeContext) SetGasBidder(bidder *types.Address) error {
	return c.write(fmt.Sprint("bidder ", bidder))
}
func (c *fakeContext) Keccak(data []byte) (types.Hash, error) {
	return keccak(data), c.charge("keccak", 6*types.Cycles(1+(len(data)+31)/32))
}
func (c *fakeContext) Randomness(domain []byte) (types.Hash, error) {
	return keccak([]byte("seed"), domain), c.charge("randomness", 10)
}
func (c *fakeContext) Log(line string) { c.w.logs = append(c.w.logs, line) }

// keep moves the writes of a message that ended well into state.
func (c *fakeContext) keep() {
	for k, v := range c.pending {
		if v == nil {
			delete(c.w.actors[c.m.Self].state, k)
		} else {
			c.w.actors[c.m.Self].state[k] = v
		}
	}
}

func (w *world) context(m program.Message, cycles types.Cycles) *fakeContext {
	return &fakeContext{w: w, m: m, cycles: cycles, cells: 1 << 20, pending: map[string][]byte{}}
}

// noPeek hides Peek, so that every first read is a request.
type noPeek struct{ program.Context }

// withCosts is a context that names the table in force.
type withCosts struct {
	*fakeContext
	costs params.StepCosts
}

func (c withCosts) StepCosts() params.StepCosts { return c.costs }

// handle runs one message with limit cycles and returns what it used.
func (w *world) handle(m program.Message, limit types.Cycles) (program.Outcome, types.Cycles, error) {
	c := w.context(m, limit)
	var ctx program.Context = noPeek{c}
	if w.peeks {
		ctx = c
	}
	if w.costs != nil {
		ctx = withCosts{c, *w.costs}
	}
	out, err := w.session.Handle(ctx, w.actors[m.Self].code, m)
	if err == nil && out.Status == types.StatusOK {
		c.keep()
	}
	return out, limit - c.cycles, err
}

const plenty = types.Cycles(10_000_000)

// call is a message from alice that must not fail in the environment.
func (w *world) call(t testing.TB, to types.Address, handler, payload string) (program.Outcome, types.Cycles) {
	t.Helper()
	m := program.Message{Kind: program.Call, Sender: alice, Self: to, Handler: handler, Payload: []byte(payload), Owner: owner}
	out, used, err := w.handle(m, plenty)
	if err != nil {
		t.Fatalf("%s: %v", handler, err)
	}
	return out, used
}
