// Package connections is env.Connections over real QUIC (CIP-11 §6.1), at both ends.
// A Gateway holds the connections that runners dial, on the socket of a validator's
// mesh (package quic hands them over by their ALPN). A Dialer is a runner's end,
// with one socket for all its validators.
//
// It knows frames only by their length and first byte. It decides only the
// questions that precede a whole frame: the lengths that are read, and for how
// long. This package keeps the promises of package connection.
//
// Invariants: Do never blocks. No event of a connection follows Down. Every queue,
// wait and buffer has a limit in limits.go. One peer's actions, or its refusal to
// read, delay no other. After Close no goroutine is left.
//
// A connection costs few goroutines: one that reads a stream for each that the peer
// writes on, and one that writes only while something is to be written that QUIC
// does not take at once.
package connections
