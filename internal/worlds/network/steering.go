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

// Travel is how far time travel came.
type Travel struct {
	Number uint64        // of the orders so far: the record with the highest is the newest
	Clock  time.Duration // by which it moved the clocks since genesis
	Goal   simplex.Goal  // of the latest advance; its height is 0 if there was none
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
	network Operated
	orders  *Orders
	pace    guardedValue[pace]
}

// pace is what was decided.
type pace struct {
	paused  bool
	goal    simplex.Goal // of the latest advance; its height is 0: none
	travels bool         // an advance is under way
}

// NewSteering steers a network to the goal of the latest advance; orders are the orders of the network.
func NewSteering(n Operated, orders *Orders, goal simplex.Goal) *Steering {
	s := &Steering{network: n, orders: orders}
	s.pace.withValue(func(p *pace) { p.goal = goal })
	return s
}

// Tell tells a validator that has just started what was decided.
func (s *Steering) Tell(v Steered) {
	s.pace.withValue(func(p *pace) {
		if p.paused {
			v.Pause(true)
		}
		if p.goal.Height > 0 {
			p.sendLatestAdvance(v, nil)
		}
	})
}

// sendLatestAdvance tells a validator where the latest advance goes.
func (p *pace) sendLatestAdvance(v Steered, done func()) {
	if p.goal.Every {
		v.MakeTo(p.goal.Height, done)
	} else {
		v.SkipTo(p.goal.Height, done)
	}
}

// Hold stops or resumes the making of blocks. Blocks under way still become final.
func (s *Steering) Hold(on bool) {
	s.pace.withValue(func(p *pace) {
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
	s.pace.withValue(func(p *pace) { paused = p.paused })
	return paused
}

// Goal is where the latest advance goes; its height is 0 if there was none.
func (s *Steering) Goal() (goal simplex.Goal) {
	s.pace.withValue(func(p *pace) { goal = p.goal })
	return goal
}

// UnderWay is where an advance goes that has not arrived; 0 if there is none. It may have begun
// before the network was stopped and started again.
func (s *Steering) UnderWay() types.Height {
	goal := s.Goal().Height
	if state := s.network.Best().State; state == nil || state.Height() >= goal {
		return 0
	}
	return goal
}

// Travel is time travel (decision C8): it returns when the height is final. The network skips
// the heights that it may, or makes a block at each. The clocks are moved along. If the wait
// ends first, the network still travels, also after a restart. Refusals are *refusal.Error.
func (s *Steering) Travel(ctx context.Context, target history.Target) (*history.Advance, error) {
	if err := s.orders.Need(Travelling); err != nil {
		return nil, err
	}
	begins := false
	s.pace.withValue(func(p *pace) { begins, p.travels = !p.travels, true })
	if !begins && !target.Stop {
		return nil, ErrAdvancing
	}
	if begins {
		defer s.pace.withValue(func(p *pace) { p.travels = false })
	}
	state := s.network.Best().State
	if state == nil {
		return nil, ErrNoValidator
	}
	receipt := history.NewAdvance(state.Height())
	goal, err := s.beginTravel(ctx, target, state, receipt)
	if err == nil {
		err = s.waitUntilFinal(ctx, goal.Height, receipt)
	}
	if err == nil && target.NextTimer {
		err = s.awaitMachine(ctx, goal, receipt)
	}
	if err == nil {
		err = receipt.NameWaiting(s.network.Best().Archive)
	}
	if err != nil {
		return nil, err
	}
	return receipt, nil
}

// beginTravel settles where a travel goes, and sends the network there. While another is under way,
// it may only be joined or cut short: two of them would move the clocks twice.
func (s *Steering) beginTravel(ctx context.Context, target history.Target, state *ledger.State, receipt *history.Advance) (simplex.Goal,
	error) {
	going := s.Goal()
	switch arrived := going.Height <= state.Height(); {
	case target.Stop && arrived:
		return going, ErrNotAdvancing
	case target.Stop:
		return s.cutShort(ctx, going, state, receipt)
	case !arrived && target == (history.Target{To: going.Height}):
		return going, nil
	case !arrived:
		return going, errUnderWay(going.Height)
	}
	to, moved, err := target.Height(state, s.network.Clock())
	if err != nil {
		return going, err
	}
	goal := simplex.Goal{Height: to, Every: target.Make > 0}
	receipt.Clock = moved
	return goal, s.sendGoal(ctx, goal, moved)
}

// cutShort has a travel end with the next block. What of the clock's move belongs to heights
// beyond is taken back.
func (s *Steering) cutShort(ctx context.Context, going simplex.Goal, state *ledger.State, receipt *history.Advance) (simplex.Goal, error) {
	goal := simplex.Goal{Height: state.Height() + 1, Every: going.Every}
	receipt.Clock = -time.Duration(going.Height-goal.Height) * state.NextParams().BlockTimeMS.Duration()
	return goal, s.sendGoal(ctx, goal, receipt.Clock)
}

// sendGoal keeps where the network goes, and has it go there.
func (s *Steering) sendGoal(ctx context.Context, goal simplex.Goal, moved time.Duration) error {
	if err := s.network.KeepTravel(moved, goal); err != nil {
		return err
	}
	if err := s.sendGoalToAll(ctx, goal); err != nil {
		return err
	}
	s.network.MoveClock(moved)
	return nil
}

// maxLateBlocks bounds the blocks that a travel to a timer makes because its fire is late.
const maxLateBlocks = 64

// awaitMachine goes on, block by block, while this machine is late with what was due when a
// travel ended. What waits for another reason may wait for ever: the receipt names it.
func (s *Steering) awaitMachine(ctx context.Context, goal simplex.Goal, receipt *history.Advance) error {
	for range maxLateBlocks {
		state := s.network.Best().State
		if state == nil || !receipt.LateOfMachine() {
			return nil
		}
		goal.Height = max(goal.Height, state.Height()) + 1
		moved := time.Duration(goal.Height-state.Height()) * state.NextParams().BlockTimeMS.Duration()
		receipt.Clock += moved
		if err := s.sendGoal(ctx, goal, moved); err != nil {
			return err
		}
		if err := s.waitUntilFinal(ctx, goal.Height, receipt); err != nil {
			return err
		}
	}
	return nil
}

// GoOn notes the goal of an advance that was under way when the network stopped, and sends all
// validators there.
func (s *Steering) GoOn(goal simplex.Goal) {
	s.pace.withValue(func(p *pace) {
		p.goal = goal
		s.network.Each(func(v Steered) { p.sendLatestAdvance(v, nil) })
	})
}

// sendGoalToAll sends all validators the goal of the travel, and waits for their answers.
func (s *Steering) sendGoalToAll(ctx context.Context, to simplex.Goal) error {
	all, open := new(Signal), &guardedValue[int]{value: 1}
	count := func(n int) {
		left := 0
		open.withValue(func(open *int) { *open += n; left = *open })
		if left == 0 {
			all.Fire()
		}
	}
	s.pace.withValue(func(p *pace) {
		p.goal = to
		s.network.Each(func(v Steered) {
			count(1)
			p.sendLatestAdvance(v, func() { count(-1) })
		})
	})
	count(-1)
	if err := s.network.Wait(ctx, all, answerPatience); err != nil && !errors.Is(err, ErrLate) && ctx.Err() == nil {
		return err
	}
	return nil
}

// waitUntilFinal waits until a height is final, as long as new blocks become final, and counts them
// on the way. A failed count is tried again at the next block: the error comes from the last try.
func (s *Steering) waitUntilFinal(ctx context.Context, to types.Height, receipt *history.Advance) (err error) {
	late := s.orders.heights.waitUntil(ctx, s.network, s.network.Stall(), func() bool {
		best := s.network.Best()
		if best.State == nil {
			return false
		}
		at := best.State.Height()
		if err = receipt.Count(best.Archive, min(at, to)); err != nil && at > to { // a block that skips leads beyond
			err = receipt.Count(best.Archive, at)
		}
		return at >= min(to, s.Goal().Height) // it may be cut short meanwhile
	})
	if late != nil {
		return late
	}
	return err
}
