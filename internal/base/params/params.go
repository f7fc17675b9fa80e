// Package params holds every constant of the specs and the decisions as a
// parameter: its name, default, range and class. None is a literal elsewhere.
//
// Parameters start in genesis and live at actor 0x09 under
// system:<group>:<name>; here and in every tool a key reads <group>.<name>. A
// governance instruction sets one from a height on.
package params

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Class says when a parameter may change.
type Class string

// The three classes.
const (
	Genesis   Class = "genesis" // never
	NextBlock Class = "block"   // from any later height on
	NextEpoch Class = "epoch"   // from the first block of a later epoch on
)

// The tiers of governance, by the drafts' numbers (CIP-1 §§5 to 16; CIP-12 has them).
const (
	TierGenesis = "genesis" // immutable
	Tier0       = "0"
	Tier2       = "2"
	Tier3       = "3"   // both chambers
	TierOf0And2 = "0,2" // the draft names both (finding F72)
	NoTier      = ""    // no draft names one
)

// FeesFree is the value of cip5.fees under which fires cost nothing and
// scheduling is all one pays (CIP-5 §6.3, decision T2).
const FeesFree = "free"

// FreeFires reports whether fires cost nothing: only under fifo.
func (p *Params) FreeFires() bool { return p.Fees == FeesFree && p.Policy == PolicyFifo }

// PolicyFifo is the value of cip1.policy for CIP-5 §§1-8.
const PolicyFifo = "fifo"

// PolicyEIP1559 is the value of cip1.policy under which CIP-1 §10 caps a fire.
const PolicyEIP1559 = "eip1559"

// Milliseconds is how long something takes, as a parameter says it.
type Milliseconds uint64

// Duration is that long.
func (m Milliseconds) Duration() time.Duration { return time.Duration(m) * time.Millisecond }

// BlockTime is the time from block to block, 0 where blocks are made on demand
// (decision C7).
func (p *Params) BlockTime() time.Duration {
	if p.BlockTimeAuto {
		return 0
	}
	return p.BlockTimeMS.Duration()
}

// maxStakeReturn bounds StakeReturnBlocks, so that no height overflows.
const maxStakeReturn = 1 << 40

// StakeReturnBlocks is the number of blocks from a runner's leaving to the return of its
// stake: cip2.stake_return_epochs epochs, at most 2^40 (decision J20).
func (p *Params) StakeReturnBlocks() uint64 {
	if p.EpochBlocks > maxStakeReturn/p.StakeReturnEpochs {
		return maxStakeReturn
	}
	return p.EpochBlocks * p.StakeReturnEpochs
}

// maxPingSpread bounds PingSpread, so that a ping comes soon where blocks are rare.
const maxPingSpread = time.Second

// PingSpread returns the time after a new height over which the pings of runners are
// spread. It is half a block time, so that a crowd is spread and done before the next
// votes, and at most a second; 0 if blocks are made on demand (decision J13).
func (p *Params) PingSpread() time.Duration { return min(p.BlockTime()/2, maxPingSpread) }

// RootWithoutMessages is the value of chain.receipts_root under which no message of an
// error is hashed. Every new chain has it; a genesis of before has the default, 1.
const RootWithoutMessages = 2

// HashesMessages reports whether the messages of errors are part of the receipts' root
// (decision C20).
func (p *Params) HashesMessages() bool { return p.ReceiptsRoot < RootWithoutMessages }

// Params is the parameters in force in one block. It is a value: a change affects
// only a copy. The tags give key, class, tier, default, range (inclusive) or words;
// amounts are in wei, times in milliseconds. A default never changes: older chains have it where
// their genesis is silent. What new chains have instead is given by begins (decision C12).
type Params struct {
	// Chain.
	ChainID            uint64       `param:"chain.id" class:"genesis" default:"8011" min:"1"`
	Cheats             bool         `param:"chain.cheats" class:"genesis" default:"true"`                                // time travel, faucet, devnet keys
	Upgrades           bool         `param:"chain.upgrades" class:"genesis" default:"true"`                              // of actors (decision C25)
	ReceiptsRoot       uint64       `param:"chain.receipts_root" class:"genesis" default:"1" min:"1" max:"2" begins:"2"` // 1: messages are hashed too (decision C20)
	EpochBlocks        uint64       `param:"chain.epoch_blocks" class:"genesis" default:"64" min:"2"`                    // decision C6
	BlockTimeMS        Milliseconds `param:"chain.block_time_ms" class:"block" default:"1000" max:"3600000"`
	BlockTimeAuto      bool         `param:"chain.block_time_auto" class:"genesis" default:"false"`                    // blocks are made when there is something to do (decision C7)
	LinkDelayMS        Milliseconds `param:"chain.link_delay_ms" class:"block" default:"250" min:"1" max:"60000"`      // Δ of decision C4
	LeastExecMS        Milliseconds `param:"chain.least_execution_ms" class:"block" default:"250" min:"1" max:"60000"` // a proposer's share at least (decision C18)
	MaxBlockBytes      uint64       `param:"chain.max_block_bytes" class:"block" default:"2097152" min:"65536" max:"3145728"`
	CallDepth          uint64       `param:"chain.call_depth" class:"block" default:"32" min:"1" max:"64"`
	FaucetWei          types.Wei    `param:"chain.faucet_wei" class:"block" default:"5000000000000"`
	MaxStateKeyBytes   uint64       `param:"chain.max_state_key_bytes" class:"block" default:"256" min:"1" max:"2048"` // the trie's keys have room for it
	MaxStateValueBytes uint64       `param:"chain.max_state_value_bytes" class:"block" default:"1048576" min:"1"`
	MaxCodeBytes       uint64       `param:"chain.max_code_bytes" class:"block" default:"131072" min:"1"`
	MaxEvents          uint64       `param:"chain.max_events_per_message" class:"block" default:"256" min:"1"`
	MaxDeferred        uint64       `param:"chain.max_deferred_messages_per_block" class:"block" default:"1024" min:"1"`

	// Validators (decision C6).
	MaxValidators     uint64 `param:"chain.max_validators" class:"epoch" default:"100" min:"1" max:"1000"`
	MaxValidatorMoves uint64 `param:"chain.max_validator_moves_per_epoch" class:"epoch" default:"16" min:"1" max:"1000"` // joins and leaves

	// CIP-3: fees and lanes.
	CyclesLimit         types.Cycles `param:"cip3.block_cycles_limit" class:"block" default:"20000000" min:"2"`
	CellsLimit          types.Cells  `param:"cip3.block_cells_limit" class:"block" default:"1000000" min:"2"`
	LaneUserCycles      types.Cycles `param:"cip3.lane_user_cycles" class:"block" default:"10000000"`
	ItemCycles          types.Cycles `param:"cip3.item_cycles" class:"block" default:"1000000" min:"100000"` // of a transaction (decision C18); code that it brings adds to it
	LaneRunnerCycles    types.Cycles `param:"cip3.lane_runner_cycles" class:"block" default:"4000000"`
	LaneSystemCycles    types.Cycles `param:"cip3.lane_system_cycles" class:"block" default:"4000000"` // deferred messages and system instructions
	InitialBaseFeeCycle types.Wei    `param:"cip3.initial_basefee_cycle" class:"genesis" default:"1000"`
	InitialBaseFeeCell  types.Wei    `param:"cip3.initial_basefee_cell" class:"genesis" default:"1000"`
	MinBaseFee          types.Wei    `param:"cip3.min_basefee" class:"block" default:"1"`
	BaseFeeDivisor      uint64       `param:"cip3.basefee_change_divisor" class:"block" tier:"3" default:"8" min:"2"` // at most 1/8 a block

	// CIP-3: the table of cycles. Python's own steps are charged by the host,
	// from the same table.
	CostArithmetic   types.Cycles `param:"cip3.cycles_arithmetic" class:"block" default:"1"`
	CostCall         types.Cycles `param:"cip3.cycles_function_call" class:"block" default:"10"`
	CostDict         types.Cycles `param:"cip3.cycles_dict" class:"block" default:"3"`
	CostList         types.Cycles `param:"cip3.cycles_list" class:"block" default:"2"`
	CostStringChar   types.Cycles `param:"cip3.cycles_string_character" class:"block" default:"1"`
	CostLen          types.Cycles `param:"cip3.cycles_len" class:"block" default:"5"`
	CostReduceBase   types.Cycles `param:"cip3.cycles_reduce_base" class:"block" default:"10"` // sum, max, min: base + (n-1)
	CostSortBase     types.Cycles `param:"cip3.cycles_sort_base" class:"block" default:"20"`   // base + n·log2 n
	CostStrBase      types.Cycles `param:"cip3.cycles_str_base" class:"block" default:"10"`    // base + n
	CostListBase     types.Cycles `param:"cip3.cycles_list_base" class:"block" default:"10"`   // base + 2n
	CostSetBase      types.Cycles `param:"cip3.cycles_set_base" class:"block" default:"15"`    // base + 5n
	CostDictBase     types.Cycles `param:"cip3.cycles_dict_base" class:"block" default:"15"`   // base + 8n
	CostImportFirst  types.Cycles `param:"cip3.cycles_import_first" class:"block" default:"100"`
	CostImport       types.Cycles `param:"cip3.cycles_import" class:"block" default:"5"`
	CostSerialise    types.Cycles `param:"cip3.cycles_serialise_base" class:"block" default:"20"` // base + 1 a byte
	CostKeccakWord   types.Cycles `param:"cip3.cycles_keccak_word" class:"block" default:"6"`     // each 32 bytes begun
	CostVerify       types.Cycles `param:"cip3.cycles_secp256k1_verify" class:"block" default:"10000"`
	CostStorageRead  types.Cycles `param:"cip3.cycles_storage_read" class:"block" default:"10"`
	CostStorageWrite types.Cycles `param:"cip3.cycles_storage_write" class:"block" default:"200"`
	CostSend         types.Cycles `param:"cip3.cycles_message_send" class:"block" default:"80"`
	CostSetTimer     types.Cycles `param:"cip3.cycles_set_timer" class:"block" default:"200"`
	CostCancelTimer  types.Cycles `param:"cip3.cycles_cancel_timer" class:"block" default:"200"` // and extend_timer
	CostEvent        types.Cycles `param:"cip3.cycles_event" class:"block" default:"80"`         // our own: the table has none
	CostActorCall    types.Cycles `param:"cip3.cycles_actor_call" class:"block" default:"100"`   // our own
	CostTransfer     types.Cycles `param:"cip3.cycles_transfer" class:"block" default:"200"`     // our own: two account writes
	CostTransaction  types.Cycles `param:"cip3.cycles_transaction" class:"block" default:"1000"` // our own: signature, nonce, fee
	CostDeployByte   types.Cycles `param:"cip3.cycles_deploy_byte" class:"block" default:"1"`    // our own

	// CIP-1: the timer lane. Permille are thousandths.
	Policy               string       `param:"cip1.policy" class:"block" tier:"3" default:"eip1559" oneof:"fifo,eip1559,gba,bias-vcg,bias-first-price"` // decision T25
	LaneTimerCycles      types.Cycles `param:"cip1.lane_timer_cycles" class:"block" tier:"0" default:"2000000" min:"1"`
	LaneFeeDivisor       uint64       `param:"cip1.lane_basefee_change_divisor" class:"block" tier:"0" default:"8" min:"2"`           // at most 1/8 a block
	LaneFeeGain          uint64       `param:"cip1.lane_basefee_gain_permille" class:"block" tier:"0" default:"1000" max:"1000000"`   // a proposal (decision T12); 0: still
	LaneFeePermille      uint64       `param:"cip1.lane_fee_multiplier_permille" class:"block" tier:"0" default:"1000" max:"1000000"` // decision T12; rounded down
	MaxCyclesPerFireLane types.Cycles `param:"cip1.max_cycles_per_fire_auction_phase" class:"block" tier:"0" default:"250000" min:"1000"`
	MaxExamined          uint64       `param:"cip1.max_examined_timers" class:"block" default:"50000" min:"1"` // decision T16
	MaxArrears           uint64       `param:"cip1.max_arrears_examined" class:"block" default:"5000" min:"1"` // decision T16
	MinGasLimit          types.Cycles `param:"cip1.min_gas_limit" class:"block" default:"1000" min:"1"`        // decision T18
	BidRejectedFrom      types.Height `param:"cip1.bid_rejected_from" class:"block" default:"0"`               // decision T22; 0: from activation
	PriorityFloor        types.Wei    `param:"cip1.priority_floor" class:"block" default:"0"`                  // decision T10
	TieBreak             string       `param:"cip1.tie_break" class:"block" default:"id" oneof:"id,age"`

	// CIP-1 §2: the calendar queue (decision T7).
	RingSlots             uint64 `param:"cip1.ring_buffer_size" class:"genesis" default:"4096" min:"2" max:"65536"`
	CalendarEpochBlocks   uint64 `param:"cip1.epoch_blocks" class:"genesis" default:"3600" min:"1"` // of gba, too
	QueueEpochs           uint64 `param:"cip1.queue_epochs" class:"genesis" default:"168" min:"1" max:"1000000"`
	MaxMigrationsPerBlock uint64 `param:"cip1.max_migrations_per_block" class:"block" default:"10000" min:"1"` // timers that maintenance moves from tier to tier

	// CIP-1 §7: gas bidding agents (decisions T14, T15).
	DefaultFeeMultiple uint64       `param:"cip1.default_gba_fee_multiple" class:"block" tier:"0" default:"2" min:"1" max:"1000000"` // of the lane's base fee; under gba of the cycles'
	DefaultBidAt       string       `param:"cip1.default_bid_at" class:"block" default:"fire" oneof:"fire,schedule"`                 // when eip1559 supplies what a timer without an agent leaves open (decision T14)
	GBACallCycles      types.Cycles `param:"cip1.gba_cycles_per_call" class:"block" default:"20000" min:"1"`
	GBARetryBlocks     uint64       `param:"cip1.gba_retry_blocks" class:"block" default:"16" min:"1"`                    // validity of an answer that priced its timer out
	GBASilencedBlocks  uint64       `param:"cip1.gba_silenced_blocks" class:"block" default:"1024" min:"1" max:"1000000"` // one over which f + 1 hosts failed is not asked (decision C18)
	GBABlockCycles     types.Cycles `param:"cip1.gba_cycles_per_block" class:"block" default:"2000000"`
	TierEconomy        uint64       `param:"cip1.priority_tier_multipliers.economy" class:"block" tier:"0" default:"800" max:"1000000"` // permille of the p50 tip
	TierStandard       uint64       `param:"cip1.priority_tier_multipliers.standard" class:"block" tier:"0" default:"1000" max:"1000000"`
	TierFast           uint64       `param:"cip1.priority_tier_multipliers.fast" class:"block" tier:"0" default:"1500" max:"1000000"`
	TierUrgent         uint64       `param:"cip1.priority_tier_multipliers.urgent" class:"block" tier:"0" default:"2500" max:"1000000"`

	// CIP-1 §8: fairness (decision T21).
	FairnessWindowBlocks uint64 `param:"cip1.fairness_window_blocks" class:"block" tier:"0,2" default:"1000" min:"1" max:"1000000"`
	FairnessCenter       string `param:"cip1.fairness_center" class:"block" tier:"2" default:"median" oneof:"median,mean"`
	FairnessOf           string `param:"cip1.fairness_of" class:"block" tier:"2" default:"actor" oneof:"actor,deployer"` // a proposal (decision T21)
	FairnessSmoothing    uint64 `param:"cip1.fairness_smoothing_permille" class:"block" tier:"2" default:"1000" min:"1" max:"1000"`
	WeightMin            uint64 `param:"cip1.fairness_weight_min" class:"block" tier:"0" default:"1" min:"1" max:"1000"`
	WeightMax            uint64 `param:"cip1.fairness_weight_max" class:"block" tier:"0" default:"2" min:"1" max:"1000"`

	// CIP-1's first revision, the policy gba (decision T23). Weights in permille.
	GBAWeightStart  uint64 `param:"cip1.gba_weight_start" class:"block" default:"1000" min:"1" max:"1000000"`
	GBAWeightMin    uint64 `param:"cip1.gba_weight_min" class:"block" default:"500" min:"1" max:"1000000"`
	GBAWeightMax    uint64 `param:"cip1.gba_weight_max" class:"block" default:"2000" min:"1" max:"1000000"`
	GBAWeightFloor  uint64 `param:"cip1.gba_starvation_floor" class:"block" default:"1000" max:"1000000"`
	GBAFloorAfter   uint64 `param:"cip1.gba_starvation_deferrals" class:"block" default:"10" min:"1"`
	GBAWeightLambda uint64 `param:"cip1.gba_weight_lambda_permille" class:"block" default:"200" max:"1000"`

	// CIP-5: timers.
	Fees               string       `param:"cip5.fees" class:"genesis" default:"paid" oneof:"paid,free"` // decision T2
	MaxTTLBlocks       uint64       `param:"cip5.max_ttl_blocks" class:"block" default:"2592000" min:"1"`
	MaxCyclesPerFire   types.Cycles `param:"cip5.max_cycles_per_fire" class:"block" default:"550000" min:"1000"`
	MaxCellsPerFire    types.Cells  `param:"cip5.max_cells_per_fire" class:"block" default:"550000" min:"1"`
	MaxTimers          uint64       `param:"cip5.max_timers_per_actor" class:"block" default:"1024" min:"1"`
	GCCyclesPerBlock   types.Cycles `param:"cip5.gc_cycles_per_block" class:"block" default:"5000000"`
	GCCyclesPerTimer   types.Cycles `param:"cip5.gc_cycles_per_timer" class:"block" default:"5000" min:"1"`        // decision T19
	MaxTimerPayload    uint64       `param:"cip5.max_payload_bytes" class:"block" default:"1048576" max:"1048576"` // a history has room for it
	MaxTimerHandler    uint64       `param:"cip5.max_handler_bytes" class:"block" default:"256" max:"4096"`        // and for it
	FreeScheduleCycles types.Cycles `param:"cip5.free_schedule_cycles" class:"block" default:"1000"`               // fees = free (CIP-5 §6.1)
	FreeCancelCycles   types.Cycles `param:"cip5.free_cancel_cycles" class:"block" default:"500"`

	// CIP-5 §9: the biased auction (decision T24). λ is a fraction of 65,536.
	BiasLambdaStart   uint64    `param:"cip5.bias_lambda_start" class:"block" default:"4096" min:"1" max:"1048576"`
	BiasLambdaMin     uint64    `param:"cip5.bias_lambda_min" class:"block" default:"64" min:"1" max:"1048576"`
	BiasLambdaMax     uint64    `param:"cip5.bias_lambda_max" class:"block" default:"65536" min:"1" max:"1048576"`
	BiasControlBlocks uint64    `param:"cip5.bias_control_blocks" class:"block" default:"100" min:"1"`
	BiasReservePrice  types.Wei `param:"cip5.bias_reserve_price" class:"block" default:"1000"`
	BiasPayment       string    `param:"cip5.bias_payment" class:"block" default:"runner_up" oneof:"runner_up,per_cycle"` // of bias-vcg
	BiasReserveHolds  bool      `param:"cip5.bias_reserve_holds" class:"block" default:"false"`                           // a proposal (decision T24)
	MaxFiresPerBlock  uint64    `param:"cip5.max_fires_per_block" class:"block" default:"256" min:"1"`
	MaxFiresPerActor  uint64    `param:"cip5.max_fires_per_actor" class:"block" default:"32" min:"1"`

	// CIP-5 §9.8 phase 6: state-triggered timers (decision T26).
	MaxTriggered uint64 `param:"cip5.max_triggered_per_block" class:"block" default:"10000" min:"1"`

	// CIP-2: jobs (decisions J1 to J7, J15, J19) and runners (J18, J20).
	MinStake            types.Wei    `param:"cip2.min_stake" class:"block" default:"10000000000000" min:"1"` // the unit of weights (decision J3)
	InitialReputation   uint64       `param:"cip2.initial_reputation" class:"block" default:"75" max:"100"`
	MinReputation       uint64       `param:"cip2.min_reputation" class:"block" default:"50" max:"100"`
	TimeoutPenalty      uint64       `param:"cip2.timeout_penalty" class:"block" default:"5" max:"100"`
	SuccessReward       uint64       `param:"cip2.success_reward" class:"block" default:"1" max:"100"`
	RecoveryBlocks      uint64       `param:"cip2.reputation_recovery_blocks" class:"block" default:"256" min:"1"` // for a point below min_reputation (decision J21)
	RefusalWindow       uint64       `param:"cip2.refusal_window_blocks" class:"block" default:"256" min:"1"`      // in which refusals lower a weight (decision J21)
	MaxRetries          uint64       `param:"cip2.max_retries" class:"block" default:"3" max:"100"`
	StakeReturnEpochs   uint64       `param:"cip2.stake_return_epochs" class:"block" default:"2" min:"1" max:"1000000"` // after leaving (decision J20)
	CommitPermille      uint64       `param:"cip2.commit_permille" class:"block" default:"600" max:"999"`               // of the timeout; reveals need the rest
	RunnerSharePermille uint64       `param:"cip2.runner_share_permille" class:"block" default:"990" max:"1000"`
	StakeCoverPermille  uint64       `param:"cip2.stake_cover_permille" class:"block" default:"1500" max:"1000000"` // of max_price
	MaxDraws            uint64       `param:"cip2.max_draws_per_block" class:"block" default:"256" min:"1" max:"4096"`
	MaxCommittee        uint64       `param:"cip2.max_committee" class:"block" default:"31" min:"1" max:"31"` // results are compared pairwise
	MaxTimeoutBlocks    uint64       `param:"cip2.max_timeout_blocks" class:"block" default:"100000" min:"2" max:"1000000000"`
	MaxOpenJobs         uint64       `param:"cip2.max_open_jobs" class:"block" default:"4096" min:"1" max:"65536"`
	MaxSpecBytes        uint64       `param:"cip2.max_spec_bytes" class:"block" default:"262144" min:"1" max:"524288"` // a JobAssignment has room for it
	MaxResultBytes      uint64       `param:"cip2.max_result_bytes" class:"block" default:"262144" min:"1" max:"524288"`
	CallbackCycles      types.Cycles `param:"cip2.callback_cycles" class:"block" default:"500000" min:"1"`
	CallbackCells       types.Cells  `param:"cip2.callback_cells" class:"block" default:"20000"`

	// CIP-11: presence, selection and delivery (decisions J8 to J14).
	Push                 string `param:"cip11.push" class:"block" default:"hot" oneof:"off,shadow,hot,sunset"`
	StaleHeartbeatBlocks uint64 `param:"cip11.stale_heartbeat_blocks" class:"block" default:"1024" min:"1"`
	MRUTTLBlocks         uint64 `param:"cip11.mru_ttl_blocks" class:"block" default:"256"`
	MRUWeightMultiplier  uint64 `param:"cip11.mru_weight_multiplier" class:"block" default:"4" min:"1" max:"1000000"`
	HeartbeatTxBlocks    uint64 `param:"cip11.heartbeat_tx_blocks" class:"block" default:"100" min:"1"`
	MaxRunners           uint64 `param:"cip11.max_runners" class:"block" default:"65504" max:"65504"` // what a bitmap holds (decision J12)
	PresenceRule         string `param:"cip11.presence_rule" class:"epoch" default:"quorum" oneof:"quorum,validator-set,subset,safe"`
	MinSubset            uint64 `param:"cip11.min_subset" class:"epoch" default:"3" min:"1" max:"1000"`
	MaxSubset            uint64 `param:"cip11.max_subset" class:"epoch" default:"8" min:"1" max:"1000"`
	SubsetEpochBlocks    uint64 `param:"cip11.subset_epoch_blocks" class:"epoch" default:"8192" min:"1"`
	ChurnPermille        uint64 `param:"cip11.validator_churn_threshold_permille" class:"epoch" default:"100" max:"1000"`
	OverlapBlocks        uint64 `param:"cip11.overlap_blocks" class:"epoch" default:"32" max:"1000000"`

	// CIP-11: the connections of runners and validators. All waits are at most a minute.
	HeartbeatBlocks        uint64       `param:"cip11.heartbeat_blocks" class:"block" default:"1" min:"1" max:"1000"`
	PresenceTimeoutBlocks  uint64       `param:"cip11.presence_timeout_blocks" class:"block" default:"3" min:"2" max:"1000000"`
	AckTimeoutBlocks       uint64       `param:"cip11.ack_timeout_blocks" class:"block" default:"3" min:"1" max:"1000000"`
	MinBlockMS             Milliseconds `param:"cip11.min_block_ms" class:"block" default:"100" min:"1" max:"60000"` // when ages are judged (decision J13)
	HelloTimeoutMS         Milliseconds `param:"cip11.hello_timeout_ms" class:"block" default:"5000" min:"100" max:"60000"`
	HelloPerIdentity       uint64       `param:"cip11.hello_per_identity" class:"block" default:"5" min:"1" max:"1000"`        // a second
	HelloPerAddress        uint64       `param:"cip11.hello_per_address" class:"block" default:"1000" min:"1" max:"65536"`     // a second
	ControlFramesPerSecond uint64       `param:"cip11.control_frames_per_second" class:"block" default:"20" min:"4" max:"100"` // each is remembered
	WriteTimeoutMS         Milliseconds `param:"cip11.write_timeout_ms" class:"block" default:"2000" min:"100" max:"60000"`
	GoodbyeGraceMS         Milliseconds `param:"cip11.goodbye_grace_ms" class:"block" default:"500" min:"10" max:"60000"`
}
