package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// world is the part of a chain that the scheduler asks for: balances, and
// handlers that do what the test says.
type world struct {
	p        params.Params
	kv       *memory
	fees     Fees
	head     types.Height // the last block done
	balances map[types.Address]types.Wei
	// deployers are who deployed actors; what is missing is its own.
	deployers map[types.Address]types.Address
	cells     types.Cells // left for the lane
	// handle is what the handler of a fire does; nil does nothing with 1,000
	// cycles and 10 cells.
	handle func(w *world, order Fire) Fired
	orders []Fire    // what ran in the last block
	tips   types.Wei // of it, until its lane is over
	// answer is the bidders' answer, whose cycles the payer pays; nil is a bidder
	// without an actor.
	answer func(w *world, q BidCall) Answer
	asked  []BidCall // in the last block
	// passes has the reasons why fires and questions of bidders are skipped, by
	// timer and by bidder; by is the proposer.
	passes  map[types.TimerID]string
	unasked map[types.Address]string
	by      types.Address
	set     types.ValidatorSet
	last    types.Cycles
}

func newWorld() *world {
	p := params.Defaults()
	p.Policy = Fifo // unless a test says otherwise
	return &world{p: p, kv: newMemory(), fees: Fees{Cycle: types.WeiOf(1000), Cell: types.WeiOf(1000)},
		balances: make(map[types.Address]types.Wei), cells: p.CellsLimit}
}

// proposer gets the tips.
var proposer = types.Address{0: 0x90, 1: 0x90}

// now is the height of the block being made.
func (w *world) now() types.Height { return w.head + 1 }

func (w *world) fund(a types.Address, wei types.Wei) { w.balances[a] = wei }

func (w *world) schedule(actor types.Address, req program.TimerRequest) (types.Timer, error) {
	t, _, err := w.blockNow().Schedule(actor, nil, req)
	return t, err
}

// block ends the block: it runs the lane and moves on.
func (w *world) block() LaneResult {
	out, err := w.lane()
	if err != nil {
		panic(err)
	}
	if err := Check(&w.p, w.kv); err != nil {
		panic(err)
	}
	w.head++
	w.blockNow().Maintain()
	return out
}

func (w *world) lane() (LaneResult, error) {
	w.orders, w.asked = nil, nil
	w.blockNow().Maintain() // again where a test skipped heights
	out, err := w.blockNow().RunLane(LaneHost{CellsLeft: w.cells, LastCycles: w.last, Proposer: w.by, Validators: &w.set, Ask: w.ask,
		Fire: w.fire})
	w.balances[proposer] = w.balances[proposer].Add(w.tips) // when all fires are settled, as the ledger does
	w.tips = types.Wei{}
	return out, err
}

// ask charges as decision T15 says.
func (w *world) ask(q BidCall) (Answer, error) {
	if reason := w.unasked[q.Bidder]; reason != "" && !q.Failed {
		return Answer{Passed: reason}, nil
	}
	w.asked = append(w.asked, q)
	a := Answer{Fault: "no_actor"}
	if q.Failed {
		a = Answer{Fault: ReasonHostFailed, Cycles: q.Cycles}
	} else if w.answer != nil {
		a = w.answer(w, q)
	}
	if hold := w.fees.Cycle.Mul(uint64(q.Cycles)); w.balances[q.Payer].Less(hold) {
		return Answer{}, fmt.Errorf("asked a bidder whose call %s cannot hold", q.Payer)
	}
	w.balances[q.Payer] = w.balances[q.Payer].Sub(w.fees.Cycle.Mul(uint64(a.Cycles)))
	return a, nil
}

// at is the block of a height; blockNow is the one being made.
func (w *world) at(height types.Height) *InBlock {
	return &InBlock{Params: &w.p, KV: w.kv, Height: height, Fees: w.fees, Books: w}
}

func (w *world) blockNow() *InBlock { return w.at(w.now()) }

// Deployer is who deployed an actor, or the actor.
func (w *world) Deployer(actor types.Address) types.Address {
	if by, ok := w.deployers[actor]; ok {
		return by
	}
	return actor
}

// Balance, Move and Deployer are Books.
func (w *world) Balance(a types.Address) types.Wei { return w.balances[a] }

func (w *world) Move(from, to types.Address, amount types.Wei) bool {
	if w.balances[from].Less(amount) {
		return false
	}
	w.balances[from] = w.balances[from].Sub(amount)
	w.balances[to] = w.balances[to].Add(amount)
	return true
}

// fire settles as decision T2 says: charge, run, refund.
func (w *world) fire(order Fire) (Fired, error) {
	if reason := w.passes[order.Timer.ID]; reason != "" && !order.Failed {
		return Fired{Passed: reason}, nil
	}
	order.Take()
	w.orders = append(w.orders, order)
	payer := order.Timer.FeePayer
	if w.balances[payer].Less(order.MaxCost) {
		return Fired{}, fmt.Errorf("asked to fire a timer that %s cannot pay", payer)
	}
	w.balances[payer] = w.balances[payer].Sub(order.MaxCost)
	fired := Fired{Result: types.StatusOK, Cycles: min(order.Cycles, 1000), Cells: min(order.Cells, 10)}
	if order.Failed {
		fired = Fired{Result: types.StatusHostFailed, Cycles: order.Cycles, Cells: order.Cells}
	} else if w.handle != nil {
		fired = w.handle(w, order)
	}
	if !Free(&w.p) {
		cost, _ := order.Price.Cost(fired.Cycles, fired.Cells)
		fired.FeePaid, fired.TipPaid = cost.Total(), cost.Tip
	}
	w.balances[payer] = w.balances[payer].Add(order.MaxCost.Sub(fired.FeePaid))
	if w.balances[types.TimerEscrow].Less(order.Payment) {
		return Fired{}, fmt.Errorf("the escrow does not hold the payment of timer %s", order.Timer.ID)
	}
	w.balances[types.TimerEscrow] = w.balances[types.TimerEscrow].Sub(order.Payment)
	w.tips = w.tips.Add(order.Payment)
	w.tips = w.tips.Add(fired.TipPaid)
	fired.FeePaid, fired.TipPaid = fired.FeePaid.Add(order.Payment), fired.TipPaid.Add(order.Payment)
	return fired, nil
}

// signedBy is a signature for a transaction: for at most most wei.
func signedBy(signer types.Address, most types.Wei) *types.Sponsorship {
	return &types.Sponsorship{Transaction: types.Keccak(signer[:]), Signer: signer, Most: most}
}

func addressOf(name string) types.Address {
	a := types.Address{0: 0xaa}
	copy(a[1:], name)
	return a
}

func ptr[T any](v T) *T { return &v }

// pendingCount is how many timers an actor's count says it has.
func pendingCount(kv KV, actor types.Address) uint64 { return readTally(kv, actor).Pending }
