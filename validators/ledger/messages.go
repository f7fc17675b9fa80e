package ledger

import (
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/feemarket"
	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
)

// deliverMessages delivers what earlier blocks sent, oldest first, until the
// next does not fit: at most max_deferred_messages_per_block, in the system lane
// and in what the user lane left. Those behind it wait, in order. What a
// delivery sends is for the next block.
//
// Spec: decision C16.
func (r *run) deliverMessages() error {
	for _, m := range r.sentBefore() {
		// A limit that was fine when it was sent may exceed what a block has by
		// now; it is then clamped, or the queue would stand still for ever.
		cycles, cells := min(m.Cycles, r.params.LaneSystemCycles), min(m.Cells, r.params.CellsLimit)
		if cycles > r.messageRoom() || cells > r.params.CellsLimit.Sub(r.used.cells) {
			break
		}
		if err := r.deliver(m, cycles, cells); err != nil {
			return err
		}
	}
	return nil
}

// sentBefore lists the messages that earlier blocks sent, as many as a block may
// deliver.
func (r *run) sentBefore() (messages []*actors.Message) {
	actors.ScanMessages(r.state, func(m *actors.Message) bool {
		if m.SentAt >= r.header.Height || uint64(len(messages)) == r.params.MaxDeferred {
			return false
		}
		messages = append(messages, m)
		return true
	})
	return messages
}

// messageRoom is what the system lane and the user lane have left together.
func (r *run) messageRoom() types.Cycles {
	return r.params.LaneSystemCycles.Sub(r.used.system).Add(r.params.LaneUserCycles.Sub(r.used.user))
}

// deliver runs one message. It was paid for when it was sent; what it does not
// use goes back to who sent it.
func (r *run) deliver(m *actors.Message, cycles types.Cycles, cells types.Cells) error {
	r.state.Dequeue(m)
	hash := m.Hash()
	cause := actors.Cause{Origin: types.OriginMessage, Hash: hash, TxHash: hash}
	msg := program.Message{Kind: program.Call, Sender: m.From, Self: m.To, Handler: m.Handler, Payload: m.Payload}
	x, outcome, err := r.attempt(func() string { return fmt.Sprintf("message %d from %s", m.Seq, m.From) }, cause, cycles, cells,
		func(x *actors.Execution) (program.Outcome, error) { return x.Deliver(msg, types.Wei{}) })
	if err != nil {
		return err
	}
	charge := feemarket.Charge{Price: feemarket.Price{BaseFeeCycle: m.PriceCycle, BaseFeeCell: m.PriceCell},
		Cycles: m.Cycles, Cells: m.Cells, Total: m.Prepaid()}
	usedCycles, usedCells := x.Used()
	cost, refund := charge.Settle(usedCycles, usedCells)
	r.state.Credit(m.From, refund)
	r.burn(cost)
	fromSystem := min(usedCycles, r.params.LaneSystemCycles.Sub(r.used.system))
	r.used.system += fromSystem
	r.used.user += usedCycles - fromSystem
	r.used.cells += usedCells
	r.timers = append(r.timers, x.Timers...)
	r.record(types.Receipt{Hash: hash, Origin: types.OriginMessage, Sender: m.From, To: m.To, Handler: m.Handler, Fee: cost.Total()}, x, outcome)
	return nil
}
