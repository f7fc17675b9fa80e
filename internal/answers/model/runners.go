package model

import (
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The healths of a runner.
const (
	RunnerHealthy      = "Healthy"
	RunnerUnhealthy    = "Unhealthy"
	RunnerPaused       = "Paused"
	RunnerDeregistered = "Deregistered"
)

// RateCard is a runner's prices, in wei.
type RateCard = system.RateCard

// Runner is a registered runner, in the state of the latest final block.
type Runner struct {
	Index             uint32          `json:"index" doc:"Its place in the registry: the index of its bit in presence bitmaps (decision J12)."`
	Name              string          `json:"name" doc:"Name of the devnet's own runners; empty for others."`
	Address           types.Address   `json:"address"`
	PublicKey         types.PublicKey `json:"public_key"`
	Owner             types.Address   `json:"owner" doc:"Account that registered it, paid its stake and may change it (decision J20)."`
	Stake             types.Wei       `json:"stake" doc:"In wei."`
	Reputation        uint64          `json:"reputation" doc:"0 to 100. Below cip2.min_reputation it regains a point each cip2.reputation_recovery_blocks (decision J21)."`
	Refusals          uint64          `json:"refusals" doc:"Jobs that it refused within cip2.refusal_window_blocks; each halves its weight in draws, at most four times (decision J21)."`
	Health            string          `json:"health" enum:"Healthy,Unhealthy,Paused,Deregistered" doc:"Unhealthy: its last heartbeat is older than cip11.stale_heartbeat_blocks (decision J18)."`
	Connected         []types.Address `json:"connected,omitzero" doc:"The validators that it is connected to now, as they say; by address. Absent at an earlier moment: no block says it."`
	Present           bool            `json:"present" doc:"In the latest P, of the block before the latest final one (CIP-11 §8)."`
	Subset            []types.Address `json:"subset" doc:"The validators that it belongs to, in the order of its keys (CIP-11 §5.1); empty once it is deregistered."`
	ActiveJobs        uint64          `json:"active_jobs" doc:"Jobs in whose committee it is."`
	MaxConcurrentJobs uint64          `json:"max_concurrent_jobs"`
	Accepting         bool            `json:"accepting" doc:"It is healthy, and has not reported to any of its validators that it refuses new jobs."`
	Capabilities      []string        `json:"capabilities"`
	Entitlements      []string        `json:"entitlements"`
	Changes           *RunnerChanges  `json:"changes" doc:"Changes that it reported on its open connections; null: none. No draw minds it (CIP-11 §6.5)."`
	RateCard          RateCard        `json:"rate_card" doc:"Prices that it asks, in wei."`
	RegisteredAt      types.Height    `json:"registered_at"`
	LastHeartbeat     types.Height    `json:"last_heartbeat" doc:"The last height that it signed in a heartbeat of the chain; registering is the first (decision J18)."`
	Heard             []RunnerEvent   `json:"heard" doc:"Latest events about it that validators saw outside the chain, in their order, until the validators restart. Lists have none."`
	StakeReturns      types.Height    `json:"stake_returns" doc:"The block that pays the stake of a deregistered runner back and frees its place; later if it still has a job at that height. stake is 0 afterwards. 0: it is registered."`
	DeadLetters       *uint64         `json:"dead_letters" nullable:"true" doc:"Events for its role after that had stopped, since the runner started last; null: another process runs it than the one that answers."`
}

// Kinds of validators' sightings of runners.
const (
	HeardConnected    = "connected"
	HeardLeft         = "left"
	HeardRefused      = "refused"
	HeardBackpressure = "backpressure"
	HeardCapabilities = "capabilities"
)

// RunnerEvent is a validator's sighting of a runner outside the chain (decision J22).
// Fields that say nothing of it are null.
type RunnerEvent struct {
	Height            types.Height  `json:"height" doc:"Height of the next final block."`
	What              string        `json:"what" enum:"connected,left,refused,backpressure,capabilities"`
	Runner            types.Address `json:"runner" doc:"For refused: the key that its certificate proved, registered or not."`
	Validator         types.Address `json:"validator" doc:"Who heard it."`
	Reason            string        `json:"reason" doc:"For left and refused: the reason of the Goodbye, empty if the connection was lost. For backpressure: the runner's words, at most 256 bytes. For capabilities: the names, added ones after a +, removed ones after a -."`
	ActiveJobs        *uint32       `json:"active_jobs" doc:"For backpressure: as the runner reports (CIP-11 §6.4)."`
	MaxConcurrentJobs *uint32       `json:"max_concurrent_jobs" doc:"Of backpressure."`
	Accepting         *bool         `json:"accepting" nullable:"true" doc:"For backpressure: it takes new jobs."`
}

// RunnerChanges is a runner's announcement on its connections about its offer, in
// addition to the registry.
type RunnerChanges struct {
	_                   struct{} `nullable:"true"`
	AddedCapabilities   []string `json:"added_capabilities"`
	RemovedCapabilities []string `json:"removed_capabilities"`
	AddedEntitlements   []string `json:"added_entitlements"`
	RemovedEntitlements []string `json:"removed_entitlements"`
}

// Subsets is the rotation of subsets in force (CIP-11 §5.3): from it anybody
// computes any runner's subset.
type Subsets struct {
	SubsetEpoch   uint64       `json:"subset_epoch"`
	Height        types.Height `json:"height" doc:"Height of the block in which it began."`
	OverlapBlocks uint64       `json:"overlap_blocks" doc:"Number of blocks from height on in which the former subsets are also in force."`
	Current       SubsetBasis  `json:"current"`
	Former        *SubsetBasis `json:"former" doc:"Those before; null before the first rotation."`
}

// SubsetBasis is what one rotation's subsets follow from.
type SubsetBasis struct {
	_            struct{}       `nullable:"true"`
	MinSubset    uint64         `json:"min_subset"`
	MaxSubset    uint64         `json:"max_subset"`
	PresenceRule string         `json:"presence_rule"`
	SubsetSize   int            `json:"subset_size" doc:"How many validators each runner belongs to."`
	Validators   []SubsetMember `json:"validators" doc:"The set at that rotation, by address."`
}

// SubsetMember is a validator of that set.
type SubsetMember struct {
	Address     types.Address   `json:"address"`
	PublicKey   types.PublicKey `json:"public_key"`
	QUICAddress string          `json:"quic_address" doc:"The address where it listens now; if unknown, the one of the rotation."`
}

// Presence is P(H) and the votes that it follows from.
type Presence struct {
	Height    types.Height     `json:"height"`
	Rule      string           `json:"rule" doc:"cip11.presence_rule in force in the block (decision J9)."`
	Threshold int              `json:"threshold" doc:"How many of the votes have to show a runner."`
	Votes     []Vote           `json:"votes" doc:"On the block, as the next one carries them."`
	Runners   []RunnerPresence `json:"runners" doc:"By index, deregistered ones too."`
}

// RunnerPresence is one bit of P.
type RunnerPresence struct {
	Index      int             `json:"index"`
	Address    types.Address   `json:"address"`
	Name       string          `json:"name" doc:"Name of the devnet's own runners; empty for others."`
	Present    bool            `json:"present"`
	Count      int             `json:"count" doc:"Votes that show it."`
	Validators []types.Address `json:"validators" doc:"Whose votes they are."`
}

// PresenceEvent is a bit of P that differs from that of the block before: that of
// a runner which had none before was 0.
type PresenceEvent struct {
	Height  types.Height  `json:"height" doc:"H of P(H): of the block that was voted on, the parent of the block that tells."`
	Index   int           `json:"index"`
	Runner  types.Address `json:"runner"`
	Present bool          `json:"present"`
	Count   int           `json:"count" doc:"Votes that show it."`
}
