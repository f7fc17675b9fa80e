package validators

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/rations"
)

// serveRange answers a peer that lacks finalized blocks. The size of the answer is
// charged to the peer's rations; the request already was.
func (a *archiving) serveRange(event rangeRequest) {
	source := &servedChain{archive: a.v.history, tip: a.v.Head().Block.Header.Height}
	if kept, err := a.v.history.Kept(); err == nil {
		source.first = kept.From
	}
	batch := catchup.Serve(event.request, source)
	frame := encodeFrame(batch)
	a.v.ingress.oweRation(event.from, rations.Served, len(frame))
	a.v.node.Mesh.Send(event.from, frame)
}

// servedChain is the finalized chain as catchup.Serve reads it. Unreadable blocks count
// as missing: the peer asks another validator.
type servedChain struct {
	archive *history.Archive
	first   types.Height
	tip     types.Height
	last    *history.Stored
}

func (s *servedChain) storedAt(h types.Height) *history.Stored {
	if s.last == nil || s.last.Block.Header.Height != h {
		stored, err := s.archive.Block(h)
		if err != nil || stored == nil {
			return nil
		}
		s.last = stored
	}
	return s.last
}

// Block implements catchup.Source.
func (s *servedChain) Block(h types.Height) (*types.Block, int) {
	stored := s.storedAt(h)
	if stored == nil {
		return nil, 0
	}
	return stored.Block, len(codec.Marshal(stored.Block))
}

// Finalization implements catchup.Source.
func (s *servedChain) Finalization(h types.Height) *types.Certificate {
	if stored := s.storedAt(h); stored != nil {
		return stored.Finalization
	}
	return nil
}

// Next implements catchup.Source.
func (s *servedChain) Next(h types.Height) types.Height {
	next, err := s.archive.Next(h)
	if err != nil || next > s.tip {
		return 0
	}
	return next
}

// First implements catchup.Source.
func (s *servedChain) First() types.Height { return s.first }

// Tip implements catchup.Source.
func (s *servedChain) Tip() types.Height { return s.tip }
