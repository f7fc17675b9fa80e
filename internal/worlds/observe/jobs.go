package observe

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// JobRules converts parameters to the oracles' rules of runners, jobs and presence.
func JobRules(p *params.Params) oracle.JobRules {
	return oracle.JobRules{MinStake: p.MinStake, InitialReputation: p.InitialReputation, MinReputation: p.MinReputation,
		TimeoutPenalty: p.TimeoutPenalty, SuccessReward: p.SuccessReward, MaxRetries: p.MaxRetries, CommitPermille: p.CommitPermille,
		SharePermille: p.RunnerSharePermille, CoverPermille: p.StakeCoverPermille, Draws: p.MaxDraws, CallbackCycles: p.CallbackCycles,
		CallbackCells: p.CallbackCells, Push: p.Push, RecoveryBlocks: p.RecoveryBlocks, RefusalBlocks: p.RefusalWindow,
		AckBlocks:   p.AckTimeoutBlocks,
		StaleBlocks: p.StaleHeartbeatBlocks, HeartbeatBlocks: p.HeartbeatTxBlocks,
		MRUBlocks: p.MRUTTLBlocks, MRUMultiplier: p.MRUWeightMultiplier, PresenceRule: p.PresenceRule, MinSubset: p.MinSubset,
		MaxSubset: p.MaxSubset, SubsetEpochBlocks: p.SubsetEpochBlocks, ChurnPermille: p.ChurnPermille,
		StakeReturnEpochs: p.StakeReturnEpochs, EpochBlocks: p.EpochBlocks}
}

// healths are the kinds of health by the oracles' words.
var healths = map[selection.Health]string{selection.Healthy: oracle.Healthy, selection.Paused: oracle.Paused,
	selection.Deregistered: oracle.Deregistered}

func runnerOf(r *system.Runner) oracle.Runner {
	card := &r.Offer.RateCard
	return oracle.Runner{Address: r.Address, Owner: r.Owner, Index: r.Index, Health: healths[r.Health], Stake: r.Stake,
		Reputation: r.Reputation, ReputedAt: r.ReputedAt, Refusals: r.Refusals, RefusedAt: r.RefusedAt,
		ActiveJobs: r.ActiveJobs, LastHeartbeat: r.LastHeartbeat,
		Offer: oracle.Offer{ComputeSecond: card.ComputeSecond, InputToken: card.LLMInputToken, OutputToken: card.LLMOutputToken,
			Request: card.HTTPRequestBase, Call: card.MCPCallBase, MemoryMB: card.MemoryMB, MaxJobs: r.Offer.MaxConcurrentJobs,
			Capabilities: r.Offer.Capabilities, Entitlements: r.Offer.Entitlements}}
}

// Connection tells the oracles of a runner's connection with a validator, as the
// validator's gateway reports it.
func Connection(j *oracle.Judge, validator types.Address, report gateway.Report) {
	switch report := report.(type) {
	case gateway.Arrived:
		j.Connected(validator, report.Runner)
	case gateway.Left:
		j.Disconnected(validator, report.Runner)
	}
}
