// Package push is the wire between runner and validator, CIP-11 §12 as
// docs/WIRE.md has it: the frames of §§6 and 10, what is signed of them, the job
// that they carry, and in which order a frame is judged.
//
// A frame that comes is judged step by step, and the first fault wins:
//
//	Reader.Next  its length, before anything of it is kept
//	Place        its type, and whether it may come on this stream from this side
//	Decode       its CBOR, of Hello and HelloAck the version, and its fields
//	Hello.Check  role and key; then a Standing: registration, stake, subset
//	Verify       its signature
//
// Between Place and Decode whoever keeps a connection asks whether the frame comes
// at its time, and of a Hello whether it comes too often: that is state, and not
// here. A Fault bears the reason that Goodbye says.
//
// Reading is strict in what a frame holds and lenient in how it is written: any
// order of fields and any length of a head, for runners are written by others.
// Writing is deterministic (C11). Both follow from the types alone, field by field
// (form.go), so that what is written is what is read.
package push
