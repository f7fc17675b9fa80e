// Package model holds the JSON forms of the HTTP API: the names that scripts,
// the command line and other programs read. The server writes them and the
// client reads them.
//
// Bytes, hashes and addresses are 0x-hex, amounts in wei are decimal strings,
// counts and heights are integers. A list is never null. A field that is always
// present is null if it has no value.
package model

import (
	"encoding/json"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Health is the answer of GET /health: the process serves.
type Health struct {
	Status string `json:"status" enum:"ok" doc:"Always ok: the process answers. GET /ready shows whether the network does."`
}

// Height is the answer of GET /height.
type Height struct {
	Height types.Height `json:"height" doc:"Height of the latest final block."`
}

// Error is every answer that is not a success.
type Error struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what was wrong, where, and what to do.
type ErrorBody struct {
	Code    string `json:"code" doc:"Stable name of the error, for programs."`
	Message string `json:"message" doc:"Cause of the error, for people."`
	Hint    string `json:"hint" doc:"Remedy; empty if there is none."`
	Field   string `json:"field" doc:"The parameter or field at fault; empty if none is."`
}

// Split is an amount by the fee it came from.
type Split struct {
	Cycle     types.Wei `json:"cycle"`
	Cell      types.Wei `json:"cell"`
	LaneTimer types.Wei `json:"lane_timer"`
}

// Tips is the sum of tips that the proposer received.
type Tips struct {
	Transactions types.Wei `json:"transactions"`
	Timers       types.Wei `json:"timers"`
}

// Vote is one notarize vote on the parent, as a block carries it (decision C3).
type Vote struct {
	Validator types.Address `json:"validator"`
	BitLength int           `json:"bit_length" doc:"Number of bits of its presence bitmap: the registry's length at the block's parent (CIP-11 §8.4)."`
	Bitmap    types.Bytes   `json:"bitmap" doc:"Without its length; bit i is bit i mod 8 of byte i / 8, where bit 0 has the value 1 (CIP-11 §12.3)."`
}

// Block is a final block and what executing it did.
type Block struct {
	Height             types.Height    `json:"height"`
	View               types.View      `json:"view"`
	Epoch              types.Epoch     `json:"epoch"`
	Hash               types.Hash      `json:"hash"`
	Parent             types.Hash      `json:"parent"`
	Proposer           types.Address   `json:"proposer"`
	TimestampMS        types.Millis    `json:"timestamp_ms"`
	Transactions       []types.Hash    `json:"transactions" doc:"Hashes, in the order they ran."`
	CyclesUsed         types.Cycles    `json:"cycles_used"`
	CellsUsed          types.Cells     `json:"cells_used"`
	BaseFeeCycle       types.Wei       `json:"basefee_cycle"`
	BaseFeeCell        types.Wei       `json:"basefee_cell"`
	BaseFeeLaneTimer   types.Wei       `json:"basefee_lane_timer"`
	TimerCyclesUsed    types.Cycles    `json:"timer_cycles_used"`
	TimersFired        []types.TimerID `json:"timers_fired" doc:"Ids in the order they ran."`
	TimersDeferred     []types.TimerID `json:"timers_deferred" doc:"Examined and left; /timers/lane counts those that the block did not come to, too."`
	TimersExpired      []types.TimerID `json:"timers_expired"`
	TimersInsufficient []types.TimerID `json:"timers_insufficient"`
	Passed             Passed          `json:"passed" doc:"Items that its proposer skipped, because its host of programs failed or its time was over (decision C18)."`
	Burned             Split           `json:"burned"`
	Tips               Tips            `json:"tips"`
	Events             []Event         `json:"events" doc:"The chain's own that belong to no receipt: timers that ended unfired, gas bidding agents that failed, parameters that changed."`
	StateRoot          types.Hash      `json:"state_root"`
	SubsetEpoch        uint64          `json:"subset_epoch"`
	Skipped            uint64          `json:"skipped" doc:"Heights skipped before this block (decision C8)."`
	Votes              []Vote          `json:"votes" doc:"The notarize votes on the parent that this block carries."`
}

// Passed lists the items that the proposer of a block skipped, each uncharged and
// unchanged, unless by then the hosts of more validators than can be faulty failed on
// it.
type Passed struct {
	Timers   []types.TimerID `json:"timers" doc:"Items on which its host failed, in the order of their turns."`
	Messages []types.Seq     `json:"messages" doc:"The same of deferred messages, by sequence number."`
	Agents   []Asked         `json:"agents" doc:"The same of gas bidding agents, in the order of asking."`
	Late     []Late          `json:"late" doc:"Transactions that took too much CPU time at it: what more validators list than can be faulty ends as host_failed (decision C18)."`
	Waiting  uint64          `json:"waiting" doc:"How many of agents, timers and messages it left for another block: they were cut off in one before, or their party was late."`
	Stopped  []string        `json:"stopped" doc:"Agents, timers and messages at which its time was over: it did not begin the later ones."`
}

// Late is a transaction that was late at a proposer.
type Late struct {
	Sender types.Address `json:"sender"`
	Nonce  types.Nonce   `json:"nonce"`
	CPU    uint64        `json:"cpu_us" doc:"CPU time in microseconds, as the proposer says; 0: its host crashed."`
}

// Asked is a question to a gas bidding agent.
type Asked struct {
	Bidder        types.Address `json:"bidder"`
	Actor         types.Address `json:"actor"`
	TriggerHeight types.Height  `json:"trigger_height" doc:"Due height of the timers that the agent priced."`
}

// Fault says why something failed.
type Fault struct {
	_       struct{} `nullable:"true"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
}

// Event is an event of an actor, or the chain's about it.
type Event struct {
	Actor types.Address `json:"actor"`
	Name  string        `json:"name"`
	Data  types.Bytes   `json:"data" doc:"For the chain's own events: a CBOR map."`
	Typed *Typed        `json:"typed,omitempty" doc:"The same by the schema; absent without one."`
}

// Receipt is the result of one execution in a block.
type Receipt struct {
	Hash       types.Hash    `json:"hash" doc:"Hash of the transaction; for a fire the timer's id; for a delivered message its hash."`
	Origin     string        `json:"origin" enum:"transaction,timer,message"`
	Height     types.Height  `json:"height"`
	Index      uint32        `json:"index" doc:"Position among the block's receipts."`
	Sender     types.Address `json:"sender"`
	To         types.Address `json:"to" doc:"The new actor of a deploy."`
	Handler    string        `json:"handler"`
	Status     string        `json:"status" doc:"ok, reverted, out_of_cycles, out_of_cells, invalid_code, no_actor, no_handler, host_failed or failed."`
	Cycles     types.Cycles  `json:"cycles"`
	Cells      types.Cells   `json:"cells"`
	CyclesUsed types.Cycles  `json:"cycles_used" doc:"The same as cycles, by the chain's own name."`
	CellsUsed  types.Cells   `json:"cells_used" doc:"The same as cells, by the chain's own name."`
	Fee        types.Wei     `json:"fee" doc:"All that was paid, tip included, in wei."`
	Tip        types.Wei     `json:"tip"`
	Events     []Event       `json:"events"`
	Error      *Fault        `json:"error" doc:"Null where the status is ok."`
	Output     types.Bytes   `json:"output"`
	Logs       []string      `json:"logs" doc:"The lines that it printed, also where it failed."`
	Typed      *Typed        `json:"typed,omitempty" doc:"The output by the schema; absent without one."`
}

// Transaction is a transaction as it was signed, and its place.
type Transaction struct {
	Hash                   types.Hash      `json:"hash"`
	Status                 string          `json:"status" enum:"final,pending" doc:"final once a final block holds it."`
	Height                 *types.Height   `json:"height" doc:"Height of the block that holds it; null while pending."`
	Sender                 types.Address   `json:"sender"`
	ChainID                uint64          `json:"chain_id"`
	Nonce                  types.Nonce     `json:"nonce"`
	To                     *types.Address  `json:"to" nullable:"true" doc:"Null for deploys and system instructions."`
	Value                  types.Wei       `json:"value"`
	CyclesLimit            types.Cycles    `json:"cycles_limit"`
	CellsLimit             types.Cells     `json:"cells_limit"`
	MaxFeePerCycle         types.Wei       `json:"max_fee_per_cycle"`
	MaxFeePerCell          types.Wei       `json:"max_fee_per_cell"`
	MaxPriorityFeePerCycle types.Wei       `json:"max_priority_fee_per_cycle"`
	MaxPriorityFeePerCell  types.Wei       `json:"max_priority_fee_per_cell"`
	Kind                   string          `json:"kind" doc:"transfer, deploy, execute, upgrade, apply_upgrade, upgrade_terms or system."`
	Handler                string          `json:"handler" doc:"Handler of an execute; empty for others."`
	Sponsor                types.Wei       `json:"sponsor" doc:"For an execute: the maximum in wei that timers of the actor may cost its sender."`
	Payload                types.Bytes     `json:"payload" doc:"The canonical CBOR map of the instruction."`
	Signature              types.Signature `json:"signature"`
	Typed                  *Typed          `json:"typed,omitempty" doc:"The handler's payload by the schema; absent without one."`
}

// Submitted is the answer of POST /submit.
type Submitted struct {
	Hash types.Hash `json:"hash"`
}

// Account is a balance and a nonce; one that was never used has neither.
type Account struct {
	Address types.Address `json:"address"`
	Name    string        `json:"name" doc:"The devnet's name of the account, or the actor's; empty if it has none."`
	Nonce   types.Nonce   `json:"nonce" doc:"Nonce of the next transaction."`
	Balance types.Wei     `json:"balance" doc:"In wei."`
}

// ActorHandler is one handler of an actor. Generators of code have a Handler of their own.
type ActorHandler struct {
	Name string `json:"name"`
	Doc  string `json:"doc" doc:"First line of its documentation."`
}

// ActorTimers counts an actor's pending timers.
type ActorTimers struct {
	Pending uint64        `json:"pending"`
	NextDue *types.Height `json:"next_due" doc:"Due height of the earliest; null if none is pending."`
}

// Actor is a deployed actor.
type Actor struct {
	Address    types.Address  `json:"address"`
	Name       string         `json:"name"`
	Owner      types.Address  `json:"owner" doc:"Who deployed it."`
	CodeHash   types.Hash     `json:"code_hash"`
	DeployedAs types.Hash     `json:"deployed_as" doc:"Hash of the code that it was deployed with, which its address follows from."`
	Balance    types.Wei      `json:"balance"`
	DeployedAt types.Height   `json:"deployed_at"`
	Handlers   []ActorHandler `json:"handlers"`
	// Undescribed is why the handlers are not known.
	Undescribed string      `json:"undescribed,omitempty" doc:"Why the handlers are not known: the host of programs is missing or failed."`
	Timers      ActorTimers `json:"timers"`

	Upgrades ActorUpgrades `json:"upgrades"`
}

// StateEntry is one key of an actor's state.
type StateEntry struct {
	Key   types.Bytes `json:"key"`
	Value types.Bytes `json:"value"`
	Text  string      `json:"text" doc:"The value if it is printable UTF-8, otherwise empty."`
	Int   string      `json:"int" doc:"The value as the SDK's get_int reads it, in decimal; empty if it is longer than 32 bytes, or empty."`
	Typed *Typed      `json:"typed,omitempty" doc:"The same by the schema; absent without one."`
}

// LogLine is one line an actor printed.
type LogLine struct {
	Actor  types.Address `json:"actor"`
	Height types.Height  `json:"height"`
	Hash   types.Hash    `json:"hash" doc:"Hash of the receipt of the execution that printed it."`
	Line   string        `json:"line"`
}

// ReadResult is the answer of POST /actor/read.
type ReadResult struct {
	Height types.Height `json:"height" doc:"Height of the state that was read."`
	Status string       `json:"status"`
	Output types.Bytes  `json:"output"`
	Text   string       `json:"text" doc:"The output if it is printable UTF-8, otherwise empty."`
	Cycles types.Cycles `json:"cycles"`
	Cells  types.Cells  `json:"cells"`
	Error  *Fault       `json:"error"`
	Logs   []string     `json:"logs" doc:"Lines that the handler printed."`
	Typed  *Typed       `json:"typed,omitempty" doc:"The output by the schema; absent without one. Of typed state its name and value."`
}

// BaseFee is the prices of the next block, in wei a cycle and a cell.
type BaseFee struct {
	Height           types.Height `json:"height" doc:"The next block's."`
	BaseFeeCycle     types.Wei    `json:"basefee_cycle"`
	BaseFeeCell      types.Wei    `json:"basefee_cell"`
	BaseFeeLaneTimer types.Wei    `json:"basefee_lane_timer"`
}

// Timer is a timer in any state.
type Timer struct {
	ID                     types.TimerID  `json:"id"`
	Actor                  types.Address  `json:"actor"`
	Height                 types.Height   `json:"height" doc:"At which it is due first."`
	Handler                string         `json:"handler"`
	Payload                types.Bytes    `json:"payload"`
	FeePayer               types.Address  `json:"fee_payer"`
	Sponsor                *types.Hash    `json:"sponsor" nullable:"true" doc:"The transaction whose sender pays, within the sponsor that it states; null where the actor pays."`
	GasLimit               *types.Cycles  `json:"gas_limit" nullable:"true" doc:"Cycles of a fire, as stated; null for the cap, whatever it is when the timer fires (decision T5)."`
	ExpiresAt              types.Height   `json:"expires_at"`
	MaxFeePerCycle         *types.Wei     `json:"max_fee_per_cycle"`
	MaxPriorityFeePerCycle *types.Wei     `json:"max_priority_fee_per_cycle"`
	Bid                    types.Wei      `json:"bid" doc:"Locked for an auction; 0 under a policy without one."`
	GBA                    *types.Address `json:"gba" nullable:"true"`
	Watch                  *Watch         `json:"watch" doc:"The key of state whose change makes it due, at its height at the earliest; null if only its height does."`
	Status                 string         `json:"status" enum:"pending,fired,expired,insufficient_funds,cancelled"`
	Tier                   *string        `json:"tier" doc:"Tier of the calendar: ring, epoch, overflow, or carry if it is past its height; null once it ended."`
	ScheduledAt            types.Height   `json:"scheduled_at"`
	EndedAt                *types.Height  `json:"ended_at" doc:"Null while pending."`
	Deferrals              uint64         `json:"deferrals" doc:"Blocks in which it was due and did not end."`
	Reason                 string         `json:"reason" doc:"Reason of the last deferral or of its end."`
	Result                 string         `json:"result" doc:"How its handler ended, as a receipt's status; empty unless it fired."`
	Priority               types.Wei      `json:"priority" doc:"Tip in wei a cycle when a block looked at it last, or the bid in an auction. The stated tip, or 0, before the first look."`
	Weight                 string         `json:"weight" doc:"Weight of its actor as n/d, when a block looked at it last; 1/1 before the first look, and under a policy without weights."`
	CyclesUsed             types.Cycles   `json:"cycles_used"`
	CellsUsed              types.Cells    `json:"cells_used"`
	FeePaid                types.Wei      `json:"fee_paid" doc:"All of it, tip included."`
	TipPaid                types.Wei      `json:"tip_paid"`
	Typed                  *Typed         `json:"typed,omitempty" doc:"The payload by the schema; absent without one."`
}

// Watch is a key of an actor's state that a timer waits for (decision T26).
type Watch struct {
	_     struct{}      `nullable:"true"`
	Actor types.Address `json:"actor"`
	Key   types.Bytes   `json:"key"`
}

// TimerDetail is a timer with the receipt of its fire.
type TimerDetail struct {
	Timer
	Receipt *Receipt `json:"receipt,omitempty" doc:"Receipt of its fire; absent unless it fired."`
}

// Validator is one validator as the network sees it.
type Validator struct {
	Index       int             `json:"index" doc:"Position in the set, which is sorted by address."`
	Name        string          `json:"name"`
	Address     types.Address   `json:"address"`
	PublicKey   types.PublicKey `json:"public_key"`
	QUICAddress string          `json:"quic_address"`
	Height      types.Height    `json:"height" required:"false" doc:"Height of its latest final block."`
	StateRoot   types.Hash      `json:"state_root" required:"false" doc:"After that block."`
	View        types.View      `json:"view" required:"false" doc:"Its current view."`
	Status      string          `json:"status" enum:"joining,active,leaving,left"`
	Running     bool            `json:"running"`
	Elsewhere   bool            `json:"elsewhere,omitempty" doc:"True if another process runs it than the one that answers. Then running is whether the two are connected; height, state_root, view, connections and runners are absent."`
	Connections int             `json:"connections" required:"false" doc:"Live connections to other validators."`
	Runners     int             `json:"runners" required:"false" doc:"Runners that are connected to it."`
	DeadLetters uint64          `json:"dead_letters" required:"false" doc:"Events for roles of it that had stopped, since it started."`
	Restarted   uint64          `json:"restarted" required:"false" doc:"Roles and contracts of it that panicked and were made again, since it started."`
}

// MarshalJSON omits the fields that are unknown for a validator elsewhere: a height of 0
// would be a statement.
func (v Validator) MarshalJSON() ([]byte, error) {
	type plain Validator
	if !v.Elsewhere {
		return json.Marshal(plain(v))
	}
	type unknown *struct{} // nil: each hides the field of the same name
	return json.Marshal(struct {
		plain
		Height      unknown `json:"height,omitempty"`
		StateRoot   unknown `json:"state_root,omitempty"`
		View        unknown `json:"view,omitempty"`
		Connections unknown `json:"connections,omitempty"`
		Runners     unknown `json:"runners,omitempty"`
		DeadLetters unknown `json:"dead_letters,omitempty"`
		Restarted   unknown `json:"restarted,omitempty"`
	}{plain: plain(v)})
}

// Param is one protocol parameter in force.
type Param struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Class   string `json:"class" enum:"genesis,block,epoch" doc:"When it may change: never, at a later block, at a later epoch."`
	Tier    string `json:"tier" doc:"Tier of governance in the drafts: genesis, 0, 2, 3, or 0,2 if a draft names both (decision G1); empty: none. One system key stands for all tiers here."`
	Default string `json:"default"`
}

// DevnetAccount is a funded account that the devnet holds the key of.
type DevnetAccount struct {
	Name    string        `json:"name"`
	Address types.Address `json:"address"`
	Nonce   types.Nonce   `json:"nonce"`
	Balance types.Wei     `json:"balance"`
}

// ReadyNode is one node's part of GET /ready.
type ReadyNode struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind" enum:"validator,runner"`
	Ready   bool         `json:"ready" doc:"For a validator elsewhere: whether it is connected with the one that answers."`
	Height  types.Height `json:"height,omitempty" doc:"The latest final block. Absent before the first, and for a validator elsewhere."`
	Missing []string     `json:"missing" doc:"Conditions that this node does not meet, in words; empty when it is ready."`
}

// Ready is the answer of GET /ready.
type Ready struct {
	Ready     bool         `json:"ready"`
	ChainID   uint64       `json:"chain_id"`
	Genesis   types.Hash   `json:"genesis" doc:"State root of genesis: two networks with the same one began alike."`
	Height    types.Height `json:"height" doc:"Highest final height among running nodes."`
	Paused    bool         `json:"paused" doc:"True while block production is paused."`
	Node      string       `json:"node,omitempty" doc:"The validator that answers, where the others run elsewhere; of those it knows whether they are connected."`
	Held      string       `json:"held,omitempty" doc:"The moment of a simulated run that is held; absent for a network whose time passes by itself."`
	Strict    bool         `json:"strict" doc:"True where everything under /devnet and the faucet is refused."`
	Version   string       `json:"version"`
	Strategy  string       `json:"supervision" enum:"restart,stop" doc:"Effect of a panic of a role: restart makes the role again, or starts the node again from its disk; stop leaves the node down."`
	Nodes     []ReadyNode  `json:"nodes"`
	SinceMS   uint64       `json:"since_block_ms" doc:"Since a block became final here last, or since the start."`
	Stalled   string       `json:"stalled,omitempty" doc:"Why no block is made, or none was for longer than is usual."`
	Blocked   bool         `json:"blocked,omitempty" doc:"True if no block can be made without an operator; stalled gives the reason."`
	TravelsTo types.Height `json:"travels_to,omitempty" doc:"Height that an advance goes to which is under way; after a restart it goes on."`
	Origins   []string     `json:"origins,omitempty" doc:"Origins whose pages may call this API, from --cors."`
	Trouble   []string     `json:"troubles" doc:"Recent trouble of validators that does not stop blocks, such as programs on which their hosts fail."`
	Error     *ErrorBody   `json:"error,omitempty" doc:"Only with status 503."`
}

// Faucet is the answer of POST /faucet.
type Faucet struct {
	Hash   types.Hash `json:"hash"`
	Amount types.Wei  `json:"amount" doc:"In wei."`
}

// Deployed is the answer of POST /devnet/deploy.
type Deployed struct {
	Address types.Address `json:"address"`
	Receipt Receipt       `json:"receipt"`
}

// The types of GET /events; each is the SSE event name. The data of block is a
// Block, of tx a Receipt, of timer a TimerEvent, of log a LogLine, of job a JobEvent,
// of presence a PresenceEvent, of runner a RunnerEvent, of fault a FaultReceipt, of view a
// ViewEvent and of dropped an ErrorBody.
const (
	EventBlock    = "block"
	EventTx       = "tx"
	EventTimer    = "timer"
	EventLog      = "log"
	EventJob      = "job"
	EventPresence = "presence"
	EventRunner   = "runner"
	EventFault    = "fault"
	EventView     = "view"
	EventDropped  = "dropped"
)

// TimerEvent is a block's effect on a timer.
type TimerEvent struct {
	ID      types.TimerID `json:"id"`
	Actor   types.Address `json:"actor"`
	Height  types.Height  `json:"height" doc:"Of the block."`
	Status  string        `json:"status" doc:"pending if it was scheduled, extended or deferred; otherwise how it ended."`
	Reason  string        `json:"reason"`
	Receipt *Receipt      `json:"receipt,omitempty" doc:"Receipt of a fire; absent for others."`
	Logs    []string      `json:"logs" doc:"Lines that a fire printed."`
}

// SendRequest is the body of POST /devnet/send.
type SendRequest struct {
	From        string                     `json:"from" minLength:"1" maxLength:"256" doc:"A devnet account, by name or address. An actor or another address is impersonated: the system key signs and pays the fee."`
	To          string                     `json:"to" minLength:"1" maxLength:"256" doc:"An account or actor, by name or address."`
	Handler     string                     `json:"handler,omitempty" maxLength:"256" doc:"The handler to call; without one the value is transferred."`
	Payload     string                     `json:"payload,omitempty" doc:"0x-hex is bytes; any other string is UTF-8 text."`
	Args        map[string]json.RawMessage `json:"args,omitempty" doc:"Instead of payload: the arguments of a typed handler by name, in the forms of its schema. Where an address is wanted, a name is one too."`
	Value       *types.Wei                 `json:"value,omitempty" doc:"In wei; 0 where absent."`
	Sponsor     *types.Wei                 `json:"sponsor,omitempty" doc:"The most in wei that timers of the actor may cost the sender, who else cannot be their fee payer; 0 where absent."`
	CyclesLimit *types.Cycles              `json:"cycles_limit,omitempty" doc:"1,000,000 where absent."`
	CellsLimit  *types.Cells               `json:"cells_limit,omitempty" doc:"Enough for the payload, and 100,000 more, where absent."`
	NoWait      bool                       `json:"no_wait,omitempty" doc:"Answer once the transaction is in the pool: the receipt then has its hash and the status pending. Works while the network is paused."`
	DryRun      bool                       `json:"dry_run,omitempty" doc:"Execute on the latest state and answer the receipt, changing nothing."`
	Trace       bool                       `json:"trace,omitempty" doc:"For a dry run: add its trace, call by call, to the receipt."`
}

// DeployRequest is the body of POST /devnet/deploy.
type DeployRequest struct {
	From string                     `json:"from" minLength:"1" maxLength:"256" doc:"A devnet account, by name or address; it becomes the owner. An actor or another address is impersonated."`
	Code string                     `json:"code" minLength:"1" doc:"The Python source as text, or as 0x-hex."`
	Name string                     `json:"name,omitempty" maxLength:"256" doc:"A name that works wherever an address does; must be free."`
	Init string                     `json:"init,omitempty" doc:"Payload of init: 0x-hex is bytes, any other string is UTF-8 text."`
	Args map[string]json.RawMessage `json:"args,omitempty" doc:"Instead of init: the arguments of a typed init by name, in the forms of its schema. Where an address is wanted, a name is one too."`
	Fund *types.Wei                 `json:"fund,omitempty" doc:"In wei, moved from the deployer to the actor; 0 where absent."`

	Upgrade *UpgradeTerms `json:"upgrade,omitempty" doc:"The account that may give the actor new code. If it is absent, the code is fixed for good."`

	Replace bool `json:"replace,omitempty" doc:"Take the name from the actor of the same owner that has it."`

	CyclesLimit *types.Cycles `json:"cycles_limit,omitempty" doc:"1,000,000 and 4 a byte of code where absent."`
	CellsLimit  *types.Cells  `json:"cells_limit,omitempty" doc:"Enough for code and init, and 100,000 more, where absent."`
}

// ReadRequest is the body of POST /actor/read.
type ReadRequest struct {
	Actor   string                     `json:"actor" minLength:"1" maxLength:"256" doc:"Address or name."`
	Handler string                     `json:"handler" minLength:"1" maxLength:"2048" doc:"A handler; or typed state, like price, members[3], len(members) or log[KEY], where no handler has that name."`
	Payload string                     `json:"payload,omitempty" doc:"0x-hex is bytes; any other string is UTF-8 text."`
	Args    map[string]json.RawMessage `json:"args,omitempty" doc:"Instead of payload: the arguments of a typed handler by name, in the forms of its schema. Where an address is wanted, a name is one too."`
	From    string                     `json:"from,omitempty" maxLength:"256" doc:"Caller, by name or address; the zero address if absent."`
}

// BidRequest is the body of POST /actor/bid.
type BidRequest struct {
	Bidder string               `json:"bidder" minLength:"1" maxLength:"256" doc:"The gas bidding agent, by address or name."`
	Actor  string               `json:"actor,omitempty" maxLength:"256" doc:"Whose timer it would be, by address or name; the agent's own where absent."`
	Late   types.Height         `json:"late,omitempty" doc:"For how many blocks the timer would be due."`
	With   map[string]types.Wei `json:"with,omitempty" doc:"Values that replace those given to the agent, by the names of its context: heights in blocks, amounts in wei."`
}

// BidTrial answers POST /actor/bid.
type BidTrial struct {
	Height   types.Height         `json:"height" doc:"Height of the block that would ask."`
	Context  map[string]types.Wei `json:"context" doc:"Values given to the agent: heights in blocks, amounts in wei."`
	Status   string               `json:"status"`
	Error    *Fault               `json:"error"`
	Output   types.Bytes          `json:"output"`
	Answered bool                 `json:"answered" doc:"False if the output is not an answer: the protocol's own agent bids for such a timer."`

	MaxFeePerCycle         *types.Wei `json:"max_fee_per_cycle" doc:"As answered, in wei; null: the protocol's own agent says it."`
	MaxPriorityFeePerCycle *types.Wei `json:"max_priority_fee_per_cycle" doc:"As answered, in wei; null: the protocol's own agent says it."`

	BaseFeeCycle     types.Wei `json:"basefee_cycle" doc:"Price of a cycle of the fire, in wei."`
	BaseFeeLaneTimer types.Wei `json:"basefee_lane_timer" doc:"Price of the lane for the same cycle, in addition."`
	TipPerCycle      types.Wei `json:"tip_per_cycle" doc:"The same of the tip: the timer's priority."`
	PricedOut        bool      `json:"priced_out" doc:"The max fee is too low for a turn in that block."`

	Cycles types.Cycles `json:"cycles" doc:"That the agent used."`
	Logs   []string     `json:"logs"`
}

// FaucetRequest is the body of POST /faucet.
type FaucetRequest struct {
	Address string `json:"address" minLength:"1" maxLength:"256" doc:"Address or name."`
}

// SubmitRequest is the JSON body of POST /submit and /submit_wait.
type SubmitRequest struct {
	Tx types.Bytes `json:"tx" doc:"The signed transaction as canonical CBOR."`
}
