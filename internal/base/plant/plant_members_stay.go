//go:build plant_members_stay

package plant

// Planted is the fault of this build.
const Planted = MembersStay
