//go:build plant_votes_twice

package plant

// Planted is the fault of this build.
const Planted = VotesTwice
