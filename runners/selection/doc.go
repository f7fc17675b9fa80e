// Package selection decides, for everybody alike, which validators a runner
// belongs to, which runners are there, and which of them get a job: CIP-11 §§5, 8
// and 9 with decisions J2, J3, J6, J9, J10 and J12. It is functions and plain
// values; what they read of chain, registry and jobs is an argument.
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
// These hold always: a bitmap has no bit beyond its length; a P without votes is
// all zero; a committee has no runner twice; and nothing depends on the order in
// which anything was learned, but where the argument says so.
//
// What a validator sees of its connections, when a job waits and what becomes of
// it is for others.
package selection
