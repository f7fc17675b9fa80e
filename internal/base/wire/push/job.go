package push

import "github.com/cowboyinc/devnet/internal/base/types"

// JobID is that of the nonce-th job of a submitter, from 0, submitted in the
// block of a height.
//
// Spec: decision J1. Vectors: fixtures/vectors/cip11/j1-ids.json.
func JobID(submitter types.Address, nonce uint64, height types.Height) types.Hash {
	number, at := be8(nonce), be8(height)
	return types.Keccak(submitter[:], number[:], at[:])
}

// Commitment is what the chain gets of a result before the result: it tells
// nothing of it, and is nobody else's, for it covers the runner's signature.
//
// Spec: decision J5. Vectors: fixtures/vectors/cip11/j1-ids.json.
func Commitment(result []byte, signed types.Signature) types.Hash {
	return types.Keccak(result, signed[:])
}

// CommitmentDigest is what a runner signs to make a commitment its own, in the attempt
// that the block of height drawn began: keccak256("cowboy/JobCommitment/1" ‖
// chain_id_be8 ‖ job ‖ drawn_be8 ‖ commitment).
//
// Spec: decision J5. Vectors: fixtures/vectors/cip11/j5-commitments.json.
func CommitmentDigest(chainID uint64, job types.Hash, drawn types.Height, commitment types.Hash) types.Hash {
	chain, at := be8(chainID), be8(drawn)
	return types.Keccak([]byte("cowboy/JobCommitment/1"), chain[:], job[:], at[:], commitment[:])
}
