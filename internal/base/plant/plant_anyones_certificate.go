//go:build plant_anyones_certificate

package plant

// Planted is the fault of this build.
const Planted = AnyonesCertificate
