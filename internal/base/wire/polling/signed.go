package polling

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Signed is a runner's signature of a poll for its jobs.
type Signed struct {
	At        uint64 // milliseconds of Unix time, above that of the runner's poll before
	Signature types.Signature
}

// MaxSkewMillis is how far the time of a signed poll may be from the server's clock: two
// minutes.
const MaxSkewMillis = 120_000

// Digest is what the runner signs: keccak256("cowboy/JobPoll/1" ‖ chain_id_be8 ‖ at_be8).
//
// Spec: decisions J11, J24.
func Digest(chainID, at uint64) types.Hash {
	content := binary.BigEndian.AppendUint64([]byte("cowboy/JobPoll/1"), chainID)
	return types.Keccak(binary.BigEndian.AppendUint64(content, at))
}

// Fresh reports whether a poll's time is near a clock, in milliseconds of Unix time, so that
// none is kept for later.
func (s *Signed) Fresh(now uint64) bool { return max(now, s.At)-min(now, s.At) <= MaxSkewMillis }
