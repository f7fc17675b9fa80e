package ledger

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// wedged is a host of programs that crashes on some actors and takes a time of its
// clock on all. It honors a session's bound as the real ones do.
type wedged struct {
	program.Host
	crashes  map[types.Address]bool
	takes    map[types.Address]time.Duration // within the allowance of the code that it runs
	hangs    map[types.Address]bool          // uses CPU time and no cycles
	hangsFor map[types.Address]bool          // the same, by sender
	slow     map[types.Hash]bool             // code whose inspection hangs
	starves  bool                            // the machine gives it no processor
	ends     map[types.Address]func(had time.Duration) (took time.Duration, how program.Failure)
	how      program.Failure // of crashes
	crashed  int
	now      time.Duration
	ran      []types.Address
}

func (h *wedged) Open(p program.Purpose) (program.Session, error) {
	s, err := h.Host.Open(p)
	return &wedgedSession{Session: s, host: h}, err
}

type wedgedSession struct {
	program.Session
	host   *wedged
	left   func() time.Duration
	strict bool
}

func (s *wedgedSession) Bound(by program.Bounds) { s.left, s.strict = by.Left, by.Strict }

func (s *wedgedSession) Inspect(code program.Code) (program.Description, error) {
	if s.host.slow[code.Hash] && s.strict {
		took := creditOf(program.InspectionCycles(len(code.Source), code.Units))
		s.host.now += took
		return program.Description{}, &program.HostError{Failure: program.Late, CPU: took, Err: errors.New("it hangs")}
	}
	return s.Session.Inspect(code)
}

func (s *wedgedSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	takes := s.host.takes[msg.Self]
	if s.host.hangs[msg.Self] || s.host.hangsFor[msg.Sender] {
		if takes = time.Minute; s.strict {
			limit, _ := ctx.Remaining()
			took := creditOf(limit)
			s.host.now += took
			return program.Outcome{}, &program.HostError{Failure: program.Late, CPU: took, Err: errors.New("it hangs")}
		}
	}
	if end := s.host.ends[msg.Self]; s.left != nil && end != nil {
		had := max(s.left(), 0)
		took, how := end(had)
		s.host.now += took
		return program.Outcome{}, &program.HostError{Failure: how, CPU: had / 10, Err: errors.New("it ended")}
	}
	if s.left != nil && s.host.starves {
		had := max(s.left(), 0)
		s.host.now += had
		return program.Outcome{}, &program.HostError{Failure: program.Stopped, CPU: had / 10, Err: errors.New("it was stopped")}
	}
	if s.left != nil && s.left() < takes {
		had := max(s.left(), 0)
		s.host.now += had
		return program.Outcome{}, &program.HostError{Failure: program.Stopped, CPU: had, Err: errors.New("it was stopped")}
	}
	s.host.now += takes
	if s.host.crashes[msg.Self] {
		s.host.crashed++
		return program.Outcome{}, &program.HostError{Failure: s.host.how, During: "a test", Err: errors.New("it ended")}
	}
	s.host.ran = append(s.host.ran, msg.Self)
	return s.Session.Handle(ctx, code, msg)
}

// wedge gives the world a host that fails, one for good.
func (w *world) wedge() *wedged {
	if h, is := w.executor.Programs.(*wedged); is {
		return h
	}
	h := &wedged{Host: samples.Host{}, how: program.Crashed, crashes: map[types.Address]bool{}, takes: map[types.Address]time.Duration{},
		slow: map[types.Hash]bool{}, hangs: map[types.Address]bool{}, hangsFor: map[types.Address]bool{}}
	w.executor.Programs = h
	return h
}

// hurry gives each proposal the same share of the wedged host's time.
func (w *world) hurry(h *wedged, share time.Duration) {
	began := h.now
	if w.pace == nil {
		w.pace = &Pace{Tries: NewTries()}
	}
	w.pace.Share, w.pace.Begun, w.pace.Left = share, began, func() time.Duration { return share - (h.now - began) }
}

// creditOf is the CPU time of an attempt that uses no cycle before it is late.
func creditOf(limit types.Cycles) time.Duration {
	credit := program.NewCredit(limit, program.UsualRate, 0)
	return credit.Left()
}

func (w *world) hasEvent(name string) bool {
	return slices.ContainsFunc(w.last.Events, func(e types.Event) bool { return e.Name == name })
}

// changeOf returns the first change of an actor's timer in the last block.
func (w *world) changeOf(actor string) (change types.TimerChange) {
	for _, c := range w.last.Timers {
		if c.Timer.Actor == w.address(actor) {
			return c
		}
	}
	w.t.Fatalf("nothing happened to a timer of %s", actor)
	return
}

// Decision C18: "a fire … whose program the environment failed twice … has no
// result. Its proposer passes it over … every validator … leaves it where it is,
// uncharged, with the reason host_failed"; "passed over by f + 1 different
// validators … ends: fired … with the status host_failed, its whole limit charged".
func TestAFireOverWhichTheHostFailsIsPassedOverAndEnds(t *testing.T) {
	for _, policy := range []string{scheduler.Fifo, scheduler.EIP1559, scheduler.GBA, scheduler.BiasVCG, scheduler.BiasFirstPrice} {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t, params.Overrides{"cip1.policy": policy})
			w.block(w.deploy("alice", "heartbeat", "bad", types.CBY), w.deploy("alice", "heartbeat", "good", types.CBY))
			w.block(w.call("alice", "bad", "start", samples.Number(1)), w.call("alice", "good", "start", samples.Number(1)))
			w.ok()
			h := w.wedge()
			h.crashes[w.address("bad")] = true
			before := w.head.Account(w.address("bad")).Balance
			w.block()
			if c := w.changeOf("bad"); c.Status != types.TimerPending || c.Reason != scheduler.ReasonHostFailed {
				t.Errorf("passed over: %+v", c)
			}
			if c := w.changeOf("good"); c.Status != types.TimerFired || c.Result != types.StatusOK {
				t.Errorf("the other: %+v", c)
			}
			if w.head.Account(w.address("bad")).Balance != before || len(w.last.Block.Passed.Fires.Failed) != 1 {
				t.Error("it was charged, or the body does not list it")
			}
			timer := w.last.Block.Passed.Fires.Failed[0]
			if by := w.head.FailedOver(timer); len(by) != 1 || by[0] != w.last.Block.Header.Proposer {
				t.Errorf("state remembers %v", by)
			}
			w.block() // another proposer: f + 1 = 2
			c := w.changeOf("bad")
			if c.Status != types.TimerFired || c.Result != types.StatusHostFailed || !w.hasEvent(scheduler.EventHostFailed) {
				t.Errorf("ended: %+v, %v", c, w.last.Events)
			}
			limit, cells := scheduler.FireLimit(w.head.params, c.Timer.GasLimit)
			if c.CyclesUsed != limit || c.CellsUsed != cells {
				t.Errorf("%d cycles and %d cells, all of the limits are %d and %d", c.CyclesUsed, c.CellsUsed, limit, cells)
			}
			paid := before.Sub(w.head.Account(w.address("bad")).Balance)
			fees := w.last.Block.Header
			if least := fees.BaseFeeCycle.Mul(uint64(limit)).Add(fees.BaseFeeCell.Mul(uint64(cells))); paid != c.FeePaid || paid.Less(least) {
				t.Errorf("%s wei were paid, %s are told, at least %s", paid, c.FeePaid, least)
			}
			i := slices.IndexFunc(w.last.Receipts, func(r types.Receipt) bool { return r.Hash == timer })
			if i < 0 || w.last.Receipts[i].Status != types.StatusHostFailed || w.last.Receipts[i].Fee != paid {
				t.Errorf("receipts: %+v", w.last.Receipts)
			}
			if _, pending := w.head.Timer(timer); pending || w.head.FailedOver(timer) != nil {
				t.Error("it is still in state")
			}
		})
	}
}

// Decision C18: "a message … ends: … delivered with the status host_failed, its
// whole limit charged"; the others continue, and it keeps its place.
func TestAMessageOverWhichTheHostFailsIsPassedOverAndEnds(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "bad", 0), w.deploy("alice", "counter", "good", 0), w.deploy("alice", "relay", "relay", types.CBY))
	h := w.wedge()
	h.crashes[w.address("bad")] = true
	bad, good := w.address("bad"), w.address("good")
	w.block(w.call("alice", "relay", "send", relayTo(bad)), w.call("alice", "relay", "send", relayTo(good)))
	w.ok()
	before := w.head.Account(w.address("relay")).Balance
	w.block()
	if len(w.last.Receipts) != 1 || w.last.Receipts[0].To != good || len(w.last.Block.Passed.Messages.Failed) != 1 || !w.head.HasWork() {
		t.Fatalf("%+v, %+v", w.last.Receipts, w.last.Block.Passed)
	}
	afterGood := w.head.Account(w.address("relay")).Balance
	if afterGood.Less(before) {
		t.Error("the sender was charged")
	}
	w.block()
	if len(w.last.Receipts) != 1 || w.last.Receipts[0].To != bad || w.last.Receipts[0].Status != types.StatusHostFailed ||
		!w.hasEvent(EventMessageFailed) {
		t.Fatalf("%+v", w.last.Receipts)
	}
	if w.head.Account(w.address("relay")).Balance != afterGood || w.last.Receipts[0].Fee.IsZero() {
		t.Error("what was prepaid was not consumed")
	}
	if w.head.HasWork() {
		t.Error("something still waits")
	}
}

// Decision C18: what a turn cuts off says nothing about the item, whether the host crashed once its
// time was over or was stopped before. It is tried again, and no proposer lists it at once.
func TestWhatATurnCutsOffIsNoFailure(t *testing.T) {
	for name, one := range map[string]struct {
		end   func(had time.Duration) (took time.Duration, how program.Failure)
		fails bool
	}{
		"crashes in its time":    {func(had time.Duration) (time.Duration, program.Failure) { return had / 10, program.Crashed }, true},
		"crashes after its time": {func(had time.Duration) (time.Duration, program.Failure) { return had + 1, program.Crashed }, false},
		"is stopped in its time": {func(had time.Duration) (time.Duration, program.Failure) { return had / 10, program.Stopped }, false},
	} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(1)))
		w.ok()
		h := w.wedge()
		h.ends = map[types.Address]func(time.Duration) (time.Duration, program.Failure){w.address("hb"): one.end}
		w.hurry(h, 10*time.Millisecond)
		w.block()
		if got := len(w.last.Block.Passed.Fires.Failed) == 1; got != one.fails {
			t.Errorf("%s: listed as failed: %v, want %v", name, got, one.fails)
		}
	}
}

// Decision C18: "fewer cannot end it": a validator that lists a fire again and
// again counts once, and one that left the set does not count.
func TestOneValidatorCannotEndATimer(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(1)))
	h := w.wedge()
	liar := w.head.set.Leader(w.head.header.View + 1)
	for range 9 {
		h.crashes[w.address("hb")] = w.head.set.Leader(w.head.header.View+1) == liar
		w.block()
		for _, receipt := range w.last.Receipts {
			if receipt.Status == types.StatusHostFailed {
				t.Fatalf("%+v", receipt)
			}
		}
	}
	set := types.ValidatorSet{Members: w.head.set.Members[1:]}
	gone := w.head.set.Members[0].Address
	if by, enough := set.Blame([]types.Address{gone}, set.Members[0].Address); enough != (set.MaxFaulty() == 0) || slices.Contains(by, gone) {
		t.Errorf("%v %v", by, enough)
	}
}

// Decision C18: "passes it over … and every validator" does, whether or not it
// has a host.
func TestAVoterWithoutAHostAppliesABlockThatRunsNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(1)))
	w.executor.Programs = nil
	for range 2 {
		w.block()
	}
	if w.last.Receipts[0].Status != types.StatusHostFailed {
		t.Errorf("%+v", w.last.Receipts)
	}
}

// Decision C18 for an agent: its timers wait, uncharged; if the hosts of f + 1
// failed on it, it is an agent that failed (decision T15), paid for and not asked
// again for a while.
func TestAnAgentOverWhichTheHostFails(t *testing.T) {
	for _, policy := range []string{scheduler.EIP1559, scheduler.GBA} {
		w := newWorld(t, params.Overrides{"cip1.policy": policy, "cip1.gba_silenced_blocks": "4"})
		w.block(w.deploy("alice", "storm", "st", types.CBY), w.deploy("alice", "bidder", "b", types.CBY))
		bidder := w.address("b")
		w.block(w.call("alice", "st", "set_gas_bidder", bidder[:]), w.call("alice", "st", "make", []byte(`{"count":2,"in":1}`)))
		w.ok()
		h := w.wedge()
		h.crashes[bidder] = true
		before := w.head.Account(w.address("st")).Balance
		w.block()
		if c := w.changeOf("st"); c.Reason != scheduler.ReasonHostFailed || len(w.fired()) != 0 || w.last.Lane.AskCycles != 0 ||
			len(w.last.Block.Passed.Questions.Failed) != 1 || w.head.Account(w.address("st")).Balance != before {
			t.Fatalf("%s: %+v, %+v", policy, c, w.last.Block.Passed)
		}
		w.block()
		if len(w.fired()) != 2 || w.last.Lane.AskCycles != w.head.params.GBACallCycles || !w.hasEvent(scheduler.EventGasBidFailed) {
			t.Errorf("%s: %d fired, %d cycles asked, %v", policy, len(w.fired()), w.last.Lane.AskCycles, w.last.Events)
		}
		w.block(w.call("alice", "st", "make", []byte(`{"count":1,"in":1}`)))
		h.crashes[bidder] = false
		w.block()
		if len(w.fired()) != 1 || w.last.Lane.AskCycles != 0 {
			t.Errorf("%s: it was asked again at once: %d", policy, w.last.Lane.AskCycles)
		}
		w.block(w.call("alice", "st", "make", []byte(`{"count":1,"in":1}`)))
		w.block()
		if len(w.fired()) != 1 || w.last.Lane.AskCycles == 0 {
			t.Errorf("%s: it is never asked again", policy)
		}
	}
}

// Decisions C4, C18: "its stop bounds all it executes", and lists "what it did not
// begin in the same way (not_begun)"; an item without a fair share is not to blame.
func TestAProposersTimeBoundsTheLane(t *testing.T) {
	w := newWorld(t, nil)
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, name := range names {
		w.block(w.deploy("alice", "heartbeat", name, types.CBY))
	}
	var starts []*Checked
	for _, name := range names {
		starts = append(starts, w.call("alice", name, "start", samples.Number(1)))
	}
	w.block(starts...)
	w.ok()
	h := w.wedge()
	for _, name := range names {
		h.takes[w.address(name)] = 20 * time.Millisecond // a first attempt has as much
	}
	w.hurry(h, 100*time.Millisecond)
	built, err := w.executor.Build(w.head, w.proposal(), slices.Values([]*Checked(nil)), w.pace)
	if err != nil {
		t.Fatal(err)
	}
	if left := w.pace.Left(); left < 0 {
		t.Errorf("building took %v more than there was", -left)
	}
	w.hurry(h, 100*time.Millisecond)
	w.pace.Tries = NewTries()
	w.block()
	if w.last.Hash != built.Result.Hash {
		t.Error("the same time gave another block")
	}
	for _, c := range w.last.Timers {
		if c.Status == types.TimerPending && c.Reason != "" && c.Reason != scheduler.ReasonNotBegun {
			t.Errorf("%+v", c)
		}
	}
	if len(w.fired()) == 0 || len(w.fired()) == len(names) || len(w.last.Block.Passed.Fires.Failed) != 0 {
		t.Fatalf("%d fired, skipped %+v", len(w.fired()), w.last.Block.Passed)
	}
	if n := w.last.Block.Passed.Fires.Begun; n == nil || *n != uint64(len(w.fired())) {
		t.Errorf("the body says %v were begun, %d fired", n, len(w.fired()))
	}
}

// Decision C18: "a proposer that lists something that is not due, not in the lane,
// twice, or more than is there makes an invalid block".
func TestWhatABodyMayNotSayItPassedOver(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "one", types.CBY), w.deploy("alice", "heartbeat", "two", types.CBY),
		w.deploy("alice", "counter", "c", 0), w.deploy("alice", "relay", "relay", types.CBY))
	w.block(w.call("alice", "one", "start", samples.Number(1)), w.call("alice", "two", "start", samples.Number(1)),
		w.call("alice", "relay", "send", relayTo(w.address("c"))))
	w.ok()
	h := w.wedge()
	h.crashes[w.address("one")], h.crashes[w.address("two")], h.crashes[w.address("c")] = true, true, true
	built, err := w.executor.Build(w.head, w.proposal(), slices.Values([]*Checked(nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	good := built.Result.Block
	w.executor.Programs = h.Host // that of a voter is sound
	fires, message := good.Passed.Fires.Failed, good.Passed.Messages.Failed
	if len(fires) != 2 || len(message) != 1 {
		t.Fatalf("%+v", good.Passed)
	}
	n := func(v uint64) *uint64 { return &v }
	for name, spoil := range map[string]func(*types.Passed){
		"twice":                         func(p *types.Passed) { p.Fires.Failed = []types.TimerID{fires[0], fires[0], fires[1]} },
		"in another order":              func(p *types.Passed) { p.Fires.Failed = []types.TimerID{fires[1], fires[0]} },
		"not due":                       func(p *types.Passed) { p.Fires.Failed = append(slices.Clone(fires), types.TimerID{1}) },
		"more than is there":            func(p *types.Passed) { p.Fires.Begun = n(2) },
		"an unknown message":            func(p *types.Passed) { p.Messages.Failed = append(slices.Clone(message), 99) },
		"stopped after the last":        func(p *types.Passed) { p.Messages.Begun = n(1) },
		"a question that was not asked": func(p *types.Passed) { p.Questions.Failed = []types.AgentQuestion{{}} },
		"no question":                   func(p *types.Passed) { p.Questions.Begun = n(0) },
		"another form of nil":           func(p *types.Passed) { p.Questions.Failed = []types.AgentQuestion{} },
		"too long":                      func(p *types.Passed) { p.Fires.Failed = make([]types.TimerID, types.MaxPassed+1) },
	} {
		bad, passed := *good, *good.Passed
		spoil(&passed)
		bad.Passed, bad.Header.Passed = &passed, types.PassedHash(&passed)
		if _, err := w.executor.Apply(w.head, &bad); codeOf(t, err) != CodeBadPassed {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := *good
	other.Passed = nil
	if _, err := w.executor.Apply(w.head, &other); codeOf(t, err) != CodeBadPassed {
		t.Errorf("another body than the header's: %v", err)
	}
	if _, err := w.executor.Apply(w.head, good); err != nil {
		t.Error(err)
	}
}

// A liar that skips working items delays them by its own blocks, and harms nothing
// more: the block is valid, and all others continue.
func TestALiarOnlyDelays(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(1)))
	built, err := w.executor.Build(w.head, w.proposal(), slices.Values([]*Checked(nil)), &Pace{Left: func() time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	applied, err := w.executor.Apply(w.head, built.Result.Block)
	if err != nil || len(applied.Receipts) != 0 {
		t.Fatal(err)
	}
	w.head = applied.State
	w.block()
	if len(w.fired()) != 1 {
		t.Errorf("%+v", w.last.Timers)
	}
}

// Decision C18 of a timer that ends otherwise meanwhile: nothing is remembered of
// it, and it ends once.
func TestATimerThatWasPassedOverMayBeCancelled(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(1)))
	h := w.wedge()
	h.crashes[w.address("hb")] = true
	w.block()
	timer := w.last.Block.Passed.Fires.Failed[0]
	w.block(w.instruct(governance.OpCancelTimer, &governance.CancelTimer{TimerID: timer}))
	if w.last.Block.Passed != nil || w.head.FailedOver(timer) != nil {
		t.Errorf("%+v", w.last.Block.Passed)
	}
	if c := w.changeOf("hb"); c.Status != types.TimerCancelled {
		t.Errorf("%+v", c)
	}
}

func relayTo(to types.Address) []byte {
	order := samples.Order{Target: to, Handler: "increment", Cycles: 10_000, Cells: 1_000}
	return order.Encode()
}
