package oracle

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// upgradeChain is five blocks. Alice deploys an actor that bob may upgrade after two
// blocks. He announces new code, applies it at its height, and ends upgrades for good.
func upgradeChain(spoil func(h types.Height, o *Observation)) []Observation {
	old, new := keccak256([]byte("old")), keccak256([]byte("new"))
	terms := types.UpgradeTerms{By: bob, Delay: 2}
	txs := []types.Transaction{
		signed(alice, 0, nil, 0, types.Deploy{Kind: types.KindDeploy, Code: []byte("old"), Manifest: types.Manifest{Upgrade: &terms}}),
		signed(bob, 0, &deployed, 0, types.Upgrade{Kind: types.KindUpgrade, From: old, Code: []byte("new")}),
		signed(bob, 1, &deployed, 0, types.SetUpgradeTerms{Kind: types.KindTerms, Terms: &types.UpgradeTerms{By: bob, Delay: 1}}),
		signed(bob, 2, &deployed, 0, types.ApplyUpgrade{Kind: types.KindApply, From: old, To: new}),
		signed(bob, 3, &deployed, 0, types.SetUpgradeTerms{Kind: types.KindTerms}),
	}
	receipts := make([]types.Receipt, len(txs))
	for i := range txs {
		from := bob
		if i == 0 {
			from = alice
		}
		receipts[i] = receiptOf(&txs[i], from, deployed, types.Height(i+1))
	}
	receipts[1].Events = []types.Event{*chainEvent(eventAnnounced, upgradeEvent{deployed, old, new, 4, 4 + leastLapse})}
	receipts[2].Status, receipts[2].Error = types.StatusFailed, &types.Fault{Code: "delay_shorter"}
	receipts[3].Events = []types.Event{*chainEvent(eventUpgraded, upgradeEvent{Actor: deployed, From: old, To: new})}
	receipts[4].Events = []types.Event{*chainEvent(eventTerms, termsSet{Actor: deployed})}
	parent, all := genesis(), []Observation{}
	for i := range txs {
		o := Observation{Block: &types.Block{Transactions: txs[i : i+1]}, Receipts: receipts[i : i+1], Lane: parameters()}
		if spoil != nil {
			spoil(types.Height(i+1), &o)
		}
		seal(&o, parent)
		parent = o.Block
		all = append(all, o)
	}
	return all
}

func judgeUpgrades(upgrades bool, spoil func(h types.Height, o *Observation)) *Judge {
	r := rules()
	r.Upgrades = upgrades
	j := New(r)
	for _, o := range upgradeChain(spoil) {
		j.Observe(o)
	}
	return j
}

func upgradesOf(j *Judge) (found []Violation) {
	for _, v := range j.Violations() {
		if v.Oracle == "upgrades" {
			found = append(found, v)
		}
	}
	return found
}

func TestAnUpgradeIsNotAccused(t *testing.T) {
	j := judgeUpgrades(true, nil)
	if found := upgradesOf(j); len(found) > 0 || j.Tip() != 5 || j.Counts().Upgrades != 3 {
		t.Errorf("judged up to %d, %d upgrades: %v", j.Tip(), j.Counts().Upgrades, found)
	}
	codes := map[types.Address]types.Hash{deployed: keccak256([]byte("new"))}
	if j.compareCodes(5, codes); len(upgradesOf(j)) > 0 {
		t.Error(upgradesOf(j))
	}
	codes[deployed] = keccak256([]byte("old"))
	j.compareCodes(5, codes)
	accused(t, "a state with the old code", j, "upgrades", "want "+keccak256([]byte("new")).String())
}

func TestPlantedUpgradesAreFound(t *testing.T) {
	old, new := keccak256([]byte("old")), keccak256([]byte("new"))
	again := func(o *Observation, from types.Address, payload any) {
		tx := signed(from, 0, &deployed, 0, payload)
		o.Block.Transactions, o.Receipts[0].Hash, o.Receipts[0].Sender = []types.Transaction{tx}, tx.Hash(), from
	}
	for _, test := range []struct {
		name  string
		at    types.Height
		plant func(o *Observation)
		text  string
	}{
		{"an upgrade by a stranger", 2, func(o *Observation) {
			again(o, alice, types.Upgrade{Kind: types.KindUpgrade, From: old, Code: []byte("new")})
		}, "the terms name"},
		{"an upgrade from other code", 2, func(o *Observation) {
			again(o, bob, types.Upgrade{Kind: types.KindUpgrade, From: new, Code: []byte("new")})
		}, "had the code"},
		{"an announcement for an earlier height", 2, func(o *Observation) {
			o.Receipts[0].Events = []types.Event{*chainEvent(eventAnnounced, upgradeEvent{deployed, old, new, 3, 3 + leastLapse})}
		}, "want"},
		{"a delay that became shorter", 3, func(o *Observation) { o.Receipts[0].Status = types.StatusOK }, "became 1 blocks"},
		{"an upgrade before its height", 3, func(o *Observation) {
			again(o, bob, types.ApplyUpgrade{Kind: types.KindApply, From: old, To: new})
			o.Receipts[0].Status = types.StatusOK
		}, "from height 4 to"},
		{"other code than was announced", 4, func(o *Observation) {
			again(o, bob, types.ApplyUpgrade{Kind: types.KindApply, From: old, To: old})
		}, "announced is"},
		{"an upgrade without its event", 4, func(o *Observation) { o.Receipts[0].Events = nil }, "want"},
		{"the event of an upgrade that failed", 3, func(o *Observation) {
			o.Receipts[0].Events = []types.Event{*chainEvent(eventUpgraded, upgradeEvent{Actor: deployed, From: old, To: new})}
		}, "has the events"},
		{"an upgrade after the end", 5, func(o *Observation) {
			o.Receipts[0].Events[0].Data = codec.Marshal(termsSet{deployed, &types.UpgradeTerms{By: bob, Delay: 2}})
		}, "want"},
	} {
		accused(t, test.name, judgeUpgrades(true, func(h types.Height, o *Observation) {
			if h == test.at {
				test.plant(o)
			}
		}), "upgrades", test.text)
	}
	accused(t, "upgrades on a chain without them", judgeUpgrades(false, nil), "upgrades", "which this chain has not")
}
