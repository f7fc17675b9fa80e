package box

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// submissions hands transactions, and the reports of polling runners, to a validator,
// and waits for their outcome.
type submissions struct {
	nodes      *nodeList
	scheduler  *scheduler
	executions *network.Executions
}

// Submit implements api.Backend.
func (s *submissions) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	best := s.nodes.best()
	if best.Validator == nil {
		return types.Hash{}, network.ErrNoValidator
	}
	return best.Submit(ctx, s.scheduler, raw)
}

// Pending implements api.Backend.
func (s *submissions) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	found, ok := ask(s, func(v Shell, answer func(*ledger.Checked)) { v.Waiting(hash, answer) })
	if ok && found != nil {
		return found.Tx, found.Sender
	}
	return nil, types.Address{}
}

// NextNonce implements api.Backend.
func (s *submissions) NextNonce(a types.Address) types.Nonce {
	account := s.nodes.state().Account(a).Nonce
	next, ok := ask(s, func(v Shell, answer func(types.Nonce)) { v.NextNonce(a, account, answer) })
	if ok {
		return next
	}
	return account
}

// ask asks the best node's validator; ok is false if the node is stopped.
func ask[T any](s *submissions, question func(v Shell, answer func(T))) (answer T, ok bool) {
	node := s.nodes.Best()
	if !node.Running() {
		return answer, false
	}
	answer, err := network.Ask(context.Background(), s.scheduler, func(done func(T)) { question(node.Validator(), done) })
	return answer, err == nil
}

// Wait implements api.Backend.
func (s *submissions) Wait(ctx context.Context, hash types.Hash) (*api.Executed, error) {
	end := s.executions.Await(hash)
	defer end.GiveUp()
	if receipt, err := readmodel.Receipt(s.nodes.Best().Validator().Archive(), hash); err != nil || receipt != nil {
		return receipt, err
	}
	switch ended, err := end.Wait(ctx, network.Forever); {
	case errors.Is(err, network.ErrClosed):
		return nil, network.ErrClosing
	case err != nil:
		return nil, err
	case ended.Receipt == nil:
		return nil, network.ErrDropped(ended.Dropped)
	default:
		return &api.Executed{Receipt: *ended.Receipt, Logs: ended.Printed}, nil
	}
}

// BringHeartbeat implements api.Backend.
func (s *submissions) BringHeartbeat(ctx context.Context, name string, runner types.Address, ping *push.HeartbeatPing) (types.Hash, error) {
	node, err := s.nodes.running(name)
	if err != nil {
		return types.Hash{}, err
	}
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := awaited(ctx, s, node, func(done func(answer)) {
		node.Validator().BringHeartbeat(runner, ping, func(hash types.Hash, err error) { done(answer{hash, err}) })
	})
	if err == nil {
		err = readmodel.Refusal(a.err)
	}
	return a.hash, err
}

// BringResult implements api.Backend.
func (s *submissions) BringResult(ctx context.Context, name string, runner types.Address, result *push.JobResult) error {
	return s.bring(ctx, name, func(v Shell, done func(error)) { v.BringResult(runner, result, done) })
}

// BringRefusal implements api.Backend.
func (s *submissions) BringRefusal(ctx context.Context, name string, runner types.Address, ack *push.JobAck) error {
	return s.bring(ctx, name, func(v Shell, done func(error)) { v.BringRefusal(runner, ack, done) })
}

// bring hands something to a validator, and waits for its answer.
func (s *submissions) bring(ctx context.Context, name string, hand func(v Shell, done func(error))) error {
	node, err := s.nodes.running(name)
	if err != nil {
		return err
	}
	refused, err := awaited(ctx, s, node, func(done func(error)) { hand(node.Validator(), done) })
	if err == nil {
		err = readmodel.Refusal(refused)
	}
	return err
}

// awaited waits for a node's answer, with a limit.
func awaited[T any](ctx context.Context, s *submissions, node *Node, question func(done func(T))) (answer T, err error) {
	if answer, err = network.Ask(ctx, s.scheduler, question); err != nil {
		err = network.ErrNoAnswer(node.Name, err)
	}
	return answer, err
}
