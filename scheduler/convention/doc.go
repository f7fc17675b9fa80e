// Package convention reads what a timer's payload may say of itself: CIP-5 §4.2's
// JSON with a handler's name. What counts as JSON is consensus, so the reader is
// strict and its own; it knows nothing of timers.
package convention
