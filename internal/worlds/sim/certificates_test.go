package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// At each view each of twenty validators forwards a certificate to each. Who recovered
// all their signers would be at it for most of the time, and one that is late for good:
// what it says in views that are past is answered by all others with a certificate each.
// So a validator recovers each vote once, the votes that a proposal carries once more, and
// those of a few certificates: of what it learned of by a certificate first, and of one
// that came while it learned.
func TestAValidatorRecoversTheSignersOfFewCertificates(t *testing.T) {
	const validators, quorum, blocks = 20, 14, 30
	n := aNetwork(t, NetworkConfig{Validators: validators,
		World: Config{Seed: 1, Link: quick(1).Link, Work: Work{Recovery: 3 * time.Millisecond}}})
	if err := n.RunToHeight(5, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Freeze("v3")
	if err := n.RunFor(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	n.Thaw("v3")
	if err := n.RunFor(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	tip, worked := n.Tip(), n.Worked()
	if err := n.RunToHeight(tip+blocks, 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, name := range n.Names() {
		if height := n.Validator(name).Status().Height; height+1 < n.Tip() {
			t.Errorf("%s is at height %d, others at %d", name, height, n.Tip())
		}
	}
	each := int64((n.Worked()-worked)/(3*time.Millisecond)) / int64(validators*types.Height(blocks))
	if most := int64(3*validators + 1 + validators + 4*quorum); each > most {
		t.Errorf("for a block a validator recovers %d signers, more than %d", each, most)
	}
	t.Logf("for a block a validator recovers %d signers", each)
}
