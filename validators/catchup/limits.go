package catchup

// Limits of requests and answers.
const (
	// MaxBatchBlocks is the blocks of one answer.
	MaxBatchBlocks = 64
	// MaxBatchBytes bounds the encoded blocks of one answer, unless its first block
	// is larger. With links and framing they fit into a frame.
	MaxBatchBytes = 3_500_000
	// MaxLinks bounds the headers that lead from an answer's last block to one with
	// its own finalization. Simplex has at most 256 blocks open, so that there is
	// no longer way.
	MaxLinks = 256
	// MaxPeers is the peers remembered: members of the sets met on the way, and
	// others that claimed to be ahead. A peer that left the set makes room.
	MaxPeers = 512
)

// Durations for which peers that failed are left out, in request timeouts.
const (
	lateTimeouts  = 4
	lyingTimeouts = 32
)
