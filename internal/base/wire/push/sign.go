package push

import (
	"encoding/binary"
	"reflect"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// signingDigest is what is signed of a frame: keccak256("cowboy/" ‖ name ‖ "/1" ‖
// chain_id_be8 ‖ content) (decision C10).
func signingDigest(f Frame, chainID uint64, content ...[]byte) types.Hash {
	var room [192]byte // on the stack: more than all digests but those of a whole map need
	all := binary.BigEndian.AppendUint64(append(room[:0], kinds()[f.Type()].domain...), chainID)
	for _, part := range content {
		all = append(all, part...)
	}
	return types.Keccak(all)
}

// be8 is a number in eight bytes: an array, so that no digest takes memory.
func be8[T ~uint64](n T) (b [8]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return b
}

// Digest returns the bytes that the sender of a HelloAck signs: the challenge of
// the peer's Hello and the peer's key, so that the proof cannot be passed on.
func (f *HelloAck) Digest(chainID uint64, challenge types.Hash, peer types.PublicKey) types.Hash {
	return signingDigest(f, chainID, challenge[:], peer[:])
}

// Digest is what the runner signs.
func (f *HeartbeatPing) Digest(chainID uint64) types.Hash {
	height, nonce := be8(f.BlockHeight), be8(f.Nonce)
	return signingDigest(f, chainID, height[:], nonce[:])
}

// Digest is what the validator signs for one runner.
func (f *HeartbeatPong) Digest(chainID uint64, runner types.PublicKey) types.Hash {
	height := be8(f.BlockHeight)
	return signingDigest(f, chainID, height[:], runner[:])
}

// Digest is what the runner signs: all other fields.
func (f *CapabilityDelta) Digest(chainID uint64) types.Hash {
	return signingDigest(f, chainID, unsignedMap(f))
}

// Digest is what the validator signs. CIP-11 §10.1 signs only id and deadline; with
// the spec's hash one signature covers one spec (docs/WIRE.md).
func (f *JobAssignment) Digest(chainID uint64) types.Hash {
	spec, deadline := f.JobSpec.Hash(), be8(f.DeadlineBlock)
	return signingDigest(f, chainID, f.JobID[:], deadline[:], spec[:])
}

// Digest is what the runner signs: all other fields.
func (f *JobAck) Digest(chainID uint64) types.Hash { return signingDigest(f, chainID, unsignedMap(f)) }

// Digest is what the runner signs. The chain checks it, too (decision J5).
func (f *JobResult) Digest(chainID uint64) types.Hash {
	data := types.Keccak(f.ResultData)
	return signingDigest(f, chainID, f.JobID[:], data[:])
}

// Digest is what the validator signs.
func (f *JobCancel) Digest(chainID uint64) types.Hash {
	return signingDigest(f, chainID, f.JobID[:], []byte(f.Reason))
}

// unsignedMap is the deterministic CBOR of a frame's map without the field signed.
func unsignedMap(f Frame) []byte {
	return writeFields(nil, kinds()[f.Type()].others, reflect.ValueOf(f).Elem())
}
