package simulated

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Views implements api.Backend.
func (b *Bench) Views() *views.Table {
	b.told.Views().Pass(b.Now())
	return b.told.Views()
}

// LogPath implements api.Backend: simulated nodes have no log files.
func (b *Bench) LogPath(string) string { return "" }

// Links implements api.Backend: those between validators. Frames are counted by fault,
// and not by link.
func (b *Bench) Links() (all []model.Link) {
	for _, from := range b.Names() {
		for _, to := range b.Names() {
			if from == to {
				continue
			}
			up, cut, rule := b.Standing(from, to)
			l := model.Link{From: from, To: to, Up: up, Cut: cut}
			rule.OneWay = false
			if rule != (fault.Link{}) {
				l.Rule = answers.ShowRule(rule)
			}
			all = append(all, l)
		}
	}
	return all
}
