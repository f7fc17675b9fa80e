package push

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// JobID returns the id of the nonce-th job of a submitter, from 0, submitted in the
// block of a height.
//
// Spec: decision J1. Vectors: fixtures/vectors/cip11/j1-ids.json.
func JobID(submitter types.Address, nonce uint64, height types.Height) types.Hash {
	number, at := be8(nonce), be8(height)
	return types.Keccak(submitter[:], number[:], at[:])
}

// Commitment returns the hash that the chain gets before the result. It reveals
// nothing of the result, and no other runner can use it, since it covers the
// runner's signature.
//
// Spec: decision J5. Vectors: fixtures/vectors/cip11/j1-ids.json.
func Commitment(result []byte, signed types.Signature) types.Hash {
	return types.Keccak(result, signed[:])
}

// MaxRefusalText bounds the text of a refusal on chain, in bytes.
const MaxRefusalText = 256

// Refusal is a runner's word that it does not take a job.
type Refusal struct {
	JobID  types.Hash
	Drawn  types.Height // the block_height of the assignment
	Spec   types.Hash   // of the JobSpec that it refuses
	Reason RejectReason
	Text   string // UTF-8 without control characters, at most MaxRefusalText bytes
}

// Digest is what the runner signs: keccak256("cowboy/JobRefusal/1" ‖ chain_id_be8 ‖ job ‖
// drawn_be8 ‖ spec ‖ keccak256(reason) ‖ keccak256(text)). With the spec's hash no
// validator makes a refusal of a false spec into one of the job.
//
// Spec: decision J21.
func (r *Refusal) Digest(chainID uint64) types.Hash {
	chain, at := be8(chainID), be8(r.Drawn)
	why, text := types.Keccak([]byte(r.Reason)), types.Keccak([]byte(r.Text))
	return types.Keccak([]byte("cowboy/JobRefusal/1"), chain[:], r.JobID[:], at[:], r.Spec[:], why[:], text[:])
}

// Counts returns why a refusal does not count on chain; "" if it does. A report that an
// assignment is over is not a refusal.
func (r *Refusal) Counts() (why string) {
	switch {
	case !slices.Contains([]RejectReason{Capacity, Unsupported, MissingEntitlement, BadSpec}, r.Reason):
		return "its reason is none of Capacity, Unsupported, MissingEntitlement and BadSpec"
	case r.Text != RefusalText(r.Text):
		return fmt.Sprintf("its text has control characters, is not UTF-8, or has more than %d bytes", MaxRefusalText)
	}
	return ""
}

// RefusalText makes a text one that counts: control characters become spaces, invalid
// UTF-8 becomes "?", and the end of a longer text is cut off.
func RefusalText(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || 0x7f <= c && c <= 0x9f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	for len(text) > MaxRefusalText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
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
