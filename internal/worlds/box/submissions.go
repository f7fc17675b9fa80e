package box

import (
	"context"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// answerTimeout is how long a validator may take to answer a question about
// its mempool; it passes only when the validator stops meanwhile.
const answerTimeout = 5 * time.Second

// submissions hands transactions, and the reports of polling runners, to a validator,
// and waits for their outcome.
type submissions struct {
	nodes    *nodeList
	finality *finality
}

// Submit implements api.Backend.
func (s *submissions) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	node := s.nodes.Best()
	if !node.Running() {
		return types.Hash{}, api.Refuse(http.StatusServiceUnavailable, "no_validator", "no validator is running")
	}
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := awaited(ctx, node, func(done func(answer)) {
		node.Validator().Submit(raw, func(hash types.Hash, err error) { done(answer{hash, err}) })
	})
	if err == nil {
		err = readmodel.Refusal(a.err)
	}
	return a.hash, err
}

// spread hands a transaction to every validator that runs. An error that it is known
// already, or final, is expected.
func (s *submissions) spread(raw []byte) {
	for _, node := range s.nodes.List() {
		if node.Running() {
			node.Validator().Submit(raw, func(types.Hash, error) {})
		}
	}
}

// Pending implements api.Backend.
func (s *submissions) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	found, ok := ask(s.nodes, func(v Shell, answer func(*ledger.Checked)) { v.Waiting(hash, answer) })
	if ok && found != nil {
		return found.Tx, found.Sender
	}
	return nil, types.Address{}
}

// NextNonce implements api.Backend.
func (s *submissions) NextNonce(a types.Address) types.Nonce {
	account := s.nodes.state().Account(a).Nonce
	next, ok := ask(s.nodes, func(v Shell, answer func(types.Nonce)) { v.NextNonce(a, account, answer) })
	if ok {
		return next
	}
	return account
}

// ask asks the best node's validator; ok is false where the node is stopped.
func ask[T any](nodes *nodeList, question func(v Shell, answer func(T))) (answer T, ok bool) {
	node := nodes.Best()
	if !node.Running() {
		return answer, false
	}
	answers := make(chan T, 1)
	question(node.Validator(), func(a T) { answers <- a })
	select {
	case answer = <-answers:
		return answer, true
	case <-time.After(answerTimeout):
		return answer, false
	}
}

// Wait implements api.Backend.
func (s *submissions) Wait(ctx context.Context, hash types.Hash) (*api.Executed, error) {
	ends, giveUp := s.finality.wait(hash)
	defer giveUp()
	if receipt, err := readmodel.Receipt(s.nodes.Best().Validator().Archive(), hash); err != nil || receipt != nil {
		return receipt, err
	}
	select {
	case end := <-ends:
		if end.receipt == nil {
			return nil, api.Refuse(http.StatusConflict, api.CodeDropped, "the transaction was dropped: %s", end.dropped).
				Hint("No block has it so far. Send it again, with a fresh nonce and a sufficient fee.")
		}
		return &api.Executed{Receipt: *end.receipt, Logs: end.printed}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
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
	a, err := awaited(ctx, node, func(done func(answer)) {
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
	refused, err := awaited(ctx, node, func(done func(error)) { hand(node.Validator(), done) })
	if err == nil {
		err = readmodel.Refusal(refused)
	}
	return err
}

// awaited waits for a node's answer, with a limit.
func awaited[T any](ctx context.Context, node *Node, ask func(done func(T))) (answer T, err error) {
	answers := make(chan T, 1)
	ask(func(a T) { answers <- a })
	wait, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case answer = <-answers:
		return answer, nil
	case <-wait.Done():
		return answer, api.Refuse(http.StatusServiceUnavailable, "no_answer", "%s did not answer: %v", node.Name, wait.Err())
	}
}
