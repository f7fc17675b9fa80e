// Package session is a runner's side of its connections with validators, as a pure
// core: CIP-11 §§5, 6 and 11.3, decisions J8 to J14. One Machine holds all of
// them. It has no clock, socket or chain; Step takes one event and returns what has
// to be done, handed to package worker and told.
//
// # What happens
//
// On a head, the newest final block that the runner's view of the chain knows of,
// the machine looks up its subset, and during an overlap the former one. Whom it
// belongs to and is not connected with it dials. Whom it belongs to no more it
// leaves when the last job's stream there has ended.
//
// On a connection it says Hello, answers the validator's Hello with HelloAck, and
// judges both frames of the validator as the validator judges ours. Then the
// connection is live: it pings, and says again what was said of load and
// capabilities, which begin anew with each connection.
//
// It pings at each new height it hears of, from its view or by a pong, and at least
// once a block time, but never sooner after another frame of its than three quarters
// of the validator's limit allow.
//
// What comes on the streams of jobs is handed on. A frame of one may overtake the
// HelloAck that was sent before it, and then waits for it.
//
// On the end of a connection it dials again, later each time; at the longest where
// the validator said that this runner has no place there, unless the view of the
// chain has changed.
//
// # What always holds
//
//   - There is at most one connection with each validator.
//   - Nothing but Hello, HelloAck and Goodbye is sent before both sides are done with
//     the exchange, and nothing behind a Goodbye.
//   - Nonces of a connection grow.
//   - Memory is bounded by the limits of this package, whatever arrives.
package session
