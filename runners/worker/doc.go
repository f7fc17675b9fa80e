// Package worker is what a runner does with the jobs it is given, as a pure core:
// CIP-11 §§10 and 11.2, decisions J13, J15 and J17. One Machine holds all of them.
// It has no clock, socket, chain or executor; Step takes one event and returns
// actions for the executor and reports.
//
// # Words
//
// An assignment is a job and the block that drew its runners; several validators
// deliver the same one, each on a separate stream.
//
// # Events
//
// On an assignment, signed by the validator, it looks whether it has that one
// already: then the ack is Duplicate. Otherwise it accepts, or rejects an
// assignment that it cannot do, with the reason.
//
// It asks the executor, once, when the chain shows the assignment, or more than half
// of the runner's validators have delivered the same. A single validator starts no
// work, and gets no result of a job that it made up (finding F56).
//
// On progress it tells the validator whose delivery it accepted.
//
// On a result it signs it and sends it to that validator, or to another where that
// stream is not open any more. It watches the chain: if its commitment or its
// reveal is missing after some blocks, it sends the same frame on another stream of
// that assignment.
//
// On a head it looks up each of its assignments. An assignment that is over is
// stopped, as is one that the chain never knew. A JobCancel ends the runner's side
// of that stream and makes it look; it does not end what the chain shows as its own
// (deviation from CIP-11 §10.5), or one liar would stop every job.
//
// Where two validators deliver one assignment with other specs, one of them lies.
// A validator is heard once. The runner works by the spec that the chain shows,
// whichever validator delivered it first.
//
// # Invariants
//
//   - The executor works on at most Config.MaxJobs at once, and on each assignment
//     once, unless it had to begin again with the true spec.
//   - On each stream, the first frame is an ack, there is at most one result, and
//     after a rejection or a result the runner's side is ended.
//   - Memory is bounded by the limits of this package, whatever arrives.
package worker
