package catchup

// Limits of requests and answers.
const (
	// MaxBatchBlocks is the blocks of one answer.
	MaxBatchBlocks = 64
	// MaxBatchBytes is the encoded blocks of one answer, unless its first block
	// alone is larger. With links and framing they fit into a frame.
	MaxBatchBytes = 3_500_000
	// MaxLinks is the headers that lead from an answer's last block to one with
	// a finalization of its own. Simplex has at most 256 blocks open, so that
	// there is no longer way.
	MaxLinks = 256
	// MaxPeers is the peers remembered: members of the sets met on the way, and
	// others that claimed to be ahead. Who is no member any more makes room.
	MaxPeers = 512
)

// Peers that failed are left out for so many request timeouts.
const (
	lateTimeouts  = 4
	lyingTimeouts = 32
)
