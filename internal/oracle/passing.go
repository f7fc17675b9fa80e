package oracle

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	reasonHostFailed = "host_failed"
	reasonNotBegun   = "not_begun"
)

// blames lists the validators that report a failure of their host, per waiting item
// (decision C18).
type blames struct {
	timers   map[types.TimerID]blame
	messages map[types.Seq]blame
	slots    map[lateSlot]lateBlame
	queue    map[types.Seq]Sent // the messages that wait
}

// blame is the validators that skipped one item.
type blame map[types.Address]bool

func newBlames() blames {
	return blames{map[types.TimerID]blame{}, map[types.Seq]blame{}, map[lateSlot]lateBlame{}, map[types.Seq]Sent{}}
}

// judgePassing judges a block's skipped items (decision C18):
//
//	commitment  the header's is the hash of what the body lists
//	timers      each listed is pending and due, once, and is deferred for that reason,
//	            uncharged; and ends where more members than can be faulty listed it,
//	            and only then: fired, with all of its limits charged
//	late        each listed nonce is listed once; where more members than can be faulty
//	            listed it within 1,024 blocks, and only then, the block holds its
//	            transaction, which ends with all of its limits charged
//	messages    each listed waits, and is delivered in the same way
//	reasons     who waits because a host failed, or the time was over, is one of
//	            these, or an agent was passed over that is asked for it
//
// The oracle "fees" judges that all pay for their use.
func (j *Judge) judgePassing(o *Observation) {
	h := &o.Block.Header
	r := &passOf{Judge: j, o: o, passed: new(types.Passed)}
	r.wrong = func(format string, args ...any) {
		j.reportViolation("passing", h.Height, types.Address{}, format, args...)
	}
	want := keccak256()
	if o.Block.Passed != nil {
		r.passed = o.Block.Passed
		want = keccak256(codec.Marshal(o.Block.Passed))
	}
	if h.Passed != want {
		r.wrong("the header commits to another list of skipped items")
	}
	r.judgeTimers()
	r.judgeReasons()
	r.judgeLateTransactions()
	r.judgeMessages()
	r.judgeBegunCounts()
}

// passOf is pass under way.
type passOf struct {
	*Judge
	o      *Observation
	passed *types.Passed
	ended  map[types.Hash]bool // the timers and messages that more members listed than can be faulty
	wrong  func(string, ...any)
}

// blamesEnough adds the block's proposer, and says whether they are enough.
func (r *passOf) blamesEnough(b blame) bool {
	b[r.o.Block.Header.Proposer] = true
	set := r.sets[r.o.Block.Header.SetEpoch]
	members := 0
	for _, m := range set.Members {
		if b[m.Address] {
			members++
		}
	}
	for who := range b { // order: each is judged separately
		if set.Index(who) < 0 {
			delete(b, who)
		}
	}
	return members > (len(set.Members)-1)/3
}

func (r *passOf) judgeTimers() {
	r.ended = map[types.Hash]bool{}
	seen := map[types.TimerID]bool{}
	for _, id := range r.passed.Fires.Failed {
		known := r.Judge.timers.pending[id]
		if seen[id] || known == nil || !(known.isDue(r.o.Block.Header.Height) || r.wokenNow(id)) {
			r.wrong("timer %s is skipped, but is not due, or twice", id)
			continue
		}
		seen[id] = true
		r.seen.Passed++
		if r.blamed.timers[id] == nil {
			r.blamed.timers[id] = blame{}
		}
		r.ended[id] = r.blamesEnough(r.blamed.timers[id])
		r.judgeSkippedEnd(id, known)
	}
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		if c.Status != types.TimerPending {
			delete(r.blamed.timers, c.Timer.ID)
		}
		if c.Status == types.TimerFired && c.Result == types.StatusHostFailed && !r.ended[c.Timer.ID] {
			r.wrong("timer %s ended because hosts failed on it, but too few validators report that", c.Timer.ID)
		}
	}
}

func (r *passOf) wokenNow(id types.TimerID) bool {
	for i := range r.o.Timers {
		if c := &r.o.Timers[i]; c.Timer.ID == id && c.Kind == types.ChangeTriggered {
			return true
		}
	}
	return false
}

// judgeSkippedEnd judges the end of a timer that was skipped.
func (r *passOf) judgeSkippedEnd(id types.TimerID, known *life) {
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		if c.Timer.ID != id || c.Kind == types.ChangeTriggered {
			continue
		}
		switch {
		case c.Status == types.TimerFired && r.ended[id]:
			limit := r.o.Lane.limitOfFire(&known.timer)
			if c.Result != types.StatusHostFailed || c.CyclesUsed != limit || c.CellsUsed != r.o.Lane.FireCells {
				r.wrong("timer %s, over which enough hosts failed, is %s and is charged %d cycles and %d cells; its limits are %d and %d",
					id, c.Result, c.CyclesUsed, c.CellsUsed, limit, r.o.Lane.FireCells)
			}
			r.seen.HostFailed++
			return
		case c.Status == types.TimerPending && c.Reason == reasonHostFailed && !r.ended[id], c.Status == types.TimerCancelled && !r.ended[id]:
			return
		}
	}
	r.wrong("timer %s was skipped by %d validators, and neither waits for that nor ends", id, len(r.blamed.timers[id]))
}

// judgeReasons judges timers that are reported as waiting for a host or because time was
// short.
func (r *passOf) judgeReasons() {
	over := r.passed.Fires.Begun != nil || r.passed.Questions.Begun != nil || len(r.passed.Fires.Skipped)+len(r.passed.Questions.Skipped) > 0
	failed := map[types.TimerID]bool{}
	for _, id := range r.passed.Fires.Failed {
		failed[id] = true
	}
	for i := range r.o.Timers {
		c := &r.o.Timers[i]
		switch {
		case c.Status != types.TimerPending:
		case c.Reason == reasonNotBegun && !over:
			r.wrong("timer %s waits for lack of time, but the block does not report that its proposer ran out of it", c.Timer.ID)
		case c.Reason == reasonHostFailed && !failed[c.Timer.ID] && !r.wasAgentAsked(&c.Timer):
			r.wrong("timer %s waits because a host failed, but the block skips neither it nor its agent", c.Timer.ID)
		}
	}
}

// wasAgentAsked reports whether a skipped agent was asked for a timer.
func (r *passOf) wasAgentAsked(t *types.Timer) bool {
	for _, q := range r.passed.Questions.Failed {
		if known := r.Judge.timers.pending[t.ID]; known != nil && q.Actor == t.Actor && q.Trigger == known.timer.Height || q.Actor == t.Actor &&
			q.Trigger == t.Height {
			return true
		}
	}
	return false
}

func (r *passOf) judgeMessages() {
	delivered := map[types.Hash]*types.Receipt{}
	for i := range r.o.Receipts {
		if receipt := &r.o.Receipts[i]; receipt.Origin == types.OriginMessage {
			delivered[receipt.Hash] = receipt
		}
	}
	seen := map[types.Seq]bool{}
	for _, seq := range r.passed.Messages.Failed {
		sent, waits := r.blamed.queue[seq]
		if seen[seq] || !waits {
			r.wrong("message %d is skipped, but does not wait, or twice", seq)
			continue
		}
		seen[seq] = true
		r.seen.Passed++
		if r.blamed.messages[seq] == nil {
			r.blamed.messages[seq] = blame{}
		}
		receipt, enough := delivered[sent.Hash], r.blamesEnough(r.blamed.messages[seq])
		r.ended[sent.Hash] = enough
		if enough != (receipt != nil) {
			r.wrong("message %d was skipped by %d validators; delivered: %v", seq, len(r.blamed.messages[seq]), receipt != nil)
		}
		if enough && receipt != nil {
			r.seen.HostFailed++
			cycles := min(sent.Cycles, r.o.Lane.SystemCycles) // what was fine when it was sent may be more than there is
			if cells := min(sent.Cells, r.o.Lane.CellsLimit); receipt.Status != types.StatusHostFailed || receipt.Cycles != cycles ||
				receipt.Cells != cells {
				r.wrong("message %d, over which enough hosts failed, is %s and is charged %d cycles and %d cells; its limits are %d and %d",
					seq, receipt.Status, receipt.Cycles, receipt.Cells, cycles, cells)
			}
		}
	}
	r.updateQueue(delivered)
	for i := range r.o.Receipts {
		if receipt := &r.o.Receipts[i]; receipt.Status == types.StatusHostFailed && !r.ended[receipt.Hash] {
			r.wrong("receipt %d (%s) ended because hosts failed on it, but too few validators report that", i, receipt.Origin)
		}
	}
}

// updateQueue brings the queue up to date.
func (r *passOf) updateQueue(delivered map[types.Hash]*types.Receipt) {
	for seq, sent := range r.blamed.queue { // order: each is judged separately
		if delivered[sent.Hash] != nil {
			delete(r.blamed.queue, seq)
			delete(r.blamed.messages, seq)
		}
	}
	for _, s := range r.o.Sent {
		r.blamed.queue[s.Seq] = s
	}
}

// judgeBegunCounts judges how many fires and deliveries the block says its proposer came to.
func (r *passOf) judgeBegunCounts() {
	fires, deliveries := uint64(len(r.passed.Fires.Failed)), uint64(len(r.passed.Messages.Failed))
	for i := range r.o.Receipts {
		receipt := &r.o.Receipts[i]
		switch {
		case receipt.Status == types.StatusHostFailed:
		case receipt.Origin == types.OriginTimer:
			fires++
		case receipt.Origin == types.OriginMessage:
			deliveries++
		}
	}
	for _, one := range []struct {
		what string
		says *uint64
		did  uint64
	}{{"fires", r.passed.Fires.Begun, fires}, {"deliveries", r.passed.Messages.Begun, deliveries}} {
		if one.says != nil && *one.says != one.did {
			r.wrong("the block says that %d %s were begun, and shows %d", *one.says, one.what, one.did)
		}
	}
}
