//go:build plant_map_order

package plant

// Planted is the fault of this build.
const Planted = MapOrder
