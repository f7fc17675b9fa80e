package selection

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Step is one step of a draw, with the numbers of the text.
type Step struct {
	Digest   types.Hash // keccak256(the digest of the step before, or the seed ‖ i_le8)
	Total    uint64     // of the weights of those who are not drawn
	Number   uint64     // u64_le(Digest[0:8]) mod Total
	Position int        // from 0: where the sum of the weights from position i on first exceeds Number
	Runner   types.Address
}

// Steps repeats a draw as the text describes it, walking over all candidates in each
// step, and returns its numbers. Draw picks the same. It returns nil if Draw draws no
// runner.
//
// Spec: CIP-11 §§9.2, 9.3, decision J2.
func Steps(seed types.Hash, candidates []Candidate, members int, favour Favour) (steps []Step) {
	if members < 1 || members > len(candidates) {
		return nil
	}
	order := append([]Candidate{}, candidates...)
	weight := func(step int, c Candidate) uint64 {
		if step == 0 && c.Address == favour.Runner && favour.Multiplier > 1 {
			return c.Weight * uint64(favour.Multiplier)
		}
		return c.Weight
	}
	for i := range members {
		seed = types.Keccak(seed[:], binary.LittleEndian.AppendUint64(nil, uint64(i)))
		s := Step{Digest: seed, Position: i}
		for _, c := range order[i:] {
			s.Total += weight(i, c)
		}
		s.Number = binary.LittleEndian.Uint64(seed[:8]) % s.Total
		for sum := weight(i, order[i]); sum <= s.Number; sum += weight(i, order[s.Position]) {
			s.Position++
		}
		s.Runner = order[s.Position].Address
		order[i], order[s.Position] = order[s.Position], order[i]
		steps = append(steps, s)
	}
	return steps
}
