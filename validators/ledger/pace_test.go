package ledger

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// C18: of a proposer's four parts each of the three phases is sure of one, and of two in every
// third block. Together they are sure of all of it and no more.
func TestC18EachPhaseIsSureOfTwoPartsInEveryThirdBlock(t *testing.T) {
	doubles := map[phase][]types.Height{}
	for height := types.Height(1); height <= 9; height++ {
		var sum time.Duration
		for _, p := range []phase{phaseTransactions, phaseFires, phaseDeliveries} {
			parts := p.sureParts(height)
			if sum += parts; parts == 2 {
				doubles[p] = append(doubles[p], height)
			} else if parts != 1 {
				t.Errorf("phase %d is sure of %d parts at height %d", p, parts, height)
			}
		}
		if sum != 4 {
			t.Errorf("at height %d the phases are sure of %d parts of 4", height, sum)
		}
	}
	for p, at := range doubles { // order: each by itself
		if len(at) != 3 || at[1] != at[0]+3 || at[2] != at[1]+3 {
			t.Errorf("phase %d is sure of two parts at heights %v", p, at)
		}
	}
}
