package byzantine

import "github.com/cowboyinc/devnet/internal/base/types"

// equivocateTo tells two halves of the peers two things, each well signed. In the
// views it leads, the second half gets another valid block, one millisecond
// younger, and its vote for that. In every other view the second half also gets a
// vote for a block that no validator has and, if it finalizes, a nullify vote: no
// honest validator does either (decision C1).
func equivocateTo(m *Mask, frame []byte, to receiver) [][]byte {
	if !to.second {
		return [][]byte{frame}
	}
	if p := m.readProposal(frame); p != nil {
		twin := *p.Block
		twin.Header.Timestamp++
		// The vote for the twin is sent along: the true vote does not show whether
		// this validator proposed its block.
		vote := types.Vote{Kind: types.Notarize, Epoch: twin.Header.Epoch, View: p.View, Height: twin.Header.Height, Block: twin.Hash(),
			Bitmap: emptyBitmap(types.Notarize)}
		return [][]byte{m.signProposal(types.Proposal{View: p.View, Block: &twin}), m.signVote(vote)}
	}
	v := m.readOwnVote(frame)
	if v == nil {
		return [][]byte{frame}
	}
	switch v.Kind {
	case types.Notarize:
		other := *v
		other.Block = types.Keccak(v.Block[:])
		return [][]byte{m.signVote(other), frame}
	case types.Finalize:
		return [][]byte{frame, m.signVote(types.Vote{Kind: types.Nullify, Epoch: v.Epoch, View: v.View})}
	}
	return [][]byte{frame}
}
