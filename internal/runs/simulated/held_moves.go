package simulated

import (
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

var _ api.Holding = (*Held)(nil)

// Begin plays the script to a moment, at most to its end. It reports whether it came there. The error is that the
// context ended.
func (h *Held) Begin(at moment.Moment) (reached bool, err error) {
	h.beginScript()
	if err := h.moveTo(goalOf(at), false); err != nil {
		return false, err
	}
	h.noteLook()
	return !h.play.ended || at.Kind == moment.AtEnd, nil
}

// Empty says that the script made no network.
func (h *Held) Empty() bool { return h.Stage == nil }

// goalOf is a moment of this run as the goal of a move.
func goalOf(at moment.Moment) goal { return goal{step: at.Step, peak: at.Height} }

// Changed says that something was done to the network by hand.
func (h *Held) Changed() bool { return h.play.changed != "" }

// Networks implements api.Holding.
func (h *Held) Networks() uint64 { return h.networks }

// Held implements api.Holding.
func (h *Held) Held() model.Held {
	p := &h.play
	digest, _ := h.Digest() // of a simulated network: there is no error
	at := ""
	if !p.ended {
		at = h.script.At()
	}
	return model.Held{Moment: h.Moment(), At: at, Changed: p.changed, Step: p.steps, Height: h.finalHeight(), TimeMS: int64(h.Now().Millis()),
		Digest: digest, Ended: p.ended, Failure: p.failure, From: p.steps, Happened: []string{}}
}

// Moment implements api.Holding: it is the name of where the run is.
func (h *Held) Moment() string {
	p := &h.play
	if p.ended && p.steps == p.ends {
		return moment.End(h.script.Name, h.seed).String()
	}
	return moment.Step(h.script.Name, h.seed, p.steps).String()
}

// answerMove is the answer to a move from a step.
func (h *Held) answerMove(from uint64, err error) (model.Held, error) {
	h.noteLook()
	if err == nil && h.Stage == nil {
		err = refusal.New("no_network", "played again, the script makes no network: %s", h.play.failure)
	}
	if err != nil {
		return model.Held{}, err
	}
	m := h.Held()
	m.From, m.Happened, m.Omitted = from, append(m.Happened, h.play.happens.lines...), h.play.happens.omitted
	return m, nil
}

// noteLook notes what the network looks like, which only a move may change.
func (h *Held) noteLook() {
	if h.Stage != nil {
		h.moved = h.currentLook()
	}
}

func (h *Held) currentLook() look {
	digest, _ := h.Digest() // of a simulated network: there is no error
	return look{digest, h.Stirred()}
}

// Tell announces the network's height, and notes whether it was touched since the last move.
func (h *Held) Tell() {
	if h.Stage == nil {
		return
	}
	if h.play.changed == "" && h.currentLook() != h.moved {
		h.noteChange()
	}
	h.Bench.Tell()
}

// noteChange notes that the run is changed by hand.
func (h *Held) noteChange() {
	if h.play.changed == "" {
		h.play.changed = h.Moment()
	}
}

// Step implements api.Holding.
func (h *Held) Step(r model.StepRequest) (model.Held, error) {
	p, count := &h.play, max(r.Count, 1)
	from := p.steps
	p.happens = happenings{}
	var to goal
	switch r.Unit {
	case model.UnitBlock:
		to.blocks = p.blocks + count
	case model.UnitFire:
		to.fires = p.fires + count
	case model.UnitEnd:
		if p.ended {
			return model.Held{}, refusal.New("script_ended", "the script has ended").Hint("devnet step goes on without it, devnet step --back back.")
		}
	default:
		to.step, to.names = from+count, count <= maxHappenings
	}
	ended := p.ended
	err := h.moveTo(to, ended)
	if err == nil && !ended && p.ended && r.Unit != model.UnitEnd {
		p.happens.addLine("the network goes on without the script at the next step")
	}
	return h.answerMove(from, err)
}

// Back implements api.Holding.
func (h *Held) Back(r model.StepRequest) (model.Held, error) {
	p, count := &h.play, max(r.Count, 1)
	from := p.steps
	to := goal{}
	switch r.Unit {
	case model.UnitBlock, model.UnitFire:
		at := h.markBefore(r.Unit == model.UnitFire, count)
		if at == nil {
			return model.Held{}, refusal.New("too_far_back", "the run has no %s before here", plural.Of(count, r.Unit)).At("count")
		}
		to.step = at.step
	case model.UnitEnd:
		if !p.ended || p.steps == p.ends && p.changed == "" {
			return model.Held{}, refusal.New("script_ended", "the script's end is not before here").At("unit")
		}
	default:
		if count >= from {
			return model.Held{}, refusal.New("too_far_back", "the run has %s before here", plural.Of(from, "step")).
				Hint("Its first moment is %s.", moment.Step(h.script.Name, h.seed, 1)).At("count")
		}
		to.step = from - count
	}
	err := h.replayTo(to)
	h.play.happens = happenings{}
	return h.answerMove(from, err)
}

// markBefore returns the mark of the count-th last block before the present step, or of the count-th last block with a
// fire; nil if there are fewer.
func (h *Held) markBefore(fires bool, count uint64) *mark {
	marks := h.play.marks
	for i := len(marks) - 1; i >= 0; i-- {
		at := &marks[i]
		had := uint64(0)
		if i > 0 {
			had = marks[i-1].fires
		}
		if at.step >= h.play.steps || fires && at.fires == had {
			continue
		}
		if count--; count == 0 {
			return at
		}
	}
	return nil
}

// Go implements api.Holding.
func (h *Held) Go(r model.GoRequest) (model.Held, error) {
	at, err := moment.Parse(r.To)
	if err != nil {
		return model.Held{}, refusal.New("invalid_moment", "%v", err).At("to")
	}
	if at.Script != "" && (filepath.Clean(at.Script) != filepath.Clean(h.script.Name) || at.Seed != h.seed) {
		return model.Held{}, refusal.New("invalid_moment", "%s is a moment of another run: this is %s", at, h.Moment()).
			Hint("devnet run %s --seed %d --hold-at %s holds that one.", at.Script, at.Seed, at).At("to")
	}
	from := h.play.steps
	h.play.happens = happenings{}
	return h.answerMove(from, h.goTo(at))
}

// goTo goes to a moment of the seed's run, on or back.
func (h *Held) goTo(at moment.Moment) error {
	p := &h.play
	ahead := p.changed == "" && (at.Kind == moment.AtStep && at.Step > p.steps || at.Kind == moment.AtHeight && at.Height > p.peak ||
		at.Kind == moment.AtEnd && !p.ended)
	switch {
	case p.changed == "" && at.Kind == moment.AtStep && at.Step == p.steps && !p.ended:
		return nil
	case ahead:
		return h.moveTo(goalOf(at), true)
	}
	return h.replayTo(goalOf(at))
}
