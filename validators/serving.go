package validators

import (
	"time"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/catchup"
)

// maxServed bounds the requests for finalized blocks that one peer has answered
// within a second; a peer that catches up sends one after the other.
const maxServed = 32

// rangeRequest asks the archive role for finalized blocks on behalf of a peer.
type rangeRequest struct {
	from    types.Address
	request *catchup.RangeRequest
}

// allowance counts what one peer was given in the second that began at since.
type allowance struct {
	since types.Time
	given int
}

// serve answers a peer that lacks finalized blocks.
func (a *archiving) serve(event rangeRequest) {
	now := a.v.node.Clock.Now()
	used := a.served[event.from]
	if now.Sub(used.since) >= time.Second {
		used = allowance{since: now}
	}
	if used.given++; used.given > maxServed {
		a.v.count.refusedFrames.Add(1)
		return
	}
	if a.served == nil {
		a.served = map[types.Address]allowance{}
	}
	a.served[event.from] = used // peers are members of validator sets: few
	batch := catchup.Serve(event.request, &served{archive: a.v.history, tip: a.v.View().Block.Header.Height})
	a.v.node.Transport.Send(event.from, encodeFrame(batch))
}

// served is the finalized chain as catchup.Serve reads it. What cannot be read
// is not there: the peer asks another.
type served struct {
	archive *Archive
	tip     types.Height
	last    *Stored
}

func (s *served) at(h types.Height) *Stored {
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
func (s *served) Block(h types.Height) (*types.Block, int) {
	stored := s.at(h)
	if stored == nil {
		return nil, 0
	}
	return stored.Block, len(codec.Marshal(stored.Block))
}

// Finalization implements catchup.Source.
func (s *served) Finalization(h types.Height) *types.Certificate {
	if stored := s.at(h); stored != nil {
		return stored.Finalization
	}
	return nil
}

// Next implements catchup.Source.
func (s *served) Next(h types.Height) types.Height {
	next, err := s.archive.Next(h)
	if err != nil || next > s.tip {
		return 0
	}
	return next
}

// Tip implements catchup.Source.
func (s *served) Tip() types.Height { return s.tip }
