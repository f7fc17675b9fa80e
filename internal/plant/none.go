//go:build !plant_votes_twice && !plant_forgets_carried && !plant_refunds_twice && !plant_loses_last_write && !plant_map_order

package plant

// Planted is the fault of this build.
const Planted = None
