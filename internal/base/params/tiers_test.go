package params

import "testing"

// Decision G1: each parameter has the tier that its draft names. CIP-1 §§5, 7.3, 8, 10 and
// 13.2 name them; parameters of the tier genesis never change.
func TestG1TheTiersAreThoseOfTheDrafts(t *testing.T) {
	want := map[string]string{
		"cip1.policy":                            "3",   // §13.2
		"cip3.basefee_change_divisor":            "3",   // §13.2: "Tier-3 by analogy with CIP-3 basefee curve changes"
		"cip1.lane_fee_multiplier_permille":      "0",   // §5
		"cip1.priority_tier_multipliers.fast":    "0",   // §7.3
		"cip1.fairness_window_blocks":            "0,2", // §8 says both
		"cip1.fairness_center":                   "2",   // §8: the formula's structure
		"cip1.fairness_weight_max":               "0",   // §8
		"cip1.max_cycles_per_fire_auction_phase": "0",   // §10
		"cip1.default_gba_fee_multiple":          "0",   // §15
		"cip1.ring_buffer_size":                  "genesis",
		"chain.id":                               "genesis",
		"cip11.push":                             "", // §14 asks for a vote, and names no tier
		"cip2.min_reputation":                    "",
	}
	for key, tier := range want {
		info, err := Lookup(key)
		if err != nil || info.Tier != tier {
			t.Errorf("%s has the tier %q, want %q: %v", key, info.Tier, tier, err)
		}
	}
	for _, info := range Keys() {
		if (info.Class == Genesis) != (info.Tier == TierGenesis) {
			t.Errorf("%s has class %s and tier %q", info.Key, info.Class, info.Tier)
		}
	}
}
