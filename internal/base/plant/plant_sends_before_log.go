//go:build plant_sends_before_log

package plant

// Planted is the fault of this build.
const Planted = SendsBeforeLog
