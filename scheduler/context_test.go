package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// CIP-1 §7.2 and its first revision §4.2: owner_actor_balance is the balance of the
// timer's actor, and neither its bidder's nor its fee payer's, which hold other
// amounts here.
func TestCIP1Section72TheContextHasTheOwnersBalance(t *testing.T) {
	for policy, payer := range map[string]types.Address{EIP1559: bob, GBA: alice} {
		w := lane1559()
		w.p.Policy = policy
		owner, bidder := uint64(1<<50+3), uint64(1<<51+5)
		w.fund(alice, types.WeiOf(owner))
		w.fund(bob, types.WeiOf(1<<59+7))
		w.fund(carol, types.WeiOf(bidder))
		if _, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.WeiOf(1<<58)),
			program.TimerRequest{Height: 2, GBA: &carol, FeePayer: &bob}); err != nil {
			t.Fatal(err)
		}
		w.block()
		w.block()
		if len(w.asked) != 1 || w.asked[0].Bidder != carol || w.asked[0].Payer != payer {
			t.Fatalf("%s: %+v", policy, w.asked)
		}
		var fields map[string]uint64
		if err := codec.Unmarshal(w.asked[0].Context, 1000, &fields); err != nil {
			t.Fatal(err)
		}
		if got := fields["owner_actor_balance"]; got != owner {
			t.Errorf("%s: owner_actor_balance is %d; the owner holds %d, its bidder %d", policy, got, owner, bidder)
		}
	}
}
