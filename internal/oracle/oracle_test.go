package oracle

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The chain of these tests: four validators, five blocks. Block 1 has a
// transaction that schedules timers a (due 2), b (due 2) and c (due 9); in
// block 2 a fires and b is deferred, in block 3 b fires and c is extended, in
// block 4 c is cancelled. All fees and all money are right.
const chainID = 7

var validators = []types.Address{{1}, {2}, {3}, {4}}

var actorAddress = types.Address{0xac}

// sign is the tests' signature: who, and what.
func sign(who types.Address, digest types.Hash) (s types.Signature) {
	copy(s[:], who[:])
	copy(s[20:], digest[:])
	return s
}

func recoverSigner(digest types.Hash, s types.Signature) (types.Address, bool) {
	who := types.Address(s[:20])
	return who, s == sign(who, digest)
}

func certificate(kind types.VoteKind, h types.Height, block types.Hash, voters ...types.Address) *types.Certificate {
	c := &types.Certificate{Kind: kind, View: types.View(h), Height: h, Block: block}
	for _, who := range voters {
		vote := types.Vote{Kind: kind, View: c.View, Height: h, Block: block, Validator: who}
		c.Votes = append(c.Votes, types.CertificateVote{Validator: who, Signature: sign(who, vote.Digest(chainID))})
	}
	return c
}

func timer(due types.Height, nonce uint64, seq types.Seq) types.Timer {
	id := keccak256(actorAddress[:], be8(uint64(due)), []byte("p"), be8(nonce))
	return types.Timer{ID: id, Actor: actorAddress, Height: due, Payload: []byte("p"), Handler: "h", FeePayer: actorAddress,
		GasLimit: 1000, ExpiresAt: due + 10, Seq: seq, ScheduledAt: 1}
}

func fire(t types.Timer, at types.Height) (types.TimerChange, types.Receipt) {
	return types.TimerChange{Kind: types.ChangeEnded, Timer: t, Status: types.TimerFired, At: at, CyclesUsed: 100, CellsUsed: 1,
			FeePaid: types.WeiOf(1020), Result: types.StatusOK},
		types.Receipt{Hash: t.ID, Origin: types.OriginTimer, Height: at, Sender: t.Actor, To: t.Actor, Cycles: 100, Cells: 1,
			Fee: types.WeiOf(1020), Status: types.StatusOK}
}

func transaction() types.Transaction {
	return types.Transaction{ChainID: chainID, CyclesLimit: 500, CellsLimit: 50,
		MaxFeePerCycle: types.WeiOf(12), MaxPriorityFeePerCycle: types.WeiOf(3),
		MaxFeePerCell: types.WeiOf(100), MaxPriorityFeePerCell: types.WeiOf(1),
		Payload: codec.Marshal(types.Transfer{Kind: types.KindTransfer})}
}

func genesis() *types.Block {
	return &types.Block{Header: types.Header{ChainID: chainID, Randomness: types.Hash{9}, StateRoot: Root(nil),
		BaseFeeCycle: types.WeiOf(10), BaseFeeCell: types.WeiOf(20), BaseFeeLaneTimer: types.WeiOf(10)}}
}

// parameters under which two timers of these tests fit into the lane, and base fees
// of cycles and cells are constant: a thousandth of them is less than a wei.
func parameters() LaneRules {
	return LaneRules{Policy: fifo, CyclesLimit: 20_000, SystemCycles: 4000, LaneBudget: 1050, GCBudget: 10, GCPerTimer: 10, AskBudget: 30,
		CellsLimit: 100, FeeDivisor: 1000,
		LaneFeeDivisor: 8, LaneFeeGain: 1000, MinBaseFee: types.WeiOf(1), FeePermille: 500, FireCycles: 2000, FireCyclesAuction: 1500,
		FireCells: 5,
		Examined:  10, Arrears: 10,
		Window: 2, WeightMin: 1, WeightMax: 2, Reserve: types.WeiOf(10), FiresBlock: 3, FiresActor: 2}
}

func rules() Rules {
	set := types.ValidatorSet{}
	for _, a := range validators {
		set.Members = append(set.Members, types.Validator{Address: a})
	}
	return Rules{ChainID: chainID, Genesis: genesis(), Set: set, Supply: types.WeiOf(1_000_000), Lane: parameters(), Recover: recoverSigner}
}

// seal completes a block of the chain: the header's commitments to the rest.
func seal(o *Observation, parent *types.Block) {
	h := &o.Block.Header
	hash := hashHeader(&parent.Header)
	h.ChainID, h.Parent, h.Timestamp = chainID, hash, parent.Header.Timestamp+1000
	h.Height = parent.Header.Height + 1 + types.Height(h.Skipped)
	h.View = parent.Header.View + 1
	h.Proposer = validators[uint64(h.View)%4]
	h.Randomness = keccak256(parent.Header.Randomness[:], hash[:])
	h.BaseFeeCycle, h.BaseFeeCell = types.WeiOf(10), types.WeiOf(20)
	if o.Lane.Policy != eip1559 {
		h.BaseFeeLaneTimer = types.WeiOf(10)
	}
	var hashes, receipts []byte
	for i := range o.Block.Transactions {
		one := keccak256(codec.Marshal(&o.Block.Transactions[i]))
		hashes = append(hashes, one[:]...)
	}
	for i := range o.Receipts {
		o.Receipts[i].Index = uint32(i)
		h.CyclesUsed += o.Receipts[i].Cycles
		h.CellsUsed += o.Receipts[i].Cells
		if o.Receipts[i].Origin == types.OriginTimer {
			h.TimerCyclesUsed += o.Receipts[i].Cycles
		}
		receipts = append(receipts, codec.Marshal(&o.Receipts[i])...)
	}
	if h.Passed = keccak256(); o.Block.Passed != nil {
		h.Passed = keccak256(codec.Marshal(o.Block.Passed))
	}
	h.Transactions, h.ReceiptsRoot = keccak256(hashes), keccak256(receipts)
	o.State = []Entry{{[]byte("height"), be8(uint64(h.Height))}, {[]byte("h"), nil}, {[]byte("heights"), []byte{1}}}
	h.StateRoot = Root(o.State)
	o.StateRoot = h.StateRoot
	o.Hash = hashHeader(h)
	if parent.Header.Height > 0 {
		o.Block.Parent = certificate(types.Notarize, parent.Header.Height, hash, validators[0], validators[1], validators[2])
	}
	o.Finalization = certificate(types.Finalize, h.Height, o.Hash, validators[1], validators[2], validators[3])
}

// chain returns what one validator observed of blocks 1 to 5. spoil changes a
// block's content before it is sealed; later ones build on the result.
func chain(spoil func(h types.Height, o *Observation)) []Observation {
	a, b, c := timer(2, 0, 1), timer(2, 1, 2), timer(9, 2, 3)
	deferred, extended := b, c
	deferred.Deferrals, extended.ExpiresAt = 1, c.ExpiresAt+5
	fireA, receiptA := fire(a, 2)
	fireB, receiptB := fire(deferred, 3)
	tx := transaction()
	paid := types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Height: 1, Cycles: 300, Cells: 7,
		Fee: types.WeiOf(300*12 + 7*21), Tip: types.WeiOf(300*2 + 7)} // the priority of 3 is cut to 12 - 10
	money := func(burned uint64) *Money {
		return &Money{Burned: types.WeiOf(burned), Balances: []types.Wei{types.WeiOf(900_000), types.WeiOf(90_000 - burned)},
			Escrows: []types.Wei{types.WeiOf(10_000)}}
	}
	scheduled := func(t types.Timer) types.TimerChange {
		return types.TimerChange{Kind: types.ChangeScheduled, Timer: t, Status: types.TimerPending, At: 1}
	}
	all := []Observation{
		{Block: &types.Block{Transactions: []types.Transaction{tx}}, Receipts: []types.Receipt{paid},
			Timers: []types.TimerChange{scheduled(a), scheduled(b), scheduled(c)}, Money: money(3140)},
		{Block: &types.Block{}, Receipts: []types.Receipt{receiptA}, Timers: []types.TimerChange{fireA,
			{Kind: types.ChangeDeferred, Timer: deferred, Status: types.TimerPending, At: 2, Reason: "lane_full"}}},
		{Block: &types.Block{}, Receipts: []types.Receipt{receiptB}, Timers: []types.TimerChange{
			{Kind: types.ChangeExtended, Timer: extended, Status: types.TimerPending, At: 3, Reason: "extended"}, fireB},
			Money: money(3140 + 2*1020)},
		{Block: &types.Block{}, Timers: []types.TimerChange{{Kind: types.ChangeEnded, Timer: extended, Status: types.TimerCancelled, At: 4,
			Reason: "cancelled_by_owner"}}},
		{Block: &types.Block{}, Money: money(3140 + 2*1020)},
	}
	parent := genesis()
	for i := range all {
		all[i].Lane = parameters()
		if spoil != nil {
			spoil(types.Height(i+1), &all[i])
		}
		seal(&all[i], parent)
		parent = all[i].Block
	}
	return all
}

func judge(streams ...[]Observation) *Judge {
	j := New(rules())
	for v, stream := range streams {
		for _, o := range stream {
			o.Validator = validators[v]
			j.Observe(o)
		}
	}
	return j
}

func TestARightChainIsNotAccused(t *testing.T) {
	j := judge(chain(nil), chain(nil), chain(nil)[:2])
	for _, v := range j.Violations() {
		t.Error(v)
	}
	want := Counts{Observations: 12, Heights: 5, Certificates: 12 + 9, Signatures: 3 * 21, Rehashed: 12, Summed: 3,
		Receipts: 3, Scheduled: 3, Ended: 3, Fired: 2, Cancelled: 1, Deferred: 1, Votes: 3 * 21, Lanes: 5, BaseFees: 5, Leaders: 5}
	if j.Counts() != want || j.Tip() != 5 {
		t.Errorf("judged %+v up to %d, want %+v", j.Counts(), j.Tip(), want)
	}
}

// accused runs the oracles and wants this one, and this text, among the first.
func accused(t *testing.T, name string, j *Judge, oracle, text string) {
	t.Helper()
	for _, v := range j.Violations() {
		if v.Oracle == oracle && strings.Contains(v.Error(), text) {
			return
		}
	}
	t.Errorf("%s: no violation of %s with %q, but %v", name, oracle, text, j.Violations())
}

// Each row plants one thing in the content of one block, whose header, hash and
// certificates are then made to fit.
func TestPlantedContentIsFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     types.Height
		plant  func(o *Observation)
		oracle string
		text   string
	}{
		{"fee a wei too high", 1, func(o *Observation) { o.Receipts[0].Fee = types.WeiOf(3748) }, "fees", "want 3747, tip 607"},
		{"tip a wei too low", 1, func(o *Observation) { o.Receipts[0].Tip = types.WeiOf(606) }, "fees", "want 3747, tip 607"},
		{"tip above the fee", 1, func(o *Observation) { o.Receipts[0].Tip = types.WeiOf(9999) }, "fees", "in a fee of"},
		{"base fee above the maximum", 1, func(o *Observation) {
			o.Block.Transactions[0].MaxFeePerCycle = types.WeiOf(9)
			o.Receipts[0].Hash = o.Block.Transactions[0].Hash()
		}, "fees", "exceed its maxima"},
		{"more cycles than the limit", 1, func(o *Observation) { o.Receipts[0].Cycles = 501 }, "fees", "used 501 cycles"},
		{"receipt of nothing", 1, func(o *Observation) { o.Receipts[0].Hash = types.Hash{1} }, "fees", "matches no transaction"},
		{"transaction without receipt", 1, func(o *Observation) { o.Receipts = nil }, "fees", "has no receipt"},
		{"transaction paid twice", 1, func(o *Observation) { o.Receipts = append(o.Receipts, o.Receipts[0]) }, "fees",
			"or one that already has a receipt"},
		{"wrong origin", 1, func(o *Observation) { o.Receipts[0].Origin = "gift" }, "fees", `origin "gift"`},
		{"fire for too little", 2, func(o *Observation) { o.Receipts[0].Fee = types.WeiOf(1019) }, "fees", "want 1020"},
		{"fire with a tip under fifo", 2, func(o *Observation) { o.Receipts[0].Tip = types.WeiOf(1) }, "fees", "tip 1; want 1020, tip 0"},
		{"fire whose receipt says otherwise", 2, func(o *Observation) { o.Timers[0].TipPaid = types.WeiOf(1) }, "fees", "; receipt: "},
		{"fire without a receipt", 2, func(o *Observation) { o.Receipts = nil }, "fees", "has no receipt"},
		{"receipt without a fire", 2, func(o *Observation) { o.Timers[0].Status = types.TimerExpired }, "fees", "matches no fire of a timer"},
		{"delivery with a tip", 4, func(o *Observation) {
			o.Receipts = []types.Receipt{{Origin: types.OriginMessage, Height: 4, Fee: types.WeiOf(5), Tip: types.WeiOf(5)}}
		}, "fees", "delivery"},
		{"receipt of another height", 2, func(o *Observation) { o.Receipts[0].Height = 3 }, "fees", "of height 3"},

		{"money from nowhere", 3, func(o *Observation) { o.Money.Balances[0] = types.WeiOf(900_001) }, "supply", "hold 994821"},
		{"money lost in an escrow", 3, func(o *Observation) { o.Money.Escrows = nil }, "supply", "hold 984820"},
		{"minted without a recipient", 3, func(o *Observation) { o.Money.Minted = types.WeiOf(1) }, "supply", "minted 1"},
		{"burned without a fee", 5, func(o *Observation) {
			o.Money.Burned = o.Money.Burned.Add(types.WeiOf(1))
			o.Money.Balances[0] = types.WeiOf(899_999)
		}, "supply", "the chain burned 1"},
		{"a fee that was not burned", 4, func(o *Observation) {
			o.Receipts = []types.Receipt{{Origin: types.OriginMessage, Height: 4, Fee: types.WeiOf(5)}}
		}, "supply", "paid 5"},

		{"timer of an unknown id", 1, func(o *Observation) { o.Timers[1].Timer.ID = types.Hash{1} }, "timers", "nonce 1"},
		{"timer scheduled for its own block", 1, func(o *Observation) {
			o.Timers[0].Timer.Height, o.Timers[0].Timer.ID = 1, timer(1, 0, 1).ID
		}, "timers", "is due at 1"},
		{"sequence that falls", 1, func(o *Observation) { o.Timers[2].Timer.Seq = 2 }, "timers", "sequence 2 after 2"},
		{"fire of nothing", 2, func(o *Observation) { o.Timers[0].Timer.ID = types.Hash{1} }, "timers", "which was never scheduled"},
		{"timer examined after one that was not", 2, func(o *Observation) {
			o.Timers, o.Lane.Examined = o.Timers[1:], 1
			o.Receipts = nil
		}, "timers", "neither ended nor was deferred"},
		{"timer triggered that watches nothing", 2, func(o *Observation) { o.Timers[1].Kind = types.ChangeTriggered }, "timers", "is triggered"},
		{"change of no kind", 2, func(o *Observation) { o.Timers[1].Kind = 0 }, "timers", "scheduled again"},
		{"end of another kind", 2, func(o *Observation) { o.Timers[0].Kind = types.ChangeDeferred }, "timers", "its change has the kind 4"},
		{"extension that does not lengthen", 3, func(o *Observation) { o.Timers[0].Timer.ExpiresAt = 19 }, "timers",
			"is extended to 19, and expires at 19"},
		{"deferral that lengthens", 2, func(o *Observation) { o.Timers[1].Timer.ExpiresAt++ }, "timers", "expires at 13, and did at 12"},
		{"timer forgotten", 2, func(o *Observation) { o.Timers = o.Timers[:1] }, "timers", "neither ended nor was deferred"},
		{"timer ends twice", 4, func(o *Observation) { o.Timers = append(o.Timers, o.Timers[0]) }, "timers", "had ended: cancelled"},
		{"fired timer scheduled again", 4, func(o *Observation) {
			o.Timers = append(o.Timers, types.TimerChange{Kind: types.ChangeScheduled, Timer: timer(2, 0, 1), Status: types.TimerPending, At: 4})
		}, "timers", "had ended: fired"},
		{"fire before its height", 3, func(o *Observation) {
			o.Timers[0].Kind, o.Timers[0].Status, o.Timers[0].Reason, o.Timers[0].Timer.ExpiresAt = types.ChangeEnded, types.TimerFired, "", 19
		}, "timers", "due at 9 and expiring at 19, fired"},
		{"fires out of order", 2, func(o *Observation) {
			second, receipt := fire(timer(2, 1, 2), 2)
			o.Timers = []types.TimerChange{second, o.Timers[0]}
			o.Receipts = append(o.Receipts, receipt)
		}, "lane", "fired after"},
		{"two fires where one fits", 2, func(o *Observation) {
			second, receipt := fire(timer(2, 1, 2), 2)
			o.Timers[1] = second
			o.Receipts = append(o.Receipts, receipt)
		}, "lane", "fired when 100 of the lane's 1050 were used"},
		{"skipped though it fits", 2, func(o *Observation) { o.Lane.LaneBudget = 1100 }, "lane", "waits (lane_full)"},
		{"skipped for cells that exist", 2, func(o *Observation) { o.Timers[1].Reason = "block_cells_full" }, "lane",
			"waits (block_cells_full)"},
		{"more cells than the block has", 2, func(o *Observation) { o.Lane.CellsLimit = 4 }, "lane", "had 4 cells left"},
		{"more cycles than the lane has", 2, func(o *Observation) { o.Timers[0].CyclesUsed = 1051 }, "lane", "fires used 1051 cycles"},
		{"more examined than there may be", 2, func(o *Observation) { o.Lane.Examined = 1 }, "lane",
			"the block examined 2 due timers, at most 1"},
		{"waits for a cleanup lane with room", 2, func(o *Observation) { o.Timers[1].Reason = "gc_lane_full" }, "lane", "has room for 1"},
		{"more cleaned up than there is room for", 2, func(o *Observation) {
			o.Lane.GCBudget = 9
			o.Timers[1].Status = types.TimerInsufficientFunds
		}, "lane", "1 timers ended unfired"},
		{"a base fee that moves by itself", 2, func(o *Observation) { o.Lane.MinBaseFee = types.WeiOf(11) }, "basefees",
			"they are 11, 20 and 11"},
		{"bids without a lock", 3, func(o *Observation) { o.Money.Bids = types.WeiOf(1) }, "supply", "and 1 are locked"},
		{"expired in time", 4, func(o *Observation) { o.Timers[0].Status = types.TimerExpired }, "timers", "which expires at 24, is expired"},
		{"insufficient before its height", 4, func(o *Observation) { o.Timers[0].Status = types.TimerInsufficientFunds }, "timers",
			"for lack of funds"},
		{"an unknown end", 4, func(o *Observation) { o.Timers[0].Status = "lost" }, "timers", `is "lost"`},
		{"deferred before its height", 4, func(o *Observation) {
			o.Timers[0].Kind, o.Timers[0].Status, o.Timers[0].Reason = types.ChangeDeferred, types.TimerPending, "lane_full"
		}, "timers", "is deferred"},
		{"deferred twice in a block", 2, func(o *Observation) { o.Timers = append(o.Timers, o.Timers[1]) }, "timers", "deferred twice"},
		{"deferred without a reason", 2, func(o *Observation) { o.Timers[1].Reason = "" }, "timers", "without a reason"},
		{"deferrals miscounted", 2, func(o *Observation) { o.Timers[1].Timer.Deferrals = 2 }, "timers", "counts 2 deferrals"},
		{"deferred and ended", 2, func(o *Observation) {
			end := o.Timers[1]
			end.Kind, end.Status = types.ChangeEnded, types.TimerExpired
			o.Timers = append(o.Timers, end)
		}, "timers", "deferred and ends in one block"},
		{"deferred, cancelled after the lane, and miscounted", 2, func(o *Observation) {
			end := o.Timers[1]
			end.Kind, end.Status, end.Reason, end.Timer.Deferrals = types.ChangeEnded, types.TimerCancelled, "cancelled_by_owner", 0
			o.Timers = append(o.Timers, end)
		}, "timers", "counts 0 deferrals, want 1"},
		{"timer that changes its owner", 4, func(o *Observation) { o.Timers[0].Timer.Actor = types.Address{1} }, "timers", "became one of"},
		{"fire over its limit", 2, func(o *Observation) { o.Timers[0].CyclesUsed = 1001 }, "timers", "used 1001 cycles of 1000"},
		{"change of another height", 4, func(o *Observation) { o.Timers[0].At = 5 }, "timers", "says height 5"},
	} {
		j := judge(chain(func(h types.Height, o *Observation) {
			if h == test.at {
				test.plant(o)
			}
		}))
		accused(t, test.name, j, test.oracle, test.text)
	}
}

// Each row plants one thing in a sealed observation.
func TestPlantedFormIsFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		plant  func(o *Observation) // of block 3
		oracle string
		text   string
	}{
		{"another hash", func(o *Observation) { o.Hash = types.Hash{1} }, "agreement", "knows it as"},
		{"another parent", func(o *Observation) { o.Block.Header.Parent = types.Hash{1} }, "agreement", "wrong parent: got"},
		{"another chain", func(o *Observation) { o.Block.Header.ChainID = 8 }, "agreement", "wrong chain of the block: got 8"},
		{"time that stands", func(o *Observation) { o.Block.Header.Timestamp = 2000 }, "agreement", "not after the parent's"},
		{"other randomness", func(o *Observation) { o.Block.Header.Randomness = types.Hash{} }, "agreement", "randomness"},
		{"a transaction too many", func(o *Observation) { o.Block.Transactions = append(o.Block.Transactions, transaction()) }, "agreement",
			"transactions hash to"},
		{"a receipt too few", func(o *Observation) { o.Receipts = nil }, "agreement", "receipts hash to"},
		{"more skipped than there is", func(o *Observation) { o.Block.Header.Skipped = 3 }, "agreement", "has no parent"},

		{"no certificate", func(o *Observation) { o.Block.Parent = nil }, "certificates", "notarization of its parent is missing"},
		{"too few votes", func(o *Observation) { o.Finalization.Votes = o.Finalization.Votes[1:] }, "certificates",
			"2 valid votes, needs 3 of 4"},
		{"one vote twice", func(o *Observation) { o.Finalization.Votes[0] = o.Finalization.Votes[1] }, "certificates", "two votes of"},
		{"a forged vote", func(o *Observation) { o.Finalization.Votes[0].Signature[40] ^= 1 }, "certificates", "did not sign"},
		{"a stranger's vote", func(o *Observation) {
			o.Finalization = certificate(types.Finalize, 3, o.Hash, types.Address{9}, validators[0], validators[1])
		}, "certificates", "not in the set"},
		{"notarized only", func(o *Observation) {
			o.Finalization = certificate(types.Notarize, 3, o.Hash, validators[0], validators[1], validators[2])
		}, "certificates", "want finalize"},
		{"of another block", func(o *Observation) {
			o.Finalization = certificate(types.Finalize, 3, types.Hash{1}, validators[0], validators[1], validators[2])
		}, "certificates", "certificate of"},
		{"of an unknown epoch", func(o *Observation) { o.Finalization.Epoch = 3 }, "certificates", "epoch 3"},

		{"another leader", func(o *Observation) { o.Block.Header.Proposer = validators[1] }, "leader", "which is the turn of"},
		{"another's turn", func(o *Observation) { o.Block.Header.View = 4 }, "leader", "which is the turn of"},
		{"an unchanged view", func(o *Observation) { o.Block.Header.View = 2 }, "leader", "view 2 does not follow the parent's view 2"},
		{"a parent notarized in another view", func(o *Observation) { o.Block.Parent.View = 9 }, "leader", "has a notarization of view 9"},

		{"another root", func(o *Observation) { o.StateRoot = types.Hash{1} }, "roots", "its state has root"},
		{"a key of state lost", func(o *Observation) { o.State = o.State[1:] }, "roots", "2 keys of state"},
		{"a value of state changed", func(o *Observation) { o.State[0].Value = []byte{1} }, "roots", "3 keys of state"},
		{"a key of state twice", func(o *Observation) { o.State = append(o.State, o.State[0]) }, "roots", "4 keys of state"},
	} {
		all := chain(nil)
		test.plant(&all[2])
		accused(t, test.name, judge(all), test.oracle, test.text)
	}
}

func TestTwoChainsAreFound(t *testing.T) {
	other := chain(func(h types.Height, o *Observation) {
		if h == 4 {
			o.Block.Header.SubsetEpoch = 9
		}
	})
	accused(t, "two blocks at a height", judge(chain(nil), other), "agreement", "finalized ")
	otherTimers, otherReceipts, otherSet := chain(nil), chain(nil), chain(nil)
	otherTimers[1].Timers = otherTimers[1].Timers[:1]
	otherReceipts[1].Receipts[0].Output = []byte("x")
	otherSet[1].NextSet = &types.ValidatorSet{Epoch: 1}
	accused(t, "other timers", judge(chain(nil), otherTimers), "agreement", "timer changes differ")
	accused(t, "other receipts", judge(chain(nil), otherReceipts), "agreement", "receipts differ")
	accused(t, "another set", judge(chain(nil), otherSet), "agreement", "next epoch differs")
}

func TestVotesAgainstOneselfAreFound(t *testing.T) {
	vote := func(kind types.VoteKind, block byte) types.Vote {
		return types.Vote{Kind: kind, View: 5, Block: types.Hash{block}, Validator: validators[0]}
	}
	for _, test := range []struct {
		name  string
		votes []types.Vote
		text  string
	}{
		{"two notarized", []types.Vote{vote(types.Notarize, 1), vote(types.Notarize, 2)}, "it notarized"},
		{"nullified, then finalized", []types.Vote{vote(types.Nullify, 0), vote(types.Finalize, 1)}, "it finalized the view that it nullified"},
		{"finalized, then nullified", []types.Vote{vote(types.Finalize, 1), vote(types.Nullify, 0)}, "it nullified the view that it finalized"},
		{"two finalized", []types.Vote{vote(types.Finalize, 1), vote(types.Finalize, 2)}, "finalized "},
	} {
		j := judge()
		for _, v := range test.votes {
			j.Vote(v)
		}
		accused(t, test.name, j, "certificates", test.text)
	}
	j := judge()
	for _, v := range []types.Vote{vote(types.Notarize, 1), vote(types.Notarize, 1), vote(types.Finalize, 1), vote(types.Finalize, 1)} {
		j.Vote(v)
	}
	other := vote(types.Nullify, 0)
	other.View = 6
	j.Vote(other)
	other = vote(types.Notarize, 2)
	other.Epoch = 1
	j.Vote(other)
	if err := j.Err(); err != nil {
		t.Errorf("an honest voter is accused: %v", err)
	}
}

// Finding F17: who is excused may vote against itself; the others may not.
func TestOneThatIsExcusedIsNotAccused(t *testing.T) {
	j := judge()
	j.Vote(types.Vote{Kind: types.Nullify, View: 5, Validator: validators[0]})
	j.Excuse(validators[0])
	j.Vote(types.Vote{Kind: types.Finalize, View: 5, Validator: validators[0]})
	if err := j.Err(); err != nil {
		t.Errorf("it is accused: %v", err)
	}
	j.Vote(types.Vote{Kind: types.Nullify, View: 5, Validator: validators[1]})
	j.Vote(types.Vote{Kind: types.Finalize, View: 5, Validator: validators[1]})
	accused(t, "another", j, "certificates", "it finalized the view that it nullified")
}

func TestSkippedHeightsAreLinked(t *testing.T) {
	all := chain(func(h types.Height, o *Observation) {
		if h == 5 {
			o.Block.Header.Skipped = 10
		}
	})
	j := judge(all)
	if err := j.Err(); err != nil || j.Tip() != 15 {
		t.Errorf("at %d: %v", j.Tip(), err)
	}
}

func TestFreeFiresCostNothing(t *testing.T) {
	r := rules()
	r.FreeFees = true
	j := New(r)
	for _, o := range chain(nil) {
		j.Observe(o)
	}
	accused(t, "a free fire that was paid", j, "fees", "paid 1020, tip 0; want 0")
}

func TestViolationsAreBounded(t *testing.T) {
	j := judge()
	for range 2 * MaxViolations {
		j.Observe(Observation{})
	}
	if len(j.Violations()) != MaxViolations {
		t.Errorf("%d violations are kept", len(j.Violations()))
	}
	if j.reportViolation("another", 1, types.Address{}, "something else"); len(j.Violations()) != MaxViolations+1 {
		t.Error("an oracle that reports much hides another")
	}
}

// A block that its proposer never sent was proposed by another validator.
func TestABlockThatItsProposerNeverSentIsFound(t *testing.T) {
	heard := func(whom func(b *types.Block) types.Address) *Judge {
		r := rules()
		r.Hears = true
		j := New(r)
		for _, o := range chain(nil) {
			j.Proposed(whom(o.Block), o.Block)
			j.Observe(o)
		}
		return j
	}
	if err := heard(func(b *types.Block) types.Address { return b.Header.Proposer }).Err(); err != nil {
		t.Error(err)
	}
	accused(t, "another sent it", heard(func(*types.Block) types.Address { return types.Address{9} }), "leader", "never sent a proposal of it")
}
