package byzantine

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// impersonateOthers tells the truth and lies beside it in the names of others, signed
// with its own key, which is the only one that it has. With each notarize vote it
// sends votes of all others for an unknown block, to notarize and to finalize it,
// and the certificates that these would make. With each proposal it sends one of
// the next view in the name of that view's leader. A validator that does not
// compare the signer with the name makes a block final that was never decided.
func impersonateOthers(m *Mask, frame []byte, to receiver) [][]byte {
	sent := [][]byte{frame}
	if p := m.readProposal(frame); p != nil {
		return append(sent, m.usurpProposal(p, to.others))
	}
	v := m.readOwnVote(frame)
	if v == nil || v.Kind != types.Notarize {
		return sent
	}
	for _, kind := range []types.VoteKind{types.Notarize, types.Finalize} {
		forged := types.Vote{Kind: kind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: types.Keccak(v.Block[:]),
			Bitmap: emptyBitmap(kind)}
		c := types.Certificate{Kind: kind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: forged.Block}
		signature := m.signer.Sign(forged.Digest(m.chainID))
		for _, name := range to.others {
			forged.Validator, forged.Signature = name, signature
			sent = append(sent, encodeFrame(mesh.Vote, &forged))
			c.Votes = append(c.Votes, types.CertificateVote{Validator: name, Bitmap: forged.Bitmap, Signature: signature})
		}
		sent = append(sent, encodeFrame(mesh.Certificate, &c))
	}
	return sent
}

// usurpProposal is a proposal of the view after p's, in the name of its leader.
func (m *Mask) usurpProposal(p *types.Proposal, others []types.Address) []byte {
	set := types.ValidatorSet{}
	for _, a := range append(slices.Clone(others), m.signer.Address()) {
		set.Members = append(set.Members, types.Validator{Address: a})
	}
	slices.SortFunc(set.Members, func(a, b types.Validator) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	block := *p.Block
	block.Header.View = p.View + 1
	block.Header.Proposer = set.Leader(block.Header.View)
	return m.signProposal(types.Proposal{View: block.Header.View, Block: &block})
}

// encodeFrame returns the frame of a message.
func encodeFrame(tag byte, message any) []byte { return append([]byte{tag}, codec.Marshal(message)...) }
