package readmodel_test

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// A reader shows a receipt once its state has the effect, although the store has the block before.
func TestAReceiptAboveTheStateIsNotShown(t *testing.T) {
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 5}, Validators: 1})
	if err != nil {
		t.Fatal(err)
	}
	source := readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())
	if err := n.RunToHeight(1, time.Minute); err != nil {
		t.Fatal(err)
	}
	before := source.Of(n.Validator("v0"))
	tx, _ := n.Deploy("alice", samples.Code("counter"), types.WeiOf(1))
	n.Submit("v0", tx, nil)
	if err := n.RunToHeight(6, time.Minute); err != nil {
		t.Fatal(err)
	}
	if receipt, err := before.Receipt(tx.Hash()); err != nil || receipt != nil {
		t.Errorf("the state of height %d shows %+v, %v", before.Head().Height, receipt, err)
	}
	if receipt, err := source.Of(n.Validator("v0")).Receipt(tx.Hash()); err != nil || receipt == nil {
		t.Errorf("the newest state shows %+v, %v", receipt, err)
	}
}
