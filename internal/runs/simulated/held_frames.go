package simulated

import (
	"cmp"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// maxFrameData bounds the bytes of a frame that are shown: a certificate of a dozen validators.
const maxFrameData = 1024

// Frames implements api.Holding.
func (h *Held) Frames(from, to types.View, lost bool) (all []model.Frame) {
	if h.frames == nil {
		return nil
	}
	list := append(h.frames.Mishaps(), h.frames.Late()...)
	if !lost {
		list = append(list, h.frames.Passed()...)
	}
	for i := range list {
		if f := showFrame(&list[i]); f != nil && f.View >= from && f.View <= to {
			all = append(all, *f)
		}
	}
	slices.SortStableFunc(all, func(a, b model.Frame) int { return cmp.Compare(a.SentMS, b.SentMS) })
	return all
}

// showFrame is a frame as the API has it; nil for one that is of no view.
func showFrame(m *sim.Mishap) *model.Frame {
	says := m.Says()
	if says.View == 0 {
		return nil
	}
	f := &model.Frame{SentMS: m.Sent.Millis(), From: m.From, To: m.To, What: says.Name, Vote: says.Vote, View: says.View, Height: says.Height,
		Size: m.Bytes, Why: string(m.Why)}
	if m.Arrives != 0 {
		f.ArrivesMS = new(m.Arrives.Millis())
	}
	if m.By != nil {
		f.By = m.By.String()
	}
	if m.Why != sim.WhyNone && m.Bytes <= maxFrameData {
		f.Data = types.Bytes(m.Content())
	}
	return f
}
