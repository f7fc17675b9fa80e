package api

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerPresence() {
	serveRead(s, operation{id: "presences", path: "/presence", tag: tagRunners,
		client: "PresenceRange(from Height, to Height) is P(H) of heights from one to another, as bitmaps; with 0 for both of " +
			"the latest. Next is the height to continue at.",
		summary: "P(H) of heights in a row, and the votes that it follows from, as bitmaps (CIP-11 §8)",
		description: "At most 256 heights and 4 MiB of bitmaps: the first of the range, with next to continue; without from, the " +
			"last heights. P of a height is known once the block after it is final.",
		errors: []int{400, 404, 409}, response: examplePresences}, s.listPresence)
}

var examplePresences = model.PresenceRange{From: 12, To: 12, Head: 13,
	Validators: []model.NamedValidator{{Name: "v0", Address: exampleAddress}},
	Heights: []model.PresenceAt{{Height: 12, Rule: "quorum", Threshold: 2, Bits: 4, Count: 3, Present: []byte{7},
		Votes: []model.PresenceVote{{Validator: 0, Bitmap: []byte{7}}}}}}

func (s *Server) listPresence(_ context.Context, v answers.Reader, in *rangeInput) (m model.PresenceRange, err error) {
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	head := v.Head().Height
	_, from, to, newest, err := in.boundsInArchive(v, max(head, 1)-1)
	if err != nil {
		return m, err
	}
	if newest && to >= from && to-from >= MaxPresence {
		from = to - MaxPresence + 1
	}
	m = model.PresenceRange{From: from, To: to, Head: head, Validators: []model.NamedValidator{}, Heights: []model.PresenceAt{}}
	return m, s.fillPresence(v, &m)
}

// fillPresence fills in the heights of a range, as many as an answer holds.
func (s *Server) fillPresence(v answers.Reader, m *model.PresenceRange) error {
	named, bytes := s.newNamedNodes(), 0
	for h := m.From; h <= m.To; h++ {
		if h-m.From == MaxPresence || bytes > MaxPresenceBytes {
			m.Next, m.To = &h, h-1
			break
		}
		p, err := v.Attested(h)
		if err != nil {
			return err
		}
		if p == nil {
			continue // time travel skipped it, or it was dropped since
		}
		at := presenceAt(p, named)
		bytes += len(at.Present)
		for i := range at.Votes {
			bytes += len(at.Votes[i].Bitmap)
		}
		m.Heights = append(m.Heights, at)
	}
	m.Validators = named.all
	return nil
}

func presenceAt(p *history.Presence, named *namedNodes) model.PresenceAt {
	at := model.PresenceAt{Height: p.Height, Rule: string(p.Rule), Threshold: p.Threshold, Bits: p.Bitmap.Len(),
		Present: bitmapBits(p.Bitmap.Bytes()), Votes: []model.PresenceVote{}}
	for i := range at.Bits {
		if p.Bitmap.Has(i) {
			at.Count++
		}
	}
	for i := range p.Votes {
		at.Votes = append(at.Votes, model.PresenceVote{Validator: named.placeOf(p.Votes[i].Validator), Bitmap: bitmapBits(p.Votes[i].Bitmap)})
	}
	return at
}

// bitmapBits is a bitmap without its length.
func bitmapBits(encoded []byte) []byte {
	bitmap, err := selection.ParseBitmap(encoded)
	if err != nil {
		return []byte{}
	}
	return encoded[len(encoded)-(bitmap.Len()+7)/8:]
}
