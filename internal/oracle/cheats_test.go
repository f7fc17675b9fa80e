package oracle

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// cheatChain is two blocks: the system key sets the balance of alice, who then pays bob
// 40 without a signature.
func cheatChain(spoil func(h types.Height, o *Observation)) []Observation {
	set := signed(governor, 0, nil, 0, system(opSetBalance, map[string]any{"address": alice, "balance": types.WeiOf(1000)}))
	as := signed(governor, 1, nil, 0, system(opImpersonate, &impersonationEffect{From: alice, To: &bob, Value: types.WeiOf(40),
		Payload: codec.Marshal(&types.Transfer{Kind: types.KindTransfer})}))
	receipt := receiptOf(&set, governor, types.GovernanceAddress, 1)
	receipt.Events = []types.Event{{Actor: types.GovernanceAddress, Name: "balance.set",
		Data: codec.Marshal(&balanceSet{alice, types.WeiOf(900_000), types.WeiOf(1000)})}}
	account := func(of types.Address, nonce types.Nonce, balance uint64) Account {
		return Account{of, nonce, types.WeiOf(balance)}
	}
	all := []Observation{
		{Block: &types.Block{Transactions: []types.Transaction{set}}, Receipts: []types.Receipt{receipt},
			Accounts: []Account{account(alice, 0, 1000), account(governor, 1, 10_000-txFee), account(validators[1], 0, txTip)},
			Money: &Money{Removed: types.WeiOf(899_000), Burned: types.WeiOf(txFee - txTip),
				Balances: []types.Wei{types.WeiOf(1000 + 90_000 + 10_000 - txFee + txTip)}}},
		{Block: &types.Block{Transactions: []types.Transaction{as}}, Receipts: []types.Receipt{receiptOf(&as, alice, bob, 2)},
			Accounts: []Account{account(alice, 0, 960), account(bob, 0, 90_040), account(governor, 2, 10_000-2*txFee),
				account(validators[2], 0, txTip)},
			Money: &Money{Removed: types.WeiOf(899_000), Burned: types.WeiOf(2 * (txFee - txTip)),
				Balances: []types.Wei{types.WeiOf(1000 + 90_000 + 10_000 - 2*txFee + 2*txTip)}}},
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

func judgeCheats(spoil func(h types.Height, o *Observation)) *Judge {
	r := moneyRules()
	r.Supply = types.WeiOf(1_000_000)
	j := New(r)
	for _, o := range cheatChain(spoil) {
		j.Observe(o)
	}
	return j
}

func TestACheatIsNotAccused(t *testing.T) {
	j := judgeCheats(nil)
	for _, v := range j.Violations() {
		t.Error(v)
	}
	if j.Tip() != 2 || j.Counts().Summed != 2 {
		t.Errorf("judged up to %d: %+v", j.Tip(), j.Counts())
	}
}

func TestPlantedCheatsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     types.Height
		plant  func(o *Observation)
		oracle string
		text   string
	}{
		{"a supply that changed by more than a balance", 1, func(o *Observation) {
			o.Money.Removed, o.Money.Balances[0] = types.WeiOf(899_001), o.Money.Balances[0].Sub(types.WeiOf(1))
		}, "supply", "removed 899001"},
		{"another balance than was asked for", 1, func(o *Observation) {
			o.Receipts[0].Events[0].Data = codec.Marshal(&balanceSet{alice, types.WeiOf(900_000), types.WeiOf(1001)})
		}, "accounts", "to 1000; by its event that of"},
		{"a former balance that was another", 1, func(o *Observation) {
			o.Receipts[0].Events[0].Data = codec.Marshal(&balanceSet{alice, types.WeiOf(800_000), types.WeiOf(1000)})
		}, "accounts", "holds 100000 wei less"},
		{"a balance that was set without a word", 1, func(o *Observation) { o.Receipts[0].Events = nil }, "accounts",
			"its receipt does not show which"},
		{"an account in whose name a stranger signed", 2, func(o *Observation) {
			as := signed(bob, 0, nil, 0, system(opImpersonate, &impersonationEffect{From: alice, To: &bob, Value: types.WeiOf(40),
				Payload: codec.Marshal(&types.Transfer{Kind: types.KindTransfer})}))
			o.Block.Transactions[0] = as
			o.Receipts[0].Hash = as.Hash()
		}, "accounts", "which is not the system key"},
		{"an impersonated transfer of more", 2, func(o *Observation) { held(o, alice, bob, 1) }, "accounts", "holds 1 wei less"},
		{"a receipt in another's name", 2, func(o *Observation) { o.Receipts[0].Sender = governor }, "accounts", "says it is from"},
		{"a fee of the one who signed nothing", 2, func(o *Observation) { held(o, alice, governor, 900) }, "accounts", "wei less"},
	} {
		accused(t, test.name, judgeCheats(func(h types.Height, o *Observation) {
			if h == test.at {
				test.plant(o)
			}
		}), test.oracle, test.text)
	}
}
