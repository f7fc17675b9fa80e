//go:build plant_refunds_twice

package plant

// Planted is the fault of this build.
const Planted = RefundsTwice
