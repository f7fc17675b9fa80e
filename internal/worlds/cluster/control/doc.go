// Package control lets the supervisor of a whole network control a node in a separate
// process: a server answers in the node's process below /devnet/node/, a Client asks
// from outside.
//
// A node accepts control only if its settings have a secret that both share (driver),
// which every request carries. Requests are JSON, bounded and judged; the holder of
// the secret may order the node to do anything that a fault can, and nothing more.
//
// Two streams report the node's actions, one line of JSON each: the blocks that it made
// final, from any height on, and its events, such as votes as they left, views, and
// connections with runners. Events are numbered, so that a reader of Reports knows which
// of them precede its answer.
package control
