package cluster

import (
	"context"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

const (
	// reapEvery is how often it is looked who has left.
	reapEvery = time.Second
	// reapBlocks is for how many blocks who has left goes on: until one of the set without
	// it is final it may have to help the others to the last one.
	reapBlocks = 2
)

// reaper finds the validators that have left, of which only the others know for sure.
type reaper struct {
	members map[string]bool         // who was seen in the set
	left    map[string]types.Height // who was, and is not: since when
}

func newReaper() *reaper { return &reaper{map[string]bool{}, map[string]types.Height{}} }

// look takes the validators as one of them knows them at a height, and returns those that
// have left for good. One that is to join is in no set before that.
func (r *reaper) look(height types.Height, all []model.Validator) (gone []string) {
	inSet := map[string]bool{}
	for _, v := range all {
		if v.Status != history.StatusLeft {
			inSet[v.Name] = true
			r.members[v.Name] = true
			delete(r.left, v.Name)
		}
	}
	for name := range r.members {
		since, known := r.left[name]
		switch {
		case inSet[name]:
		case !known:
			r.left[name] = height
		case height >= since+reapBlocks:
			gone = append(gone, name)
			delete(r.members, name)
			delete(r.left, name)
		}
	}
	return gone
}

// reap ends the processes of validators that have left, until the supervisor closes.
func (s *Supervisor) reap() {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	r := newReaper()
	for _, one := range s.crew.hosts.Validators { // those of before: a set without them may be long there
		r.members[one.Name] = true
	}
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		best, height := s.highest()
		if best == "" {
			continue
		}
		ctx, cancel := context.WithTimeout(s.ctx, countPatience)
		all, err := s.api(best).Validators(ctx)
		cancel()
		if err != nil {
			continue
		}
		for _, name := range r.look(height, all) {
			if s.left != nil {
				s.left(name)
			}
			if err := s.drive.StopValidator(name); err != nil {
				s.log.Error("a validator that has left does not stop", "node", name, "error", err)
			}
		}
	}
}
