// Package mesh names the frames that validators send each other: the one place
// of their tags. docs/WIRE.md shows each, byte by byte.
//
// The readers of a frame know its content: validators, the liars of
// internal/worlds/byzantine with their own structures, and the oracles' bridge.
package mesh

// A frame begins with a byte that names its message. The message follows in
// deterministic CBOR (C11).
const (
	Proposal byte = 1 + iota
	Vote
	Certificate
	BlockRequest
	BlockAnswer
	CertificateRequest
	RangeRequest
	Batch
	Transactions
	ViewRequest
	ViewAnswer
	LifeRequest
	LifeAnswer
)

// Read parts a frame into its tag and its message, without reading either. The
// tag of an empty frame is 0, which no message has.
func Read(frame []byte) (tag byte, message []byte) {
	if len(frame) == 0 {
		return 0, nil
	}
	return frame[0], frame[1:]
}
