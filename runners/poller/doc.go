// Package poller is what a runner asks validators without a connection, as a pure core:
// CIP-11 §14, decision J11. One Machine asks for jobs, and brings results and heartbeats
// for which there is no stream. It has no clock, socket or chain; Step takes one event
// and returns what has to be asked, handed to package worker and told.
//
// # Events
//
// In the phases off and shadow it asks one validator of the runner's subset after
// another for the runner's jobs, a block time apart. In hot it asks while the view shows
// an assignment that no stream has brought for cip11.ack_timeout_blocks. In sunset it
// asks for no jobs.
//
// It brings a result without an open stream, or the refusal of a polled job, to one validator
// after another, until one takes it or each has refused it once. In off and shadow it brings the
// runner's heartbeat when the last one on chain is old enough (decision J18).
//
// A validator that does not answer in time rests, longer each time, and the next is
// asked at once.
//
// # Invariants
//
//   - There is at most one question for jobs under way, one heartbeat, and one for each
//     result.
//   - No validator is asked while it rests.
//   - Memory is bounded by the limits of this package, whatever is answered.
package poller
