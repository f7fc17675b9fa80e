// Package gateway is a validator's side of its connections with runners, as a pure
// core: CIP-11 §§5.3, 6, 7.2, 10, 11 and 14, decisions J8 to J18. One Machine holds
// all of them. It has no clock, socket or chain; Step takes one event and returns
// what has to be submitted, done and told.
//
// # What happens
//
// When a connection is Up nothing is said: the runner opens the control stream and
// speaks first. Its Hello is judged in the wire's order, and then by registration,
// stake and subset as the newest final block has them; a good one is answered by
// ours and by our HelloAck. With its HelloAck the connection is live, an older one
// of the same runner gets Goodbye, and the runner's open assignments are pushed.
//
// On a ping, signed and with a greater nonce than the last, the runner is present,
// and a pong goes back. One that is old enough for it goes on chain as the runner's
// heartbeat. On a backpressure signal the bit is cleared, or comes back.
//
// On a head, each new final block, every live runner gets a pong. What was drawn is
// pushed on a stream of its own, what ended is cancelled there, who lost its place
// among the runners of this validator is let go when its last stream ended.
//
// What a block would draw is signed and encoded while validators vote on it, once for a
// whole committee, and leaves when the block is final: nothing of it is said before.
//
// On an ack, a rejection or any other answer a delivery is a success, a duplicate or
// a soft failure; on none in time a hard one, which resets the stream and clears the
// bit until the next ping.
//
// On a result, signed and not too long, the commitment is submitted at once, and the
// result behind it when all have committed or the time to commit is over. What was
// taken outlives the connection.
//
// On whatever the wire does not have, Goodbye says which fault it was, and the
// connection ends when the runner closes it or the grace is over.
//
// # What always holds
//
//   - Nothing but Goodbye is sent before a Hello was found good, and nothing behind
//     a Goodbye.
//   - At most one connection of a runner is live, and only a live one sets its bit.
//   - An assignment is pushed at most once on a connection; on another one again.
//   - Of each result a commitment and a reveal are submitted at most once.
//   - Memory is bounded by the limits of this package, whatever arrives.
//
// Encoding and transport, the chain's state and the vote that bears the bitmap are
// for others.
package gateway
