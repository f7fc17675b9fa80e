package oracle

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The chain of these tests: in block 1 a timer is scheduled for 2 and a message of
// 100 cycles and 2 cells is sent. Two of four validators skip both in blocks 2 and
// 3, so that they end in 3, for all of their limits.
func passingChain(spoil func(h types.Height, o *Observation)) []Observation {
	t := timer(2, 0, 1)
	passed := func() *types.Passed {
		return &types.Passed{Fires: types.PassedFires{Failed: []types.TimerID{t.ID}}, Messages: types.PassedMessages{Failed: []types.Seq{7}}}
	}
	waits := t
	waits.Deferrals = 1
	fee := types.WeiOf(1000*10 + 5*20)
	fired := types.TimerChange{Kind: types.ChangeEnded, Timer: waits, Status: types.TimerFired, At: 3, CyclesUsed: 1000, CellsUsed: 5,
		FeePaid: fee, Result: types.StatusHostFailed}
	all := []Observation{
		{Block: &types.Block{}, Timers: []types.TimerChange{{Kind: types.ChangeScheduled, Timer: t, Status: types.TimerPending, At: 1}},
			Sent: []Sent{{Seq: 7, Hash: types.Hash{7}, From: actorAddress, Cycles: 100, Cells: 2}}},
		{Block: &types.Block{Passed: passed()}, Timers: []types.TimerChange{{Kind: types.ChangeDeferred, Timer: waits, Status: types.TimerPending,
			At: 2, Reason: reasonHostFailed}}},
		{Block: &types.Block{Passed: passed()}, Timers: []types.TimerChange{fired}, Receipts: []types.Receipt{
			{Hash: t.ID, Origin: types.OriginTimer, Height: 3, Sender: t.Actor, To: t.Actor, Cycles: 1000, Cells: 5, Fee: fee,
				Status: types.StatusHostFailed},
			{Hash: types.Hash{7}, Origin: types.OriginMessage, Height: 3, Cycles: 100, Cells: 2, Fee: types.WeiOf(1040),
				Status: types.StatusHostFailed}}},
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

func judgePassing(all []Observation) *Judge {
	j := New(rules())
	for _, o := range all {
		j.Observe(o)
	}
	return j
}

func TestWhatIsPassedOverRightlyIsNotAccused(t *testing.T) {
	j := judgePassing(passingChain(nil))
	for _, v := range j.Violations() {
		t.Error(v)
	}
	if c := j.Counts(); c.Passed != 4 || c.HostFailed != 2 {
		t.Errorf("judged %+v", c)
	}
}

// Each row plants one thing in one block.
func TestPlantedPassingsAreFound(t *testing.T) {
	begun := func(n uint64) *uint64 { return &n }
	charge := func(o *Observation, cycles types.Cycles, cells types.Cells) {
		fee := types.WeiOf(10*uint64(cycles) + 20*uint64(cells)) // consistent with its use, so that "fees" has nothing to say
		o.Timers[0].CyclesUsed, o.Timers[0].CellsUsed, o.Timers[0].FeePaid = cycles, cells, fee
		o.Receipts[0].Cycles, o.Receipts[0].Cells, o.Receipts[0].Fee = cycles, cells, fee
	}
	for _, test := range []struct {
		name  string
		at    types.Height
		plant func(o *Observation)
		text  string
	}{
		{"a fire charged less than its limits", 3, func(o *Observation) { charge(o, 500, 5) },
			"is charged 500 cycles and 5 cells; its limits are 1000 and 5"},
		{"a fire charged fewer cells", 3, func(o *Observation) { charge(o, 1000, 1) }, "is charged 1000 cycles and 1 cells"},
		{"a fire that ended well", 3, func(o *Observation) {
			o.Timers[0].Result, o.Receipts[0].Status = types.StatusOK, types.StatusOK
		}, "is ok and is charged"},
		{"an end by one validator", 2, func(o *Observation) {
			*o = passingChain(nil)[2]
			o.Timers[0].At, o.Receipts[0].Height, o.Receipts[1].Height = 2, 2, 2
			o.Receipts = o.Receipts[:1]
		}, "skipped by 1 validators, and neither waits for that nor ends"},
		{"an end of a timer that was not skipped", 3, func(o *Observation) { o.Block.Passed = nil }, "too few validators report that"},
		{"no end though enough report it", 3, func(o *Observation) {
			waits := timer(2, 0, 1)
			waits.Deferrals = 2
			o.Timers[0] = types.TimerChange{Kind: types.ChangeDeferred, Timer: waits, Status: types.TimerPending, At: 3, Reason: reasonHostFailed}
			o.Receipts = o.Receipts[1:]
		}, "skipped by 2 validators, and neither waits for that nor ends"},
		{"another reason", 2, func(o *Observation) { o.Timers[0].Reason = "lane_full" }, "neither waits for that nor ends"},
		{"a host that the block does not name", 2, func(o *Observation) { o.Block.Passed.Fires.Failed = nil },
			"skips neither it nor its agent"},
		{"no time, which the block does not say", 2, func(o *Observation) {
			o.Block.Passed.Fires.Failed, o.Timers[0].Reason = nil, reasonNotBegun
		}, "does not report that its proposer ran out of it"},
		{"one twice", 2, func(o *Observation) {
			f := &o.Block.Passed.Fires
			f.Failed = append(f.Failed, f.Failed[0])
		}, "is not due, or twice"},
		{"one that is not due", 1, func(o *Observation) {
			o.Block.Passed = &types.Passed{Fires: types.PassedFires{Failed: []types.TimerID{timer(2, 0, 1).ID}}}
		}, "is not due, or twice"},
		{"another number of fires", 2, func(o *Observation) { o.Block.Passed.Fires.Begun = begun(2) },
			"says that 2 fires were begun, and shows 1"},
		{"another number of deliveries", 2, func(o *Observation) { o.Block.Passed.Messages.Begun = begun(3) },
			"says that 3 deliveries were begun, and shows 1"},
		{"an unknown message", 2, func(o *Observation) { o.Block.Passed.Messages.Failed = []types.Seq{8} },
			"message 8 is skipped, but does not wait"},
		{"a message charged less", 3, func(o *Observation) { o.Receipts[1].Cycles = 99 },
			"is charged 99 cycles and 2 cells; its limits are 100 and 2"},
		{"a nonce listed twice", 2, func(o *Observation) {
			o.Block.Passed.Late = []types.LateTransaction{{Nonce: 4}, {Nonce: 4}}
		}, "nonce 4 of 0x0000000000000000000000000000000000000000 is listed as late twice"},
		{"a transaction that ends though too few report it", 2, func(o *Observation) {
			o.Receipts = []types.Receipt{{Hash: types.Hash{9}, Origin: types.OriginTransaction, Height: 2, Status: types.StatusHostFailed}}
		}, "receipt 0 (transaction) ended because hosts failed on it, but too few validators report that"},
		{"a message that does not end", 3, func(o *Observation) { o.Receipts = o.Receipts[:1] },
			"message 7 was skipped by 2 validators; delivered: false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := judgePassing(passingChain(func(h types.Height, o *Observation) {
				if h == test.at {
					test.plant(o)
				}
			}))
			for _, v := range j.Violations() {
				if v.Oracle == "passing" && strings.Contains(v.Detail, test.text) {
					return
				}
			}
			t.Errorf("not found: %v", j.Violations())
		})
	}
}

// Enough lists of a nonce within 1,024 blocks, and a block without its transaction, are found.
func TestALateTransactionThatDoesNotEndIsFound(t *testing.T) {
	j := judgePassing(passingChain(func(h types.Height, o *Observation) {
		if h > 1 {
			o.Block.Passed.Late = []types.LateTransaction{{Nonce: 4}}
		}
	}))
	for _, v := range j.Violations() {
		if v.Oracle == "passing" && strings.Contains(v.Detail,
			"was listed as late by 2 validators, and the block does not hold its transaction") {
			return
		}
	}
	t.Errorf("%v", j.Violations())
}

// A transaction that enough listed as late, and that was executed all the same, is found.
func TestALateTransactionThatIsExecutedIsFound(t *testing.T) {
	tx := types.Transaction{Nonce: 4, Signature: &types.Signature{}}
	judged := rules()
	judged.Recover = func(types.Hash, types.Signature) (types.Address, bool) { return types.Address{5}, true }
	j := New(judged)
	for _, o := range passingChain(func(h types.Height, o *Observation) {
		if h > 1 {
			o.Block.Passed.Late = []types.LateTransaction{{Sender: types.Address{5}, Nonce: 4}}
		}
		if h == 3 {
			o.Block.Transactions = []types.Transaction{tx}
			o.Receipts = append(o.Receipts, types.Receipt{Hash: keccak256(codec.Marshal(&tx)), Origin: types.OriginTransaction, Height: 3,
				Sender: types.Address{5}, Status: types.StatusOK})
		}
	}) {
		j.Observe(o)
	}
	for _, v := range j.Violations() {
		if v.Oracle == "passing" && strings.Contains(v.Detail, "was listed as late by enough validators, and ended ok") {
			return
		}
	}
	t.Errorf("%v", j.Violations())
}

// A header that commits to another list is found.
func TestAnotherListThanTheHeadersIsFound(t *testing.T) {
	all := passingChain(nil)
	all[1].Block.Passed.Fires.Failed = nil // its hash, and all that follows, stay
	j := judgePassing(all)
	for _, v := range j.Violations() {
		if v.Oracle == "passing" && strings.Contains(v.Detail, "commits to another list") {
			return
		}
	}
	t.Errorf("%v", j.Violations())
}
