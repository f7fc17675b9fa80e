package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Answers and requests of this part, with the field names of their JSON forms.
type (
	Account             = model.Account
	ActorInfo           = model.Actor
	ActorTimers         = model.ActorTimers
	ActorUpgrades       = model.ActorUpgrades
	ApplyUpgradeRequest = model.ApplyUpgradeRequest
	Asked               = model.Asked
	BaseFee             = model.BaseFee
	BidRequest          = model.BidRequest
	BidTrial            = model.BidTrial
	Block               = model.Block
	ChainEvent          = model.Event // of a receipt or a block
	DeployRequest       = model.DeployRequest
	Deployed            = model.Deployed
	DevnetAccount       = model.DevnetAccount
	ErrorBody           = model.ErrorBody
	FaucetReceipt       = model.Faucet
	Fault               = model.Fault // why something failed
	FeeRange            = model.FeeRange
	GaveUp              = model.GaveUp
	Handler             = model.ActorHandler
	Health              = model.Health
	LaneBlock           = model.LaneBlock
	LaneDeferral        = model.LaneDeferral
	LogLine             = model.LogLine
	Param               = model.Param
	Passed              = model.Passed
	ReadRequest         = model.ReadRequest
	ReadResult          = model.ReadResult
	Ready               = model.Ready
	ReadyNode           = model.ReadyNode
	Receipt             = model.Receipt
	SendRequest         = model.SendRequest
	Sent                = model.Sent
	Settlement          = model.Settlement
	Split               = model.Split
	StateEntry          = model.StateEntry
	StoryEntry          = model.StoryEntry
	Timer               = model.Timer
	TimerDetail         = model.TimerDetail
	TimerStory          = model.TimerStory
	Tips                = model.Tips
	Trace               = model.Trace
	TraceBlock          = model.TraceBlock
	TraceCall           = model.TraceCall
	TraceChange         = model.TraceChange
	TraceFee            = model.TraceFee
	TraceLine           = model.TraceLine
	TracePlace          = model.TracePlace
	TraceSent           = model.TraceSent
	TraceSource         = model.TraceSource
	TraceStep           = model.TraceStep
	Transaction         = model.Transaction
	Typed               = model.Typed
	UpgradeRequest      = model.UpgradeRequest
	UpgradeTerms        = model.UpgradeTerms
	UpgradeTermsRequest = model.UpgradeTermsRequest
	Upgraded            = model.Upgraded
	Validator           = model.Validator
	ViewOutcome         = model.View
	Vote                = model.Vote
	Watch               = model.Watch
)

// Metrics are the figures of GET /metrics, as Prometheus reads them.
func (a *API) Metrics(ctx context.Context) ([]byte, error) {
	status, data, _, err := a.exchangeBytes(ctx, http.MethodGet, "/metrics", "", nil)
	if err == nil && status != http.StatusOK {
		err = decodeRefusal(status, data)
	}
	return data, err
}

// Health returns whether the process answers.
func (a *API) Health(ctx context.Context) (model.Health, error) {
	return getJSON[model.Health](ctx, a.wholeNetwork(), "/health", nil)
}

// OpenAPI returns the description of the API, an OpenAPI document.
func (a *API) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	return getJSON[json.RawMessage](ctx, a.wholeNetwork(), "/openapi.json", nil)
}

// Height is the height of the latest final block.
func (a *API) Height(ctx context.Context) (types.Height, error) {
	h, err := getJSON[model.Height](ctx, a, "/height", nil)
	return h.Height, err
}

// Ready returns whether the network is ready, and the missing parts if not, which
// is not an error.
func (a *API) Ready(ctx context.Context) (m model.Ready, err error) {
	status, data, _, err := a.exchangeBytes(ctx, http.MethodGet, "/ready", "", nil)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil || m.ChainID == 0 {
		return m, decodeRefusal(status, data)
	}
	return m, nil
}

// Block returns a final block by height, hash or "latest".
func (a *API) Block(ctx context.Context, id string) (model.Block, error) {
	return getJSON[model.Block](ctx, a, "/block/"+url.PathEscape(id), nil)
}

// Blocks lists final blocks from a height on.
func (a *API) Blocks(ctx context.Context, from types.Height, limit int) ([]model.Block, error) {
	return getJSON[[]model.Block](ctx, a, "/blocks", query(nil).withNumber("from", uint64(from)).withNumber("limit", uint64(limit)))
}

// Transaction returns a transaction, final or pending.
func (a *API) Transaction(ctx context.Context, hash string) (model.Transaction, error) {
	return getJSON[model.Transaction](ctx, a, "/transaction/"+url.PathEscape(hash), nil)
}

// Receipt returns the receipt of an execution that is final.
func (a *API) Receipt(ctx context.Context, hash string) (model.Receipt, error) {
	return getJSON[model.Receipt](ctx, a, "/transaction/"+url.PathEscape(hash)+"/receipt", nil)
}

// Trace executes a transaction, a timer's fire or a delivered message once more, by its
// hash or id, and returns its trace. profile adds the use of each line of code, sources
// the code that ran.
func (a *API) Trace(ctx context.Context, hash string, profile, sources bool) (model.Trace, error) {
	return getJSON[model.Trace](ctx, a, "/transaction/"+url.PathEscape(hash)+"/trace",
		query(nil).withBool("profile", profile).withBool("sources", sources))
}

// BlockReceipts lists what a final block executed, in order.
func (a *API) BlockReceipts(ctx context.Context, id string, p Page) iter.Seq2[model.Receipt, error] {
	return listPages[model.Receipt](ctx, a, "/block/"+url.PathEscape(id)+"/receipts", nil, p)
}

// Failures lists what failed of an actor in the latest blocks, newest first.
func (a *API) Failures(ctx context.Context, actor string, blocks int, p Page) iter.Seq2[model.Receipt, error] {
	return listPages[model.Receipt](ctx, a, "/actor/"+url.PathEscape(actor)+"/receipts",
		query(nil).withBool("failed", true).withNumber("blocks", uint64(blocks)), p)
}

// Submit hands in a signed transaction and returns once the pool took it.
func (a *API) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	var out model.Submitted
	err := a.doRequest(ctx, http.MethodPost, "/submit", "application/cbor", raw, &out)
	return out.Hash, err
}

// SubmitWait hands in a signed transaction and returns its receipt.
func (a *API) SubmitWait(ctx context.Context, raw []byte) (model.Receipt, error) {
	var out model.Receipt
	err := a.doRequest(ctx, http.MethodPost, "/submit_wait", "application/cbor", raw, &out)
	return out, err
}

// Account returns nonce and balance, by address or name.
func (a *API) Account(ctx context.Context, name string) (model.Account, error) {
	return getJSON[model.Account](ctx, a, "/account/"+url.PathEscape(name), nil)
}

// BaseFee returns the prices of the next block.
func (a *API) BaseFee(ctx context.Context) (model.BaseFee, error) {
	return getJSON[model.BaseFee](ctx, a, "/basefee", nil)
}

// Params lists the parameters in force.
func (a *API) Params(ctx context.Context) ([]model.Param, error) {
	return getJSON[[]model.Param](ctx, a, "/params", nil)
}

// Actors lists the deployed actors.
func (a *API) Actors(ctx context.Context, p Page) iter.Seq2[model.Actor, error] {
	return listPages[model.Actor](ctx, a, "/actors", nil, p)
}

// Actor returns an actor by address or name.
func (a *API) Actor(ctx context.Context, name string) (model.Actor, error) {
	return getJSON[model.Actor](ctx, a, "/actor/"+url.PathEscape(name), nil)
}

// Schema returns what an actor's annotations say, byte for byte as it is on the chain.
func (a *API) Schema(ctx context.Context, actor string) (json.RawMessage, error) {
	return getJSON[json.RawMessage](ctx, a, "/actor/"+url.PathEscape(actor)+"/schema", nil)
}

// State lists an actor's state, of keys that begin with prefix.
func (a *API) State(ctx context.Context, actor, prefix string, p Page) iter.Seq2[model.StateEntry, error] {
	return listPages[model.StateEntry](ctx, a, "/actor/"+url.PathEscape(actor)+"/state", query(nil).withText("prefix", prefix), p)
}

// StateAt lists an actor's state as it was at a moment, such as h12.
func (a *API) StateAt(ctx context.Context, actor, prefix, moment string, p Page) iter.Seq2[model.StateEntry, error] {
	return a.At(moment).State(ctx, actor, prefix, p)
}

// Logs lists what an actor printed.
func (a *API) Logs(ctx context.Context, actor string, p Page) iter.Seq2[model.LogLine, error] {
	return listPages[model.LogLine](ctx, a, "/actor/"+url.PathEscape(actor)+"/logs", nil, p)
}

// Read calls a handler read-only.
func (a *API) Read(ctx context.Context, r model.ReadRequest) (model.ReadResult, error) {
	return postJSON[model.ReadResult](ctx, a, a.onNode("/actor/read"), r)
}

// TryBid asks a gas bidding agent for the price of a hypothetical timer.
func (a *API) TryBid(ctx context.Context, r model.BidRequest) (model.BidTrial, error) {
	return postJSON[model.BidTrial](ctx, a, a.onNode("/actor/bid"), r)
}

// Timers lists timers by due height.
func (a *API) Timers(ctx context.Context, f TimerFilter, p Page) iter.Seq2[model.Timer, error] {
	q := query(nil).withText("actor", f.Actor).withNumber("due_by", uint64(f.DueBy)).withText("status", f.Status)
	return listPages[model.Timer](ctx, a, "/timers", q, p)
}

// Timer returns a timer and the receipt of its fire.
func (a *API) Timer(ctx context.Context, id string) (model.TimerDetail, error) {
	return getJSON[model.TimerDetail](ctx, a, "/timer/"+url.PathEscape(id), nil)
}

// TimerStory returns the life of a timer, with at most this number of the blocks that
// deferred it, from a height on. 0 leaves the number to the network.
func (a *API) TimerStory(ctx context.Context, id string, from types.Height, blocks int) (model.TimerStory, error) {
	return getJSON[model.TimerStory](ctx, a, "/timer/"+url.PathEscape(id)+"/story",
		query(nil).withNumber("from", uint64(from)).withNumber("limit", uint64(blocks)))
}

// Lane lists the records of the timer lane of the last blocks, newest last.
func (a *API) Lane(ctx context.Context, last int) ([]model.LaneBlock, error) {
	return getJSON[[]model.LaneBlock](ctx, a, "/timers/lane", query(nil).withNumber("last", uint64(last)))
}

// Validators lists the validators with their status.
func (a *API) Validators(ctx context.Context) ([]model.Validator, error) {
	return getJSON[[]model.Validator](ctx, a.wholeNetwork(), "/validators", nil)
}

// Faucet gives an account what the faucet gives.
func (a *API) Faucet(ctx context.Context, address string) (model.Faucet, error) {
	return postJSON[model.Faucet](ctx, a, "/faucet", model.FaucetRequest{Address: address})
}

// Accounts lists the accounts that the devnet signs for.
func (a *API) Accounts(ctx context.Context) ([]model.DevnetAccount, error) {
	return getJSON[[]model.DevnetAccount](ctx, a, "/devnet/accounts", nil)
}

// Send lets the devnet sign a call or a transfer, and returns its receipt.
func (a *API) Send(ctx context.Context, r model.SendRequest) (model.Receipt, error) {
	return postJSON[model.Receipt](ctx, a, "/devnet/send", r)
}

// Try executes a call or a transfer on the latest state and returns the receipt it
// would get.
func (a *API) Try(ctx context.Context, r model.SendRequest) (model.Sent, error) {
	r.DryRun, r.Trace = true, true
	return postJSON[model.Sent](ctx, a, "/devnet/send", r)
}

// Upgrade has the devnet upgrade an actor, or announce the upgrade.
func (a *API) Upgrade(ctx context.Context, r model.UpgradeRequest) (model.Upgraded, error) {
	return postJSON[model.Upgraded](ctx, a, "/devnet/upgrade", r)
}

// ApplyUpgrade has the devnet apply an announced upgrade.
func (a *API) ApplyUpgrade(ctx context.Context, r model.ApplyUpgradeRequest) (model.Upgraded, error) {
	return postJSON[model.Upgraded](ctx, a, "/devnet/upgrade/apply", r)
}

// SetUpgradeTerms has the devnet change who upgrades an actor.
func (a *API) SetUpgradeTerms(ctx context.Context, r model.UpgradeTermsRequest) (model.Receipt, error) {
	out, err := postJSON[model.Sent](ctx, a, "/devnet/upgrade/terms", r)
	return out.Receipt, err
}

// Deploy has the devnet deploy an actor.
func (a *API) Deploy(ctx context.Context, r model.DeployRequest) (model.Deployed, error) {
	return postJSON[model.Deployed](ctx, a, "/devnet/deploy", r)
}
