package api

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// The examples of jobs and runners.
var (
	exampleJob = model.Job{ID: exampleHash, Kind: "custom", Submitter: exampleAddress, Mode: "none", Runners: 1, Status: "Completed",
		Committee:        []types.Address{exampleActorAt},
		CommitteeDrawnAt: []types.Height{exampleHeight}, Attempts: 1, SubmittedAt: 12, AssignedAt: &exampleHeight, Deadline: 42,
		CompletedAt: new(types.Height(14)), Result: &exampleResult, Winner: &exampleActorAt, TimeoutBlocks: 30, MaxPrice: types.WeiOf(types.CBY),
		Escrow: types.WeiOf(types.CBY), Price: new(types.WeiOf(1000)), Spec: types.Bytes{0xab}}
	exampleDraw = model.JobDraw{Attempt: 1, Height: 12, SubmittedAt: 12, Basis: exampleHash, Seed: exampleHash, Multiplier: 1, Number: 1,
		Candidates: []model.DrawCandidate{{Runner: exampleActorAt, Weight: 2}},
		Steps:      []model.DrawStep{{Digest: exampleHash, Total: 2, Number: 1, Runner: exampleActorAt}},
		Committee:  []types.Address{exampleActorAt}}
	exampleResult  = types.Bytes("hello")
	exampleChanges = &model.RunnerChanges{AddedCapabilities: []string{"region:eu"}, RemovedCapabilities: []string{},
		AddedEntitlements: []string{}, RemovedEntitlements: []string{}}
	exampleRunner = model.Runner{Name: "r0", Address: exampleActorAt, PublicKey: types.PublicKey{0: 2, 32: 7}, Owner: exampleActorAt,
		Stake: wallet.RunnerStake, Reputation: 75, Health: model.RunnerHealthy, Connected: []types.Address{exampleAddress}, Present: true,
		Subset: []types.Address{exampleAddress}, MaxConcurrentJobs: 4, Accepting: true, Capabilities: []string{"custom", "llm"},
		Entitlements: []string{}, Changes: exampleChanges, RateCard: system.RateCard{ComputeSecond: types.WeiOf(1000)}, LastHeartbeat: 12,
		Heard: []model.RunnerEvent{exampleHeard}}
	exampleHeard = model.RunnerEvent{Height: 12, What: model.HeardConnected, Runner: exampleActorAt, Validator: exampleAddress}
)
