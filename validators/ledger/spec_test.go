package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// CIP-1 §3: transactions, then timers, then deferred messages (CIP-5 newer
// revision: "transactions, timers, then engine and mailbox deferred transactions").
func TestTheOrderOfABlock(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.deploy("alice", "relay", "r", types.CBY), w.deploy("alice", "counter", "c", 0))
	w.block(w.call("alice", "hb", "start", samples.Number(1)),
		w.call("alice", "r", "send", (&samples.Order{Target: w.address("c"), Handler: "increment", Payload: []byte{}, Cycles: 2000,
			Cells: 100}).Encode()))
	w.block(w.transfer("alice", "bob", 1))
	var origins []types.Origin
	for i, r := range w.last.Receipts {
		origins = append(origins, r.Origin)
		if int(r.Index) != i || r.Height != w.head.Height() {
			t.Errorf("receipt %d has index %d and height %d", i, r.Index, r.Height)
		}
	}
	if want := []types.Origin{types.OriginTransaction, types.OriginTimer, types.OriginMessage}; !slices.Equal(origins, want) {
		t.Errorf("%v, want %v", origins, want)
	}
	w.ok()
}

// CIP-1 §4: "Timers created within the current block's transactions MUST NOT
// execute in the same block."
func TestNoTimerFiresInItsOwnBlock(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(0)))
	if r := w.last.Receipts[1]; r.Status != types.StatusReverted || r.Error.Code != "timer_height_not_in_the_future" {
		t.Errorf("%+v", r)
	}
	w.block(w.call("alice", "hb", "start", samples.Number(1)))
	if len(w.last.Receipts) != 1 {
		t.Error("it fired at once")
	}
	if w.block(); len(w.last.Receipts) != 1 || w.last.Receipts[0].Origin != types.OriginTimer {
		t.Error("it did not fire in the next block")
	}
}

// witness records what programs are told.
type witness struct {
	samples.Host
	infos    []program.BlockInfo
	messages []program.Message
}

func (s *witness) Open(program.Purpose) (program.Session, error) {
	session, err := s.Host.Open(program.ForBlock)
	return &witnessed{session, s}, err
}

type witnessed struct {
	program.Session
	of *witness
}

func (s *witnessed) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	s.of.infos, s.of.messages = append(s.of.infos, ctx.Block()), append(s.of.messages, msg)
	return s.Session.Handle(ctx, code, msg)
}

// CIP-5 §5.2: a fire has the zero hash as origin, the actor as sender, and the
// handler and payload that were scheduled.
func TestWhatAFireIsTold(t *testing.T) {
	w := newWorld(t, nil)
	host := &witness{}
	w.executor.Programs = host
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY))
	call := w.call("bob", "hb", "start", samples.Number(1))
	w.block(call)
	w.block()
	last := len(host.infos) - 1
	told, info := host.messages[last], host.infos[last]
	if told.Kind != program.Timer || told.Sender != w.address("hb") || told.Self != w.address("hb") || told.Handler != "handle_timer" ||
		told.Owner != w.address("alice") || !info.TxHash.IsZero() || info.Height != 3 || info.TimestampMS != w.head.Timestamp() ||
		info.ChainID != 8011 {
		t.Errorf("%+v %+v", told, info)
	}
	if host.infos[last-2].TxHash != call.Hash || host.messages[last-2].Sender != w.address("bob") {
		t.Error("a call is not told its transaction and sender")
	}
}

// Decision C14: "A failed transaction pays for what it used", base fees are burned,
// the tip goes to the proposer, value is returned.
func TestAFailedTransactionPaysForItsUse(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	before, c := w.balance("bob"), w.balance("c")
	tx := w.call("bob", "c", "fail", nil).Tx
	tx.Value, tx.MaxPriorityFeePerCycle, tx.MaxPriorityFeePerCell = types.WeiOf(12345), types.WeiOf(2), types.WeiOf(3)
	proposer := w.proposal().Proposer
	w.block(w.checked("bob", tx))
	r, h := w.last.Receipts[0], w.last.Block.Header
	burned := h.BaseFeeCycle.Mul(uint64(r.Cycles)).Add(h.BaseFeeCell.Mul(uint64(r.Cells)))
	tip := types.WeiOf(2*uint64(r.Cycles) + 3*uint64(r.Cells))
	if r.Status != types.StatusReverted || r.Fee != burned.Add(tip) || r.Tip != tip || w.last.Tips.Transactions != tip {
		t.Errorf("%+v", r)
	}
	if before.Sub(w.balance("bob")) != r.Fee || w.balance("c") != c || w.head.Account(proposer).Balance != tip {
		t.Error("the balances disagree with the receipt")
	}
	if len(r.Events) != 0 || w.head.Account(w.address("bob")).Nonce != 1 {
		t.Error("it left events, or its nonce is not used")
	}
}

// Decision C15: what is burned is counted; tips and transfers are not.
func TestTheSupplyFallsByWhatIsBurned(t *testing.T) {
	w := newWorld(t, nil)
	before := w.head.Supply()
	w.block(w.transfer("alice", "bob", 1))
	after := w.head.Supply()
	if after.Genesis != types.WeiOf(4*initialBalance) || !before.Burned().IsZero() || after.BurnedCycle != w.last.Burned.Cycle ||
		after.BurnedCell != w.last.Burned.Cell || after.Circulating().Add(w.last.Burned.Cycle).Add(w.last.Burned.Cell) != after.Genesis {
		t.Errorf("%+v", after)
	}
}

// Audit finds a supply that does not add up.
func TestAuditFindsMoneyFromNowhere(t *testing.T) {
	w := newWorld(t, nil)
	r := w.executor.openBlock(w.head, headerOf(w.head, w.proposal(), noPresence), noPresence, program.ForBlock)
	r.state.Credit(w.address("bob"), types.WeiOf(1))
	if err := Audit(r.sealBlock().State); err == nil || !strings.Contains(err.Error(), "genesis + minted - burned") {
		t.Error(err)
	}
}

// CIP-5 §9.7: the escrow holds what the pending timers bid.
func TestAuditFindsABidThatIsNotThere(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": "bias-vcg"})
	r := w.executor.openBlock(w.head, headerOf(w.head, w.proposal(), noPresence), noPresence, program.ForBlock)
	bob, bid := w.address("bob"), types.WeiOf(7)
	if _, _, err := r.schedulerBlock().Schedule(bob, nil, program.TimerRequest{Height: 9, Bid: &bid}); err != nil {
		t.Fatal(err)
	}
	mark := r.state.Snapshot()
	if err := Audit(r.sealBlock().State); err != nil {
		t.Error(err)
	}
	r.state.Revert(mark)
	r.state.Move(types.TimerEscrow, bob, types.WeiOf(1))
	if err := Audit(r.sealBlock().State); err == nil || !strings.Contains(err.Error(), "the pending timers' bids are 7") {
		t.Error(err)
	}
}

// Decision C9: R(H) = keccak256(R(H-1) ‖ hash(H-1)), R(0) = keccak256(chain id).
func TestRandomness(t *testing.T) {
	w := newWorld(t, nil)
	if w.head.header.Randomness != types.Keccak([]byte{0, 0, 0, 0, 0, 0, 0x1f, 0x4b}) {
		t.Error("R(0)")
	}
	r, hash := w.head.header.Randomness, w.head.Hash()
	if w.block(); w.head.header.Randomness != types.Keccak(r[:], hash[:]) {
		t.Error("R(1)")
	}
}

// drawing is a host whose programs answer with the randomness of their payload.
type drawing struct{ samples.Host }

func (h drawing) Open(p program.Purpose) (program.Session, error) {
	s, err := h.Host.Open(p)
	return drawingSession{s}, err
}

type drawingSession struct{ program.Session }

func (drawingSession) Handle(ctx program.Context, _ program.Code, msg program.Message) (program.Outcome, error) {
	drawn, err := ctx.Randomness(msg.Payload)
	return program.Outcome{Status: types.StatusOK, Output: drawn[:]}, err
}

// Decision C9: an actor's randomness is keccak256(R(H) ‖ actor ‖ domain), R(H)
// being that of the block's own header, so that two actors of it differ.
func TestRandomnessOfAnActor(t *testing.T) {
	w := newWorld(t, nil)
	w.executor.Programs = drawing{}
	w.block(w.deploy("alice", "counter", "one", 0), w.deploy("alice", "counter", "two", 0))
	calls := []struct {
		actor  string
		domain string
	}{{"one", "dice"}, {"two", "dice"}, {"one", "cards"}, {"one", ""}}
	for range 2 {
		var txs []*Checked
		for _, c := range calls {
			txs = append(txs, w.call("alice", c.actor, "draw", []byte(c.domain)))
		}
		w.block(txs...)
		w.ok()
		for i, c := range calls {
			actor := w.address(c.actor)
			want := types.Keccak(w.head.header.Randomness[:], actor[:], []byte(c.domain))
			if got := w.last.Receipts[i].Output; string(got) != string(want[:]) {
				t.Errorf("block %d: %s draws %s of %q, want %s", w.head.Height(), c.actor, got, c.domain, want)
			}
		}
	}
}

// Decision C8: heights are skipped only where genesis allows cheats and nothing
// is due, and what is skipped is what empty blocks would have been.
func TestSkippingEqualsEmptyBlocks(t *testing.T) {
	start := func(interval uint64) *world {
		w := newWorld(t, params.Overrides{"chain.epoch_blocks": "1000"})
		w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(interval)))
		return w
	}
	for _, n := range []int{1, 2, 5, 300} {
		walked, skipped := start(uint64(n)), start(uint64(n))
		walked.blocks(n)
		proposal := skipped.proposal()
		proposal.Skipped = uint64(n - 1)
		skipped.propose(proposal)
		if walked.head.Height() != skipped.head.Height() || walked.head.Root() != skipped.head.Root() ||
			walked.head.header.BaseFeeCycle != skipped.head.header.BaseFeeCycle {
			t.Errorf("%d heights: the states differ", n)
		}
	}
	parameter := newWorld(t, nil)
	parameter.block(parameter.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip3.min_basefee", Value: "900", Height: 10}))
	if parameter.head.Skippable() != 8 {
		t.Errorf("%d heights may be skipped before a parameter changes", parameter.head.Skippable())
	}
	for name, w := range map[string]*world{"timer": start(300), "parameter": parameter,
		"epoch": newWorld(t, params.Overrides{"chain.epoch_blocks": "300"}), "strict": newWorld(t, params.Overrides{"chain.cheats": "false"})} {
		proposal := w.proposal()
		proposal.Skipped = w.head.Skippable() + 1
		_, err := w.executor.Build(w.head, proposal, slices.Values([]*Checked(nil)), nil)
		if codeOf(t, err) != CodeBadSkip {
			t.Errorf("%s: %v", name, err)
		}
		if name == "strict" && w.head.Skippable() != 0 {
			t.Error("a strict chain skips")
		}
	}
}

// Decision T9: "Parameters hold from the first step of their block."
func TestParametersHoldFromTheFirstStepOfTheirBlock(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip3.cycles_transaction", Value: "5000", Height: 3}))
	for _, want := range []types.Cycles{1200, 5200, 5200} {
		w.block(w.transfer("alice", "bob", 1))
		if got := w.last.Receipts[0].Cycles; got != want {
			t.Errorf("height %d: %d cycles, want %d", w.head.Height(), got, want)
		}
	}
	value, _ := w.head.Storage(types.GovernanceAddress, []byte("system:cip3:cycles_transaction"))
	if string(value) != string(codec.Marshal(5000)) {
		t.Errorf("state holds %x", value)
	}
	if len(w.head.PendingParams()) != 0 {
		t.Error("the change still waits")
	}
}

// Decision C17: a block that ends up on no chain leaves no trace.
func TestAForkLeavesNoTrace(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(2)))
	parent, root := w.head, w.head.Root()
	straight := w.block(w.transfer("bob", "alice", 7)).State.Root()
	w.head = parent
	w.block(w.call("alice", "hb", "stop", nil), w.deploy("bob", "counter", "c", 9), w.transfer("bob", "alice", 8))
	w.block()
	if parent.Root() != root {
		t.Fatal("the parent's state changed")
	}
	w.head = parent
	if again := w.block(w.transfer("bob", "alice", 7)).State.Root(); again != straight {
		t.Error("the fork left a trace")
	}
}

// Decision C2: a failure of the host of programs blames no account and gives no
// receipt: a second attempt with a fresh session, then no result; a proposer drops
// the transaction and continues.
func TestAHostThatFails(t *testing.T) {
	w := newWorld(t, nil)
	host := &flaky{Host: samples.Host{}}
	w.executor.Programs = host
	w.block(w.deploy("alice", "counter", "c", 0))
	parent := w.head
	paying := w.call("alice", "c", "increment", nil).Tx
	paying.Value = types.WeiOf(5) // a second attempt must not move it twice
	txs := []*Checked{w.checked("alice", paying), w.call("bob", "c", "increment", nil), w.call("bob", "c", "increment", nil)}
	first, err := w.executor.Build(parent, w.proposal(), slices.Values(txs), nil)
	if err != nil {
		t.Fatal(err)
	}
	good := first.Result.Block

	host.failures, host.opened = 1, 0
	if result, err := w.executor.Apply(parent, good); err != nil || result.Hash != good.Hash() || host.opened != 2 {
		t.Errorf("one failure: %v, %d sessions", err, host.opened)
	}
	host.failures = 2
	var environment *EnvironmentError
	if _, err := w.executor.Apply(parent, good); !errors.As(err, &environment) {
		t.Errorf("two failures: %v", err)
	}
	host.failures = 2
	built, err := w.executor.Build(parent, w.proposal(), slices.Values(txs), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, dropped := built.Result, built.Dropped
	if len(result.Receipts) != 2 || len(dropped) != 1 || dropped[0].Transaction.Hash != txs[0].Hash ||
		!errors.As(dropped[0].Err, &environment) {
		t.Errorf("Build: %v, dropped %v", err, dropped)
	}
	if err := Audit(result.State); err != nil {
		t.Error(err)
	}
	w.executor.Programs = nil
	if _, err := w.executor.Apply(parent, good); !errors.As(err, &environment) {
		t.Errorf("no host: %v", err)
	}
}

// Decision C4: a proposer stops filling when it is told to.
func TestBuildStopsWhenToldTo(t *testing.T) {
	w := newWorld(t, nil)
	txs := []*Checked{w.transfer("alice", "bob", 1), w.transfer("alice", "bob", 2), w.transfer("alice", "bob", 3)}
	left := 100 * time.Millisecond
	offered := func(yield func(*Checked) bool) {
		for _, tx := range txs {
			left -= 40 * time.Millisecond // nothing waits that some of it would be kept for
			if !yield(tx) {
				return
			}
		}
	}
	built, err := w.executor.Build(w.head, w.proposal(), offered,
		&Pace{Share: 100 * time.Millisecond, Left: func() time.Duration { return left }})
	if err != nil || len(built.Result.Block.Transactions) != 2 || len(built.Dropped) != 0 {
		t.Errorf("%d transactions, %v", len(built.Result.Block.Transactions), err)
	}
}

// CIP-3: a transaction needs room for its limit in the rest of its lane, and takes
// its use.
func TestLanesReserveLimitsAndCountUse(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip3.lane_user_cycles": "200000"})
	var txs []*Checked
	for range 85 { // 1,200 each: the limit of 100,000 no longer fits after 84
		txs = append(txs, w.transfer("alice", "bob", 1))
	}
	w.block(txs...)
	if n := len(w.last.Block.Transactions); n != 84 || len(w.dropped) != 0 {
		t.Errorf("%d transactions in the block, %d dropped", n, len(w.dropped))
	}
	block := *w.last.Block
	block.Transactions = append(slices.Clone(block.Transactions), *txs[84].Tx)
	parent, _, _ := w.genesis.State()
	_, err := w.executor.Apply(parent, &block)
	if codeOf(t, err) != CodeNoRoom {
		t.Error(err)
	}
}

// Decision C11: the bytes of a block's transactions are bounded.
func TestABlockHasABoundedSize(t *testing.T) {
	w := newWorld(t, params.Overrides{"chain.max_block_bytes": "65536", "cip3.block_cells_limit": "1000000"})
	w.block(w.deploy("alice", "counter", "c", 0))
	var txs []*Checked
	for range 4 {
		tx := w.call("alice", "c", "increment", make([]byte, 19_000)).Tx
		tx.CellsLimit = 30_000
		txs = append(txs, w.checked("alice", tx))
	}
	if w.block(txs...); len(w.last.Block.Transactions) != 3 {
		t.Errorf("%d transactions", len(w.last.Block.Transactions))
	}
}

// Decision C6: the set changes at the end of an epoch in which a validator joined
// or left; the header of that end names the next set, and no other does.
func TestEpochs(t *testing.T) {
	w := newWorld(t, params.Overrides{"chain.epoch_blocks": "4"})
	for h := types.Height(1); h <= 17; h++ {
		var txs []*Checked
		if h == 10 {
			txs = append(txs, w.instructBy("system", governance.OpJoinValidator, &governance.JoinValidator{PublicKey: w.key("v7").PublicKey()}))
		}
		w.block(txs...)
		header, since := w.last.Block.Header, types.Epoch(0)
		if h > 12 {
			since = 3
		}
		if header.Epoch != types.Epoch((h-1)/4) || header.SetEpoch != since || header.Border() != (h == 12) ||
			(w.last.NextSet != nil) != (h == 12) {
			t.Errorf("height %d: epoch %d, decided by the set of %d, next set %v", h, header.Epoch, header.SetEpoch, w.last.NextSet)
		}
		if header.Border() && (header.NextSet != w.last.NextSet.Hash() || len(w.last.NextSet.Members) != 5) {
			t.Errorf("height %d: the header does not name the set %v", h, w.last.NextSet)
		}
		if previous := w.head.PreviousValidators(); (previous != nil) != (h == 12) || previous != nil && previous.Epoch != 0 {
			t.Errorf("height %d: previous set %v", h, previous)
		}
		if former := w.head.FormerValidators(); (former != nil) != (h >= 12 && h < 16) {
			t.Errorf("height %d: former set %v", h, former)
		}
	}
}

// Decision C8: what bounds a leap is what is due, and an epoch's end only where
// the set changes at it.
func TestC8AnEndWithoutAChangeBoundsNoLeap(t *testing.T) {
	w := newWorld(t, params.Overrides{"chain.epoch_blocks": "4"})
	w.block()
	if got := w.head.SkipTo(1_000_001); got != 999_999 {
		t.Errorf("%d heights may be skipped on the way to 1,000,001", got)
	}
	w.block(w.instructBy("system", governance.OpJoinValidator, &governance.JoinValidator{PublicKey: w.key("v7").PublicKey()}))
	if got := w.head.Skippable(); got != 1 {
		t.Errorf("%d heights may be skipped with the epoch's end, 4, a border", got)
	}
}

// A chain that keeps no blocks leaves the roots out of its headers; its states are those of
// a chain that has them, and no voter takes its blocks.
func TestAChainWithoutRootsHasTheSameStates(t *testing.T) {
	w := newWorld(t, nil)
	bare := w.executor
	bare.OmitRoots = true
	txs := []*Checked{w.deploy("alice", "heartbeat", "hb", 1_000_000_000), w.transfer("bob", "carol", 5)}
	parent := w.head
	without, err := bare.Build(parent, w.proposal(), slices.Values(txs), nil)
	if err != nil {
		t.Fatal(err)
	}
	with := w.block(txs...)
	if got, want := without.Result.State.Root(), with.State.Root(); got != want {
		t.Errorf("the state has root %s without roots in headers, and %s with them", got, want)
	}
	header := without.Result.Block.Header
	if header.StateRoot != (types.Hash{}) || header.ReceiptsRoot != (types.Hash{}) || without.Result.Changes != nil {
		t.Errorf("the block has roots %s and %s, and %d changes; want none", header.StateRoot, header.ReceiptsRoot, len(without.Result.Changes))
	}
	_, err = w.executor.Apply(parent, without.Result.Block)
	if got := codeOf(t, err); got != CodeBadReceipts {
		t.Errorf("a voter says %s, want %s", got, CodeBadReceipts)
	}
}
