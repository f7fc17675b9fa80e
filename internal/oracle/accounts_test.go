package oracle

import (
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The third chain of these tests is about money and turnover: an epoch of four
// blocks, base fees of 10 a cycle and 20 a cell, tips of 2 and 1.
//
//	1  alice deploys an actor with 500,000; the system key lets v5 join
//	2  bob calls it: it pays bob 50, sends a message of 100 cycles and 2 cells, and
//	   schedules a timer for which bob pays
//	3  the message is delivered for half of what it may use; the timer fires; v1 is
//	   told to leave
//	4  bob's transfer to alice fails; the set of the next epoch is announced
var (
	alice, bob, governor = types.Address{0xa1}, types.Address{0xb0}, types.Address{0x60}
	deployed             = types.Address{0xac, 2}
	joining              = types.Validator{Address: types.Address{5}, PublicKey: types.PublicKey{5}}
)

const (
	txFee = 100*12 + 5*21 // each transaction uses 100 cycles and 5 cells
	txTip = 100*2 + 5
)

func moneyRules() Rules {
	r := rules()
	r.EpochBlocks, r.SystemKey = 4, governor
	r.Accounts = []Account{{Address: alice, Balance: types.WeiOf(900_000)}, {Address: bob, Balance: types.WeiOf(90_000)},
		{Address: governor, Balance: types.WeiOf(10_000)}}
	r.AddressOf = func(key types.PublicKey) (types.Address, bool) { return types.Address{key[0]}, true }
	return r
}

func signed(from types.Address, nonce types.Nonce, to *types.Address, value uint64, payload any) types.Transaction {
	tx := types.Transaction{ChainID: chainID, Nonce: nonce, To: to, Value: types.WeiOf(value), CyclesLimit: 500, CellsLimit: 50,
		MaxFeePerCycle: types.WeiOf(12), MaxPriorityFeePerCycle: types.WeiOf(3), MaxFeePerCell: types.WeiOf(100),
		MaxPriorityFeePerCell: types.WeiOf(1),
		Payload:               codec.Marshal(payload)}
	signature := sign(from, tx.SigningDigest())
	tx.Signature = &signature
	return tx
}

func system(opcode uint16, args any) types.System {
	return types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}
}

func receiptOf(tx *types.Transaction, from, to types.Address, h types.Height) types.Receipt {
	return types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Height: h, Sender: from, To: to, Cycles: 100, Cells: 5,
		Fee: types.WeiOf(txFee), Tip: types.WeiOf(txTip), Status: types.StatusOK}
}

// bank is balances and nonces as these tests say them by hand.
type bank struct {
	balance map[types.Address]uint64
	nonce   map[types.Address]types.Nonce
	told    map[types.Address]Account
}

func (b *bank) move(from, to types.Address, amount uint64) {
	b.balance[from] -= amount
	b.balance[to] += amount
}

// wrote lists what changed since it was asked last.
func (b *bank) wrote() (all []Account) {
	for _, at := range sortedAddresses(b.balance) {
		now := Account{at, b.nonce[at], types.WeiOf(b.balance[at])}
		if b.told[at] != now {
			all = append(all, now)
			b.told[at] = now
		}
	}
	return all
}

func moneyChain(spoil func(h types.Height, o *Observation)) []Observation {
	lent := types.Timer{Actor: deployed, Height: 3, Handler: "h", FeePayer: bob, GasLimit: 1000, ExpiresAt: 13, Seq: 1, ScheduledAt: 2}
	lent.ID = keccak256(deployed[:], be8(3), nil, be8(0))
	message := Sent{Hash: types.Hash{7}, From: deployed, Cycles: 100, Cells: 2}
	deploy := signed(alice, 0, nil, 500_000, types.Deploy{Kind: types.KindDeploy})
	join := signed(governor, 0, nil, 0, system(opJoin, map[string]any{"public_key": joining.PublicKey, "endpoint": ""}))
	call := signed(bob, 0, &deployed, 0, types.Execute{Kind: types.KindExecute, Handler: "h", Sponsor: types.SponsorOf(types.WeiOf(1020))})
	lent.Sponsor = new(call.Hash())
	leave := signed(governor, 1, nil, 0, system(opLeave, map[string]any{"address": validators[1]}))
	failing := signed(bob, 1, &alice, 40, types.Transfer{Kind: types.KindTransfer})

	b := &bank{balance: map[types.Address]uint64{alice: 900_000, bob: 90_000, governor: 10_000}, nonce: map[types.Address]types.Nonce{},
		told: map[types.Address]Account{}}
	burned := types.Address{0xff}
	pay := func(from types.Address, h int, fee, tip uint64) {
		b.balance[from] -= fee
		b.balance[validators[h%4]] += tip
		b.balance[burned] += fee - tip
	}
	account := func() []Account {
		delete(b.balance, burned)
		return b.wrote()
	}
	fired, receipt := fire(lent, 3)
	delivery := types.Receipt{Hash: message.Hash, Origin: types.OriginMessage, Height: 3, Sender: deployed, To: bob, Cycles: 50, Cells: 1,
		Fee: types.WeiOf(520), Status: types.StatusOK}
	refusal := receiptOf(&failing, bob, alice, 4)
	refusal.Status = types.StatusFailed

	one := Observation{Block: &types.Block{Transactions: []types.Transaction{deploy, join}},
		Receipts: []types.Receipt{receiptOf(&deploy, alice, deployed, 1), receiptOf(&join, governor, types.Address{9}, 1)}}
	pay(alice, 1, txFee, txTip)
	pay(governor, 1, txFee, txTip)
	b.move(alice, deployed, 500_000)
	b.nonce[alice], b.nonce[governor] = 1, 1
	one.Accounts = account()

	two := Observation{Block: &types.Block{Transactions: []types.Transaction{call}},
		Receipts: []types.Receipt{receiptOf(&call, bob, deployed, 2)},
		Timers:   []types.TimerChange{{Kind: types.ChangeScheduled, Timer: lent, Status: types.TimerPending, At: 2}}, Sent: []Sent{message}}
	pay(bob, 2, txFee, txTip)
	b.move(deployed, bob, 50)
	b.balance[deployed] -= 100*10 + 2*20
	b.nonce[bob] = 1
	two.Accounts = account()

	three := Observation{Block: &types.Block{Transactions: []types.Transaction{leave}},
		Receipts: []types.Receipt{receiptOf(&leave, governor, types.Address{9}, 3), receipt, delivery}, Timers: []types.TimerChange{fired}}
	pay(governor, 3, txFee, txTip)
	b.balance[bob] -= 1020
	b.balance[deployed] += 1040 - 520
	b.nonce[governor] = 2
	three.Accounts = account()

	four := Observation{Block: &types.Block{Transactions: []types.Transaction{failing}}, Receipts: []types.Receipt{refusal},
		NextSet: &types.ValidatorSet{Epoch: 1, Members: []types.Validator{{Address: validators[0]}, {Address: validators[2]},
			{Address: validators[3]}, joining}}}
	pay(bob, 4, txFee, txTip)
	b.nonce[bob] = 2
	four.Accounts = account()

	all := []Observation{one, two, three, four}
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

func judgeMoney(all []Observation) *Judge {
	j := New(moneyRules())
	for _, o := range all {
		j.Observe(o)
	}
	return j
}

func TestRightMoneyIsNotAccused(t *testing.T) {
	j := judgeMoney(moneyChain(nil))
	for _, v := range j.Violations() {
		t.Error(v)
	}
	if c := j.Counts(); c.Nonces != 5 || c.Deliveries != 1 || c.Sets != 1 || c.Leaders != 4 || c.Accounts < 10 || j.Tip() != 4 {
		t.Errorf("judged %+v", c)
	}
}

// held gives an account in an observation more or less, from another's.
func held(o *Observation, from, to types.Address, amount uint64) {
	for _, change := range []struct {
		at  types.Address
		add bool
	}{{from, false}, {to, true}} {
		found := false
		for i := range o.Accounts {
			a := &o.Accounts[i]
			if a.Address != change.at {
				continue
			}
			found = true
			if change.add {
				a.Balance = a.Balance.Add(types.WeiOf(amount))
			} else {
				a.Balance = a.Balance.Sub(types.WeiOf(amount))
			}
		}
		if !found && change.add {
			o.Accounts = append(o.Accounts, Account{Address: change.at, Balance: types.WeiOf(amount)})
		}
	}
}

// Each row plants one thing in the content of one block.
func TestPlantedMoneyIsFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     types.Height
		plant  func(o *Observation)
		oracle string
		text   string
	}{
		{"a tip to another validator", 2, func(o *Observation) { held(o, validators[2], validators[1], txTip) }, "accounts",
			"holds 205 wei less"},
		{"a refund to the actor and not to the payer", 3, func(o *Observation) { held(o, bob, deployed, 400) }, "accounts", "holds 400 wei less"},
		{"money from nowhere", 2, func(o *Observation) { held(o, types.Address{0xee}, bob, 1) }, "accounts", "balances hold -1 wei less"},
		{"a second refund of a delivery", 3, func(o *Observation) { held(o, types.Address{0xee}, deployed, 520) }, "accounts",
			"balances hold -520 wei less"},
		{"a failed transfer that moved its value", 4, func(o *Observation) { held(o, bob, alice, 40) }, "accounts", "holds 40 wei less"},
		{"a program's gift from a plain account", 2, func(o *Observation) { held(o, bob, alice, 60) }, "accounts", "holds 10 wei less"},
		{"a delivery at another price", 3, func(o *Observation) { o.Receipts[2].Fee = types.WeiOf(521) }, "accounts", "and costs 520"},
		{"a delivery for another", 3, func(o *Observation) { o.Receipts[2].Sender = alice }, "accounts", "it was sent by"},
		{"a delivery of nothing", 3, func(o *Observation) { o.Receipts[2].Hash = types.Hash{8} }, "accounts", "that was never sent"},
		{"a delivery over its limit", 3, func(o *Observation) { o.Receipts[2].Cycles = 101 }, "accounts", "used 101 cycles"},
		{"a receipt in another's name", 2, func(o *Observation) { o.Receipts[0].Sender = alice }, "accounts", "says it is from"},
		{"a receipt of another actor", 2, func(o *Observation) { o.Receipts[0].To = alice }, "accounts", "says it is from"},
		{"a timer at the expense of one who signed nothing", 2, func(o *Observation) { o.Timers[0].Timer.FeePayer = alice }, "accounts",
			"signed no transaction"},
		{"a timer that changes who pays", 3, func(o *Observation) { o.Timers[0].Timer.FeePayer = alice }, "accounts", "became one for which"},
		{"an unsigned transaction", 2, func(o *Observation) { o.Block.Transactions[0].Signature = nil }, "accounts", "is not signed"},
		{"a signature without a signer", 2, func(o *Observation) { o.Block.Transactions[0].Signature[50] ^= 1 }, "accounts", "has no signer"},

		{"a transaction twice", 4, func(o *Observation) {
			o.Block.Transactions[0] = signed(bob, 0, &deployed, 0, types.Execute{Kind: types.KindExecute, Handler: "h"})
		}, "nonces", "has nonce 0, the next of"},
		{"a nonce left out", 4, func(o *Observation) {
			o.Block.Transactions[0] = signed(bob, 2, &alice, 40, types.Transfer{Kind: types.KindTransfer})
		}, "nonces", "has nonce 2, the next of"},
		{"an account whose nonce was not raised", 2, func(o *Observation) {
			for i := range o.Accounts {
				o.Accounts[i].Nonce = 0
			}
		}, "nonces", "by its transactions 1"},

		{"nobody joins", 4, func(o *Observation) { o.NextSet.Members = o.NextSet.Members[:3] }, "nextset", "and by the instructions"},
		{"who was to leave stays", 4, func(o *Observation) {
			o.NextSet.Members = []types.Validator{{Address: validators[0]}, {Address: validators[1]}, {Address: validators[2]},
				{Address: validators[3]}, joining}
		}, "nextset", "and by the instructions"},
		{"a set of another epoch", 4, func(o *Observation) { o.NextSet.Epoch = 2 }, "nextset", "a set of epoch 2"},
		{"no set where one changes", 4, func(o *Observation) { o.NextSet = nil }, "nextset", "1 validators join and 1 leave"},
		{"a set in the middle of an epoch", 2, func(o *Observation) { o.NextSet = &types.ValidatorSet{Epoch: 1} }, "nextset",
			"announced in epoch 0"},
		{"an instruction of anybody", 1, func(o *Observation) { o.Receipts[1].Sender = alice }, "nextset", "not the system key"},

		{"an epoch too early", 3, func(o *Observation) { o.Block.Header.Epoch = 1 }, "leader", "with 4 blocks per epoch it is 0"},
	} {
		j := judgeMoney(moneyChain(func(h types.Height, o *Observation) {
			if h == test.at {
				test.plant(o)
			}
		}))
		accused(t, test.name, j, test.oracle, test.text)
	}
}

// A validator that joins and is told to leave before the epoch ends does not join,
// and the other way about.
func TestWhatIsTakenBackIsNotCounted(t *testing.T) {
	j := New(moneyRules())
	wrong := func(format string, args ...any) { t.Errorf(format, args...) }
	j.countJoin(codec.Marshal(map[string]any{"public_key": joining.PublicKey, "endpoint": ""}), wrong)
	j.countLeave(codec.Marshal(map[string]any{"address": joining.Address}), wrong)
	j.countLeave(codec.Marshal(map[string]any{"address": validators[0]}), wrong)
	j.countJoin(codec.Marshal(map[string]any{"public_key": types.PublicKey{validators[0][0]}, "endpoint": ""}), wrong)
	if len(j.turnover.joins)+len(j.turnover.leaves) != 0 {
		t.Errorf("%d join and %d leave", len(j.turnover.joins), len(j.turnover.leaves))
	}
}

func TestWhatABootBeginsWithIsJudged(t *testing.T) {
	blocks := chain(nil)
	header := func(i int) *types.Header { return &blocks[i].Block.Header }
	for _, test := range []struct {
		name string
		boot func(j *Judge)
		text string // "": right
	}{
		{"at the kept height", func(j *Judge) { j.Booted(validators[0], header(2), blocks[2].Hash, header(2).StateRoot) }, ""},
		{"above it", func(j *Judge) { j.Booted(validators[0], header(3), blocks[3].Hash, header(3).StateRoot) }, ""},
		{"below it", func(j *Judge) { j.Booted(validators[0], header(1), blocks[1].Hash, header(1).StateRoot) },
			"boots at height 2, but had stored"},
		{"at genesis again", func(j *Judge) { j.Booted(validators[0], &genesis().Header, types.Hash{}, genesis().Header.StateRoot) },
			"boots at height 0"},
		{"with another block", func(j *Judge) { j.Booted(validators[0], header(2), types.Hash{1}, header(2).StateRoot) }, "but had stored"},
		{"with a block of no chain", func(j *Judge) { j.Booted(validators[1], header(2), types.Hash{1}, header(2).StateRoot) },
			"is final at that height"},
		{"with another state", func(j *Judge) { j.Booted(validators[0], header(2), blocks[2].Hash, types.Hash{1}) }, "with a state of root"},
		{"far below what readers saw", func(j *Judge) {
			j.Showed(validators[1], 15, types.Hash{15}, nil)
			j.Booted(validators[1], header(2), blocks[2].Hash, header(2).StateRoot)
		}, "but readers saw height 15"},
		{"a little below what readers saw", func(j *Judge) {
			j.Showed(validators[1], 14, types.Hash{13}, [][]byte{{1, 2}, append([]byte{1, 13}, make([]byte, 31)...), {3}})
			j.Booted(validators[1], header(2), blocks[2].Hash, header(2).StateRoot)
		}, ""},
		{"with blocks that its log has not", func(j *Judge) { j.Showed(validators[1], 3, types.Hash{13}, [][]byte{{13}}) },
			"its log has nothing of it"},
		{"at genesis, wiped", func(j *Judge) {
			j.Lost(validators[0])
			j.Booted(validators[0], &genesis().Header, types.Hash{}, genesis().Header.StateRoot)
		}, ""},
	} {
		j := judge(blocks)
		j.Kept(validators[0], 3, blocks[2].Hash)
		j.Kept(validators[0], 2, blocks[1].Hash)
		test.boot(j)
		switch {
		case test.text != "":
			accused(t, test.name, j, "durable", test.text)
		case j.Err() != nil:
			t.Errorf("%s: %v", test.name, j.Err())
		}
	}
}

func TestAVoteThatLeavesBeforeItIsKeptIsFound(t *testing.T) {
	c := certificate(types.Notarize, 3, types.Hash{1}, validators[0])
	vote := c.Vote(0)
	record := append([]byte("record "), vote.Signature[:]...)
	j := judge()
	j.Sends(&vote, [][]byte{record, []byte("other")})
	j.Sends(&vote, nil) // again; by now it may lag the store
	if err := j.Err(); err != nil || j.Counts().Persisted != 1 {
		t.Error(err)
	}
	j = judge()
	j.Sends(&vote, [][]byte{[]byte("other")})
	accused(t, "not in the log", j, "durable", "is not in its log")
	j = judge()
	j.Excuse(vote.Validator)
	if j.Sends(&vote, nil); j.Err() != nil {
		t.Error("a liar is accused")
	}
}

// Decisions T23 and T28: under the first revision the actor pays for a fire, whatever
// payer was stated. The fire names it; no other change does.
func TestUnderTheFirstRevisionAFireNamesTheActorAsPayer(t *testing.T) {
	for _, test := range []struct {
		policy string
		status types.TimerStatus
		payer  types.Address
		right  bool
	}{
		{firstRevision, types.TimerFired, deployed, true},
		{firstRevision, types.TimerFired, bob, false},
		{firstRevision, types.TimerExpired, bob, true},
		{firstRevision, types.TimerExpired, deployed, false},
		{firstRevision, types.TimerPending, deployed, false},
		{fifo, types.TimerFired, bob, true},
		{fifo, types.TimerFired, deployed, false},
	} {
		j, accusations := judge(), 0
		stated := types.Timer{ID: types.Hash{1}, Actor: deployed, FeePayer: bob}
		j.timers.pending[stated.ID] = &life{timer: stated}
		c := types.TimerChange{Kind: types.ChangeEnded, Timer: stated, Status: test.status, FeePaid: types.WeiOf(70)}
		c.Timer.FeePayer = test.payer
		m := &moves{by: map[types.Address]*big.Int{}}
		j.countTimers(&Observation{Lane: LaneRules{Policy: test.policy}, Timers: []types.TimerChange{c}}, m,
			func(string, ...any) { accusations++ })
		if (accusations == 0) != test.right {
			t.Errorf("%+v: %d accusations", test, accusations)
		}
		if paid := m.by[test.payer]; test.right && test.status == types.TimerFired && (paid == nil || paid.Int64() != -70) {
			t.Errorf("%+v: %v of the payer", test, m.by)
		}
	}
}
