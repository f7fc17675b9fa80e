package audit

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// auditChainEnd audits a node that has only the end of the chain.
func (a *node) auditChainEnd(archive *history.Archive, db env.Store, kept history.Kept) error {
	tip, err := archive.Tip()
	if err != nil {
		return err
	}
	if tip == nil {
		a.noteProblem("blocks are stored from height %d on, but no tip", kept.From)
		return nil
	}
	a.report.Height = tip.Block.Header.Height
	state := a.restoreState(db, tip)
	var before *history.Stored
	for h := kept.From; ; {
		next, err := archive.Next(h)
		if err != nil {
			return err
		}
		if next == 0 {
			break
		}
		stored, err := archive.Block(next)
		if err != nil {
			return err
		}
		a.checkFollows(stored, before, state)
		if a.progress != nil {
			a.progress(a.report.Name, next, a.report.Height)
		}
		before, h = stored, next+1
	}
	if before == nil || before.Hash != tip.Hash {
		a.noteProblem("height %d: the tip is block %s, and the chain does not end with it", a.report.Height, tip.Hash)
	}
	return nil
}

// restoreState builds the stored state again; nil if its root is not the root of the
// tip.
func (a *node) restoreState(db env.Store, tip *history.Stored) *ledger.State {
	var changes []ledger.Change
	err := history.ScanState(db, func(key, value []byte) {
		changes = append(changes, ledger.Change{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	})
	if err != nil {
		a.noteProblem("the stored state cannot be read: %v", err)
		return nil
	}
	state, err := ledger.Restore(changes, tip.Block)
	if err != nil {
		a.noteProblem("height %d: the stored state is not that of the block: %v", tip.Block.Header.Height, err)
		return nil
	}
	if err := ledger.Audit(state); err != nil {
		a.noteProblem("height %d: %v", state.Height(), err)
	}
	return state
}

// checkFollows checks a block's record, its link to the one before and, where the set
// of their epochs is known, its certificates.
func (a *node) checkFollows(stored, before *history.Stored, state *ledger.State) {
	h, hash := &stored.Block.Header, stored.Block.Hash()
	a.compareIdentity(stored, hash)
	if before != nil && (h.Parent != before.Hash || before.Block.Header.Height+1+types.Height(h.Skipped) != h.Height) {
		a.noteProblem("height %d: the block does not follow on that of height %d", h.Height, before.Block.Header.Height)
	}
	if c := stored.Finalization; c != nil {
		a.knownCertificate(c, types.Finalize, hash, state)
	}
	switch c := stored.Block.Parent; {
	case c != nil:
		a.knownCertificate(c, types.Notarize, h.Parent, state)
	default:
		a.noteProblem("height %d: the block carries no notarization of its parent", h.Height)
	}
}

// knownCertificate counts a certificate's signers where the state knows who they
// may be: of the sets of older epochs nothing is left.
func (a *node) knownCertificate(c *types.Certificate, kind types.VoteKind, block types.Hash, state *ledger.State) {
	if state == nil {
		return
	}
	for _, set := range []*types.ValidatorSet{state.Validators(), state.PreviousValidators(), state.FormerValidators()} {
		if set != nil && set.Epoch == c.Epoch {
			a.checkCertificate(c, kind, block, set)
			return
		}
	}
	if c.Kind != kind || c.Block != block {
		a.noteProblem("height %d: got a %s certificate for %s, want kind %s for %s", c.Height, c.Kind, c.Block, kind, block)
	}
}
