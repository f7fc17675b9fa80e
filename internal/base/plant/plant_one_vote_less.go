//go:build plant_one_vote_less

package plant

// Planted is the fault of this build.
const Planted = OneVoteLess
