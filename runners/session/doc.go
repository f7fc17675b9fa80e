// Package session is a runner's side of its connections with validators, as a pure
// core: CIP-11 §§5, 6 and 11.3, decisions J8 to J14. One Machine holds all of
// them. It has no clock, socket or chain; Step takes one event and returns what has
// to be done, handed to package worker and told.
//
// # Events
//
// On a head, the newest final block known to the runner's view of the chain, the
// machine looks up its subset, and during an overlap the former one. It dials each
// of these validators that it is not connected with. It leaves a validator that is
// in neither subset when the last job's stream there has ended.
//
// On a connection it says Hello, answers the validator's Hello with HelloAck, and
// judges both frames of the validator as the validator judges ours. Then the
// connection is live: the runner pings, and repeats its load and its capabilities,
// which start again with each connection.
//
// It pings at each new height learned from its view or a pong, and at least once a
// block time. The gap after its previous frame is never below three quarters of the
// validator's limit.
//
// Frames on the streams of jobs are handed on. A frame of one may overtake the
// HelloAck that was sent before it, and then waits for it.
//
// On the end of a connection it dials again, later each time; at the longest where
// the validator said that this runner has no place there, unless the view of the
// chain has changed.
//
// # Invariants
//
//   - There is at most one connection with each validator.
//   - Only Hello, HelloAck and Goodbye are sent before both sides are done with
//     the exchange, and nothing after a Goodbye.
//   - Nonces of a connection grow.
//   - Memory is bounded by the limits of this package, whatever arrives.
package session
