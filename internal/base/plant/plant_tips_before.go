//go:build plant_tips_before

package plant

// Planted is the fault of this build.
const Planted = TipsBefore
