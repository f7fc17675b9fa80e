// Package convention reads the handler that a timer's payload may name: the JSON of
// CIP-5 §4.2. The validity of JSON is part of consensus, so the reader is strict
// and built here; it does not know timers.
package convention
