package validators

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of the content of one frame.
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
		tag = mesh.Proposal
	case *types.Vote:
		tag = mesh.Vote
	case *types.Certificate:
		tag = mesh.Certificate
	case *simplex.BlockRequest:
		tag = mesh.BlockRequest
	case *simplex.BlockAnswer:
		tag = mesh.BlockAnswer
	case *simplex.CertificateRequest:
		tag = mesh.CertificateRequest
	case *catchup.RangeRequest:
		tag = mesh.RangeRequest
	case *catchup.Batch:
		tag = mesh.Batch
	case *transactions:
		tag = mesh.Transactions
	case *simplex.ViewRequest:
		tag = mesh.ViewRequest
	case *simplex.ViewAnswer:
		tag = mesh.ViewAnswer
	case *simplex.LifeRequest:
		tag = mesh.LifeRequest
	case *simplex.LifeAnswer:
		tag = mesh.LifeAnswer
	default:
		panic(fmt.Sprintf("validators: %T has no frame", message))
	}
	return codec.Append([]byte{tag}, message)
}

// decodeFrame reads a frame. Its result has the right form; nothing more has been
// checked.
func decodeFrame(frame []byte) (any, error) {
	if len(frame) == 0 {
		return nil, fmt.Errorf("an empty frame")
	}
	var message any
	limit := maxRequestFrame
	tag, encoded := mesh.Read(frame)
	switch tag {
	case mesh.Proposal:
		message, limit = new(types.Proposal), env.MaxFrameBytes
	case mesh.Vote:
		message, limit = new(types.Vote), maxVoteFrame
	case mesh.Certificate:
		message, limit = new(types.Certificate), maxCertificateFrame
	case mesh.BlockRequest:
		message = new(simplex.BlockRequest)
	case mesh.BlockAnswer:
		message, limit = new(simplex.BlockAnswer), env.MaxFrameBytes
	case mesh.CertificateRequest:
		message = new(simplex.CertificateRequest)
	case mesh.RangeRequest:
		message = new(catchup.RangeRequest)
	case mesh.Batch:
		message, limit = new(catchup.Batch), env.MaxFrameBytes
	case mesh.Transactions:
		message, limit = new(transactions), maxTransactionsFrame
	case mesh.ViewRequest:
		message = new(simplex.ViewRequest)
	case mesh.ViewAnswer:
		message, limit = new(simplex.ViewAnswer), maxCertificateFrame
	case mesh.LifeRequest:
		message = new(simplex.LifeRequest)
	case mesh.LifeAnswer:
		message = new(simplex.LifeAnswer)
	default:
		return nil, fmt.Errorf("a frame of unknown kind %d", tag)
	}
	if err := codec.Unmarshal(encoded, limit, message); err != nil {
		return nil, fmt.Errorf("a frame of kind %d: %w", tag, err)
	}
	return message, nil
}
