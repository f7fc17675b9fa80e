package oracle

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// turns judges the order of deliveries (decisions C16, J16): one message of each
// receiver per turn, within a turn the oldest first. The callbacks of one submitter's
// jobs count as one receiver.
//
// A new message gets the turn after the last one of its receiver, or after the turn that
// deliveries have come to, whichever is later.
type turns struct {
	waiting []*turn             // in the order of delivery
	last    map[receiver]uint64 // turns of receivers with messages that wait
	now     uint64              // the turn that deliveries have come to
}

type turn struct {
	Sent
	receiver receiver
	number   uint64
}

// receiver is an actor, or the submitter of jobs that call back.
type receiver struct {
	address types.Address
	submits bool
}

func newTurns() turns { return turns{last: map[receiver]uint64{}} }

// takeTurns holds what a block delivered against the order, and then enters what it sent.
// submitter names who submitted the job of a callback.
func (j *Judge) takeTurns(o *Observation, submitter func(*Sent) (types.Address, bool)) {
	t := &j.turns
	came := j.judgeDeliveries(o)
	sent := slices.Clone(o.Sent)
	slices.SortFunc(sent, func(a, b Sent) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range sent {
		to := receiver{address: sent[i].To}
		if by, is := submitter(&sent[i]); is {
			to = receiver{by, true}
		}
		t.last[to] = max(t.last[to], t.now) + 1
		t.waiting = append(t.waiting, &turn{sent[i], to, t.last[to]})
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(one *turn) bool { return came[one.Hash] })
	slices.SortFunc(t.waiting, func(a, b *turn) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Seq, b.Seq)) })
	t.forgetIdle()
}

// judgeDeliveries judges the order of a block's deliveries, and lists them. A message that the block skips keeps its place.
func (j *Judge) judgeDeliveries(o *Observation) (came map[types.Hash]bool) {
	t := &j.turns
	came = map[types.Hash]bool{}
	var passed types.PassedMessages
	if o.Block.Passed != nil {
		passed = o.Block.Passed.Messages
	}
	skips, at := uint64(0), 0
	for _, s := range passed.Skipped {
		skips += s.Count
	}
	for i := range o.Receipts {
		r := &o.Receipts[i]
		if r.Origin != types.OriginMessage {
			continue
		}
		for ; at < len(t.waiting) && t.waiting[at].Hash != r.Hash; at++ {
			if slices.Contains(passed.Failed, t.waiting[at].Seq) {
				continue
			}
			if skips == 0 {
				break
			}
			skips--
		}
		if at == len(t.waiting) || t.waiting[at].Hash != r.Hash {
			j.reportViolation("turns", o.Block.Header.Height, types.Address{}, "receipt %d delivers message %s out of its turn", i, r.Hash)
			return came
		}
		t.now = max(t.now, t.waiting[at].number)
		came[r.Hash] = true
		at++
		j.seen.Turns++
	}
	return came
}

// forgetIdle forgets receivers without messages that wait.
func (t *turns) forgetIdle() {
	left := map[receiver]bool{}
	for _, one := range t.waiting {
		left[one.receiver] = true
	}
	for to := range t.last { // order: each is judged separately
		if !left[to] {
			delete(t.last, to)
		}
	}
}
