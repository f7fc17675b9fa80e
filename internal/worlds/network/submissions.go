package network

import (
	"context"
	"errors"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Submissions hands transactions, and the reports of polling runners, to a validator, and
// waits for their outcome.
type Submissions struct {
	network    Operated
	orders     *Orders
	executions *Executions
}

// Submit hands a transaction to the best validator, and returns once that has admitted or
// refused it.
func (s *Submissions) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	best := s.network.Best()
	if best.Validator == nil {
		return types.Hash{}, ErrNoValidator
	}
	s.executions.forgetDrop(types.Keccak(raw))
	return best.Submit(ctx, s.network, raw)
}

// Pending returns a transaction that waits in a pool and its sender, or nil.
func (s *Submissions) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	best := s.network.Best()
	if best.Validator == nil {
		return nil, types.Address{}
	}
	found, err := Ask(context.Background(), s.network, func(answer func(*ledger.Checked)) { best.Validator.Waiting(hash, answer) })
	if err != nil || found == nil {
		return nil, types.Address{}
	}
	return found.Tx, found.Sender
}

// NextNonce is the nonce of an account after all that the best validator has of it, final or
// in its pool.
func (s *Submissions) NextNonce(account types.Address) types.Nonce {
	switch best := s.network.Best(); {
	case best.State == nil:
		return 0
	case best.Validator == nil:
		return best.State.Account(account).Nonce
	default:
		return best.nextNonce(context.Background(), s.network, account)
	}
}

// lookAgain is how often a wait for a transaction asks the store of the best validator. The
// report of a block comes once, and the validators that have the block may have stopped.
const lookAgain = 2 * time.Second

// Wait returns a transaction's receipt once it is final and the best validator shows its block.
func (s *Submissions) Wait(ctx context.Context, hash types.Hash) (*history.Executed, error) {
	end := s.executions.AwaitSubmitted(hash)
	defer end.GiveUp()
	for {
		if receipt, err := s.bestReceipt(hash); err != nil || receipt != nil {
			return receipt, err
		}
		switch ended, err := end.Wait(ctx, lookAgain); {
		case errors.Is(err, ErrLate):
		case err != nil:
			return nil, closingRefusal(err)
		case ended.Receipt == nil:
			return nil, ErrDropped(ended.Dropped)
		default:
			return &history.Executed{Receipt: *ended.Receipt, Logs: ended.Printed}, nil
		}
	}
}

// bestReceipt is a receipt of the best validator, or nil.
func (s *Submissions) bestReceipt(hash types.Hash) (*history.Executed, error) {
	best := s.network.Best()
	if best.State == nil {
		return nil, nil
	}
	return best.Archive.Executed(hash, best.State.Height())
}

// BringHeartbeat hands a polling runner's heartbeat to a validator, "" for the best.
func (s *Submissions) BringHeartbeat(ctx context.Context, name string, runner types.Address, ping *push.HeartbeatPing) (types.Hash, error) {
	var sent types.Hash
	err := s.bringTo(ctx, name, func(v Steered, done func(error)) {
		v.BringHeartbeat(runner, ping, func(hash types.Hash, err error) {
			sent = hash
			done(err)
		})
	})
	return sent, err
}

// BringResult hands a polling runner's result to a validator.
func (s *Submissions) BringResult(ctx context.Context, name string, runner types.Address, result *push.JobResult) error {
	return s.bringTo(ctx, name, func(v Steered, done func(error)) { v.BringResult(runner, result, done) })
}

// BringRefusal hands a polling runner's refusal to a validator.
func (s *Submissions) BringRefusal(ctx context.Context, name string, runner types.Address, ack *push.JobAck) error {
	return s.bringTo(ctx, name, func(v Steered, done func(error)) { v.BringRefusal(runner, ack, done) })
}

// bringTo hands something to a validator, and waits for its answer.
func (s *Submissions) bringTo(ctx context.Context, name string, hand func(v Steered, done func(error))) error {
	to, err := s.findRunning(name)
	if err != nil {
		return err
	}
	refused, err := Ask(ctx, s.network, func(done func(error)) { hand(to.Validator, done) })
	if err != nil {
		return ErrNoAnswer(to.Name, err)
	}
	return validators.Refusal(refused)
}

// findRunning is the validator of a name, or for "" the best, if it runs.
func (s *Submissions) findRunning(name string) (Best, error) {
	to := s.network.Best()
	if name != "" {
		if n := s.orders.backend.Node(name); n == nil || n.Who().Kind != fault.Validators {
			return to, refusal.New("unknown_node", "no node is called %q", name).Hint("GET /validators lists them.").At("node")
		}
		to = s.network.Validator(name)
	}
	switch {
	case to.Validator != nil:
		return to, nil
	case to.Name == "":
		return to, ErrNoValidator
	}
	return to, refusal.New("node_stopped", "%s is not running", to.Name).At("node")
}
