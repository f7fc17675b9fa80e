package api

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
)

// Backend is a network as the API needs it. All methods are safe for
// concurrent use. Errors that a client should see are *Error; every other
// error is the devnet's own fault and answers 500.
type Backend interface {
	Info() answers.Info
	// Nodes lists the validators in the order of their names.
	Nodes() []answers.Node
	// Reader returns a node's latest finalized state and history; for "" that of
	// the running node with the highest final block.
	Reader(node string) (answers.Reader, error)
	// Submit hands a signed transaction to the pool and returns once it was
	// admitted or refused.
	Submit(ctx context.Context, raw []byte) (types.Hash, error)
	// Pending returns a transaction that waits in a pool and its sender, or nil.
	Pending(hash types.Hash) (*types.Transaction, types.Address)
	// NextNonce is the nonce after the account's transactions that are final
	// or wait in the pool without a gap.
	NextNonce(types.Address) types.Nonce
	// Wait returns the receipt once the execution is final.
	Wait(ctx context.Context, hash types.Hash) (*history.Executed, error)
	// Accounts lists the funded accounts, and system.
	Accounts() []answers.NamedAccount
	// Runners lists the runners that the devnet has the keys of, in the order of their
	// names, registered or not.
	Runners() []answers.NamedAccount
	// RunnerNodes lists the runners that run on this network, or did, in the order of
	// their names.
	RunnerNodes() []answers.RunnerNode
	// RunnerLetters are the dead letters of the runners that run here, or did: events for
	// their roles after those had stopped, since each started last.
	RunnerLetters() map[types.Address]uint64
	// Signer returns the key of a devnet account, of the faucet or of such a runner,
	// or nil.
	Signer(name string) env.Signer
	// Subscribe calls each with every newly final height, in order, until
	// cancel; each must not block.
	Subscribe(each func(types.Height)) (cancel func())
	// BringHeartbeat, BringResult and BringRefusal hand to a validator, "" for any that runs,
	// what a runner brings that polls (decision J11). The validator sends a heartbeat or a
	// refusal to the chain; it commits to a result and reveals it.
	BringHeartbeat(ctx context.Context, node string, runner types.Address, ping *push.HeartbeatPing) (types.Hash, error)
	BringResult(ctx context.Context, node string, runner types.Address, result *push.JobResult) error
	BringRefusal(ctx context.Context, node string, runner types.Address, ack *push.JobAck) error
	// Views returns the validators' reports on the latest views.
	Views() *views.Table
	// Links lists the links between nodes, one for each direction.
	Links() []model.Link
	// LogPath returns the file of a node's log, "" if there is none. The node is one
	// of Nodes or RunnerNodes.
	LogPath(node string) string
	// Liveness reports whether blocks are made.
	Liveness() answers.Liveness
	// World makes faults of nodes and links.
	fault.World
	// Steer returns the operator's actions.
	Steer() answers.Steering
}
