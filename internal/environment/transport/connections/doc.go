// Package connections is env.Connections over real QUIC (CIP-11 §6.1), at both ends:
// a Gateway holds those that runners dial, on the socket of a validator's mesh
// (package quic hands them over by their ALPN); a Dialer is a runner's end, with a
// socket of its own for all its validators.
//
// It knows frames by their length and first byte alone, and decides nothing of the
// wire but what has to be decided before a frame is whole: what length is read, and
// for how long. What package connection promises is kept here.
//
// Invariants: Do never blocks; nothing of a connection is told behind Down; every
// queue, wait and buffer has a limit in limits.go; what one peer does or does not
// read holds up no other. After Close no goroutine is left.
//
// A connection costs few goroutines: one that reads a stream for each that the peer
// writes on, and one that writes only while something is to be written that QUIC
// does not take at once.
package connections
