package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Draw picks like the steps of the text, for any favoured runner (CIP-11 §§9.2, 9.3).
func TestStepsAreThoseOfTheDraw(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 11))
	for range 2_000 {
		candidates := make([]Candidate, 1+random.IntN(12))
		for i := range candidates {
			candidates[i] = Candidate{types.Address{byte(i + 1)}, 1 + random.Uint64N(257)}
		}
		favour := Favour{types.Address{byte(random.IntN(14))}, uint32(random.IntN(4))}
		seed, members := types.Hash{byte(random.Uint32()), byte(random.Uint32())}, random.IntN(len(candidates)+2)
		committee, ok := Draw(seed, candidates, members, favour)
		steps := Steps(seed, candidates, members, favour)
		if !ok && steps == nil {
			continue
		}
		var drawn []types.Address
		for _, s := range steps {
			drawn = append(drawn, s.Runner)
		}
		if !slices.Equal(drawn, committee) {
			t.Fatalf("%v, want %v", drawn, committee)
		}
	}
}
