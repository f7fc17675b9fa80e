// Package selection decides, with the same result on every node, which validators a
// runner belongs to, which runners are present, and which of them get a job: CIP-11
// §§5, 8 and 9 with decisions J2, J3, J6, J9, J10 and J12. It is functions and
// plain values; their inputs from chain, registry and jobs are arguments.
//
// The way of a job through it:
//
//	Rotation    which set of validators the subsets are over, and when that moves (§5.3)
//	Assignment  the subset of a runner; Table holds those of all of them (§5.1)
//	Bitmap      what one validator saw, in its vote (§§7.1, 12.3)
//	Presence    what the votes say together: P(H) (§8), by the threshold of a Rule (J9)
//	Filter      who may be drawn for a job, and why the others may not (§9.1)
//	Draw        the committee (§§9.2, 9.3)
//
// Invariants: a bitmap has no bit beyond its length, a P without votes is all zero,
// and a committee has no runner twice. Nothing depends on the order in which facts
// were learned, except where an argument is documented as ordered.
//
// A validator's view of its connections, the waiting of jobs and their outcomes
// belong to other packages.
package selection
