package ledger

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (w *world) setBalance(name string, balance types.Wei) *Checked {
	return w.instruct(governance.OpSetBalance, &governance.SetBalance{Address: w.address(name), Balance: balance})
}

func (w *world) setState(actor, key string, value []byte) *Checked {
	in := governance.SetState{Actor: w.address(actor), Key: []byte(key)}
	if value != nil {
		in.Value = &value
	}
	return w.instruct(governance.OpSetState, &in)
}

// as is a call, or without a handler a transfer, in the name of another.
func (w *world) as(from, to, handler string, value uint64, payload []byte) *Checked {
	target := w.address(to)
	in := governance.Impersonate{From: w.address(from), To: &target, Value: types.WeiOf(value),
		Payload: codec.Marshal(&types.Transfer{Kind: types.KindTransfer})}
	if handler != "" {
		in.Payload = codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})
	}
	return w.instruct(governance.OpImpersonate, &in)
}

// refused is the code of the last block's only receipt, which was refused.
func (w *world) refused(c *Checked) string {
	w.t.Helper()
	w.block(c)
	if len(w.last.Receipts) != 1 || w.last.Receipts[0].Error == nil {
		w.t.Fatalf("receipts %+v, dropped %v", w.last.Receipts, w.dropped)
	}
	return w.last.Receipts[0].Error.Code
}

func TestG2ABalanceThatIsSetCountsAsMintedOrRemoved(t *testing.T) {
	w := newWorld(t, nil)
	genesis := w.head.Supply().Genesis
	for _, step := range []struct {
		balance         types.Wei
		minted, removed uint64 // in CBY
	}{
		{types.WeiOf(initialBalance + 5*types.CBY), 5, 0},
		{types.WeiOf(initialBalance + 2*types.CBY), 2, 0},
		{types.Wei{}, 0, initialBalance / types.CBY},
		{types.WeiOf(initialBalance - types.CBY), 0, 1},
		{types.WeiOf(initialBalance), 0, 0},
	} {
		w.block(w.setBalance("bob", step.balance)) // the block is audited
		w.ok()
		if got := w.balance("bob"); got != step.balance {
			t.Errorf("bob has %s, want %s", got, step.balance)
		}
		supply := w.head.Supply()
		if supply.Minted != types.WeiOf(step.minted*types.CBY) || supply.Removed != types.WeiOf(step.removed*types.CBY) ||
			supply.Genesis != genesis {
			t.Errorf("after a balance of %s: supply %+v", step.balance, supply)
		}
	}
	if _, kept := w.head.tree.Get(keyRemoved); kept {
		t.Error("state keeps what was removed, and nothing is")
	}
	if code := w.refused(w.setBalance("carol", types.MaxWei)); code != "supply" {
		t.Errorf("a supply above 2^256 was refused with %s", code)
	}
}

func TestG2StateThatIsSetIsReadByTheProgramAndWakesWatchers(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": "fifo"})
	w.block(w.deploy("alice", "counter", "c", 0))
	w.block(w.deploy("alice", "storm", "st", types.CBY/10))
	w.ok()
	watched := types.Watch{Actor: w.address("c"), Key: types.Bytes("n")}
	w.block(w.call("alice", "st", "make", encodeStorm(t, samples.Storm{Count: 1, In: 1, Watch: &watched})))
	w.ok()
	w.block(w.setState("c", "n", samples.Number(41)))
	w.ok()
	if len(w.last.Timers) == 0 {
		t.Error("the timer that watches the key sleeps on")
	}
	w.block(w.call("alice", "c", "increment", nil))
	w.ok()
	if out := w.last.Receipts[0].Output; !bytes.Equal(out, samples.Number(42)) {
		t.Errorf("the counter continued from %x", out)
	}
	w.block(w.setState("c", "n", nil))
	w.ok()
	if value, found := w.head.Storage(w.address("c"), []byte("n")); found {
		t.Errorf("the key was removed, and has %x", value)
	}
	for _, test := range []struct {
		name string
		c    *Checked
		code string
	}{
		{"no actor", w.setState("bob", "n", []byte{1}), "no_actor"},
	} {
		if code := w.refused(test.c); code != test.code {
			t.Errorf("%s was refused with %s, want %s", test.name, code, test.code)
		}
	}
	if code := w.refused(w.setState("c", string(make([]byte, 257)), []byte{1})); code != "key_too_long" {
		t.Errorf("a key of 257 bytes was refused with %s", code)
	}
}

// A call of an impersonated address ends like a call that the address signed, except
// for the fee's payer and the nonce.
func TestG2AnImpersonatedCallEndsAsASignedOne(t *testing.T) {
	signed, cheat := newWorld(t, nil), newWorld(t, nil)
	for _, w := range []*world{signed, cheat} {
		w.block(w.deploy("alice", "spender", "s", types.CBY))
		w.ok()
	}
	bob := signed.address("bob")
	pay := append(bob[:], samples.Number(7)...)
	signed.block(signed.call("carol", "s", "pay", pay))
	cheat.block(cheat.as("carol", "s", "pay", 0, pay))
	a, b := signed.last.Receipts[0], cheat.last.Receipts[0]
	if a.Sender != b.Sender || a.To != b.To || a.Handler != b.Handler || a.Status != b.Status || b.Status != types.StatusOK ||
		len(a.Events) != len(b.Events) || a.Cycles != b.Cycles {
		t.Errorf("signed %+v\nimpersonated %+v", a, b)
	}
	if signed.balance("bob") != cheat.balance("bob") {
		t.Error("the program paid another amount")
	}
	if carol := cheat.head.Account(cheat.address("carol")); carol.Nonce != 0 || carol.Balance != types.WeiOf(initialBalance) {
		t.Errorf("carol, who signed nothing, has nonce %d and %s wei", carol.Nonce, carol.Balance)
	}
	if system := cheat.head.Account(cheat.address("system")); system.Nonce != 1 || system.Balance != types.WeiOf(initialBalance).Sub(b.Fee) {
		t.Errorf("the system key has nonce %d and %s wei", system.Nonce, system.Balance)
	}
}

func TestG2AnActorCanBeImpersonated(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "spender", "s", types.CBY))
	w.ok()
	w.block(w.as("s", "bob", "", 3, nil))
	w.ok()
	if got := w.balance("bob"); got != types.WeiOf(initialBalance+3) {
		t.Errorf("bob has %s", got)
	}
	in := governance.Impersonate{From: w.address("s"), Payload: codec.Marshal(&types.Deploy{Kind: types.KindDeploy,
		Code: samples.Code("counter")})}
	w.block(w.instruct(governance.OpImpersonate, &in))
	w.ok()
	made := w.last.Receipts[0]
	if record := w.head.Actor(made.To); record == nil || record.Owner != w.address("s") || made.Handler != "init" ||
		made.To != actors.ActorAddress(w.address("s"), types.Hash{}, samples.Code("counter")) {
		t.Errorf("the actor deployed in the name of s is %+v; receipt %+v", record, made)
	}
	w.block(w.as("s", "bob", "", 2*types.CBY, nil))
	if r := w.last.Receipts[0]; r.Error == nil || r.Error.Code != "insufficient_funds" || len(r.Events) != 0 {
		t.Errorf("a transfer of more than s holds ended %+v", r)
	}
}

// Money and records of the chain cannot be reached by a cheat, which is what the audit
// of stakes, escrows and bids relies on.
func TestG2CheatsLeaveTheChainsOwnBooksAlone(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	w.actors["dispatcher"], w.actors["registry"], w.actors["escrow"] = types.DispatcherAddress, types.RegistryAddress, types.TimerEscrow
	for _, test := range []struct {
		name, code string
		c          func() *Checked
	}{
		{"a balance of the dispatcher", "reserved", func() *Checked { return w.setBalance("dispatcher", types.WeiOf(1)) }},
		{"a balance of the escrow of bids", "reserved", func() *Checked { return w.setBalance("escrow", types.WeiOf(1)) }},
		{"a balance of the system key", "reserved", func() *Checked { return w.setBalance("system", types.WeiOf(1)) }},
		{"state of the registry", "no_actor", func() *Checked { return w.setState("registry", "n", []byte{1}) }},
		{"a job of the dispatcher's", "reserved", func() *Checked { return w.as("registry", "dispatcher", "submit", 0, nil) }},
		{"money of the dispatcher's", "reserved", func() *Checked { return w.as("dispatcher", "bob", "", 1, nil) }},
		{"value of the dispatcher's", "reserved", func() *Checked { return w.as("dispatcher", "c", "increment", 1, nil) }},
	} {
		if code := w.refused(test.c()); code != test.code {
			t.Errorf("%s was refused with %s, want %s", test.name, code, test.code)
		}
	}
	w.block(w.as("dispatcher", "c", "increment", 0, nil)) // a callback's sender
	w.ok()
	if w.last.Receipts[0].Sender != types.DispatcherAddress {
		t.Errorf("the call came from %s", w.last.Receipts[0].Sender)
	}
}

func TestG2AChainWithoutCheatsRefusesThem(t *testing.T) {
	w := newWorld(t, params.Overrides{"chain.cheats": "false"})
	bob := w.address("bob")
	before := w.head.Account(bob)
	for _, c := range []func() *Checked{
		func() *Checked { return w.setBalance("bob", types.WeiOf(1)) },
		func() *Checked { return w.setState("bob", "n", []byte{1}) },
		func() *Checked { return w.as("bob", "carol", "", 1, nil) },
	} {
		if code := w.refused(c()); code != "strict" {
			t.Errorf("refused with %s", code)
		}
	}
	if w.head.Account(bob) != before {
		t.Error("bob's account changed")
	}
}

func TestG2OnlyTheSystemKeyCheats(t *testing.T) {
	w := newWorld(t, nil)
	c := w.instructBy("alice", governance.OpSetBalance, &governance.SetBalance{Address: w.address("alice"), Balance: types.MaxWei})
	if w.block(c); len(w.last.Receipts) != 0 || len(w.dropped) != 1 || codeOf(t, w.dropped[0].Err) != CodeNotSystem {
		t.Errorf("receipts %v, dropped %v", w.last.Receipts, w.dropped)
	}
}

func TestG2WhatCannotBeImpersonatedIsNoTransaction(t *testing.T) {
	w := newWorld(t, nil)
	bob, most := w.address("bob"), types.WeiOf(1)
	for _, payload := range []any{
		&types.System{Kind: types.KindSystem, Opcode: governance.OpSetBalance, Args: codec.Marshal(map[string]uint64{})},
		&types.Execute{Kind: types.KindExecute, Handler: "h", Payload: []byte{}, Sponsor: &most},
		&types.Deploy{Kind: types.KindDeploy},
		&types.Execute{Kind: types.KindExecute, Handler: string(make([]byte, types.MaxNameBytes+1)), Payload: []byte{}},
	} {
		in := governance.Impersonate{From: w.address("alice"), To: &bob, Payload: codec.Marshal(payload)}
		tx := w.sign("system", w.tx("system", nil, &types.System{Kind: types.KindSystem, Opcode: governance.OpImpersonate,
			Args: codec.Marshal(&in)}))
		if _, refusal := w.executor.checkTransaction(w.head.next, tx, tx.Encode()); refusal == nil || refusal.Code != CodeMalformed {
			t.Errorf("%T: %v", payload, refusal)
		}
	}
}
