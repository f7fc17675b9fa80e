package history

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// presenceRecord is P of a block's parent without the votes, which the block itself
// has.
type presenceRecord struct {
	_         struct{} `cbor:",toarray"`
	Rule      selection.Rule
	Threshold uint64
	Bits      []byte // of a selection.Bitmap
}

// Presence is P(H) and the votes that it follows from (CIP-11 §8).
type Presence struct {
	ledger.Presence
	Height types.Height            // H
	Told   types.Height            // of the block that carries the votes
	Votes  []types.CertificateVote // empty for genesis, which has no votes
}

func presenceOf(p *ledger.Presence) presenceRecord {
	return presenceRecord{Rule: p.Rule, Threshold: uint64(p.Threshold), Bits: p.Bitmap.Bytes()}
}

// Presence returns P of the block of a height. It is nil while no block after it is
// final, if the height has no block, and if the block after it is pruned.
func (a *Archive) Presence(h types.Height) (*Presence, error) {
	told, err := a.Next(h + 1)
	if err != nil || told == 0 {
		return nil, err
	}
	return a.presenceCarriedBy(told, h)
}

// presenceCarriedBy returns the P that the block of a height carries, nil if that is not
// the P of h.
func (a *Archive) presenceCarriedBy(told, h types.Height) (*Presence, error) {
	stored, err := a.Block(told)
	if err != nil || stored == nil || parentOf(&stored.Block.Header) != h {
		return nil, err
	}
	p := &Presence{Height: h, Told: told}
	if stored.Block.Parent != nil {
		p.Votes = stored.Block.Parent.Votes
	}
	p.Presence, err = a.recordedPresence(told)
	return p, err
}

func (a *Archive) recordedPresence(told types.Height) (p ledger.Presence, err error) {
	l, err := a.Lane(told)
	switch {
	case err != nil:
		return p, err
	case l == nil:
		return p, fmt.Errorf("no stored record of the block at height %d", told)
	}
	record := &l.Presence
	bitmap, err := selection.ParseBitmap(record.Bits)
	if err != nil {
		return p, fmt.Errorf("the presence that the block of height %d tells: %w", told, err)
	}
	return ledger.Presence{Bitmap: bitmap, Rule: record.Rule, Threshold: int(record.Threshold)}, nil
}

// LatestPresence is the last P that is known at a height: of the parent of its
// block. It is empty at genesis.
func (a *Archive) LatestPresence(h types.Height) (ledger.Presence, error) {
	if h == 0 {
		return ledger.Presence{Bitmap: selection.NewBitmap(0)}, nil
	}
	return a.recordedPresence(h)
}

// Changed lists the bits of P, as the block of a height tells it, that differ from
// those that its parent told; a runner that had none before had 0. It is empty
// where the parent is not kept.
func (a *Archive) Changed(told types.Height) (p *Presence, bits []int, err error) {
	stored, err := a.Block(told)
	if err != nil || stored == nil {
		return nil, nil, err
	}
	before := parentOf(&stored.Block.Header)
	kept, err := a.Kept()
	if err != nil || kept.Dropped(before) {
		return nil, nil, err
	}
	if p, err = a.presenceCarriedBy(told, before); err != nil || p == nil {
		return nil, nil, err
	}
	former, err := a.LatestPresence(before)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.Bitmap.Len() {
		if p.Bitmap.Has(i) != former.Bitmap.Has(i) {
			bits = append(bits, i)
		}
	}
	return p, bits, nil
}

// parentOf is the height of a block's parent (decision C8).
func parentOf(h *types.Header) types.Height { return h.Height - 1 - types.Height(h.Skipped) }
