//go:build plant_no_turns

package plant

// Planted is the fault of this build.
const Planted = NoTurns
