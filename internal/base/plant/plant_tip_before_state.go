//go:build plant_tip_before_state

package plant

// Planted is the fault of this build.
const Planted = TipBeforeState
