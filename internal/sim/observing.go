package sim

import (
	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Observations is what the oracles are told of blocks that a validator made
// final. Every sample-th height is shown with all of its state and money.
func Observations(f validators.Finality, who types.Address, sample types.Height) []oracle.Observation {
	return observations(f, who, func(r *ledger.Result) bool { return r.Block.Header.Height%sample == 0 })
}

// maxAudited is how many audits a network remembers: validators are seldom
// further apart.
const maxAudited = 8

// audits says which blocks are shown with their state and money: every
// sample-th height, and of validators that share one state, as they share the
// execution of a block, the first.
type audits struct {
	sample types.Height
	shown  [maxAudited]*ledger.State
}

func (a *audits) due(r *ledger.Result) bool {
	h := r.Block.Header.Height
	if h%a.sample != 0 {
		return false
	}
	place := &a.shown[h/a.sample%maxAudited]
	if *place == r.State {
		return false
	}
	*place = r.State
	return true
}

// LaneRules tells the oracles what parameters say of the lane and the base fees.
func LaneRules(p *params.Params) oracle.Lane {
	return oracle.Lane{Policy: p.Policy, CyclesLimit: p.CyclesLimit, LaneBudget: p.LaneTimerCycles, GCBudget: p.GCCyclesPerBlock,
		GCPerTimer: p.GCCyclesPerTimer, AskBudget: p.GBABlockCycles, CellsLimit: p.CellsLimit, FeeDivisor: p.BaseFeeDivisor,
		LaneFeeDivisor: p.LaneFeeDivisor, MinBaseFee: p.MinBaseFee, FeePermille: p.LaneFeePermille, FireCycles: p.MaxCyclesPerFire,
		FireCyclesAuction: p.MaxCyclesPerFireLane, FireCells: p.MaxCellsPerFire, Examined: p.MaxExamined, PriorityFloor: p.PriorityFloor,
		TieByAge: p.TieBreak == "age", Window: p.FairnessWindow, ByMean: p.FairnessCenter == "mean", WeightMin: p.WeightMin,
		WeightMax: p.WeightMax, Reserve: p.BiasReservePrice, FiresBlock: p.MaxFiresPerBlock, FiresActor: p.MaxFiresPerActor}
}

func observations(f validators.Finality, who types.Address, audit func(*ledger.Result) bool) []oracle.Observation {
	out := make([]oracle.Observation, 0, len(f.Results))
	for i, r := range f.Results {
		o := oracle.Observation{Validator: who, Block: r.Block, Hash: r.Hash, StateRoot: r.State.Root(),
			Receipts: r.Receipts, Timers: r.Timers, Lane: LaneRules(r.State.Params()), NextSet: r.NextSet}
		if i == len(f.Results)-1 {
			o.Finalization = f.Finalization
		}
		if audit(r) {
			o.Money = moneyOf(r.State)
			r.State.Scan(nil, nil, func(key, value []byte) bool {
				o.State = append(o.State, oracle.Entry{Key: key, Value: value})
				return true
			})
		}
		out = append(out, o)
	}
	return out
}

// MaxVoteBytes bounds what VoteIn tries to read as a vote.
const MaxVoteBytes = 16 << 10

// voteHead begins a vote: it is an array of eight.
const voteHead = 0x88

// VoteIn reads a frame that a validator sent as a vote of its own, or returns nil
// where it is none, or not signed by it. A frame is a byte that names it, and CBOR.
func VoteIn(frame []byte, from types.Address, chainID uint64, recover func(types.Hash, types.Signature) (types.Address, bool)) *types.Vote {
	var vote types.Vote
	if len(frame) < 2 || len(frame) > MaxVoteBytes || frame[1] != voteHead || codec.Unmarshal(frame[1:], MaxVoteBytes, &vote) != nil || vote.Validator != from {
		return nil
	}
	if signer, ok := recover(vote.Digest(chainID), vote.Signature); !ok || signer != from {
		return nil
	}
	return &vote
}
