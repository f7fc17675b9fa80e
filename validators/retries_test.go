package validators

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Decision C18: a host may fail without end. However many blocks become final
// meanwhile, few wait here, and the blocks to be fetched again are known. Blocks from
// catch-up are kept, since it asks for no more before it is answered.
func TestWhatWaitsForAFailingHostIsBounded(t *testing.T) {
	v := &Validator{node: env.Validator{Base: env.Base{Signer: crypto.DeriveKey(1, "v0")}}}
	v.head.Store(&Head{Block: &types.Block{}})
	e := &execution{v: v}
	e.retries.failing = true
	if e.catchUp(catchUp{}) {
		t.Fatal("it is executed while the host fails")
	}
	for h := types.Height(1); h <= 10*maxPutOff; h += 2 {
		two := []*types.Block{{Header: types.Header{Height: h}}, {Header: types.Header{Height: h + 1}}}
		if e.finalizeBlocks(finalizeReport{simplex.Finalized{Blocks: two}}) {
			t.Fatalf("height %d is final though the host fails", h)
		}
		waits, kept := 0, 0
		for i, event := range e.retries.waiting {
			switch event := event.(type) {
			case catchUp:
				kept++
			case finalizeReport:
				waits += len(event.report.Blocks)
				if i == 1 && event.report.Blocks[0].Header.Height != e.retries.lost+1 {
					t.Fatalf("height %d waits behind %d", event.report.Blocks[0].Header.Height, e.retries.lost)
				}
			}
		}
		if waits > maxPutOff || kept != 1 {
			t.Fatalf("%d blocks of consensus wait, and %d events of catch-up", waits, kept)
		}
		if uint64(e.retries.lost)+uint64(waits) != uint64(h+1) {
			t.Fatalf("up to %d is to be fetched again, and %d wait: some of %d are forgotten", e.retries.lost, waits, h+1)
		}
	}
	if !e.lacksBlocks() {
		t.Error("it does not know that blocks are missing")
	}
}
