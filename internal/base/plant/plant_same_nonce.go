//go:build plant_same_nonce

package plant

// Planted is the fault of this build.
const Planted = SameNonce
