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
