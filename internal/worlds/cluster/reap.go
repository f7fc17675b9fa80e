package cluster

import (
	"context"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

const (
	// reapEvery is how often it is looked who has left.
	reapEvery = time.Second
	// reapBlocks is for how many blocks who has left goes on: until one of the set without
	// it is final it may have to help the others to the last one.
	reapBlocks = 2
	// reapPage is the most runners that are asked for at a time.
	reapPage = 1000
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

// retired are the runners that have left the registry and have no job any more.
func retired(all []model.Runner) (gone []types.Address) {
	for i := range all {
		if r := &all[i]; r.Health == model.RunnerDeregistered && r.ActiveJobs == 0 {
			gone = append(gone, r.Address)
		}
	}
	return gone
}

// reapRunners ends the processes of runners that have left, those too that this start of
// the network began since nobody had noted that.
func (s *Supervisor) reapRunners(ctx context.Context, best string) {
	for at := 0; ; at += reapPage {
		all, err := s.api(best).Runners(ctx, model.RunnerDeregistered, client.Page{Offset: at, Limit: reapPage})
		if err != nil {
			return // it is asked again
		}
		for _, address := range retired(all) {
			name, err := s.drive.EndRunner(address)
			if err != nil {
				s.log.Error("a runner that has left does not stop", "node", name, "error", err)
			}
			if name != "" {
				s.noteLeft(name, true)
			}
			if name != "" && s.left != nil {
				s.left(name)
			}
		}
		if len(all) < reapPage {
			return
		}
	}
}

// reap ends the processes of nodes that have left, until the supervisor closes.
func (s *Supervisor) reap() {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	r := newReaper()
	for _, one := range s.crew.hosts.Validators { // those of before: a set without them may be long there
		if !one.Left {
			r.members[one.Name] = true
		}
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
		s.reapRunners(ctx, best)
		cancel()
		if err != nil {
			continue
		}
		for _, name := range r.look(height, all) {
			s.noteLeft(name, true)
			if s.left != nil {
				s.left(name)
			}
			if err := s.drive.StopValidator(name); err != nil {
				s.log.Error("a validator that has left does not stop", "node", name, "error", err)
			}
		}
	}
}
