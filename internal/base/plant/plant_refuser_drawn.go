//go:build plant_refuser_drawn

package plant

// Planted is the fault of this build.
const Planted = RefuserDrawn
