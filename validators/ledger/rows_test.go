package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// listening is a host that keeps what agents are told.
type listening struct {
	program.Host
	contexts [][]byte
}

func (l *listening) Open(p program.Purpose) (program.Session, error) {
	s, err := l.Host.Open(p)
	return &listeningSession{s, l}, err
}

type listeningSession struct {
	program.Session
	host *listening
}

func (s *listeningSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	if msg.Handler == program.BidHandler {
		s.host.contexts = append(s.host.contexts, msg.Payload)
	}
	return s.Session.Handle(ctx, code, msg)
}

// CIP-1 §7.2: last_block_cycle_usage is the use of the height before, which is 0 if
// it was skipped (decision C8: "the transition does for a skipped height what it
// does for an empty block").
func TestTheContextHasWhatTheHeightBeforeUsed(t *testing.T) {
	for _, policy := range []string{scheduler.EIP1559, scheduler.GBA} {
		for _, skips := range []bool{false, true} {
			w := newWorld(t, params.Overrides{"cip1.policy": policy})
			host := &listening{Host: samples.Host{}}
			w.executor.Programs = host
			w.block(w.deploy("alice", "bidder", "agent", 0), w.deploy("alice", "storm", "storm", types.CBY))
			agent := w.address("agent")
			due := w.head.Height() + 2
			if skips {
				due += 5
			}
			w.block(w.call("bob", "storm", "make", encodeStorm(t, samples.Storm{Count: 1, Height: due, GBA: &agent})))
			w.ok()
			before := w.head.Header().CyclesUsed
			proposal := w.proposal()
			proposal.Skipped = w.head.Skippable()
			if skipped := proposal.Skipped > 0; skipped != skips || before == 0 {
				t.Fatalf("%s: %d heights can be skipped, the block before used %d cycles", policy, proposal.Skipped, before)
			}
			want := uint64(before)
			if skips {
				want = 0
			}
			w.propose(proposal)
			var told struct {
				Used uint64 `cbor:"last_block_cycle_usage"`
			}
			if len(host.contexts) == 0 {
				t.Fatalf("%s: no agent was asked", policy)
			}
			if err := codec.UnmarshalPartial(host.contexts[0], 4096, &told); err != nil || told.Used != want {
				t.Errorf("%s, skipped %v: an agent is told that %d cycles were used, want %d: %v", policy, skips, told.Used, want, err)
			}
		}
	}
}

// oneFire has a storm's timer fire once, under fifo, and returns its receipt.
func oneFire(t *testing.T, overrides params.Overrides, order samples.Storm) *types.Receipt {
	t.Helper()
	w := newWorld(t, overrides)
	w.block(w.deploy("alice", "storm", "storm", 10*types.CBY))
	order.Count, order.In = 1, 1
	w.block(w.call("bob", "storm", "make", encodeStorm(t, order)))
	w.ok()
	w.block()
	if len(w.last.Receipts) != 1 || w.last.Receipts[0].Origin != types.OriginTimer {
		t.Fatalf("%+v", w.last.Receipts)
	}
	return &w.last.Receipts[0]
}

// CIP-5 §6.2: a handler has 550,000 cycles and max_cells_per_fire cells, to the
// last one, of which its call costs cip3.cycles_actor_call.
func TestSection62AFireHasAllOfItsBudgetAndNoMore(t *testing.T) {
	call := uint64(params.Defaults().CostActorCall)
	for over, want := range map[uint64]types.Status{0: types.StatusOK, 1: types.StatusOutOfCycles} {
		if r := oneFire(t, nil, samples.Storm{Use: 550_000 - call + over}); r.Status != want || r.Cycles != 550_000 {
			t.Errorf("a handler that takes %d cycles too many is %s with %d", over, r.Status, r.Cycles)
		}
	}
	writes := samples.Storm{Again: 1} // a timer's cells
	used := oneFire(t, nil, writes).Cells
	for short, want := range map[types.Cells]types.Status{0: types.StatusOK, 1: types.StatusOutOfCells} {
		most := types.WeiOf(uint64(used - short)).String()
		if r := oneFire(t, params.Overrides{"cip5.max_cells_per_fire": most}, writes); r.Status != want {
			t.Errorf("a handler that needs %d cells is %s with %s", used, r.Status, most)
		}
	}
}

// CIP-1 §6: "No escrow at scheduling": except for the transaction's own fee no
// account holds a wei less, under every policy, unless an auction's bid is stated.
func TestSection6SchedulingTakesNoMoney(t *testing.T) {
	for _, policy := range allPolicies {
		w := newWorld(t, params.Overrides{"cip1.policy": policy})
		w.block(w.deploy("alice", "storm", "storm", types.CBY))
		w.ok()
		actor, signer, sponsor := w.balance("storm"), w.balance("bob"), types.WeiOf(types.CBY)
		bob, gas := w.address("bob"), types.Cycles(250_000)
		w.block(w.call("bob", "storm", "make", encodeStorm(t, samples.Storm{Count: 3, In: 3, GasLimit: &gas})),
			w.sponsored("bob", "storm", "make", encodeStorm(t, samples.Storm{Count: 3, In: 3, GasLimit: &gas, FeePayer: &bob}), &sponsor))
		w.ok()
		fees := w.last.Receipts[0].Fee.Add(w.last.Receipts[1].Fee)
		if got := w.balance("storm"); got != actor {
			t.Errorf("%s: the actor held %s wei and holds %s", policy, actor, got)
		}
		if got := w.balance("bob"); got != signer.Sub(fees) {
			t.Errorf("%s: the signer held %s wei, paid %s in fees and holds %s", policy, signer, fees, got)
		}
		if got := w.head.Account(types.TimerEscrow).Balance; !got.IsZero() {
			t.Errorf("%s: the escrow holds %s wei", policy, got)
		}
	}
}
