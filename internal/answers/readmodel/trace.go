package readmodel

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// keepEvery is after how many blocks that were executed again a state is kept: the
// next who asks begins there.
const keepEvery = 256

// Trace executes a final execution again, from the nearest state before it that is
// remembered, or from genesis. It is nil if there is no such execution.
func (v *reader) Trace(ctx context.Context, hash types.Hash, ask answers.TraceRequest) (*model.Trace, error) {
	receipt, err := v.Archive.Receipt(hash)
	if err != nil || receipt == nil {
		return nil, err
	}
	stored, err := v.Archive.Block(receipt.Height)
	if err != nil || stored == nil {
		return nil, err
	}
	again := v.executor
	again.Worked = func(cycles types.Cycles) { answers.SpendCycles(ctx, cycles) }
	replaying := again
	again.Recorder = actors.NewRecorder(hash)
	if ask.Profile {
		probing, done, err := v.source.recordingHost(again.Recorder)
		if err != nil {
			return nil, err
		}
		defer done()
		again.Programs = probing
	}
	parent, replayed, err := v.stateBefore(ctx, &replaying, stored)
	if err != nil {
		return nil, err
	}
	found, after, err := again.Retrace(parent, stored.Block, hash)
	if err != nil {
		return nil, notAgain(stored.Block.Header.Height, err)
	}
	v.source.past.keepState(parent)
	t := &tracer{reader: v, state: after, sources: map[types.Hash]bool{}, ask: ask}
	return t.traceModel(found, &stored.Block.Header, replayed), nil
}

// notAgain says that a block cannot be executed again here.
func notAgain(h types.Height, err error) error {
	var missing *ledger.EnvironmentError
	if errors.As(err, &missing) {
		return environmentError(err)
	}
	return refusal.New("not_again", "block %d, executed again, does not end as it did: %v", h, err).
		Hint("It may have been executed by another version of devnet: devnet check HOME audits all of its blocks.")
}

// stateBefore is the state that a block was executed on, and how many blocks were
// executed again for it.
func (v *reader) stateBefore(ctx context.Context, by *ledger.Executor, stored *history.Stored) (*ledger.State, int, error) {
	target := &stored.Block.Header
	state, err := v.nearestState(target.Height)
	if err != nil {
		return nil, 0, err
	}
	from := state.Height()
	for n := 0; ; n++ {
		if state.Hash() == target.Parent {
			return state, n, nil
		}
		if n%keepEvery == keepEvery-1 || ctx.Err() != nil {
			v.source.past.keepState(state)
		}
		if ctx.Err() != nil {
			return nil, 0, refusal.New("still_replaying",
				"the state before block %d is not in memory: blocks %d to %d were executed again for it, and the time is over",
				target.Height, from+1, state.Height()).
				Hint("Ask again: it continues from there.")
		}
		if state, err = v.executeNext(by, state, target); err != nil {
			return nil, 0, err
		}
	}
}

// executeNext executes the block that follows a state again.
func (v *reader) executeNext(by *ledger.Executor, state *ledger.State, target *types.Header) (*ledger.State, error) {
	next, err := v.Archive.Next(state.Height() + 1)
	if err != nil {
		return nil, err
	}
	if next == 0 || next >= target.Height {
		return nil, notAgain(target.Height, errors.New("no stored block leads to its parent"))
	}
	stored, err := v.Archive.Block(next)
	if err != nil {
		return nil, err
	}
	after, err := by.Replay(state, stored.Block)
	if err != nil {
		return nil, notAgain(next, err)
	}
	return after, nil
}

// nearestState is the highest state below a height from which blocks can be executed.
func (v *reader) nearestState(h types.Height) (*ledger.State, error) {
	genesis, _, err := v.source.genesis.State()
	if err != nil {
		return nil, err
	}
	kept, err := v.Kept()
	if err != nil {
		return nil, err
	}
	state := v.source.past.nearestBefore(h, func(s *ledger.State) bool {
		if s.Height() == 0 {
			return s.Hash() == genesis.Hash()
		}
		at, found, err := v.Archive.HeightOf(s.Hash())
		return err == nil && found && at == s.Height()
	})
	switch {
	case state != nil:
		return state, nil
	case kept.From > 1:
		return nil, refusal.New(answers.CodeNotKept,
			"the state before block %d is not kept: this network keeps %d blocks (--history), and no genesis to execute from", h, kept.Blocks).
			Hint("Such a network can execute again only recent blocks: the last %d since it started.", maxRecentStates)
	}
	return genesis, nil
}

// recordingHost is the host of programs that tells a recorder what lines take.
func (s *Source) recordingHost(to *actors.Recorder) (program.Host, func(), error) {
	prober, ok := s.programs.(program.Prober)
	if !ok {
		return nil, nil, refusal.New("no_profile", "this network's host of programs does not report the cost of "+
			"lines").
			Hint("Leave out profile.")
	}
	host, end := prober.Probing(to.Probed)
	return host, end, nil
}
