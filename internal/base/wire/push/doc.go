// Package push is the wire between runner and validator, CIP-11 §12 as in
// docs/WIRE.md: the frames of §§6 and 10, the signed parts of them, the job that
// they carry, and the order in which a frame is judged.
//
// A frame that comes is judged step by step, and the first fault wins:
//
//	Reader.Next  its length, before anything of it is kept
//	Place        its type, and whether it may come on this stream from this side
//	Decode       its CBOR, of Hello and HelloAck the version, and its fields
//	Hello.Check  role and key; then a Standing: registration, stake, subset
//	Verify       its signature
//
// Between Place and Decode the owner of a connection checks whether the frame comes
// at its time, and whether a Hello comes too often: that is state, and not here. A
// Fault carries the reason for Goodbye.
//
// Reading is strict about a frame's content and lenient about its form: any order
// of fields and any length of a head, since other people write runners. Writing is
// deterministic (C11). Both follow only from the types, field by field (form.go),
// so that writer and reader agree.
package push
