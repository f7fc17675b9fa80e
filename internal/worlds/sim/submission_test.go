package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A transaction whose only frames are lost comes on chain when links are whole
// again, since who took it sends it once more: a validator that joins leads no
// view, so nothing else of its own brings the transaction there.
func TestALostSubmissionIsSentOnAgain(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(29), Params: params.Overrides{"chain.epoch_blocks": "10000"}})
	reach(t, n, 2)
	if _, err := n.Join(t.Context(), "v4"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 10)
	members := []string{"v0", "v1", "v2", "v3"}
	for _, to := range members {
		n.Link("v4", to, Link{Latency: 20 * time.Millisecond, Loss: 1, OneWay: true})
	}
	tx := n.Transfer("alice", n.Key("bob").Address(), types.WeiOf(7))
	taken := false
	n.Submit("v4", tx, func(_ types.Hash, err error) { taken = err == nil })
	final := func() bool {
		receipt, err := n.bestValidator().Archive().Receipt(tx.Hash())
		if err != nil {
			t.Fatal(err)
		}
		return receipt != nil
	}
	if err := n.RunFor(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !taken || final() {
		t.Fatalf("v4 took it: %v; it is final although all frames of v4 are lost: %v", taken, final())
	}
	for _, to := range members {
		n.Link("v4", to, Link{Latency: 20 * time.Millisecond})
	}
	reach(t, n, n.reached()+20)
	if !final() {
		t.Error("a transaction whose frames were lost is not sent again")
	}
}
