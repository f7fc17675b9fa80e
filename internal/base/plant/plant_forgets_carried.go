//go:build plant_forgets_carried

package plant

// Planted is the fault of this build.
const Planted = ForgetsCarried
