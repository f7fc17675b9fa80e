//go:build plant_anyones_vote

package plant

// Planted is the fault of this build.
const Planted = AnyonesVote
