package api

import (
	"context"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (s *Server) registerReceipts() {
	serveRead(s, operation{id: "block_receipts", path: "/block/{id}/receipts", tag: tagChain,
		client:      "BlockReceipts(id string, p Page) lists what a final block executed, in order.",
		summary:     "List the executions of a final block: transactions, fires and delivered messages, in their order",
		description: "Only this list has delivered messages, since they are not submitted.",
		errors:      []int{400}, response: []model.Receipt{exampleReceipt}}, s.blockReceipts)
	serveRead(s, operation{id: "actor_receipts", path: "/actor/{address}/receipts", tag: tagActors,
		summary: "List the executions of an actor in the latest blocks, newest first", errors: []int{400},
		response: []model.Receipt{exampleReceipt}}, s.actorReceipts)
}

type blockReceiptsInput struct {
	BlockInput
	Page
}

func (s *Server) blockReceipts(_ context.Context, v answers.Reader, in *blockReceiptsInput) ([]model.Receipt, error) {
	b, err := finalBlock(v, in.ID)
	if err != nil {
		return nil, err
	}
	out := []model.Receipt{}
	printed, as := b.PrintedBy(), TypesOf(v)
	for i := min(in.Offset, len(b.Receipts)); i < len(b.Receipts) && len(out) < in.Limit; i++ {
		out = append(out, as.Receipt(&b.Receipts[i], printed[b.Receipts[i].Hash]))
	}
	return out, nil
}

type actorReceiptsInput struct {
	AddressInput
	Page
	Failed bool `query:"failed" doc:"Only those whose status is not ok."`
	Blocks int  `query:"blocks" minimum:"1" maximum:"1000" default:"100" doc:"Number of latest blocks to search."`
}

func (s *Server) actorReceipts(_ context.Context, v answers.Reader, in *actorReceiptsInput) ([]model.Receipt, error) {
	actor, err := s.resolveAddress(v, in.Address, "address")
	if err != nil {
		return nil, err
	}
	out, skip := []model.Receipt{}, in.Offset
	height, as := v.Head().Height, TypesOf(v)
	for blocks := 0; blocks < in.Blocks && height > 0 && len(out) < in.Limit; blocks++ {
		b, err := v.Block(height)
		if isNotKept(err) || err == nil && b == nil {
			break
		}
		if err != nil {
			return nil, err
		}
		printed := b.PrintedBy()
		for i := range slices.Backward(b.Receipts) {
			r := &b.Receipts[i]
			if r.To != actor || in.Failed && r.Status == types.StatusOK {
				continue
			}
			if skip > 0 {
				skip--
			} else if len(out) < in.Limit {
				out = append(out, as.Receipt(r, printed[r.Hash]))
			}
		}
		height -= min(height, 1+types.Height(b.Block.Header.Skipped))
	}
	return out, nil
}
