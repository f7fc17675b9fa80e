package sim

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/oracle"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Observations is what the oracles are told of blocks that a validator made
// final. Every sample-th height is shown with all of its state and money.
func Observations(f validators.Finality, who types.Address, sample types.Height) []oracle.Observation {
	return observations(f, who, &audits{sample: sample})
}

// maxAudited is how many audits a network remembers: validators are seldom
// further apart.
const maxAudited = 2

// audits shows every sample-th block with its state and money. Validators that
// share a state, as they share the execution of a block, are shown one reading
// of it.
type audits struct {
	sample types.Height
	last   [maxAudited]audit
	wrote  [maxAudited]entered
}

// entered is what a block wrote into accounts and into the queue of messages.
type entered struct {
	of       *ledger.Result
	accounts []oracle.Account
	sent     []oracle.Sent
}

// entered returns what a block wrote of money, read once where validators share
// its result.
func (a *audits) entered(r *ledger.Result) *entered {
	place := &a.wrote[r.Block.Header.Height%maxAudited]
	if place.of == r {
		return place
	}
	*place = entered{of: r}
	for _, change := range r.Changes {
		if at, account, ok := actors.AccountIn(change.Key, change.Value); ok {
			place.accounts = append(place.accounts, oracle.Account{Address: at, Nonce: account.Nonce, Balance: account.Balance})
		} else if m := actors.MessageIn(change.Key, change.Value); m != nil {
			place.sent = append(place.sent, oracle.Sent{Seq: m.Seq, Hash: m.Hash(), From: m.From, Cycles: m.Cycles, Cells: m.Cells})
		}
	}
	return place
}

type audit struct {
	of    *ledger.State
	state []oracle.Entry
	money *oracle.Money
}

// of returns the audit of a block, or an empty one where none is due.
func (a *audits) of(r *ledger.Result) audit {
	h := r.Block.Header.Height
	if h%a.sample != 0 {
		return audit{}
	}
	place := &a.last[h/a.sample%maxAudited]
	if place.of != r.State {
		*place = audit{of: r.State, money: moneyOf(r.State)}
		r.State.Scan(nil, nil, func(key, value []byte) bool {
			place.state = append(place.state, oracle.Entry{Key: key, Value: value})
			return true
		})
	}
	return *place
}

// RulesOf tells the oracles what a chain begins with.
func RulesOf(g *ledger.Genesis, recover func(types.Hash, types.Signature) (types.Address, bool)) (oracle.Rules, error) {
	state, block, err := g.State()
	if err != nil {
		return oracle.Rules{}, err
	}
	p := state.Params()
	rules := oracle.Rules{ChainID: g.ChainID, Genesis: block, Set: g.Validators, FreeFees: p.Fees == params.FeesFree, Lane: LaneRules(p),
		Accounts: []oracle.Account{}, EpochBlocks: p.EpochBlocks, SystemKey: g.SystemKey, Recover: recover, AddressOf: addressOf}
	for _, a := range g.Accounts {
		rules.Supply = rules.Supply.Add(a.Balance)
		rules.Accounts = append(rules.Accounts, oracle.Account{Address: a.Address, Balance: a.Balance})
	}
	return rules, nil
}

func addressOf(key types.PublicKey) (types.Address, bool) {
	address, err := crypto.AddressOf(key)
	return address, err == nil
}

// LaneRules tells the oracles what parameters say of the lane and the base fees.
func LaneRules(p *params.Params) oracle.Lane {
	return oracle.Lane{Policy: p.Policy, CyclesLimit: p.CyclesLimit, SystemCycles: p.LaneSystemCycles, LaneBudget: p.LaneTimerCycles, GCBudget: p.GCCyclesPerBlock,
		GCPerTimer: p.GCCyclesPerTimer, AskBudget: p.GBABlockCycles, CellsLimit: p.CellsLimit, FeeDivisor: p.BaseFeeDivisor,
		LaneFeeDivisor: p.LaneFeeDivisor, MinBaseFee: p.MinBaseFee, FeePermille: p.LaneFeePermille, FireCycles: p.MaxCyclesPerFire,
		FireCyclesAuction: p.MaxCyclesPerFireLane, FireCells: p.MaxCellsPerFire, Examined: p.MaxExamined, PriorityFloor: p.PriorityFloor,
		TieByAge: p.TieBreak == "age", Window: p.FairnessWindow, ByMean: p.FairnessCenter == "mean", WeightMin: p.WeightMin,
		WeightMax: p.WeightMax, Reserve: p.BiasReservePrice, FiresBlock: p.MaxFiresPerBlock, FiresActor: p.MaxFiresPerActor}
}

func observations(f validators.Finality, who types.Address, audits *audits) []oracle.Observation {
	out := make([]oracle.Observation, 0, len(f.Results))
	for i, r := range f.Results {
		audit, wrote := audits.of(r), audits.entered(r)
		o := oracle.Observation{Validator: who, Block: r.Block, Hash: r.Hash, StateRoot: r.State.Root(), Receipts: r.Receipts,
			Timers: r.Timers, Lane: LaneRules(r.State.Params()), NextSet: r.NextSet,
			State: audit.state, Money: audit.money, Accounts: wrote.accounts, Sent: wrote.sent}
		if i == len(f.Results)-1 {
			o.Finalization = f.Finalization
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

// tagProposal begins the frame of a proposal (docs/WIRE.md).
const tagProposal = 1

// ProposalIn reads a frame as a proposal, or returns nil where it is none.
func ProposalIn(frame []byte) *types.Proposal {
	var p types.Proposal
	if len(frame) < 2 || frame[0] != tagProposal || codec.Unmarshal(frame[1:], types.MaxBlockBytes+1024, &p) != nil || p.Block == nil {
		return nil
	}
	return &p
}
