// Package observe is the bridge from validators to the oracles: a chain's
// beginning, the blocks that a validator made final, and the frames it sent. Every
// world judges its runs through it; the oracles know none of the types it reads.
package observe

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxAudited is how many audits a network remembers: validators are seldom
// further apart.
const maxAudited = 2

// Audits shows every sample-th block with its state and money. Validators that
// share a state, as they share the execution of a block, are shown one reading
// of it.
type Audits struct {
	sample types.Height
	last   [maxAudited]audit
	wrote  [maxAudited]blockWrites
}

// Every shows all of the state and the money of every sample-th height.
func Every(sample types.Height) *Audits { return &Audits{sample: sample} }

// blockWrites is what a block wrote into accounts, into the queue of messages, and of
// runners and jobs.
type blockWrites struct {
	of       *ledger.Result
	accounts []oracle.Account
	sent     []oracle.Sent
	runners  []oracle.Runner
	specs    []oracle.Spec
}

// writesOf returns what a block wrote of money, read once where validators share
// its result.
func (a *Audits) writesOf(r *ledger.Result) *blockWrites {
	place := &a.wrote[r.Block.Header.Height%maxAudited]
	if place.of == r {
		return place
	}
	*place = blockWrites{of: r}
	var runners []types.Address
	for _, change := range r.Changes {
		if at, account, ok := actors.AccountIn(change.Key, change.Value); ok {
			place.accounts = append(place.accounts, oracle.Account{Address: at, Nonce: account.Nonce, Balance: account.Balance})
		} else if m := actors.MessageIn(change.Key, change.Value); m != nil {
			place.sent = append(place.sent, oracle.Sent{Seq: m.Seq, Hash: m.Hash(), Cause: m.Cause, From: m.From, To: m.To, Handler: m.Handler,
				Payload: m.Payload, Cycles: m.Cycles, Cells: m.Cells})
		} else if entry, ok := actors.StorageIn(types.RegistryAddress, change.Key, change.Value); ok {
			if runner, ok := system.RunnerIn(entry.Key); ok {
				runners = append(runners, runner)
			}
		} else if entry, ok := actors.StorageIn(types.DispatcherAddress, change.Key, change.Value); ok {
			if job, ok := system.SpecIn(entry.Key); ok {
				place.specs = append(place.specs, oracle.Spec{Job: job, Spec: entry.Value})
			}
		}
	}
	runners = append(runners, updatedRunners(r.Receipts)...)
	slices.SortFunc(runners, types.Address.Compare)
	for _, runner := range slices.Compact(runners) {
		place.runners = append(place.runners, runnerOf(r.State.Runner(runner)))
	}
	return place
}

// updatedRunners lists the runners whose offers a block replaced. An offer that equals the
// former one changes no key of the state, and the oracles judge its event all the same.
func updatedRunners(receipts []types.Receipt) (runners []types.Address) {
	for i := range receipts {
		for _, e := range receipts[i].Events {
			var told system.RunnerEvent
			if e.Actor == types.RegistryAddress && e.Name == "runner.updated" &&
				codec.Unmarshal(e.Data, types.MaxTransactionBytes, &told) == nil {
				runners = append(runners, told.Runner)
			}
		}
	}
	return runners
}

type audit struct {
	of    *ledger.State
	state []oracle.Entry
	money *oracle.Money
}

// auditOf returns the audit of a block, or an empty one if none is due.
func (a *Audits) auditOf(r *ledger.Result) audit {
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

// stateReader is a state as actors reads it.
type stateReader struct{ *ledger.State }

// Get implements actors.Reader.
func (s stateReader) Get(key []byte) (value []byte) {
	s.Scan(key, append(slices.Clone(key), 0), func(_, found []byte) bool {
		value = found
		return false
	})
	return value
}

// moneyOf reads all the money of a state.
func moneyOf(s *ledger.State) *oracle.Money {
	supply := s.Supply()
	m := &oracle.Money{Minted: supply.Minted, Removed: supply.Removed, Burned: supply.Burned(), Bids: s.Account(types.TimerEscrow).Balance}
	actors.ScanAccounts(stateReader{s}, func(_ types.Address, a actors.Account) bool {
		m.Balances = append(m.Balances, a.Balance)
		return true
	})
	s.Messages(func(message *actors.Message) bool {
		m.Escrows = append(m.Escrows, message.Prepaid())
		return true
	})
	return m
}

// RulesOf tells the oracles what a chain begins with: a genesis, and the state and the block that it makes.
func RulesOf(g *ledger.Genesis, state *ledger.State, block *types.Block,
	recover func(types.Hash, types.Signature) (types.Address, bool)) oracle.Rules {
	p := state.Params()
	rules := oracle.Rules{ChainID: g.ChainID, Genesis: block, Set: g.Validators, FreeFees: p.Fees == params.FeesFree, Lane: LaneRules(p),
		Accounts: []oracle.Account{}, EpochBlocks: p.EpochBlocks, Upgrades: p.Upgrades, Messages: p.HashesMessages(), SystemKey: g.SystemKey,
		Recover: recover, AddressOf: addressOf}
	for _, a := range g.Accounts {
		rules.Supply = rules.Supply.Add(a.Balance)
		rules.Accounts = append(rules.Accounts, oracle.Account{Address: a.Address, Balance: a.Balance})
	}
	rules.Jobs, rules.Runners = JobRules(p), []oracle.Runner{}
	var stakes types.Wei
	state.Runners(func(r *system.Runner) bool {
		stakes = stakes.Add(r.Stake)
		rules.Runners = append(rules.Runners, runnerOf(r))
		return true
	})
	rules.Supply = rules.Supply.Add(stakes)
	rules.Accounts = append(rules.Accounts, oracle.Account{Address: types.RegistryAddress, Balance: stakes})
	return rules
}

func addressOf(key types.PublicKey) (types.Address, bool) {
	address, err := crypto.AddressOf(key)
	return address, err == nil
}

// LaneRules converts parameters to the oracles' rules of the lane and the base
// fees.
func LaneRules(p *params.Params) oracle.LaneRules {
	return oracle.LaneRules{Policy: p.Policy, CyclesLimit: p.CyclesLimit, SystemCycles: p.LaneSystemCycles, LaneBudget: p.LaneTimerCycles,
		GCBudget:   p.GCCyclesPerBlock,
		GCPerTimer: p.GCCyclesPerTimer, AskBudget: p.GBABlockCycles, CellsLimit: p.CellsLimit, FeeDivisor: p.BaseFeeDivisor,
		LaneFeeDivisor: p.LaneFeeDivisor, LaneFeeGain: p.LaneFeeGain,
		MinBaseFee: p.MinBaseFee, FeePermille: p.LaneFeePermille, FireCycles: p.MaxCyclesPerFire,
		FireCyclesAuction: p.MaxCyclesPerFireLane, FireCells: p.MaxCellsPerFire, Examined: p.MaxExamined, Arrears: p.MaxArrears,
		PriorityFloor: p.PriorityFloor,
		TieByAge:      p.TieBreak == "age", Window: p.FairnessWindowBlocks, ByMean: p.FairnessCenter == "mean",
		ByDeployer: p.FairnessOf == "deployer", Smoothing: p.FairnessSmoothing, WeightMin: p.WeightMin, WeightMax: p.WeightMax,
		Reserve: p.BiasReservePrice, FiresBlock: p.MaxFiresPerBlock, FiresActor: p.MaxFiresPerActor}
}

// Observations returns the oracles' observations of blocks that a validator made
// final.
func (a *Audits) Observations(f validators.FinalBlocks, who types.Address) []oracle.Observation {
	out := make([]oracle.Observation, 0, len(f.Results))
	for i, r := range f.Results {
		audit, wrote := a.auditOf(r), a.writesOf(r)
		o := oracle.Observation{Validator: who, Block: r.Block, Hash: r.Hash, StateRoot: r.State.Root(), Receipts: r.Receipts,
			Timers: r.Timers, Lane: LaneRules(r.State.Params()), NextSet: r.NextSet,
			State: audit.state, Money: audit.money, Accounts: wrote.accounts, Sent: wrote.sent,
			Jobs: JobRules(r.State.Params()), Events: r.Events, Runners: wrote.runners, Specs: wrote.specs}
		if i == len(f.Results)-1 {
			o.Finalization = f.Finalization
		}
		out = append(out, o)
	}
	return out
}
