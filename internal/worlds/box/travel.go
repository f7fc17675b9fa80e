package box

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// Advance is time travel (decision C8): it returns when a height is final that
// the network gets to by skipping what it may. The clock is moved along. Where
// ctx ends first the network goes on all the same. It refuses by a
// *history.TravelError.
func (s *steering) Advance(ctx context.Context, target history.Target) (*history.Advance, error) {
	if err := s.origin.elsewhere("time travel"); err != nil {
		return nil, err
	}
	if !s.travelling.TryLock() {
		return nil, api.Refuse(http.StatusConflict, "advancing", "another advance is under way").Hint("Wait until it has ended.")
	}
	defer s.travelling.Unlock()
	state := s.nodes.state()
	to, moved, err := target.Height(state, s.shared.clock.Now())
	if err != nil {
		return nil, err
	}
	if err := s.depart(ctx, to, target.Make > 0, moved); err != nil {
		return nil, err
	}
	if err := s.arrive(ctx, to); err != nil {
		return nil, err
	}
	receipt, err := s.nodes.Best().Validator().Archive().Advanced(state.Height(), to)
	if err != nil {
		return nil, err
	}
	receipt.Clock = moved
	return receipt, nil
}

// depart tells the validators where to go and, when they know, moves the clock.
// The file comes first: blocks never bear times that a restart could not reach.
func (s *steering) depart(ctx context.Context, to types.Height, every bool, moved time.Duration) error {
	s.decided.Lock()
	s.goal, s.every = to, every
	var told sync.WaitGroup
	for _, node := range s.nodes.List() {
		if node.Running() {
			told.Add(1)
			s.send(node.Validator(), told.Done)
		}
	}
	s.decided.Unlock()
	if s.origin.home != nil {
		data, err := json.Marshal(offset{s.shared.clock.Offset() + moved})
		if err == nil {
			err = home.WriteFile(s.origin.home.Clock(), append(data, '\n'), s.origin.config.Durability)
		}
		if err != nil {
			return err
		}
	}
	all := make(chan struct{})
	go func() {
		told.Wait()
		close(all)
	}()
	wait, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case <-all:
	case <-wait.Done(): // one that stops meanwhile does not answer
	}
	s.shared.clock.Advance(moved)
	if other := s.origin.config.Elsewhere; other != nil {
		other.SetClock(s.shared.clock.Offset())
	}
	return nil
}

// arrive waits until a height is final.
func (s *steering) arrive(ctx context.Context, to types.Height) error {
	there := make(chan struct{}, 1)
	cancel := s.finality.subscribe(func(h types.Height) {
		if h >= to {
			select {
			case there <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	if s.nodes.Best().height() >= to {
		return nil
	}
	select {
	case <-there:
		return nil
	case <-ctx.Done():
		return api.Refuse(http.StatusGatewayTimeout, "not_final", "height %d is not final yet: the network is at %d", to,
			s.nodes.Best().height()).
			Hint("It goes on; GET /height tells how far it is, GET /ready whether blocks are made.")
	}
}
