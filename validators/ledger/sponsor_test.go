package ledger

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"pgregory.net/rapid"
)

// sponsored is a call whose signer lets timers of the actor cost at most sponsor.
func (w *world) sponsored(from, actor, handler string, payload []byte, sponsor *types.Wei) *Checked {
	address := w.address(actor)
	return w.checked(from, w.tx(from, &address, &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload, Sponsor: sponsor}))
}

// theft is an order for a storm of one timer that names its payer, with fees that
// take all he owns: the tip goes to the proposer, the bid to the escrow.
func (w *world) theft(policy, payer string) []byte {
	address, gas, all := w.address(payer), types.Cycles(250_000), w.balance(payer).Sub(types.WeiOf(types.CBY))
	order := samples.Storm{Count: 1, In: 1, GasLimit: &gas, FeePayer: &address, Use: 200_000}
	switch policy {
	case scheduler.BiasVCG, scheduler.BiasFirstPrice:
		order.Bid = &all
	case scheduler.Fifo:
	default:
		tip, _ := all.MulDiv(types.WeiOf(1), types.WeiOf(uint64(gas)))
		order.MaxFee, order.Priority = &types.MaxWei, &tip
	}
	encoded, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	return encoded
}

// Decision T28: an actor that a transaction reaches spends nothing of its signer's
// money beyond the amount signed for. bob calls an actor that names him as fee
// payer, at fees that are all he owns; carol calls an honest actor that calls it,
// and she signed for everything.
func TestT28WhatATransactionReachesSpendsNothingOfItsSigners(t *testing.T) {
	for _, policy := range allPolicies {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t, params.Overrides{"cip1.policy": policy})
			w.block(w.deploy("alice", "storm", "thief", types.CBY), w.deploy("alice", "relay", "honest", 0))
			w.ok()
			order := samples.Order{Target: w.address("thief"), Handler: "make", Payload: w.theft(policy, "carol")}
			before := map[string]types.Wei{"bob": w.balance("bob"), "carol": w.balance("carol")}
			w.block(w.call("bob", "thief", "make", w.theft(policy, "bob")),
				w.sponsored("carol", "honest", "call", order.Encode(), &types.MaxWei))
			for i, want := range []string{scheduler.CodeNoSponsor, scheduler.CodeFeePayerForeign} {
				r, from := w.last.Receipts[i], []string{"bob", "carol"}[i]
				if r.Error == nil || r.Error.Code != want {
					t.Errorf("%s: %s %v, want %s", from, r.Status, r.Error, want)
				}
				before[from] = before[from].Sub(r.Fee)
			}
			w.blocks(3)
			for from, want := range before {
				if got := w.balance(from); got != want {
					t.Errorf("%s holds %s, and paid for one transaction down to %s", from, got, want)
				}
			}
		})
	}
}

// The same theft with a sponsor takes no more than that, and then the timer ends.
func TestT28ASponsorIsTheMostThatTimersTake(t *testing.T) {
	for _, policy := range allPolicies {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t, params.Overrides{"cip1.policy": policy})
			w.block(w.deploy("alice", "storm", "thief", types.CBY))
			before, sponsor := w.balance("bob"), types.WeiOf(2*types.CBY)
			w.block(w.sponsored("bob", "thief", "make", w.theft(policy, "bob"), &sponsor))
			paid := w.last.Receipts[0].Fee
			w.blocks(3)
			if lost := before.Sub(w.balance("bob")).Sub(paid); sponsor.Less(lost) {
				t.Errorf("bob lost %s wei to timers and signed for %s", lost, sponsor)
			}
			if policy == scheduler.EIP1559 {
				if last := w.head.Timers(w.address("thief")); len(last) > 0 {
					t.Errorf("it still waits: %+v", last)
				}
			}
		})
	}
}

// A deploy states no sponsor, so init may not name the deployer.
func TestT28InitNamesNobody(t *testing.T) {
	c := &Checked{Instruction: &types.Deploy{}, Sender: types.Address{1}}
	if s := c.sponsorshipOf(); !s.Most.IsZero() || s.Signer != c.Sender {
		t.Errorf("%+v", s)
	}
}

// A sponsor of 0 is written by leaving it out, and in no other way.
func TestT28ASponsorOfNothingIsLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	to := w.address("c")
	tx := w.sign("bob", w.tx("bob", &to, &types.Execute{Kind: types.KindExecute, Handler: "increment", Payload: []byte{},
		Sponsor: &types.Wei{}}))
	if _, err := w.executor.Admit(w.head, tx.Encode()); err == nil || codeOf(t, err) != CodeMalformed {
		t.Errorf("%v", err)
	}
}

// patron signs calls of storms that name her as fee payer, and does nothing else.
// Her loss beyond her transactions' fees is the cost of timers, in any way: fires,
// agents, bids still locked.
type patron struct {
	*world
	signed map[types.Hash]types.Wei
	before types.Wei
	fees   types.Wei
}

func (p *patron) call(t *rapid.T, storm string) *Checked {
	var order samples.Storm
	if err := json.Unmarshal(p.drawStorm(t), &order); err != nil {
		t.Fatal(err)
	}
	carol := p.address("carol")
	order.FeePayer = &carol
	encoded, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	most := types.WeiOf(rapid.SampledFrom([]uint64{1, 6_000_000, 9_000_000, 14_000_000, 25_000_000}).Draw(t, "sponsor"))
	c := p.sponsored("carol", storm, "make", encoded, &most)
	p.signed[c.Hash] = most
	return c
}

// judge holds what she lost, and what each transaction's timers took by their own
// changes, against what she signed.
func (p *patron) judge(t *rapid.T, taken map[types.Hash]types.Wei) {
	var signed types.Wei
	for _, most := range p.signed { // order: a sum
		signed = signed.Add(most)
	}
	if lost := p.before.Sub(p.balance("carol")).Sub(p.fees); signed.Less(lost) {
		t.Fatalf("she lost %s wei to timers and signed for %s", lost, signed)
	}
	for hash, sum := range taken { // order: each for itself
		if p.signed[hash].Less(sum) {
			t.Fatalf("the fires of transaction %s took %s wei of %s", hash, sum, p.signed[hash])
		}
	}
}

// TestT28TimersNeverCostMoreThanWasSigned draws storms under every policy, with
// agents that make timers wait, bids, extensions, cancellations and watches.
func TestT28TimersNeverCostMoreThanWasSigned(t *testing.T) {
	drawn := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := harbour(t, rapid.SampledFrom(allPolicies).Draw(rt, "policy"), types.CBY)
		p := &patron{world: w, signed: map[types.Hash]types.Wei{}, before: w.balance("carol")}
		taken := map[types.Hash]types.Wei{}
		for range rapid.IntRange(4, 16).Draw(rt, "blocks") {
			txs := w.weather(rt)
			for range rapid.IntRange(0, 2).Draw(rt, "calls") {
				txs = append(txs, p.call(rt, rapid.SampledFrom([]string{"st0", "st1", "st2"}).Draw(rt, "storm")))
			}
			w.block(txs...)
			for _, r := range w.last.Receipts {
				if r.Sender == w.address("carol") {
					p.fees = p.fees.Add(r.Fee)
				}
			}
			for _, c := range w.last.Timers {
				if c.Status == types.TimerFired && c.Timer.FeePayer == w.address("carol") {
					taken[*c.Timer.Sponsor] = taken[*c.Timer.Sponsor].Add(c.FeePaid)
					drawn++
				}
			}
			p.judge(rt, taken)
		}
	})
	if drawn < 50 {
		t.Errorf("carol paid for %d fires: the storms are too weak to show anything", drawn)
	}
}

// CIP-5 §9.7, decision T28: bids of one transaction's timers draw on one
// allowance, and give back to it what they did not cost.
func TestT28BidsDrawOnTheAllowance(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.BiasVCG})
	w.block(w.deploy("alice", "storm", "st", types.CBY))
	bob := w.address("bob")
	order := func(count int, bid uint64) []byte {
		return fmt.Appendf(nil, `{"count":%d,"in":5,"gas_limit":2000,"bid":"%d","fee_payer":"%s"}`, count, bid, bob)
	}
	sponsor := types.WeiOf(100)
	w.block(w.sponsored("bob", "st", "make", order(3, 40), &sponsor))
	if r := w.last.Receipts[0]; r.Error == nil || r.Error.Code != scheduler.CodeBidNotCovered {
		t.Fatalf("three bids of 40 out of 100: %s %v", r.Status, r.Error)
	}
	w.block(w.sponsored("bob", "st", "make", order(2, 40), &sponsor))
	w.ok()
	timers := w.head.Timers(w.address("st"))
	if len(timers) != 2 || timers[0].Sponsor == nil || *timers[0].Sponsor != w.last.Receipts[0].Hash {
		t.Fatalf("%+v", timers)
	}
	held := w.balance("bob")
	w.block(w.instruct(48, map[string]types.TimerID{"timer_id": timers[0].ID}))
	if got := w.balance("bob"); got != held.Add(types.WeiOf(40)) {
		t.Errorf("bob holds %s after a bid of 40 was refunded to %s", got, held)
	}
	w.blocks(6) // the other fires or ends: 60 wei do not cover max_cost
	if left := w.head.Timers(w.address("st")); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	if data := (reader{w.head.tree}).Get(append([]byte("t/j/"), timers[0].Sponsor[:]...)); data != nil {
		t.Errorf("an allowance outlived its timers: %x", data)
	}
}

// Audit knows the allowances: one that has more left than was signed for is found.
func TestAuditFindsAnAllowanceThatGrew(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "storm", "st", types.CBY))
	bob := w.address("bob")
	sponsor := types.WeiOf(types.CBY)
	w.block(w.sponsored("bob", "st", "make", fmt.Appendf(nil, `{"count":1,"in":9,"fee_payer":"%s"}`, bob), &sponsor))
	w.ok()
	hash := w.last.Receipts[0].Hash
	tampered := func(payer types.Address, signed, left types.Wei, timers uint64) error {
		r := w.executor.openBlock(w.head, headerOf(w.head, w.proposal(), noPresence), noPresence, 0)
		r.state.Set(append([]byte("t/j/"), hash[:]...), codec.Marshal([]any{payer, signed, left, timers}))
		return Audit(r.sealBlock().State)
	}
	if err := tampered(bob, sponsor, sponsor, 1); err != nil {
		t.Fatalf("a sound state is accused: %v", err)
	}
	for name, err := range map[string]error{
		"more left than signed": tampered(bob, sponsor, sponsor.Add(types.WeiOf(1)), 1),
		"another's":             tampered(w.address("carol"), sponsor, sponsor, 1),
		"too many timers":       tampered(bob, sponsor, sponsor, 2),
	} {
		if err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}
