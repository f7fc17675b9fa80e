package bare

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

func TestAWorldDeploysCallsAndFires(t *testing.T) {
	beats := 0
	w, err := New(Config{Programs: samples.Host{}, Accounts: []string{"alice"}, Observe: func(r *ledger.Result) {
		for i := range r.Timers {
			if r.Timers[i].Status == types.TimerFired {
				beats++
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	heart, err := w.Deploy("alice", "heart", samples.Code("heartbeat"), types.WeiOf(types.CBY).Mul(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Settle(); err != nil {
		t.Fatal(err)
	}
	if err := w.Call("alice", heart, "start", samples.Number(3)); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(31); err != nil {
		t.Fatal(err)
	}
	if beats != 10 || w.Fires() != 10 || w.Blocks() != 32 {
		t.Errorf("%d beats and %d fires in %d blocks, want 10, 10 and 32", beats, w.Fires(), w.Blocks())
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
}

// Validators propose in turn, in the order of their addresses.
func TestValidatorsProposeInTurn(t *testing.T) {
	var proposers []types.Address
	w, err := New(Config{Programs: samples.Host{}, Validators: 3, Observe: func(r *ledger.Result) {
		proposers = append(proposers, r.Block.Header.Proposer)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(6); err != nil {
		t.Fatal(err)
	}
	for i, proposer := range proposers {
		if want := w.Head().Validators().Members[(i+1)%3].Address; proposer != want {
			t.Errorf("block %d is of %s, want %s", i+1, proposer, want)
		}
	}
}

func TestATransactionThatFailedEndsARun(t *testing.T) {
	w, err := New(Config{Programs: samples.Host{}, Accounts: []string{"alice"}})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := w.Deploy("alice", "counter", samples.Code("counter"), types.Wei{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Call("alice", counter, "fail", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Settle(); err == nil || !strings.Contains(err.Error(), "failed on purpose") {
		t.Errorf("got %v, want the error of the call", err)
	}
	if _, err := w.Deploy("nobody", "heart", samples.Code("heartbeat"), types.Wei{}); err == nil {
		t.Error("an account that does not exist deployed an actor")
	}
}
