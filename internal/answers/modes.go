package answers

import "github.com/cowboyinc/devnet/internal/base/wire/push"

// JobModes are the modes by the words of people and scripts; without one it is none.
var JobModes = map[string]push.Mode{"": push.None, "none": push.None, "economic_bond": push.EconomicBond,
	"majority_vote": push.MajorityVote, "structured_match": push.StructuredMatch,
	"deterministic": push.Deterministic, "semantic_similarity": push.SemanticSimilarity}

// ModeName is a mode as people and scripts write it.
func ModeName(mode push.Mode) string {
	for name, of := range JobModes {
		if of == mode && name != "" {
			return name
		}
	}
	return ""
}
