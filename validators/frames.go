package validators

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// A frame between validators is one byte that names the message, and the
// message in canonical CBOR.
const (
	tagProposal byte = 1 + iota
	tagVote
	tagCertificate
	tagBlockRequest
	tagBlockAnswer
	tagCertificateRequest
	tagRangeRequest
	tagBatch
	tagTransactions
)

// Limits of what one frame carries.
const (
	maxVoteFrame         = simplex.MaxBitmapBytes + 512
	maxCertificateFrame  = 1 << 20 // 100 votes with the longest bitmaps
	maxRequestFrame      = 256
	maxTransactionsFrame = 2 * types.MaxTransactionBytes
	maxTransactions      = 4096 // in one frame
)

// transactions is the frame by which validators share what they were given.
type transactions struct {
	_   struct{} `cbor:",toarray"`
	Raw [][]byte
}

// encodeFrame returns the frame of a message.
func encodeFrame(message any) []byte {
	tag := byte(0)
	switch message.(type) {
	case *types.Proposal:
		tag = tagProposal
	case *types.Vote:
		tag = tagVote
	case *types.Certificate:
		tag = tagCertificate
	case *simplex.BlockRequest:
		tag = tagBlockRequest
	case *simplex.BlockAnswer:
		tag = tagBlockAnswer
	case *simplex.CertificateRequest:
		tag = tagCertificateRequest
	case *catchup.RangeRequest:
		tag = tagRangeRequest
	case *catchup.Batch:
		tag = tagBatch
	case *transactions:
		tag = tagTransactions
	default:
		panic(fmt.Sprintf("validators: %T has no frame", message))
	}
	return codec.Append([]byte{tag}, message)
}

// decodeFrame reads a frame. What it returns has the right form and nothing
// else has been checked.
func decodeFrame(frame []byte) (any, error) {
	if len(frame) == 0 {
		return nil, fmt.Errorf("an empty frame")
	}
	var message any
	limit := maxRequestFrame
	switch frame[0] {
	case tagProposal:
		message, limit = new(types.Proposal), env.MaxFrameBytes
	case tagVote:
		message, limit = new(types.Vote), maxVoteFrame
	case tagCertificate:
		message, limit = new(types.Certificate), maxCertificateFrame
	case tagBlockRequest:
		message = new(simplex.BlockRequest)
	case tagBlockAnswer:
		message, limit = new(simplex.BlockAnswer), env.MaxFrameBytes
	case tagCertificateRequest:
		message = new(simplex.CertificateRequest)
	case tagRangeRequest:
		message = new(catchup.RangeRequest)
	case tagBatch:
		message, limit = new(catchup.Batch), env.MaxFrameBytes
	case tagTransactions:
		message, limit = new(transactions), maxTransactionsFrame
	default:
		return nil, fmt.Errorf("a frame of unknown kind %d", frame[0])
	}
	if err := codec.Unmarshal(frame[1:], limit, message); err != nil {
		return nil, fmt.Errorf("a frame of kind %d: %w", frame[0], err)
	}
	return message, nil
}
