package catchup

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// RangeRequest asks for the final blocks with heights From to To.
type RangeRequest struct {
	_    struct{} `cbor:",toarray"`
	From types.Height
	To   types.Height
}

// Batch answers a RangeRequest: blocks in order, decided by one set, from the
// first at or after From on. Links are the headers between the last of them and the block
// that Finalization names; mostly there are none and that is the last one. An
// empty batch says that there is nothing to give.
type Batch struct {
	_            struct{}     `cbor:",toarray"`
	From         types.Height // the first height, as in the request
	Blocks       []*types.Block
	Links        []types.Header
	Finalization *types.Certificate
}

// Root is a finalized block and who decides on the next.
type Root struct {
	Block        *types.Block // its header is enough
	Hash         types.Hash
	Finalization *types.Certificate  // nil for genesis
	Set          types.ValidatorSet  // which decides on the block after it
	Previous     *types.ValidatorSet // which decided on it, where a border follows
}

// VerifiedBatch is a batch that Check accepted.
type VerifiedBatch struct {
	blocks       []*types.Block
	hashes       []types.Hash
	finalization *types.Certificate // that of the last block; nil where links follow
	proof        *types.Certificate
}

// Blocks returns the blocks, not to be changed.
func (b VerifiedBatch) Blocks() []*types.Block { return b.blocks }

// Hashes are the blocks' hashes.
func (b VerifiedBatch) Hashes() []types.Hash { return b.hashes }

// Proof is the finalization of the last block, or of a later block that its links lead to.
func (b VerifiedBatch) Proof() *types.Certificate { return b.proof }

// Finalization is the last block's own, or nil.
func (b VerifiedBatch) Finalization() *types.Certificate { return b.finalization }

// Invalid says what is wrong with a batch. Its sender is at fault.
type Invalid struct {
	Code   string
	Detail string
}

func (e *Invalid) Error() string { return "catchup: " + e.Code + ": " + e.Detail }

func newInvalidBatch(code, format string, args ...any) error {
	return &Invalid{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Check verifies that a batch continues from root and is final. certificate checks
// a certificate's votes against the set of its epoch.
func Check(b *Batch, root *Root, certificate func(*types.Certificate) error) (VerifiedBatch, error) {
	if err := checkSizes(b); err != nil {
		return VerifiedBatch{}, err
	}
	at := chain{header: &root.Block.Header, hash: root.Hash, epoch: root.Set.Epoch}
	v := VerifiedBatch{blocks: b.Blocks, hashes: make([]types.Hash, 0, len(b.Blocks)), proof: b.Finalization}
	for _, block := range b.Blocks {
		if err := checkBody(block, at.header, certificate); err != nil {
			return VerifiedBatch{}, err
		}
		if err := at.appendHeader(&block.Header); err != nil {
			return VerifiedBatch{}, err
		}
		v.hashes = append(v.hashes, at.hash)
	}
	for i := range b.Links {
		if err := at.appendHeader(&b.Links[i]); err != nil {
			return VerifiedBatch{}, err
		}
	}
	if err := at.checkEnd(b.Finalization, certificate); err != nil {
		return VerifiedBatch{}, err
	}
	if len(b.Links) == 0 {
		v.finalization = b.Finalization
	}
	return v, nil
}

func checkSizes(b *Batch) error {
	if len(b.Blocks) == 0 || len(b.Blocks) > MaxBatchBlocks || len(b.Links) > MaxLinks || b.Finalization == nil {
		return newInvalidBatch("bad_size", "%d blocks (1 to %d), %d links (at most %d) and a finalization make a batch", len(b.Blocks),
			MaxBatchBlocks,
			len(b.Links), MaxLinks)
	}
	for _, block := range b.Blocks {
		if block == nil {
			return newInvalidBatch("bad_size", "a block is missing")
		}
	}
	return nil
}

// chain walks along headers.
type chain struct {
	header *types.Header
	hash   types.Hash
	epoch  types.Epoch // the epoch of the set that decides on all that follows the root
}

func (c *chain) appendHeader(h *types.Header) error {
	switch {
	case h.Parent != c.hash:
		return newInvalidBatch("not_linked", "block %d does not follow block %d", h.Height, c.header.Height)
	case h.Height != c.header.Height+1+types.Height(h.Skipped) || h.Height <= c.header.Height:
		return newInvalidBatch("wrong_height", "block %d after %d skips %d", h.Height, c.header.Height, h.Skipped)
	case h.SetEpoch != c.epoch:
		return newInvalidBatch("wrong_epoch", "block %d was decided by the set of epoch %d, and not by that of %d", h.Height, h.SetEpoch, c.epoch)
	case c.header.Border() && c.header.SetEpoch == c.epoch:
		return newInvalidBatch("wrong_epoch", "block %d is behind a border, and decided by the set before it", h.Height)
	}
	c.header, c.hash = h, h.Hash()
	return nil
}

func (c *chain) checkEnd(f *types.Certificate, certificate func(*types.Certificate) error) error {
	if f.Kind != types.Finalize || f.Block != c.hash || f.Height != c.header.Height || f.Epoch != c.epoch {
		return newInvalidBatch("not_final", "the certificate does not finalize block %d", c.header.Height)
	}
	return certificate(f)
}

// checkBody checks what the header commits to or does not cover, execution
// apart.
func checkBody(b *types.Block, parent *types.Header, certificate func(*types.Certificate) error) error {
	h := &b.Header
	if err := b.CheckBody(); err != nil {
		return newInvalidBatch("wrong_body", "%v", err)
	}
	first := parent.Border()
	if (b.Parent == nil) != (parent.Height == 0) || (b.Finalization != nil) != first {
		return newInvalidBatch("wrong_certificates", "block %d lacks a certificate or carries one too many", h.Height)
	}
	if b.Parent == nil {
		return nil
	}
	if err := checkParentCertificate(b.Parent, types.Notarize, h, parent); err != nil {
		return err
	}
	if err := certificate(b.Parent); err != nil || !first {
		return err
	}
	if err := checkParentCertificate(b.Finalization, types.Finalize, h, parent); err != nil {
		return err
	}
	return certificate(b.Finalization)
}

func checkParentCertificate(c *types.Certificate, kind types.VoteKind, h, parent *types.Header) error {
	if c.Kind != kind || c.Block != h.Parent || c.Height != parent.Height || c.Epoch != parent.SetEpoch {
		return newInvalidBatch("wrong_certificates", "block %d carries a certificate of something else than its parent", h.Height)
	}
	return nil
}
