//go:build plant_compacts_to_head

package plant

// Planted is the fault of this build.
const Planted = CompactsToHead
