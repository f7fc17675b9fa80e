package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// steering is the pace that the operator of a network has decided beside its genesis:
// whether blocks are made, and which height is travelled to.
type steering struct {
	origin   *origin
	shared   *shared
	nodes    *nodeList
	finality *finality

	travelling sync.Mutex // held by the advance that is under way

	decided sync.Mutex // guards what follows
	paused  bool
	goal    types.Height // of the latest advance
	every   bool         // it makes every height
}

// offset is the file by which a restart finds the clock where it was.
type offset struct {
	Nanoseconds time.Duration `json:"offset_ns"`
}

// resume goes on with the clock that a home holds.
func (s *steering) resume() error {
	if s.origin.home == nil || s.origin.config.Here != nil && !s.origin.config.Here.Driven {
		return nil
	}
	data, err := os.ReadFile(s.origin.home.Clock())
	var moved offset
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(data, &moved); err != nil {
		return fmt.Errorf("%s cannot be read: %w", s.origin.home.Clock(), err)
	}
	s.shared.clock.SetOffset(moved.Nanoseconds)
	return nil
}

// steer tells a validator that has just started what the operator decided.
func (s *steering) steer(v Shell) {
	s.decided.Lock()
	defer s.decided.Unlock()
	if s.paused {
		v.Pause(true)
	}
	if s.goal > 0 {
		s.send(v, nil)
	}
}

// send tells a validator where the latest advance goes. It is called with the lock held.
func (s *steering) send(v Shell, done func()) {
	if s.every {
		v.MakeTo(s.goal, done)
	} else {
		v.SkipTo(s.goal, done)
	}
}

// Pause stops the making of blocks; what is under way still becomes final. It
// ends with Resume, or with the process.
func (s *steering) Pause() error { return s.setPaused(true) }

// Resume lets it go on.
func (s *steering) Resume() error { return s.setPaused(false) }

// Paused says whether the network is paused.
func (s *steering) Paused() bool {
	s.decided.Lock()
	defer s.decided.Unlock()
	return s.paused
}

func (s *steering) setPaused(on bool) error {
	if err := s.origin.strict("pausing"); err != nil {
		return err
	}
	if err := s.origin.elsewhere("a pause"); err != nil {
		return err
	}
	s.hold(on)
	return nil
}

// hold has the validators here make no blocks, or go on.
func (s *steering) hold(on bool) {
	s.decided.Lock()
	defer s.decided.Unlock()
	s.paused = on
	var told sync.WaitGroup // at once: one that runs elsewhere takes a while
	for _, node := range s.nodes.List() {
		if node.Started() {
			told.Go(func() { node.Validator().Pause(on) })
		}
	}
	told.Wait()
}
