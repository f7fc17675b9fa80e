// Package readmodel shows one validator's latest final state and history as the
// faces read it: an answers.Reader over a validators.Validator, the same for every
// world.
package readmodel

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Source makes the readers of one network's validators. It is safe for concurrent
// use.
type Source struct {
	genesis   *ledger.Genesis
	programs  program.Host
	verifier  env.Verifier
	described *memo.Once[types.Hash, handlersOfCode] // by the hash of code
	past      past
	lateReads lateReads
	running   *memo.Once[types.Hash, *sharedRead] // reads, by all that their outcome follows from
	// Sightings holds the validators' sightings outside the chain; nil: none are
	// collected.
	Sightings *Sightings
}

// maxDescribed bounds the codes whose description is remembered.
const maxDescribed = 1024

// handlersOfCode holds the handlers that code offers, or why they are unknown.
type handlersOfCode struct {
	program.Description
	err error
}

// NewSource returns what makes the readers of a network with that genesis, whose
// programs run and whose signatures are checked there.
func NewSource(genesis *ledger.Genesis, programs program.Host, verifier env.Verifier) *Source {
	return &Source{genesis: genesis, programs: programs, verifier: verifier,
		described: memo.New[types.Hash, handlersOfCode](memo.Bound{Count: maxDescribed}, nil),
		running:   memo.New[types.Hash, *sharedRead](memo.Bound{}, nil)}
}

// reader is one validator's latest final state. The archive implements the methods of
// answers.Reader that read only history.
type reader struct {
	*history.Archive
	source   *Source
	state    *ledger.State
	executor ledger.Executor // for reads and dry runs
	isPast   bool            // an earlier state than the validator's: what was seen after it is not shown
}

// Validator is a validator as it is read: what it has in its store, and the state after
// that.
type Validator interface {
	Head() *validators.Head
	Archive() *history.Archive
}

// Of returns a validator at its current state.
func (s *Source) Of(v Validator) answers.Reader {
	state := v.Head().State
	s.past.keepRead(state)
	return &reader{Archive: v.Archive(), source: s, state: state,
		executor: ledger.Executor{Programs: s.programs, Verifier: s.verifier}}
}

func (v *reader) Head() answers.Head {
	fees := v.state.NextBaseFees()
	return answers.Head{Height: v.state.Height(), Hash: v.state.Hash(), Timestamp: v.state.Timestamp(), TimersPending: v.state.TimersPending(),
		JobsOpen:         v.state.OpenJobs(),
		NextBaseFeeCycle: fees.Cycle, NextBaseFeeCell: fees.Cell, NextBaseFeeLane: fees.LaneTimer}
}

func (v *reader) Block(h types.Height) (*answers.Block, error) {
	if h == 0 {
		_, genesis, err := v.source.genesis.State()
		if err != nil {
			return nil, err
		}
		return &answers.Block{Stored: history.Stored{Block: genesis, Hash: genesis.Hash()}}, nil
	}
	stored, err := v.Archive.Block(h)
	if err == nil && stored == nil {
		err = v.requireKeptBlock(h)
	}
	if err != nil || stored == nil {
		return nil, err
	}
	block := &answers.Block{Stored: *stored}
	if block.Deferred, err = v.Archive.Deferred(h); err != nil {
		return nil, err
	}
	if block.Events, err = v.Archive.Events(h); err != nil {
		return nil, err
	}
	jobs, err := v.Archive.JobsOf(h)
	if err != nil {
		return nil, err
	}
	seen, heard := v.source.Sightings.sightingsBefore(h-1-types.Height(stored.Block.Header.Skipped), h)
	done, err := v.jobEvents(jobs)
	if err != nil {
		return nil, err
	}
	block.Jobs, block.Runners = append(done, seen...), heard
	block.Presence, err = v.presenceEvents(h)
	return block, err
}

// sentAt returns the height of the block that a sighting was sent with. That block may
// have skipped the sighting's own height, which is the result while no block is known.
func (v *reader) sentAt(h types.Height) (types.Height, error) {
	next, err := v.Archive.Next(h)
	if err != nil || next <= h {
		return h, err
	}
	stored, err := v.Archive.Block(next)
	if err != nil || stored == nil || next-types.Height(stored.Block.Header.Skipped) > h {
		return h, err
	}
	return next, nil
}

// requireKeptBlock refuses a height whose block was dropped.
func (v *reader) requireKeptBlock(h types.Height) error {
	kept, err := v.Kept()
	if err == nil && h < kept.From {
		err = answers.NotKept(kept, h)
	}
	return err
}

func (v *reader) Transaction(hash types.Hash) (*types.Transaction, types.Height, error) {
	tx, receipt, err := v.Archive.Transaction(hash)
	if err != nil || tx == nil {
		return nil, 0, err
	}
	return tx, receipt.Height, nil
}

func (v *reader) Receipt(hash types.Hash) (*history.Executed, error) {
	return v.Archive.Executed(hash, v.state.Height())
}

func (v *reader) Account(a types.Address) (actors.Account, error) { return v.state.Account(a), nil }

func (v *reader) Actor(a types.Address) (*answers.Actor, error) {
	record := v.state.Actor(a)
	if record == nil {
		return nil, nil
	}
	actor := v.briefActor(a, record)
	described, err := v.source.describeActor(record.CodeHash, v.state)
	if err != nil {
		actor.Undescribed = err.Error() // all else is known all the same
	}
	actor.Handlers = described.Handlers
	return &actor, nil
}

func (v *reader) Schema(a types.Address) ([]byte, error) {
	record := v.state.Actor(a)
	if record == nil {
		return nil, nil
	}
	return v.state.Schema(record.CodeHash), nil
}

func (v *reader) SchemaOf(code []byte) ([]byte, error) {
	found, err := v.source.inspectCode(program.Code{Hash: types.Keccak(code), Source: code})
	if refused := (*program.Refusal)(nil); errors.As(err, &refused) {
		return nil, refusal.New("invalid_code", "%v", refused).At("code")
	}
	if err != nil {
		return nil, environmentError(err)
	}
	return found.Schema, nil
}

func (v *reader) briefActor(a types.Address, record *actors.Actor) answers.Actor {
	return answers.Actor{Address: a, Name: record.Name, Owner: record.Owner, CodeHash: record.CodeHash,
		DeployedAt: record.DeployedAt, TimersPending: uint64(len(v.state.Timers(a))), Upgrades: v.state.Upgradable(a)}
}

func (v *reader) Actors(offset, limit int) (out []answers.Actor, err error) {
	v.state.Actors(types.Address{}, func(a types.Address, record *actors.Actor) bool {
		if offset > 0 {
			offset--
			return true
		}
		out = append(out, v.briefActor(a, record))
		return len(out) < limit
	})
	return out, nil
}

func (v *reader) Named(name string) (out []types.Address, err error) {
	v.state.Actors(types.Address{}, func(a types.Address, record *actors.Actor) bool {
		if record.Name == name {
			out = append(out, a)
		}
		return true
	})
	return out, nil
}

func (v *reader) Addresses(first, last types.Address) (out []types.Address, err error) {
	v.state.Actors(first, func(a types.Address, _ *actors.Actor) bool {
		if a.Compare(last) > 0 {
			return false
		}
		out = append(out, a)
		return true
	})
	return out, nil
}

func (v *reader) State(actor types.Address, prefix []byte, offset, limit int) ([]actors.Entry, error) {
	return stateOf(v.state, actor, prefix, offset, limit), nil
}

// At implements answers.Reader.
func (v *reader) At(ctx context.Context, h types.Height) (answers.Reader, error) {
	state := v.state
	next, err := v.Archive.Next(h + 1)
	if err == nil && next != 0 && next <= state.Height() {
		state, err = v.stateBelow(ctx, next)
	}
	if err != nil {
		return nil, err
	}
	return &reader{Archive: v.Archive.Until(state.Height(), func(id types.Hash) *history.JobStanding { return standingIn(state, id) }),
		source: v.source, state: state, executor: v.executor, isPast: true}, nil
}

// standingIn is how an open job stands in a state; nil if it is not open there.
func standingIn(state *ledger.State, id types.Hash) *history.JobStanding {
	job := state.Job(id)
	if job == nil {
		return nil
	}
	s := &history.JobStanding{Status: job.Status, Attempts: job.Attempts, Since: job.Since}
	if job.Status == types.JobPending {
		return s
	}
	s.Committee, s.Drawn = job.MemberAddresses(), job.DrawHeights()
	return s
}

// stateBelow is the state that the block of a height was executed on.
func (v *reader) stateBelow(ctx context.Context, next types.Height) (*ledger.State, error) {
	stored, err := v.Archive.Block(next)
	switch {
	case err != nil:
		return nil, err
	case stored == nil: // it was dropped meanwhile
		return nil, notAgain(next, errors.New("it is not stored"))
	}
	again := v.executor
	again.Worked = func(cycles types.Cycles) { answers.SpendCycles(ctx, cycles) }
	state, _, err := v.stateBefore(ctx, &again, stored)
	if err == nil {
		v.source.past.keepState(state)
	}
	return state, err
}

// stateOf lists the entries of an actor in a state, by key.
func stateOf(state *ledger.State, actor types.Address, prefix []byte, offset, limit int) (out []actors.Entry) {
	state.ScanStorage(actor, func(e actors.Entry) bool {
		if bytes.HasPrefix(e.Key, prefix) {
			out = append(out, e)
		}
		return true
	})
	slices.SortFunc(out, func(a, b actors.Entry) int { return bytes.Compare(a.Key, b.Key) })
	out = out[min(offset, len(out)):]
	return out[:min(limit, len(out))]
}

func (v *reader) Params() (out []model.Param, err error) {
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
		out = append(out, model.Param{Key: info.Key, Value: value, Class: string(info.Class), Tier: info.Tier, Default: usual})
	}
	return out, nil
}

func (v *reader) Simulate(ctx context.Context, tx *types.Transaction) (*history.Executed, *model.Trace, error) {
	if tx.Signature == nil {
		return nil, nil, refusal.New("bad_signature", "the transaction is not signed")
	}
	sender, ok := v.source.verifier.Recover(tx.SigningDigest(), *tx.Signature)
	if !ok {
		return nil, nil, refusal.New("bad_signature", "no signer can be recovered from this signature")
	}
	traced := v.executor
	traced.Recorder = actors.NewRecorder(tx.Hash())
	var receipt *types.Receipt
	var printed []actors.LogLine
	err := v.runPaidRead(ctx, readOfTransaction(sender, tx), func() (_ types.Cycles, err error) {
		if receipt, printed, err = traced.Simulate(v.state, sender, tx); err != nil {
			return 0, err
		}
		return receipt.Cycles, nil
	})
	if err != nil {
		return nil, nil, validators.Refusal(failedRead(err))
	}
	out := &history.Executed{Receipt: *receipt, Logs: answers.Printed(printed)}
	t := &tracer{reader: v, state: v.state, sources: map[types.Hash]bool{}}
	return out, t.dryRunModel(receipt, out.Logs, traced.Recorder.Trace()), nil
}

// environmentError answers for programs that could not be run here: this machine has
// no host of programs, or the program makes it fail. The host's output goes to the
// logs.
func environmentError(err error) error {
	var host *program.HostError
	if !errors.As(err, &host) || host.Failure == program.Missing {
		return refusal.New(answers.CodeNoProgramHost, "this machine cannot run programs: %v", err).
			Hint("%s", remedyFor(err))
	}
	return refusal.New(answers.CodeHostFailed, "the host of programs failed on it: it %s", verb[host.Failure]).
		Hint("%s", remedyFor(err))
}

// remedyFor says what may help where a host gave no outcome.
func remedyFor(err error) string {
	var host *program.HostError
	if !errors.As(err, &host) {
		return "See the node's log."
	}
	switch host.Failure {
	case program.Missing:
		return "devnet doctor shows what is missing."
	case program.Late:
		return "It takes longer than its cycles say, or this machine was too slow just then: try again, or let the program do less at once."
	case program.Stopped:
		return "This machine was slow in that moment: try again."
	}
	return "The program's host ended; the next one is fresh: try again."
}

var verb = map[program.Failure]string{program.Stopped: "was stopped", program.Late: "took too long", program.Crashed: "crashed"}

// maxDescribing is how often a host is asked what code offers: one may have been
// killed, and a fresh one is sound.
const maxDescribing = 2

// describeActor returns what the code of an actor offers.
func (s *Source) describeActor(hash types.Hash, state *ledger.State) (program.Description, error) {
	d := s.described.Do(nil, hash, func() (d handlersOfCode, keep bool) {
		for range maxDescribing {
			if d.Description, d.err = s.inspectCode(program.Code{Hash: hash, Source: state.Code(hash)}); d.err == nil {
				return d, true
			}
		}
		return handlersOfCode{err: environmentError(d.err)}, false
	})
	return d.Description, d.err
}

func (s *Source) inspectCode(code program.Code) (program.Description, error) {
	session, err := s.programs.Open(program.ForRead)
	if err != nil {
		return program.Description{}, err
	}
	defer session.Close()
	return session.Inspect(code)
}
