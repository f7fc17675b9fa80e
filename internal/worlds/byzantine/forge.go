package byzantine

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// forgeFrames answers and sends forged content that looks right: blocks with another
// state under the same parent, finalized and notarized in the names of all by only
// its own key; certificates in which one vote counts as a quorum; transactions
// whose value differs from the signed one. Peers must refuse these, and get the
// true content from another validator.
func forgeFrames(m *Mask, frame []byte, to receiver) [][]byte {
	if a := m.readBlockAnswer(frame); a != nil && a.Block != nil {
		return [][]byte{encodeFrame(mesh.BlockAnswer, &blockAnswer{Block: m.madeUp(a.Block)})}
	}
	if b := m.readBatch(frame); b != nil && len(b.Blocks) > 0 {
		forged := *b
		forged.Blocks = slices.Clone(b.Blocks)
		last := len(forged.Blocks) - 1
		forged.Blocks[last] = m.madeUp(forged.Blocks[last])
		h := &forged.Blocks[last].Header
		forged.Finalization = m.inAllNames(types.Certificate{Kind: types.Finalize, Epoch: h.Epoch, View: h.View, Height: h.Height,
			Block: forged.Blocks[last].Hash()}, to.others)
		return [][]byte{encodeFrame(mesh.Batch, &forged)}
	}
	var c types.Certificate
	if m.readFrame(frame, mesh.Certificate, &c) && len(c.Votes) > 0 {
		repeated := c
		repeated.Votes = slices.Repeat(c.Votes[:1], len(c.Votes))
		other := c
		other.View++
		return [][]byte{encodeFrame(mesh.Certificate, &repeated), encodeFrame(mesh.Certificate, m.inAllNames(other, to.others)), frame}
	}
	var t transactions
	if m.readFrame(frame, mesh.Transactions, &t) {
		for i, raw := range t.Raw {
			if tx, err := types.DecodeTransaction(raw); err == nil {
				tx.Value = tx.Value.Add(types.WeiOf(1))
				t.Raw[i] = tx.Encode()
			}
		}
		return [][]byte{encodeFrame(mesh.Transactions, &t)}
	}
	return [][]byte{frame}
}

// madeUp returns a sibling of a block: with its parent, and another state.
func (m *Mask) madeUp(block *types.Block) *types.Block {
	other := *block
	other.Header.StateRoot = types.Keccak(block.Header.StateRoot[:])
	return &other
}

// emptyBitmap is the bitmap of a vote that shows no runner, where votes of a kind
// have one: what a liar lies about is not its form.
func emptyBitmap(kind types.VoteKind) []byte {
	if kind == types.Notarize {
		return []byte{}
	}
	return nil
}

// inAllNames signs a certificate with its own key, in the names of all others.
func (m *Mask) inAllNames(c types.Certificate, others []types.Address) *types.Certificate {
	vote := types.Vote{Kind: c.Kind, Epoch: c.Epoch, View: c.View, Height: c.Height, Block: c.Block, Bitmap: emptyBitmap(c.Kind)}
	signature := m.signer.Sign(vote.Digest(m.chainID))
	c.Votes = nil
	for _, name := range others {
		c.Votes = append(c.Votes, types.CertificateVote{Validator: name, Bitmap: vote.Bitmap, Signature: signature})
	}
	return &c
}
