package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// headerFault returns what is wrong with a block as the child of its parent, or
// "": in all of a header that does not take execution.
func (m *state) headerFault(b *types.Block, parent *types.Header) string {
	h := &b.Header
	switch {
	case h.ChainID != m.cfg.ChainID:
		return "wrong chain id"
	case h.Height != parent.Height+1+types.Height(h.Skipped) || h.Height <= parent.Height:
		return "height is not the parent's + 1 + skipped"
	case h.SetEpoch != m.set.Epoch:
		return "wrong validator set"
	case h.View <= parent.View:
		return "view is not after the parent's"
	case h.Proposer != m.set.Leader(h.View):
		return "proposer is not the view's leader"
	case h.Timestamp <= parent.Timestamp:
		return "timestamp is not after the parent's"
	}
	return m.carriedFault(b, parent)
}

// carriedFault returns what is wrong with the certificates that a block carries,
// or "".
func (m *state) carriedFault(b *types.Block, parent *types.Header) string {
	if parent.Height == 0 {
		if b.Parent != nil || b.Finalization != nil {
			return "a child of genesis carries certificates"
		}
		return ""
	}
	if !doesCertify(b.Parent, types.Notarize, b.Header.Parent, parent) {
		return "no notarization of the parent"
	}
	if !parent.Border() {
		if b.Parent.View >= b.Header.View {
			return "the parent's notarization is not of an earlier view"
		}
		if b.Finalization != nil {
			return "a finalization after a parent that is not an epoch's last block"
		}
		return ""
	}
	if !doesCertify(b.Finalization, types.Finalize, b.Header.Parent, parent) {
		return "no finalization of the block before the border"
	}
	return ""
}

// doesCertify reports whether a verified certificate is of the kind and for the
// block, of the block's view or of a later one in which it was proposed again.
func doesCertify(c *types.Certificate, kind types.VoteKind, hash types.Hash, h *types.Header) bool {
	return c != nil && c.Kind == kind && c.Block == hash && c.Height == h.Height && c.Epoch == h.SetEpoch &&
		c.View >= h.View
}
