package api

import (
	"fmt"
	"reflect"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The examples of the OpenAPI document.
var (
	exampleHash    = types.Hash{0: 0x11, 31: 0x11}
	exampleTimerID = types.Hash{0: 0x22, 31: 0x22}
	exampleAddress = types.Address{0: 0xaa, 19: 0xaa}
	exampleActorAt = types.Address{0: 0xbb, 19: 0xbb}
	exampleHeight  = types.Height(12)

	exampleBlock = model.Block{Height: 12, View: 13, Hash: exampleHash, Proposer: exampleAddress, TimestampMS: 1_700_000_012_000,
		Transactions: []types.Hash{exampleHash}, CyclesUsed: 21_300, CellsUsed: 410, BaseFeeCycle: types.WeiOf(1000),
		BaseFeeCell: types.WeiOf(1000), BaseFeeLaneTimer: types.WeiOf(1000), TimersFired: []types.Hash{exampleTimerID},
		TimersDeferred: []types.Hash{}, TimersExpired: []types.Hash{}, TimersInsufficient: []types.Hash{}, Events: []model.Event{},
		Passed: answers.ShowPassed(nil),
		Votes:  []model.Vote{{Validator: exampleAddress, Bitmap: types.Bytes{}}}}
	exampleReceipt = model.Receipt{Hash: exampleHash, Origin: "transaction", Height: 12, Sender: exampleAddress, To: exampleActorAt,
		Handler: "start", Status: "ok", Cycles: 1850, Cells: 64, CyclesUsed: 1850, CellsUsed: 64, Fee: types.WeiOf(1_914_000),
		Events: []model.Event{{Actor: exampleActorAt, Name: "started", Data: types.Bytes{0xa0}}}, Output: types.Bytes("pong"),
		Logs: []string{"started"}}
	// A timer of block 12, due in 22, fired in 25 when the lane had room.
	exampleFire = model.Receipt{Hash: exampleTimerID, Origin: "timer", Height: 25, Sender: exampleActorAt, To: exampleActorAt,
		Handler: "handle_timer", Status: "ok", Cycles: 900, CyclesUsed: 900, Fee: types.WeiOf(2_183_400), Tip: types.WeiOf(2700),
		Events: []model.Event{}, Logs: []string{}}
	exampleTransaction = model.Transaction{Hash: exampleHash, Status: "final", Height: &exampleHeight, Sender: exampleAddress,
		ChainID: 8011, To: &exampleActorAt, CyclesLimit: 1_000_000, CellsLimit: 100_000, MaxFeePerCycle: types.WeiOf(2000),
		MaxFeePerCell: types.WeiOf(2000), Kind: "execute", Handler: "start", Payload: types.Bytes{0xa3}}
	exampleAccount = model.Account{Address: exampleAddress, Name: "alice", Nonce: 3, Balance: types.WeiOf(999_990_000_000)}
	exampleBaseFee = model.BaseFee{Height: 13, BaseFeeCycle: types.WeiOf(1000), BaseFeeCell: types.WeiOf(1000),
		BaseFeeLaneTimer: types.WeiOf(1000)}
	exampleParam = model.Param{Key: "cip5.max_timers_per_actor", Value: "1024", Class: "block", Default: "1024"}
	exampleActor = model.Actor{Address: exampleActorAt, Name: "heartbeat", Owner: exampleAddress, CodeHash: exampleHash,
		DeployedAs: exampleHash, Balance: types.WeiOf(100 * types.CBY), DeployedAt: 2,
		Handlers: []model.ActorHandler{{Name: "handle_timer", Doc: "Counts and continues."}},
		Timers:   model.ActorTimers{Pending: 1, NextDue: &exampleHeight}}
	exampleUpgraded = model.Upgraded{From: exampleHash, To: exampleTimerID, AppliesAt: &exampleHeight, Receipt: exampleReceipt}
	exampleEntry    = model.StateEntry{Key: types.Bytes("count"), Value: types.Bytes("3"), Text: "3"}
	exampleLog      = model.LogLine{Actor: exampleActorAt, Height: 12, Hash: exampleTimerID, Line: "beat 3"}
	exampleRead     = model.ReadResult{Height: 12, Status: "ok", Output: types.Bytes("3"), Text: "3", Cycles: 120, Logs: []string{}}
	exampleBid      = model.BidTrial{Height: 13, Context: map[string]types.Wei{"current_block_height": types.WeiOf(13),
		"trigger_block_height": types.WeiOf(10), "basefee_lane_timer": types.WeiOf(1125)}, Status: "ok", Output: types.Bytes{0xa0},
		Answered: true, MaxFeePerCycle: &exampleTip, BaseFeeCycle: types.WeiOf(1000), BaseFeeLaneTimer: types.WeiOf(1125),
		TipPerCycle: exampleTip, Cycles: 2_100, Logs: []string{}}
	exampleTimer = model.Timer{ID: exampleTimerID, Actor: exampleActorAt, Height: 22, Handler: "handle_timer", FeePayer: exampleActorAt,
		GasLimit: &exampleLimit, ExpiresAt: exampleExpiry, MaxPriorityFeePerCycle: &exampleTip, Status: "fired", ScheduledAt: exampleHeight,
		EndedAt: new(types.Height(25)), Deferrals: 3, Reason: "lane_full", Priority: exampleTip, Weight: "3/2", CyclesUsed: 900,
		FeePaid: types.WeiOf(2_183_400), TipPaid: types.WeiOf(2700)}
	exampleLane = model.LaneBlock{Height: 22, Proposer: exampleAddress, Policy: "eip1559", BaseFeeCycle: types.WeiOf(1000),
		BaseFeeCell:      types.WeiOf(1000),
		BaseFeeLaneTimer: types.WeiOf(1125), Budget: 2_000_000, TimerCyclesUsed: 1_750_000, Utilisation: 875, GCBudget: 5_000_000,
		GBABudget:  2_000_000,
		CyclesUsed: 1_790_000, Examined: 40, Fired: 7, Deferred: 33, DeferredFor: []model.LaneDeferral{{Reason: "lane_full", Count: 33}},
		BurnedLaneTimer: types.WeiOf(1_968_750_000), Tips: types.WeiOf(3_500_000)}
	exampleNew   = types.Bytes("3")
	exampleOld   = types.Bytes("2")
	exampleKey   = types.Bytes("count")
	exampleTrace = model.Trace{Receipt: exampleReceipt, Block: model.TraceBlock{ChainID: 8011, Height: 12, TxHash: exampleHash}, Steps: 1,
		Fee: model.TraceFee{Total: types.WeiOf(1_914_000), PerWhat: "block", Cycle: types.WeiOf(1000), Cell: types.WeiOf(1000),
			Burned: model.Split{Cycle: types.WeiOf(1_850_000), Cell: types.WeiOf(64_000)}},
		Call: &model.TraceCall{Actor: exampleActorAt, Name: "heartbeat", Kind: "call", Sender: exampleAddress, Handler: "start",
			CyclesLimit: 1_000_000, Cycles: 1350, Own: 350, Cells: 6, Status: "ok", Failed: []model.TracePlace{}, Lines: []model.TraceLine{},
			Steps: []model.TraceStep{{What: "set_state", After: 300, Cycles: 1000, Cells: 6, Key: &exampleKey, Old: &exampleOld,
				Value: &exampleNew}}},
		Changes: []model.TraceChange{{Actor: exampleActorAt, Name: "heartbeat", Key: exampleKey, Old: &exampleOld, New: &exampleNew}},
		Sent:    []model.TraceSent{}, Sources: []model.TraceSource{}, Text: []string{}}
	exampleTip   = types.WeiOf(3)
	exampleLimit = types.Cycles(250_000)
	exampleStory = model.TimerStory{Timer: exampleTimer, Height: 25, Story: []model.StoryEntry{
		{Kind: model.StoryScheduled, From: 12, To: 12, Blocks: 1, Tier: "ring", ExpiresAt: &exampleExpiry},
		{Kind: model.StoryDeferred, From: 22, To: 24, Blocks: 3, Reason: "lane_full", Policy: "eip1559", Priority: &exampleTip, Weight: "3/2",
			LaneFee: &model.FeeRange{First: types.WeiOf(1000), Last: types.WeiOf(1265), Least: types.WeiOf(1000), Most: types.WeiOf(1265)}},
		{Kind: model.StoryFired, From: 25, To: 25, Blocks: 1, Policy: "eip1559", Priority: &exampleTip, Weight: "3/2",
			LaneFee: &model.FeeRange{First: types.WeiOf(1423), Last: types.WeiOf(1423), Least: types.WeiOf(1423), Most: types.WeiOf(1423)},
			Paid: &model.Settlement{Status: "ok", Payer: exampleActorAt, Proposer: exampleAddress, ProposerName: "v1", CyclesUsed: 900,
				CyclesLimit: 250_000, CellsLimit: 550_000, PerCycle: types.WeiOf(1000), PerCycleLane: types.WeiOf(1423), PerCell: types.WeiOf(1000),
				Burned: model.Split{Cycle: types.WeiOf(900_000), LaneTimer: types.WeiOf(1_280_700)}, Tip: types.WeiOf(2700),
				FeePaid: types.WeiOf(2_183_400),
				MaxCost: types.WeiOf(1_156_500_000), Refund: types.WeiOf(1_154_316_600)}}}}
	exampleExpiry    = types.Height(2_592_012)
	exampleValidator = model.Validator{Name: "v0", Address: exampleAddress, QUICAddress: "127.0.0.1:40001", Height: 12, StateRoot: exampleHash,
		View: 13, Status: "active", Running: true, Connections: 3}
	exampleJobID     = types.Hash{0: 0x33, 31: 0x33}
	exampleReveal    = types.Height(16)
	exampleJobResult = model.JobResult{Runner: exampleAddress, Attempt: 1, RevealedAt: &exampleReveal, Result: &exampleResult,
		Commitments: []model.JobCommitment{{Validator: exampleAddress, Height: 14, Commitment: exampleHash}}}
	exampleJobEvent = model.JobEvent{ID: exampleJobID, Height: 12, What: model.JobDrawn, Attempt: 1,
		Committee: []types.Address{exampleAddress}}
	exampleSubsets = model.Subsets{OverlapBlocks: 32, Current: model.SubsetBasis{MinSubset: 3, MaxSubset: 8, PresenceRule: "quorum",
		SubsetSize: 3, Validators: []model.SubsetMember{{Address: exampleAddress, QUICAddress: "127.0.0.1:40001"}}}}
	examplePresence = model.Presence{Height: 12, Rule: "quorum", Threshold: 2,
		Votes:   []model.Vote{{Validator: exampleActorAt, BitLength: 1, Bitmap: types.Bytes{1}}},
		Runners: []model.RunnerPresence{{Address: exampleAddress, Name: "r0", Count: 1, Validators: []types.Address{exampleActorAt}}}}
	exampleReady = model.Ready{Ready: true, ChainID: 8011, Genesis: exampleHash, Height: 12, Version: "0.1.0", Strategy: "restart",
		Nodes: []model.ReadyNode{{Name: "v0", Kind: "validator", Ready: true, Height: 12, Missing: []string{}}}, Trouble: []string{}}
)

var (
	submitRequestType = reflect.TypeFor[model.SubmitRequest]()
	readyType         = reflect.TypeFor[model.Ready]()
)

// exampleErrors are what errors of each status look like; a path may answer others
// of the same status.
var exampleErrors = map[string]model.ErrorBody{
	"400": {Code: "invalid_address", Message: "\"0x12\" is not an address: 0x and 40 hexadecimal digits", Field: "actor"},
	"403": {Code: "forbidden_host", Message: "the Host header \"example.org\" is not a name of this server",
		Hint:  "Call it as localhost or by its IP address, or start it with --host NAME (in a container the variable DEVNET_HOST).",
		Field: "Host"},
	"404": {Code: "unknown_name", Message: "no account and no actor is named \"bobby\"",
		Hint: "GET /devnet/accounts and GET /actors list the names; an address is 0x and 40 hexadecimal digits.", Field: "actor"},
	"408": {Code: "too_slow", Message: "the body did not arrive in time", Hint: fmt.Sprintf("A body has to arrive within %s.", BodyTimeout)},
	"409": {Code: "ambiguous_name", Message: "2 actors are named \"st\", " + exampleAddress.String() + " and " + exampleActorAt.String() +
		" among them",
		Hint: "Use the address.", Field: "actor"},
	"410": {Code: "polling_ended", Message: "cip11.push is sunset: runners are pushed to over QUIC, and none polls any more",
		Hint: "Connect to the validators of GET /runner/r0: docs/WIRE.md has the protocol."},
	"413": {Code: "too_large", Message: "the body is too long", Hint: fmt.Sprintf("A request has at most %d bytes.", MaxBodyBytes)},
	"415": {Code: "unsupported_media_type", Message: "unknown content type: text/plain", Hint: "Send the body as application/json."},
	"422": {Code: "invalid_request", Message: "limit: expected number <= 1000",
		Hint: "GET /openapi.json describes every request, with an example.", Field: "limit"},
	"429": {Code: "pool_full", Message: "the pool is full (10000 transactions, 4000000 bytes): bid more than the cheapest, or wait"},
	"500": {Code: "internal", Message: "the devnet failed: the disk is full",
		Hint: "This is a fault of the devnet and not of the request; its log says more (devnet logs)."},
	"503": {Code: "node_stopped", Message: "v2 is not running", Field: "node"},
	"504": {Code: "not_final", Message: fmt.Sprintf("the transaction %s is not final after %s", exampleHash, WaitTimeout),
		Hint: "It may still become final: ask GET /transaction/" + exampleHash.String() + "/receipt. GET /ready shows whether blocks are made."},
}
