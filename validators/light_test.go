package validators

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// C18: a call is light once it took its sender few cycles, and until it takes many.
func TestC18ACallIsLightOnceItWasForItsSender(t *testing.T) {
	ann, ben, actor := types.Address{1}, types.Address{2}, types.Address{3}
	callOf := func(sender types.Address, handler string) *ledger.Checked {
		return &ledger.Checked{Tx: &types.Transaction{To: &actor, CyclesLimit: 1_000_000}, Sender: sender,
			Instruction: &types.Execute{Kind: types.KindExecute, Handler: handler}}
	}
	receipt := func(status types.Status, cycles types.Cycles) *types.Receipt {
		return &types.Receipt{Origin: types.OriginTransaction, Sender: ann, To: actor, Handler: "beat", Status: status, Cycles: cycles}
	}
	var l lightCalls
	if l.weightOf(callOf(ann, "beat")) == weightLight {
		t.Error("a call that was never made is light")
	}
	l.noteReceipt(receipt(types.StatusOK, lightCycles))
	if l.weightOf(callOf(ann, "beat")) != weightLight {
		t.Error("a call that took little is not light")
	}
	if l.weightOf(callOf(ben, "beat")) != weightLight || l.weightOf(callOf(ann, "other")) == weightLight {
		t.Error("a call that took the last account little is not light for a new one, or another call is")
	}
	for _, heavy := range []*types.Receipt{receipt(types.StatusOK, lightCycles+1), receipt(types.StatusOutOfCycles, 10),
		receipt(types.StatusHostFailed, 10)} {
		l.noteReceipt(receipt(types.StatusOK, 1))
		if l.noteReceipt(heavy); l.weightOf(callOf(ann, "beat")) == weightLight || l.weightOf(callOf(ben, "beat")) == weightLight {
			t.Errorf("it is light after %s of %d cycles", heavy.Status, heavy.Cycles)
		}
	}
	mine := receipt(types.StatusOK, 1)
	mine.Sender = ben
	l.noteReceipt(mine)
	l.noteReceipt(receipt(types.StatusOutOfCycles, 1))
	if l.weightOf(callOf(ben, "beat")) != weightLight {
		t.Error("what another account called makes a call heavy that was light for this one")
	}
	ben = types.Address{4}
	l.noteReceipt(receipt(types.StatusOK, 1))
	l.noteSlow(callOf(types.Address{5}, "beat"))
	l.noteSlow(nil)
	if l.weightOf(callOf(ben, "beat")) == weightLight || l.weightOf(callOf(ann, "beat")) != weightLight {
		t.Error("a call that was slow here is light for a newcomer, or is not for whom it was light")
	}
	if transfer := (&ledger.Checked{Instruction: &types.Transfer{}}); l.weightOf(transfer) != weightLight {
		t.Error("what runs no program is not light")
	}
	if deploy := (&ledger.Checked{Instruction: &types.Deploy{}}); l.weightOf(deploy) == weightLight {
		t.Error("a deploy is light")
	}
}

// C18: a call that nobody made before is small by its own limit. Once it was made, that decides.
func TestC18AnUnknownCallIsSmallByItsLimit(t *testing.T) {
	ann, actor := types.Address{1}, types.Address{3}
	callOf := func(limit types.Cycles) *ledger.Checked {
		return &ledger.Checked{Tx: &types.Transaction{To: &actor, CyclesLimit: limit}, Sender: ann,
			Instruction: &types.Execute{Kind: types.KindExecute, Handler: "beat"}}
	}
	var l lightCalls
	if got := l.weightOf(callOf(smallLimit)); got != weightSmall {
		t.Errorf("an unknown call of a small limit has the weight %d", got)
	}
	if got := l.weightOf(callOf(smallLimit + 1)); got != weightHeavy {
		t.Errorf("an unknown call of a larger limit has the weight %d", got)
	}
	l.noteSlow(callOf(smallLimit))
	if got := l.weightOf(callOf(smallLimit)); got != weightHeavy {
		t.Errorf("a call that was slow has the weight %d, whatever its limit", got)
	}
	l.noteReceipt(&types.Receipt{Origin: types.OriginTransaction, Sender: ann, To: actor, Handler: "beat", Status: types.StatusOK, Cycles: 1})
	if got := l.weightOf(callOf(1_000_000)); got != weightLight {
		t.Errorf("a call that took little has the weight %d, whatever its limit", got)
	}
	if l.weightOf(&ledger.Checked{Tx: &types.Transaction{CyclesLimit: 1}, Instruction: &types.Deploy{}}) != weightHeavy {
		t.Error("code is small by its limit")
	}
}

// The memory of light calls is bounded, and forgets the oldest.
func TestLightCallsAreBounded(t *testing.T) {
	var l lightCalls
	for i := range 3 * maxLightCalls {
		r := types.Receipt{Origin: types.OriginTransaction, Sender: types.Address{byte(i), byte(i >> 8)}, Handler: "a", Status: types.StatusOK}
		l.noteReceipt(&r)
		l.noteReceipt(&r)
		if r.Status = types.StatusOutOfCycles; i%5 == 0 {
			l.noteReceipt(&r)
		}
	}
	if len(l.order) > maxLightCalls || len(l.known) != len(l.order) || len(l.known) == 0 {
		t.Errorf("%d calls are known, %d in order", len(l.known), len(l.order))
	}
}
