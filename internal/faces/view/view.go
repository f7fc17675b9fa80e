// Package view shows one validator's latest final state and history as the
// faces read it: an api.View over a validators.Validator, the same for every
// world.
package view

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
)

// Source makes the views of one network's validators. It is safe for concurrent
// use.
type Source struct {
	Genesis  *ledger.Genesis
	Programs program.Host
	Verifier env.Verifier

	described sync.Map // code hash → program.Description
}

// view is one validator's latest final state.
type view struct {
	source  *Source
	state   *ledger.State
	archive *history.Archive
	reader  ledger.Executor // for reads and dry runs
}

// Of returns a validator as it stands now.
func (s *Source) Of(v *validators.Validator) api.View {
	return &view{source: s, state: v.View().State, archive: v.Archive(), reader: ledger.Executor{Programs: s.Programs, Verifier: s.Verifier}}
}

func (v *view) Head() api.Head {
	fees := v.state.NextBaseFees()
	return api.Head{Height: v.state.Height(), Hash: v.state.Hash(), Timestamp: v.state.Timestamp(), TimersPending: v.state.TimersPending(),
		NextBaseFeeCycle: fees.Cycle, NextBaseFeeCell: fees.Cell, NextBaseFeeLane: fees.LaneTimer}
}

func (v *view) Block(h types.Height) (*api.Block, error) {
	if h == 0 {
		_, genesis, err := v.source.Genesis.State()
		if err != nil {
			return nil, err
		}
		return &api.Block{Block: genesis, Hash: genesis.Hash()}, nil
	}
	stored, err := v.archive.Block(h)
	if err == nil && stored == nil {
		err = v.stillKept(h)
	}
	if err != nil || stored == nil {
		return nil, err
	}
	block := &api.Block{Block: stored.Block, Hash: stored.Hash, Receipts: stored.Receipts,
		Burned: [3]types.Wei{stored.Burned.Cycle, stored.Burned.Cell, stored.Burned.LaneTimer},
		Tips:   [2]types.Wei{stored.Tips.Transactions, stored.Tips.Timers}}
	for _, mark := range stored.Timers {
		block.Timers = append(block.Timers, api.TimerMark{ID: mark.ID, Actor: mark.Actor, Status: mark.Status, Reason: mark.Reason})
	}
	deferred, err := v.archive.Deferred(h)
	if err != nil {
		return nil, err
	}
	for _, mark := range deferred {
		block.Deferred = append(block.Deferred, api.TimerMark{ID: mark.ID, Actor: mark.Actor, Status: mark.Status, Reason: mark.Reason})
	}
	if block.Events, err = v.archive.Events(h); err != nil {
		return nil, err
	}
	for _, line := range stored.Logs {
		block.Logs = append(block.Logs, api.LogLine{Actor: line.Actor, Height: h, Hash: line.Cause, Line: line.Line})
	}
	return block, nil
}

func (v *view) Kept() (api.Kept, error) {
	kept, err := v.archive.Kept()
	return api.Kept{From: kept.From, Blocks: kept.Blocks}, err
}

// stillKept refuses a height whose block was dropped.
func (v *view) stillKept(h types.Height) error {
	kept, err := v.Kept()
	if err == nil && h < kept.From {
		err = kept.NotKept(h)
	}
	return err
}

func (v *view) HeightOf(block types.Hash) (types.Height, bool, error) {
	return v.archive.HeightOf(block)
}

func (v *view) Transaction(hash types.Hash) (*types.Transaction, types.Height, error) {
	tx, receipt, err := v.archive.Transaction(hash)
	if err != nil || tx == nil {
		return nil, 0, err
	}
	return tx, receipt.Height, nil
}

func (v *view) Receipt(hash types.Hash) (*api.Receipt, error) { return Receipt(v.archive, hash) }

// Receipt returns the receipt of an execution with what it printed, or nil.
func Receipt(archive *history.Archive, hash types.Hash) (*api.Receipt, error) {
	receipt, lines, err := archive.Execution(hash)
	if err != nil || receipt == nil {
		return nil, err
	}
	return &api.Receipt{Receipt: *receipt, Logs: lines}, nil
}

func (v *view) Hashes(of api.HashKind, first, last types.Hash, each func(types.Hash) bool) error {
	return v.archive.Hashes(history.HashKind(of), first, last, each)
}

func (v *view) Account(a types.Address) (api.Account, error) {
	account := v.state.Account(a)
	return api.Account{Nonce: account.Nonce, Balance: account.Balance}, nil
}

func (v *view) Actor(a types.Address) (*api.Actor, error) {
	record := v.state.Actor(a)
	if record == nil {
		return nil, nil
	}
	actor := v.brief(a, record)
	described, err := v.source.describe(record.CodeHash, v.state)
	if err != nil {
		actor.Undescribed = err.Error() // all else is known all the same
	}
	actor.Handlers = described.Handlers
	return &actor, nil
}

func (v *view) brief(a types.Address, record *actors.Actor) api.Actor {
	return api.Actor{Address: a, Name: record.Name, Owner: record.Owner, CodeHash: record.CodeHash,
		DeployedAt: record.DeployedAt, TimersPending: uint64(len(v.state.Timers(a)))}
}

func (v *view) Actors(offset, limit int) (out []api.Actor, err error) {
	v.state.Actors(types.Address{}, func(a types.Address, record *actors.Actor) bool {
		if offset > 0 {
			offset--
			return true
		}
		out = append(out, v.brief(a, record))
		return len(out) < limit
	})
	return out, nil
}

func (v *view) Named(name string) (out []types.Address, err error) {
	v.state.Actors(types.Address{}, func(a types.Address, record *actors.Actor) bool {
		if record.Name == name {
			out = append(out, a)
		}
		return true
	})
	return out, nil
}

func (v *view) Addresses(first, last types.Address) (out []types.Address, err error) {
	v.state.Actors(first, func(a types.Address, _ *actors.Actor) bool {
		if a.Compare(last) > 0 {
			return false
		}
		out = append(out, a)
		return true
	})
	return out, nil
}

func (v *view) State(actor types.Address, prefix []byte, offset, limit int) (out []api.Entry, err error) {
	v.state.ScanStorage(actor, func(e actors.Entry) bool {
		if bytes.HasPrefix(e.Key, prefix) {
			out = append(out, api.Entry{Key: e.Key, Value: e.Value})
		}
		return true
	})
	slices.SortFunc(out, func(a, b api.Entry) int { return bytes.Compare(a.Key, b.Key) })
	out = out[min(offset, len(out)):]
	return out[:min(limit, len(out))], nil
}

func (v *view) Logs(actor types.Address, o api.Order) (out []api.LogLine, err error) {
	lines, err := v.archive.Logs(actor, o.Newest, o.Offset, o.Limit)
	for _, line := range lines {
		out = append(out, api.LogLine{Actor: line.Actor, Height: line.Height, Hash: line.Cause, Line: line.Line})
	}
	return out, err
}

func (v *view) Params() (out []api.Param, err error) {
	p, defaults := v.state.NextParams(), params.Defaults()
	for _, info := range params.Keys() {
		value, err := p.Get(info.Key)
		if err != nil {
			return nil, err
		}
		usual, err := defaults.Get(info.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, api.Param{Key: info.Key, Value: value, Class: string(info.Class), Default: usual})
	}
	return out, nil
}

func (v *view) Read(_ context.Context, call api.Call) (api.Result, error) {
	result, err := v.reader.Read(v.state, ledger.Call{Actor: call.Actor, Sender: call.Sender, Handler: call.Handler, Payload: call.Payload})
	if err != nil {
		return api.Result{}, environment(err)
	}
	out := api.Result{Outcome: result.Outcome, Cycles: result.Cycles, Cells: result.Cells}
	for _, line := range result.Logs {
		out.Logs = append(out.Logs, line.Line)
	}
	return out, nil
}

func (v *view) Simulate(_ context.Context, tx *types.Transaction) (*api.Receipt, error) {
	if tx.Signature == nil {
		return nil, api.Refuse(http.StatusBadRequest, "bad_signature", "the transaction is not signed")
	}
	sender, ok := v.source.Verifier.Recover(tx.SigningDigest(), *tx.Signature)
	if !ok {
		return nil, api.Refuse(http.StatusBadRequest, "bad_signature", "nobody can have made this signature")
	}
	receipt, printed, err := v.reader.Simulate(v.state, sender, tx)
	var missing *ledger.EnvironmentError
	switch {
	case errors.As(err, &missing):
		return nil, environment(err)
	case err != nil:
		return nil, Refusal(err)
	}
	out := &api.Receipt{Receipt: *receipt}
	for i := range printed {
		out.Logs = append(out.Logs, printed[i].Line)
	}
	return out, nil
}

// Refusal turns what admission says into an answer for a client.
func Refusal(err error) error {
	var invalid *ledger.Invalid
	var full *mempool.Error
	var late *validators.HostRefusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late):
		return api.Refuse(http.StatusServiceUnavailable, api.CodeHostFailed, "%s", late.Message)
	case errors.As(err, &invalid):
		return api.Refuse(statusOf(invalid.Code), invalid.Code, "%s", invalid.Detail)
	case errors.As(err, &full):
		return api.Refuse(statusOf(full.Code), full.Code, "%s", full.Message)
	case errors.Is(err, validators.ErrBusy):
		return api.Refuse(http.StatusTooManyRequests, "busy", "%v", err)
	}
	return err
}

func statusOf(code string) int {
	switch code {
	case api.CodeNonceTooLow, api.CodeNonceTaken, api.CodeNonceGap, mempool.CodeAlreadyKnown:
		return http.StatusConflict
	case mempool.CodePoolFull, mempool.CodeSenderFull:
		return http.StatusTooManyRequests
	case ledger.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// environment answers for programs that could not be run here: this machine has
// no host of programs, or the program makes it fail. What the host wrote is for
// the logs.
func environment(err error) error {
	var host *program.HostError
	if !errors.As(err, &host) || host.Failure == program.Missing {
		return api.Refuse(http.StatusServiceUnavailable, api.CodeNoProgramHost, "this machine cannot run programs: %v", err).
			Hint("%s", remedy(err))
	}
	return api.Refuse(http.StatusServiceUnavailable, api.CodeHostFailed, "the host of programs failed over it: it %s", verb[host.Failure]).
		Hint("%s", remedy(err))
}

// remedy says what may help where a host gave no outcome.
func remedy(err error) string {
	var host *program.HostError
	if !errors.As(err, &host) {
		return "See the node's log."
	}
	switch host.Failure {
	case program.Missing:
		return "devnet doctor tells what is missing."
	case program.Late, program.Stopped:
		return "It took longer than it may here: try again when the machine is less busy, or let the program do less at once."
	}
	return "The program's host ended; the next one is fresh: try again."
}

var verb = map[program.Failure]string{program.Stopped: "was stopped", program.Late: "took too long", program.Crashed: "crashed"}

// maxDescribing is how often a host is asked what code offers: one may have been
// killed, and a fresh one is sound.
const maxDescribing = 2

// describe returns what the code of an actor offers.
func (s *Source) describe(hash types.Hash, state *ledger.State) (description program.Description, err error) {
	if known, ok := s.described.Load(hash); ok {
		return known.(program.Description), nil
	}
	for range maxDescribing {
		if description, err = s.inspect(program.Code{Hash: hash, Source: state.Code(hash)}); err == nil {
			s.described.Store(hash, description)
			return description, nil
		}
	}
	return program.Description{}, environment(err)
}

func (s *Source) inspect(code program.Code) (program.Description, error) {
	session, err := s.Programs.Open(program.ForRead)
	if err != nil {
		return program.Description{}, err
	}
	defer session.Close()
	return session.Inspect(code)
}
