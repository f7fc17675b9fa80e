// Package gateway is a validator's side of its connections with runners, as a pure
// core: CIP-11 §§5.3, 6, 7.2, 10, 11 and 14, decisions J8 to J18. One Machine holds
// all of them. It has no clock, socket or chain; Step takes one event and returns
// what has to be submitted, done and told.
//
// # Events
//
// When a connection is Up nothing is said: the runner opens the control stream and
// speaks first. Its Hello is judged in the wire's order, and then by registration,
// stake and subset in the newest final block. A good one is answered by the
// validator's Hello and HelloAck. With its HelloAck the connection is live, an
// older one of the same runner gets Goodbye, and the runner's open assignments are
// pushed.
//
// On a ping, signed and with a greater nonce than the last, the runner is present,
// and a pong goes back. The chain takes a ping that is old enough as the runner's
// heartbeat. On a backpressure signal the bit is cleared, or set again.
//
// On a head, each new final block, every live runner gets a pong. New assignments
// are pushed, each on a separate stream, and ended ones are cancelled there. A
// runner that lost its place at this validator is disconnected when its last stream
// ended.
//
// The assignments that a block would draw are signed and encoded while validators vote
// on it, once for a whole committee. They are sent when the block is final, and not
// before.
//
// On an ack, a rejection or any other answer a delivery is a success, a duplicate or
// a soft failure; on none in time a hard one, which resets the stream and clears the
// bit until the next ping.
//
// On a result, signed and not too long, the commitment is submitted at once, and the
// result when all have committed or the time to commit is over. Accepted results
// outlive the connection.
//
// On whatever the wire does not have, Goodbye says which fault it was, and the
// connection ends when the runner closes it or the grace is over.
//
// # Invariants
//
//   - Only Goodbye is sent before a Hello was found good, and nothing after
//     a Goodbye.
//   - At most one connection of a runner is live, and only a live one sets its bit.
//   - An assignment is pushed at most once on a connection; on another one again.
//   - For each result a commitment and a reveal are submitted at most once.
//   - Memory is bounded by the limits of this package, whatever arrives.
//
// Encoding and transport, the chain's state and the vote that carries the bitmap
// belong to other packages.
package gateway
