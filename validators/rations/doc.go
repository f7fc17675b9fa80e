// Package rations shares a validator's attention between its peers, as a pure core:
// each peer's limits, the queue and its order, and bans. It knows sizes, classes
// and costs, and no message.
//
// # Words
//
// A ration is what a peer may use up of one resource: frames, bytes, signatures
// to be recovered, transactions, ranges of blocks. It fills with time and, where
// honest use grows with the chain's pace, with each view, up to what it holds. A
// flooder cannot hurry the views.
//
// Patience is a ration as well: each fault takes from it. A peer that has used it up is
// muted for a while, for longer each time. Only its frames of the consensus are taken, by a
// narrower ration. So its true votes are heard, whatever else it sends.
//
// Pressure is the ration of frames that are dropped unread. A peer that has used it
// up is shut out for a while: it loses its connection, which costs more than it gives.
//
// # Invariants
//
//   - The queue is bounded, in frames and bytes, for each peer and for all.
//   - Peers take turns; a peer's frames keep no other peer's waiting longer than
//     one frame of each class before them.
//   - Votes and certificates come first, bulk last.
//   - Frames of the consensus have rations apart from all others: invalid frames of
//     other classes do not block the votes of their sender.
//   - An answer that a peer was not asked for is not taken from it.
package rations
