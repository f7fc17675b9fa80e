package catchup

import "github.com/cowboyinc/devnet/internal/base/types"

// Source is the finalized chain of the answering validator.
type Source interface {
	// Block returns the final block at a height and its encoded size, or nil
	// where the height was skipped or is not final yet.
	Block(h types.Height) (block *types.Block, bytes int)
	// Finalization returns the finalization that names the block at a height, or
	// nil: many blocks are final only by a descendant's finalization.
	Finalization(h types.Height) *types.Certificate
	// Next returns the height of the first final block at or after h; 0 if there is
	// none.
	Next(h types.Height) types.Height
	// First is the height from which on blocks are kept.
	First() types.Height
	// Tip is the height of the newest final block.
	Tip() types.Height
}

// Serve builds the answer to a request: blocks from From on, up to To, a border or the
// limits, that end in a finalization. If no finalization is in reach, the headers that lead
// to the next one follow. If all heights up to To were skipped, it continues to the first
// that was not. A request for pruned blocks gets an empty answer: later blocks are of no
// use without them. It reads at most MaxBatchBlocks blocks and MaxLinks headers.
func Serve(request *RangeRequest, source Source) *Batch {
	if request.From == 0 || request.From < source.First() || request.To < request.From || request.From > source.Tip() {
		return &Batch{From: request.From}
	}
	to := min(max(request.To, source.Next(request.From)), source.Tip())
	var blocks []*types.Block
	var last types.Height // of blocks
	var final *types.Certificate
	closed := 0 // blocks up to the last finalization
	size := 0
	for h := source.Next(request.From); h != 0 && h <= to && len(blocks) < MaxBatchBlocks; h = source.Next(h + 1) {
		block, bytes := source.Block(h)
		if block == nil {
			continue
		}
		if len(blocks) > 0 && size+bytes > MaxBatchBytes {
			break
		}
		blocks, last, size = append(blocks, block), h, size+bytes
		if f := source.Finalization(h); f != nil {
			final, closed = f, len(blocks)
		}
		if block.Header.Border() {
			break // it is final by itself: nothing is built on it before
		}
	}
	if len(blocks) == 0 {
		return &Batch{From: request.From}
	}
	if closed > 0 {
		return &Batch{From: request.From, Blocks: blocks[:closed], Finalization: final}
	}
	return appendLeadingHeaders(request, blocks, last, source)
}

// appendLeadingHeaders adds the headers after blocks up to a finalization.
func appendLeadingHeaders(request *RangeRequest, blocks []*types.Block, last types.Height, source Source) *Batch {
	var links []types.Header
	for h := source.Next(last + 1); h != 0 && len(links) < MaxLinks; h = source.Next(h + 1) {
		block, _ := source.Block(h)
		if block == nil {
			continue
		}
		links = append(links, block.Header)
		if f := source.Finalization(h); f != nil {
			return &Batch{From: request.From, Blocks: blocks, Links: links, Finalization: f}
		}
	}
	return &Batch{From: request.From}
}
