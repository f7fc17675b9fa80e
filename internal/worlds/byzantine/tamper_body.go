package byzantine

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// tamperBody sends blocks whose transactions differ from their headers'
// commitments: one is missing or, if there is none, one too many. The signature
// covers the header and stays valid. A validator that votes without comparing, or
// executes one body and keeps another, puts on the chain a block that was never
// decided.
func tamperBody(m *Mask, frame []byte, _ receiver) [][]byte {
	if p := m.readProposal(frame); p != nil {
		forged := *p
		forged.Block = tamperWithBlock(p.Block)
		return [][]byte{encodeFrame(mesh.Proposal, &forged)}
	}
	if a := m.readBlockAnswer(frame); a != nil {
		return [][]byte{encodeFrame(mesh.BlockAnswer, &blockAnswer{Block: tamperWithBlock(a.Block)})}
	}
	if b := m.readBatch(frame); b != nil && len(b.Blocks) > 0 {
		forged := *b
		forged.Blocks = slices.Clone(b.Blocks)
		last := len(forged.Blocks) - 1
		forged.Blocks[last] = tamperWithBlock(forged.Blocks[last])
		return [][]byte{encodeFrame(mesh.Batch, &forged)}
	}
	return [][]byte{frame}
}

func tamperWithBlock(block *types.Block) *types.Block {
	body := *block
	if n := len(body.Transactions); n > 0 {
		body.Transactions = body.Transactions[:n-1]
	} else {
		body.Transactions = []types.Transaction{{ChainID: body.Header.ChainID, Payload: codec.Marshal(types.Transfer{Kind: types.KindTransfer})}}
	}
	return &body
}
