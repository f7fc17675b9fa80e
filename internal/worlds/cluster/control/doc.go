// Package control is how a node in a process of its own is driven by whoever operates
// the whole network from another: a Seat answers in the node's process below
// /devnet/node/, a Client asks from outside.
//
// A node is driven only where its settings say so, by a secret of both (driver), which
// every request bears. What it is told is JSON, bounded and judged; whoever has the
// secret may have the node do anything that a fault can, and nothing else.
//
// Two streams tell what the node did, a line of JSON each: the blocks that it made
// final, from any height on, and what was heard of it: votes as they left, what became
// of its views and of its connections with runners. What was heard is numbered, so that
// whoever asks by Heard knows what was before its answer.
package control
