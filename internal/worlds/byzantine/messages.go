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

// answer reads a frame as the body that a peer asked for, or returns nil.
func (m *Mask) answer(frame []byte) *blockAnswer {
	var a blockAnswer
	if !m.read(frame, mesh.BlockAnswer, &a) || a.Block == nil {
		return nil
	}
	return &a
}

// batch reads a frame as finalized blocks, or returns nil.
func (m *Mask) batch(frame []byte) *batch {
	var b batch
	if !m.read(frame, mesh.Batch, &b) {
		return nil
	}
	return &b
}
