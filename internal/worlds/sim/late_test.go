package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Decisions C7 and C18 under block_time auto: a transaction that is late makes blocks until
// it ends, and no longer. If it is late at too few, an honest proposer executes it.
func TestALateTransactionLeavesTheChainAtRest(t *testing.T) {
	for _, c := range []struct {
		hang, validators int
		want             types.Status
	}{{4, 4, types.StatusHostFailed}, {1, 4, types.StatusOK}, {1, 1, types.StatusHostFailed}} {
		n := aNetwork(t, NetworkConfig{World: Config{Seed: 35, Link: Link{Latency: 10 * time.Millisecond}}, Validators: c.validators,
			Params: params.Overrides{"chain.block_time_auto": "true"}})
		deploy, at := n.Deploy("alice", samples.Code("counter"), types.Wei{})
		n.Submit("v0", deploy, nil)
		letRun(t, n.World, 10*time.Second)
		for _, name := range n.Names()[:c.hang] {
			if _, err := n.HostFail(name, at, fault.HostHangs); err != nil {
				t.Fatal(err)
			}
		}
		call := n.Execute("alice", at, "increment", nil)
		before := n.Height("v0")
		n.Submit("v0", call, nil)
		letRun(t, n.World, time.Minute)
		rests := n.Height("v0")
		letRun(t, n.World, 5*time.Minute)
		if got := n.Height("v0"); got != rests || rests == before || rests > before+24 {
			t.Errorf("%+v: from height %d it reached %d, and %d after five more minutes", c, before, rests, got)
		}
		var found []types.Status
		for h := before + 1; h <= rests; h++ {
			stored, err := n.Validator("v0").Archive().Block(h)
			if err != nil || stored == nil {
				t.Fatal(h, err)
			}
			for i := range stored.Receipts {
				found = append(found, stored.Receipts[i].Status)
			}
		}
		if len(found) != 1 || found[0] != c.want {
			t.Errorf("%+v: it ended as %v", c, found)
		}
	}
}

// reached is the highest height that a running validator has finalized.
func (f *validatorNodes) reached() types.Height {
	if best := f.bestValidator(); best != nil {
		return best.Head().Block.Header.Height
	}
	return 0
}
