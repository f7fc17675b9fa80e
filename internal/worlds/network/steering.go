package network

import (
	"context"
	"errors"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// answerPatience is how long validators may take to answer that they were told where to
// travel. A validator that stops meanwhile does not answer.
const answerPatience = 5 * time.Second

// Steered is a running validator as its operator finds it.
type Steered interface {
	Submit(raw []byte, answer func(types.Hash, error))
	NextNonce(account types.Address, final types.Nonce, answer func(types.Nonce))
	Waiting(hash types.Hash, answer func(*ledger.Checked))
	BringHeartbeat(runner types.Address, ping *push.HeartbeatPing, answer func(types.Hash, error))
	BringResult(runner types.Address, result *push.JobResult, answer func(error))
	BringRefusal(runner types.Address, ack *push.JobAck, answer func(error))
	Pause(on bool)
	SkipTo(height types.Height, done func())
	MakeTo(height types.Height, done func())
}

// Paced is a network whose pace its operator decides.
type Paced interface {
	Scheduler
	// Each does something with every validator that runs, and returns when it is done.
	Each(do func(Steered))
	// Best is the best validator.
	Best() Best
	// Validator is the validator of a known name, in the form of Best.
	Validator(name string) Best
	// Clock is the network's clock.
	Clock() types.Time
	// MoveClock puts the clocks of all nodes ahead, also of those that start later. A clock
	// that is kept on disk is kept first.
	MoveClock(by time.Duration) error
	// Stall is how long an advance waits for each next block.
	Stall() time.Duration
}

// Best is the best validator of a network, or another one, and what it has final. Only the
// Validator is sure to be nil if none runs; the State may then be nil, or the last one known.
type Best struct {
	Name      string
	Validator Steered
	State     *ledger.State
	Archive   *history.Archive
}

// Steering is the pace that the operator of a network has set since genesis.
type Steering struct {
	network Paced
	orders  *Orders
	pace    guarded[pace]
}

// pace is what was decided.
type pace struct {
	paused  bool
	goal    simplex.Goal // of the latest advance; its height is 0: none
	travels bool         // an advance is under way
}

// NewSteering steers a network to the goal of the latest advance; orders are the orders of the network.
func NewSteering(n Paced, orders *Orders, goal simplex.Goal) *Steering {
	s := &Steering{network: n, orders: orders}
	s.pace.do(func(p *pace) { p.goal = goal })
	return s
}

// Tell tells a validator that has just started what was decided.
func (s *Steering) Tell(v Steered) {
	s.pace.do(func(p *pace) {
		if p.paused {
			v.Pause(true)
		}
		if p.goal.Height > 0 {
			p.send(v, nil)
		}
	})
}

// send tells a validator where the latest advance goes.
func (p *pace) send(v Steered, done func()) {
	if p.goal.Every {
		v.MakeTo(p.goal.Height, done)
	} else {
		v.SkipTo(p.goal.Height, done)
	}
}

// Hold stops or resumes the making of blocks. Blocks under way still become final.
func (s *Steering) Hold(on bool) {
	s.pace.do(func(p *pace) {
		p.paused = on
		s.network.Each(func(v Steered) { v.Pause(on) })
	})
}

// Pause stops the making of blocks by an order of the operator.
func (s *Steering) Pause() error { return s.SetPaused(true) }

// Resume ends the pause.
func (s *Steering) Resume() error { return s.SetPaused(false) }

// SetPaused does either.
func (s *Steering) SetPaused(on bool) error {
	if err := s.orders.Need(Pausing); err != nil {
		return err
	}
	s.Hold(on)
	return nil
}

// Paused says whether the network is paused.
func (s *Steering) Paused() (paused bool) {
	s.pace.do(func(p *pace) { paused = p.paused })
	return paused
}

// Goal is where the latest advance goes; its height is 0 if there was none.
func (s *Steering) Goal() (goal simplex.Goal) {
	s.pace.do(func(p *pace) { goal = p.goal })
	return goal
}

// Travel is time travel (decision C8): it returns when the height is final. The network skips
// the heights that it may, or makes a block at each. The clocks are moved along. If the wait
// ends first, the network still travels. Refusals are *refusal.Error.
func (s *Steering) Travel(ctx context.Context, target history.Target) (*history.Advance, error) {
	if err := s.orders.Need(Travelling); err != nil {
		return nil, err
	}
	begins := false
	s.pace.do(func(p *pace) { begins, p.travels = !p.travels, true })
	if !begins {
		return nil, ErrAdvancing
	}
	defer s.pace.do(func(p *pace) { p.travels = false })
	state := s.network.Best().State
	if state == nil {
		return nil, ErrNoValidator
	}
	to, moved, err := target.Height(state, s.network.Clock())
	if err != nil {
		return nil, err
	}
	if err := s.depart(ctx, simplex.Goal{Height: to, Every: target.Make > 0}); err != nil {
		return nil, err
	}
	if err := s.network.MoveClock(moved); err != nil {
		return nil, err
	}
	receipt := history.NewAdvance(state.Height())
	receipt.Clock = moved
	if err := s.reach(ctx, to, receipt); err != nil {
		return nil, err
	}
	return receipt, nil
}

// depart sends all validators the goal of the travel, and waits for their answers.
func (s *Steering) depart(ctx context.Context, to simplex.Goal) error {
	all, open := s.network.NewSignal(), &guarded[int]{value: 1}
	count := func(n int) {
		left := 0
		open.do(func(open *int) { *open += n; left = *open })
		if left == 0 {
			all.Fire()
		}
	}
	s.pace.do(func(p *pace) {
		p.goal = to
		s.network.Each(func(v Steered) {
			count(1)
			p.send(v, func() { count(-1) })
		})
	})
	count(-1)
	if err := s.network.Wait(ctx, all, answerPatience); err != nil && !errors.Is(err, ErrLate) && ctx.Err() == nil {
		return err
	}
	return nil
}

// reach waits until a height is final, as long as new blocks become final, and counts them
// on the way. A failed count is tried again at the next block: the error comes from the last try.
func (s *Steering) reach(ctx context.Context, to types.Height, receipt *history.Advance) (err error) {
	late := s.orders.heights.until(ctx, s.network, s.network.Stall(), func() bool {
		best := s.network.Best()
		if best.State == nil {
			return false
		}
		err = receipt.Count(best.Archive, min(best.State.Height(), to))
		return best.State.Height() >= to
	})
	if late != nil {
		return late
	}
	return err
}
