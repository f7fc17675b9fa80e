package ledger

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// deliverMessages delivers the messages of earlier blocks in turns: one message of
// each receiver per turn, within a turn the oldest first. It ends at the first message
// that does not fit: at most max_deferred_messages_per_block, in the system lane and in
// the rest of the user lane. The messages after it wait. The messages that a delivery
// sends are for the next block. A message that the environment fails on keeps its
// place.
//
// Spec: decisions C16, C18.
func (r *run) deliverMessages() error {
	r.pace.beginPhase(r.parent, r.header.Height, phaseDeliveries)
	for _, m := range r.sentBefore() {
		// A limit that was valid when it was sent may now exceed the block's; it is
		// then clamped, or the queue would be blocked permanently.
		cycles, cells := min(m.Cycles, laneSystem.cycleLimit(r.params)), min(m.Cells, r.params.CellsLimit)
		if cycles > r.messageRoom() || cells > r.params.CellsLimit.Sub(r.used.cells) {
			break
		}
		left, err := attemptItem(r, &r.passing.messages, m.Seq, m.Hash(), m.From, func() error { return r.deliverMessage(m, cycles, cells) })
		if err != nil {
			return err
		}
		if left.over {
			break
		}
		if left.reason == scheduler.ReasonHostFailed {
			r.blameMessage(m, cycles, cells)
		}
	}
	return nil
}

// blameMessage counts the proposer among the validators whose environment failed on a
// message. If these are enough, the message ends (decision C18).
func (r *run) blameMessage(m *actors.Message, cycles types.Cycles, cells types.Cells) {
	by, enough := r.parent.set.Blame(failedOver(r.state, m.Seq), r.header.Proposer)
	if !enough {
		r.state.Set(keyOfBlame(m.Seq), codec.Marshal(by))
		return
	}
	r.dequeueMessage(m)
	fee := r.settleMessage(m, cycles, cells)
	r.recordHostFailure(types.Receipt{Hash: m.Hash(), Origin: types.OriginMessage, Sender: m.From, To: m.To, Handler: m.Handler, Fee: fee},
		cycles,
		cells)
	r.tellCallback(m, r.receipts[len(r.receipts)-1].Error)
	r.events = append(r.events, types.Event{Actor: types.GovernanceAddress, Name: EventMessageFailed,
		Data: codec.Marshal(MessageFailed{Hash: m.Hash(), Validators: by})})
}

// EventMessageFailed records that a message ended because hosts failed on it; no
// spec names it.
const EventMessageFailed = "message.host_failed"

// MessageFailed is the data of EventMessageFailed: the validators whose hosts
// failed on the message, by address.
type MessageFailed struct {
	Hash       types.Hash      `cbor:"hash"`
	Validators []types.Address `cbor:"validators"`
}

// keyOfBlame holds the validators whose environment failed on a waiting message.
func keyOfBlame(seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64([]byte("x/failed/"), uint64(seq))
}

func failedOver(state actors.Reader, seq types.Seq) (by []types.Address) {
	data := state.Get(keyOfBlame(seq))
	if data == nil {
		return nil
	}
	if err := codec.Unmarshal(data, types.MaxBlockBytes, &by); err != nil {
		panic(fmt.Sprintf("ledger: validators whose host failed on message %d do not decode: %v", seq, err))
	}
	return by
}

// dequeueMessage deletes a message from state, with its recorded failures.
func (r *run) dequeueMessage(m *actors.Message) {
	r.state.Dequeue(m)
	if key := keyOfBlame(m.Seq); r.state.Get(key) != nil {
		r.state.Set(key, nil)
	}
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

// giveTurns gives the messages of this block their turns.
func (r *run) giveTurns() error {
	r.state.GiveTurns()
	return nil
}

// messageRoom is what the system lane and the user lane have left together.
func (r *run) messageRoom() types.Cycles {
	return r.cyclesLeft(laneSystem).Add(r.cyclesLeft(laneUser))
}

// deliverMessage runs one message. It was paid for when it was sent; the unused part is
// refunded to the sender. An error is an *EnvironmentError and leaves the state
// unchanged.
func (r *run) deliverMessage(m *actors.Message, cycles types.Cycles, cells types.Cells) error {
	before := r.state.Snapshot()
	r.dequeueMessage(m)
	hash := m.Hash()
	cause := actors.Cause{Origin: types.OriginMessage, Hash: hash, TxHash: hash}
	msg := program.Message{Kind: program.Call, Sender: m.From, Self: m.To, Handler: m.Handler, Payload: m.Payload}
	x, outcome, err := r.executeWithin(func() string { return fmt.Sprintf("message %d from %s", m.Seq, m.From) }, cause, cycles, cells,
		func(x *actors.Execution) (program.Outcome, error) { return x.Deliver(msg, types.Wei{}) })
	if err != nil {
		r.state.Revert(before)
		return err
	}
	usedCycles, usedCells := x.Used()
	fee := r.settleMessage(m, usedCycles, usedCells)
	r.timers = append(r.timers, x.Timers...)
	r.recordReceipt(types.Receipt{Hash: hash, Origin: types.OriginMessage, Sender: m.From, To: m.To, Handler: m.Handler, Fee: fee}, x, outcome)
	r.tellCallback(m, outcome.Fault)
	return nil
}

// settleMessage burns the used part of a message's prepayment, refunds the rest to its
// payer (of a callback the submitter: decision J7), and counts the message.
func (r *run) settleMessage(m *actors.Message, cycles types.Cycles, cells types.Cells) (fee types.Wei) {
	if plant.Planted == plant.PriceOfToday {
		m.PriceCycle = m.PriceCycle.Min(r.header.BaseFeeCycle)
	}
	charge := feemarket.Charge{Price: feemarket.Price{BaseFeeCycle: m.PriceCycle, BaseFeeCell: m.PriceCell},
		Cycles: m.Cycles, Cells: m.Cells, Total: m.Prepaid()}
	cost, refund := charge.Settle(cycles, cells)
	r.state.Credit(m.Payer, refund)
	r.countBurn(cost)
	fromSystem := min(cycles, r.cyclesLeft(laneSystem))
	r.spendCycles(laneSystem, fromSystem)
	r.spendCycles(laneUser, cycles-fromSystem)
	r.used.cells += cells
	return cost.Total()
}
