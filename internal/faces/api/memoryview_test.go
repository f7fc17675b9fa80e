package api

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// memoryView reads through to the network: tests hold none across a block.
type memoryView struct{ m *memory }

func (v *memoryView) lock() func() { v.m.mu.Lock(); return v.m.mu.Unlock }

func (v *memoryView) Head() answers.Head {
	defer v.lock()()
	h := answers.Head{Height: types.Height(len(v.m.blocks)), NextBaseFeeCycle: types.WeiOf(1000), NextBaseFeeCell: types.WeiOf(1000),
		NextBaseFeeLane: types.WeiOf(1000), TimersPending: uint64(len(v.m.timers))}
	if h.Height > 0 {
		h.Hash = v.m.blocks[h.Height-1].Hash
	}
	return h
}

func (v *memoryView) Kept() (history.Kept, error) {
	defer v.lock()()
	return history.Kept{From: max(1, v.m.keptFrom), Blocks: 100}, nil
}

func (v *memoryView) Block(h types.Height) (*answers.Block, error) {
	defer v.lock()()
	if h == 0 {
		return &answers.Block{Stored: history.Stored{Block: &types.Block{Header: types.Header{ChainID: testChain}}}}, nil
	}
	if int(h) > len(v.m.blocks) {
		return nil, nil
	}
	if h < v.m.keptFrom {
		return nil, answers.NotKept(history.Kept{From: v.m.keptFrom, Blocks: 100}, h)
	}
	return v.m.blocks[h-1], nil
}

func (v *memoryView) HeightOf(hash types.Hash) (types.Height, bool, error) {
	defer v.lock()()
	for i, b := range v.m.blocks {
		if b.Hash == hash {
			return types.Height(i + 1), true, nil
		}
	}
	return 0, false, nil
}

func (v *memoryView) Transaction(hash types.Hash) (*types.Transaction, types.Height, error) {
	defer v.lock()()
	for i, b := range v.m.blocks {
		for j := range b.Block.Transactions {
			if b.Block.Transactions[j].Hash() == hash {
				return &b.Block.Transactions[j], types.Height(i + 1), nil
			}
		}
	}
	return nil, 0, nil
}

func (v *memoryView) Receipt(hash types.Hash) (*history.Executed, error) {
	defer v.lock()()
	return v.m.printed(v.m.receipt(hash)), nil
}

func (v *memoryView) Hashes(of history.HashKind, first, last types.Hash, each func(types.Hash) bool) error {
	defer v.lock()()
	var all []types.Hash
	for _, b := range v.m.blocks {
		switch of {
		case history.BlockHash:
			all = append(all, b.Hash)
		case history.ExecutionHash:
			for i := range b.Receipts {
				all = append(all, b.Receipts[i].Hash)
			}
		}
	}
	if of == history.TimerHash {
		for i := range v.m.timers {
			all = append(all, v.m.timers[i].ID)
		}
	}
	slices.SortFunc(all, func(a, b types.Hash) int { return strings.Compare(string(a[:]), string(b[:])) })
	for _, h := range all {
		if string(first[:]) <= string(h[:]) && string(h[:]) <= string(last[:]) && !each(h) {
			break
		}
	}
	return nil
}

func (v *memoryView) Account(a types.Address) (actors.Account, error) {
	defer v.lock()()
	return *v.m.account(a), nil
}

func (v *memoryView) Actor(a types.Address) (*answers.Actor, error) {
	defer v.lock()()
	return v.m.actors[a], nil
}

func (v *memoryView) Schema(types.Address) ([]byte, error) { return nil, nil }
func (v *memoryView) SchemaOf([]byte) ([]byte, error)      { return nil, nil }

func (v *memoryView) Actors(offset, limit int) (out []answers.Actor, err error) {
	defer v.lock()()
	for _, a := range v.m.actors {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b answers.Actor) int { return a.Address.Compare(b.Address) })
	return cut(out, offset, limit), nil
}

func (v *memoryView) Named(name string) (out []types.Address, err error) {
	defer v.lock()()
	for at, a := range v.m.actors {
		if a.Name == name {
			out = append(out, at)
		}
	}
	return out, nil
}

func (v *memoryView) Addresses(first, last types.Address) (out []types.Address, err error) {
	defer v.lock()()
	for a := range v.m.actors {
		if first.Compare(a) <= 0 && a.Compare(last) <= 0 {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, types.Address.Compare)
	return out, nil
}

func (v *memoryView) State(a types.Address, prefix []byte, offset, limit int) (out []actors.Entry, err error) {
	defer v.lock()()
	for key, value := range v.m.state[a] {
		if strings.HasPrefix(key, string(prefix)) {
			out = append(out, actors.Entry{Key: []byte(key), Value: value})
		}
	}
	slices.SortFunc(out, func(a, b actors.Entry) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return cut(out, offset, limit), nil
}

func (v *memoryView) At(context.Context, types.Height) (answers.Reader, error) { return v, nil }

func (v *memoryView) Logs(a types.Address, o history.Page) (out []history.LogLine, err error) {
	defer v.lock()()
	for _, l := range v.m.logs {
		if l.Actor == a {
			out = append(out, l)
		}
	}
	return ordered(out, o), nil
}

func (v *memoryView) Timer(id types.TimerID) (*answers.Timer, error) {
	defer v.lock()()
	for i := range v.m.timers {
		if v.m.timers[i].ID == id {
			return &v.m.timers[i], nil
		}
	}
	return nil, nil
}

func (v *memoryView) Timers(f history.TimerFilter) (out []answers.Timer, err error) {
	defer v.lock()()
	for _, t := range v.m.timers {
		if (f.Actor == nil || *f.Actor == t.Actor) && (f.DueBy == nil || t.Height <= *f.DueBy) && (f.Status == "" || f.Status == t.Status) {
			out = append(out, t)
		}
	}
	return ordered(out, f.Page), nil
}

func (v *memoryView) Story(id types.TimerID, from types.Height, blocks int) (*answers.Story, error) {
	t, err := v.Timer(id)
	if err != nil || t == nil {
		return nil, err
	}
	entries := []model.StoryEntry{{Kind: model.StoryScheduled, From: t.ScheduledAt, To: t.ScheduledAt, Blocks: 1}}
	if t.Status == types.TimerFired {
		entries = append(entries, model.StoryEntry{Kind: model.StoryFired, From: t.EndedAt, To: t.EndedAt, Blocks: 1,
			Paid: &model.Settlement{Proposer: v.m.nodes[1].Validator.Address}})
	}
	story := &answers.Story{Timer: *t, Entries: entries}
	if from > 0 {
		story.Next = from + types.Height(blocks)
	}
	return story, nil
}

func (v *memoryView) Lane(last int) (lane []model.LaneBlock, err error) {
	defer v.lock()()
	for h := max(1, len(v.m.blocks)-last+1); h <= len(v.m.blocks); h++ {
		lane = append(lane, model.LaneBlock{Height: types.Height(h), Policy: "fifo", Budget: 2000, TimerCyclesUsed: 500,
			DeferredFor: []model.LaneDeferral{}})
	}
	return lane, nil
}

func (v *memoryView) Params() ([]model.Param, error) {
	return []model.Param{{Key: "chain.id", Value: "8011", Class: "genesis", Tier: "genesis", Default: "8011"},
		{Key: "cip1.policy", Value: "fifo", Class: "block", Tier: "3", Default: "fifo"}}, nil
}

func (v *memoryView) Read(ctx context.Context, c ledger.Call) (ledger.ReadResult, error) {
	if c.Handler == "spends" {
		answers.SpendCycles(ctx, 3*ReadBudget)
	}
	if c.Handler == "crash" {
		return ledger.ReadResult{}, errors.New("the host crashed")
	}
	if c.Handler == "fail" {
		return ledger.ReadResult{Outcome: program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "raised", Message: "no"}}}, nil
	}
	return ledger.ReadResult{Outcome: program.Outcome{Status: types.StatusOK, Output: c.Payload}, Cycles: 10,
		Logs: []actors.LogLine{{Line: "read"}}}, nil
}

func (v *memoryView) TryBid(context.Context, ledger.BidTrial) (ledger.BidTried, error) {
	return ledger.BidTried{}, refusal.New("timer_policy_unknown", "the policy fifo does not use gas bidding agents")
}

func (v *memoryView) Simulate(_ context.Context, tx *types.Transaction) (*history.Executed, *model.Trace, error) {
	if v.m.hostless {
		return nil, nil, refusal.New(answers.CodeNoProgramHost, "no python3")
	}
	return &history.Executed{Receipt: types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Status: types.StatusOK, Cycles: 42},
		Logs: []string{"dry"}}, nil, nil
}

func (v *memoryView) Trace(_ context.Context, hash types.Hash, _ answers.TraceRequest) (*model.Trace, error) {
	r, err := v.Receipt(hash)
	if err != nil || r == nil {
		return nil, err
	}
	return &model.Trace{Receipt: answers.ShowReceipt(&r.Receipt, r.Logs), Fee: model.TraceFee{PerWhat: "none"}, Changes: []model.TraceChange{},
		Sent: []model.TraceSent{}, Sources: []model.TraceSource{}}, nil
}

func ordered[T any](all []T, o history.Page) []T {
	if o.Newest {
		slices.Reverse(all)
	}
	return cut(all, o.Offset, o.Limit)
}

func cut[T any](all []T, offset, limit int) []T {
	all = all[min(offset, len(all)):]
	return all[:min(limit, len(all))]
}

// addTimer makes a pending timer of an actor.
func (m *memory) addTimer(actor types.Address, due types.Height, status types.TimerStatus) types.TimerID {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := types.Keccak(actor[:], binary.BigEndian.AppendUint64(nil, uint64(len(m.timers))))
	t := answers.Timer{TimerRecord: history.TimerRecord{Timer: types.Timer{ID: id, Actor: actor, Height: due, Handler: "handle_timer",
		FeePayer: actor}, Status: status}}
	if status != types.TimerPending {
		t.EndedAt = due
	}
	m.timers = append(m.timers, t)
	return id
}

func address20(h types.Hash) types.Address { return types.Address(h[12:]) }
