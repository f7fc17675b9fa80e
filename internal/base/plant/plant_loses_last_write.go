//go:build plant_loses_last_write

package plant

// Planted is the fault of this build.
const Planted = LosesLastWrite
