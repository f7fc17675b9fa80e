//go:build plant_anyones_turn

package plant

// Planted is the fault of this build.
const Planted = AnyonesTurn
