package byzantine

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// The frames of the shell that behaviours read or make, as in docs/WIRE.md: this
// package is not part of the code that it lies to.
type (
	blockAnswer struct {
		_     struct{} `cbor:",toarray"`
		Block *types.Block
	}
	rangeRequest struct {
		_        struct{} `cbor:",toarray"`
		From, To types.Height
	}
	batch struct {
		_            struct{} `cbor:",toarray"`
		From         types.Height
		Blocks       []*types.Block
		Links        []types.Header
		Finalization *types.Certificate
	}
	transactions struct {
		_   struct{} `cbor:",toarray"`
		Raw [][]byte
	}
)

// readBlockAnswer reads a frame as the body that a peer asked for, or returns nil.
func (m *Mask) readBlockAnswer(frame []byte) *blockAnswer {
	var a blockAnswer
	if !m.readFrame(frame, mesh.BlockAnswer, &a) || a.Block == nil {
		return nil
	}
	return &a
}

// readBatch reads a frame as finalized blocks, or returns nil.
func (m *Mask) readBatch(frame []byte) *batch {
	var b batch
	if !m.readFrame(frame, mesh.Batch, &b) {
		return nil
	}
	return &b
}
