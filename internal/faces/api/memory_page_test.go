package api

import (
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// shown is the page's data on a network in memory, besides its blocks.
type shown struct {
	views    views.Table
	links    []model.Link
	logs     map[string]string // files, by node
	attested int               // heights whose P was read
	bitmap   []byte            // of each vote
}

func (m *memory) Views() *views.Table { return &m.shown.views }

func (m *memory) Links() []model.Link { return m.shown.links }

func (m *memory) LogPath(node string) string { return m.shown.logs[node] }

func (v *memoryView) Heads(from, to types.Height, newest bool, limit int) (heads []history.Head, err error) {
	defer v.lock()()
	for h := max(from, 1); h <= to && int(h) <= len(v.m.blocks); h++ {
		b := v.m.blocks[h-1]
		heads = append(heads, history.Head{Header: b.Block.Header, Transactions: len(b.Block.Transactions),
			Lane: history.LaneRecord{Height: h, Budget: 2000, Fired: uint64(h)}})
	}
	if newest {
		return heads[max(0, len(heads)-limit):], nil
	}
	return heads[:min(limit, len(heads))], nil
}

func (v *memoryView) Tally(from, to, width types.Height, limit int) scheduler.Tally {
	defer v.lock()()
	bins := make([]uint64, (to-from)/width+1)
	t := scheduler.Tally{Bins: map[string][]uint64{"ring": bins, "epoch": make([]uint64, len(bins)), "overflow": make([]uint64, len(bins))},
		Whole: len(v.m.timers) <= limit}
	for i := range v.m.timers {
		if h := v.m.timers[i].Height; from <= h && h <= to {
			bins[(h-from)/width]++
		}
	}
	return t
}

func (v *memoryView) Attested(h types.Height) (*history.Presence, error) {
	defer v.lock()()
	v.m.shown.attested++
	if int(h) >= len(v.m.blocks) {
		return nil, nil
	}
	bitmap, err := selection.ParseBitmap(v.m.shown.bitmap)
	if err != nil {
		return nil, err
	}
	p := &history.Presence{Presence: ledger.Presence{Bitmap: bitmap, Rule: "quorum", Threshold: 1}, Height: h}
	for _, n := range v.m.nodes {
		p.Votes = append(p.Votes, types.CertificateVote{Validator: n.Validator.Address, Bitmap: v.m.shown.bitmap})
	}
	return p, nil
}
