// Package client speaks to a devnet over its HTTP API. Package model has the forms
// of its answers.
//
// A method that fails because of the network's answer returns an *Error, or an
// *Unreachable without an answer.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// maxAnswerBytes bounds an answer: a list of a thousand of the largest entries.
const maxAnswerBytes = 1 << 30

// Client calls one network. Its methods are safe for concurrent use.
type Client struct {
	base string
	http *http.Client
	node string
}

// New returns a client of the network at address: host:port, or a URL.
func New(address string) *Client {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	return &Client{base: strings.TrimSuffix(address, "/"), http: &http.Client{Timeout: 5 * time.Minute}}
}

// OnNode returns a client whose reads use that validator's state.
func (c *Client) OnNode(node string) *Client {
	on := *c
	on.node = node
	return &on
}

// Address is the network's URL.
func (c *Client) Address() string { return c.base }

// Error is an answer other than success.
type Error struct {
	Status int
	model.ErrorBody
}

func (e *Error) Error() string { return e.Message }

// Unreachable is why there was no answer.
type Unreachable struct {
	Address string
	Cause   error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no network answers at %s: %v", e.Address, e.Cause)
}
func (e *Unreachable) Unwrap() error { return e.Cause }

// Page selects a part of a list; the zero Page is its first 50 entries.
type Page struct {
	Offset int
	Limit  int
	Newest bool // first, if the list is ordered
}

func (p Page) query() url.Values {
	q := url.Values{}
	if p.Offset > 0 {
		q.Set("offset", strconv.Itoa(p.Offset))
	}
	if p.Limit > 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Newest {
		q.Set("order", "newest")
	}
	return q
}

func read[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	if q == nil {
		q = url.Values{}
	}
	if c.node != "" {
		q.Set("node", c.node)
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	var out T
	err := c.do(ctx, http.MethodGet, path, "", nil, &out)
	return out, err
}

func write[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	var out T
	data, err := json.Marshal(body)
	if err == nil {
		err = c.do(ctx, http.MethodPost, path, "application/json", data, &out)
	}
	return out, err
}

// Get reads any path into the form of its answer.
func (c *Client) Get(ctx context.Context, path string, q url.Values, into any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.do(ctx, http.MethodGet, path, "", nil, into)
}

// Metrics are the figures of GET /metrics, as Prometheus reads them.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	status, data, err := c.exchange(ctx, http.MethodGet, "/metrics", "", nil)
	if err == nil && status != http.StatusOK {
		err = refusal(status, data)
	}
	return data, err
}

func (c *Client) do(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	status, data, err := c.exchange(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return refusal(status, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s%s answered what is not understood, is it a devnet? %w", c.base, path, err)
	}
	return nil
}

func (c *Client) exchange(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, &Unreachable{c.base, err}
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return 0, nil, c.unreachable(ctx, err)
	}
	return response.StatusCode, data, nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// The wrapper of the cause repeats method, URL and address.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		err = dial.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return &Unreachable{c.base, err}
}

func refusal(status int, data []byte) error {
	var body model.Error
	if err := json.Unmarshal(data, &body); err != nil || body.Error.Code == "" {
		return &Error{status, model.ErrorBody{Code: "not_a_devnet",
			Message: fmt.Sprintf("the server answered with HTTP status %d and no error of a devnet", status),
			Hint:    "Is another program listening at that address?"}}
	}
	return &Error{status, body.Error}
}

// Height is the height of the latest final block.
func (c *Client) Height(ctx context.Context) (types.Height, error) {
	h, err := read[model.Height](ctx, c, "/height", nil)
	return h.Height, err
}

// Ready returns whether the network is ready, and the missing parts if not, which
// is not an error.
func (c *Client) Ready(ctx context.Context) (m model.Ready, err error) {
	status, data, err := c.exchange(ctx, http.MethodGet, "/ready", "", nil)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil || m.ChainID == 0 {
		return m, refusal(status, data)
	}
	return m, nil
}

// Block returns a final block by height, hash or "latest".
func (c *Client) Block(ctx context.Context, id string) (model.Block, error) {
	return read[model.Block](ctx, c, "/block/"+url.PathEscape(id), nil)
}

// Blocks lists final blocks from a height on.
func (c *Client) Blocks(ctx context.Context, from types.Height, limit int) ([]model.Block, error) {
	q := Page{Limit: limit}.query()
	q.Set("from", strconv.FormatUint(uint64(from), 10))
	return read[[]model.Block](ctx, c, "/blocks", q)
}

// Transaction returns a transaction, final or pending.
func (c *Client) Transaction(ctx context.Context, hash string) (model.Transaction, error) {
	return read[model.Transaction](ctx, c, "/transaction/"+url.PathEscape(hash), nil)
}

// Receipt returns the receipt of an execution that is final.
func (c *Client) Receipt(ctx context.Context, hash string) (model.Receipt, error) {
	return read[model.Receipt](ctx, c, "/transaction/"+url.PathEscape(hash)+"/receipt", nil)
}

// Trace executes a transaction, a timer's fire or a delivered message again, by its
// hash or id, and returns its trace: on request with the use of each line of code,
// and with the code that ran.
func (c *Client) Trace(ctx context.Context, hash string, profile, sources bool) (model.Trace, error) {
	return read[model.Trace](ctx, c, "/transaction/"+url.PathEscape(hash)+"/trace",
		url.Values{"profile": {strconv.FormatBool(profile)}, "sources": {strconv.FormatBool(sources)}})
}

// BlockReceipts lists what a final block executed, in order.
func (c *Client) BlockReceipts(ctx context.Context, id string, p Page) ([]model.Receipt, error) {
	return read[[]model.Receipt](ctx, c, "/block/"+url.PathEscape(id)+"/receipts", p.query())
}

// Failures lists what failed of an actor in the latest blocks, newest first.
func (c *Client) Failures(ctx context.Context, actor string, blocks int, p Page) ([]model.Receipt, error) {
	q := p.query()
	q.Set("failed", "true")
	q.Set("blocks", strconv.Itoa(blocks))
	return read[[]model.Receipt](ctx, c, "/actor/"+url.PathEscape(actor)+"/receipts", q)
}

// Submit hands in a signed transaction and returns once the pool took it.
func (c *Client) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	var out model.Submitted
	err := c.do(ctx, http.MethodPost, "/submit", "application/cbor", raw, &out)
	return out.Hash, err
}

// SubmitWait hands in a signed transaction and returns its receipt.
func (c *Client) SubmitWait(ctx context.Context, raw []byte) (model.Receipt, error) {
	var out model.Receipt
	err := c.do(ctx, http.MethodPost, "/submit_wait", "application/cbor", raw, &out)
	return out, err
}

// Account returns nonce and balance, by address or name.
func (c *Client) Account(ctx context.Context, name string) (model.Account, error) {
	return read[model.Account](ctx, c, "/account/"+url.PathEscape(name), nil)
}

// BaseFee returns the prices of the next block.
func (c *Client) BaseFee(ctx context.Context) (model.BaseFee, error) {
	return read[model.BaseFee](ctx, c, "/basefee", nil)
}

// Params lists the parameters in force.
func (c *Client) Params(ctx context.Context) ([]model.Param, error) {
	return read[[]model.Param](ctx, c, "/params", nil)
}

// Actors lists the deployed actors.
func (c *Client) Actors(ctx context.Context, p Page) ([]model.Actor, error) {
	return read[[]model.Actor](ctx, c, "/actors", p.query())
}

// Actor returns an actor by address or name.
func (c *Client) Actor(ctx context.Context, name string) (model.Actor, error) {
	return read[model.Actor](ctx, c, "/actor/"+url.PathEscape(name), nil)
}

// Schema returns what an actor's annotations say, byte for byte as it is on the chain.
func (c *Client) Schema(ctx context.Context, actor string) (json.RawMessage, error) {
	return read[json.RawMessage](ctx, c, "/actor/"+url.PathEscape(actor)+"/schema", nil)
}

// State lists an actor's state, of keys that begin with prefix.
func (c *Client) State(ctx context.Context, actor, prefix string, p Page) ([]model.StateEntry, error) {
	q := p.query()
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	return read[[]model.StateEntry](ctx, c, "/actor/"+url.PathEscape(actor)+"/state", q)
}

// Logs lists what an actor printed.
func (c *Client) Logs(ctx context.Context, actor string, p Page) ([]model.LogLine, error) {
	return read[[]model.LogLine](ctx, c, "/actor/"+url.PathEscape(actor)+"/logs", p.query())
}

// Read calls a handler read-only.
func (c *Client) Read(ctx context.Context, r model.ReadRequest) (model.ReadResult, error) {
	return write[model.ReadResult](ctx, c, c.onNode("/actor/read"), r)
}

// TryBid asks a gas bidding agent for the price of a hypothetical timer.
func (c *Client) TryBid(ctx context.Context, r model.BidRequest) (model.BidTrial, error) {
	return write[model.BidTrial](ctx, c, c.onNode("/actor/bid"), r)
}

// onNode returns a path for a request to the client's node.
func (c *Client) onNode(path string) string {
	if c.node == "" {
		return path
	}
	return path + "?node=" + url.QueryEscape(c.node)
}

// TimerFilter selects timers; empty fields select all.
type TimerFilter struct {
	Actor  string
	DueBy  *types.Height
	Status string
	Page
}

// Timers lists timers by due height.
func (c *Client) Timers(ctx context.Context, f TimerFilter) ([]model.Timer, error) {
	q := f.query()
	if f.Actor != "" {
		q.Set("actor", f.Actor)
	}
	if f.DueBy != nil {
		q.Set("due_by", strconv.FormatUint(uint64(*f.DueBy), 10))
	}
	if f.Status != "" {
		q.Set("status", f.Status)
	}
	return read[[]model.Timer](ctx, c, "/timers", q)
}

// Timer returns a timer and the receipt of its fire.
func (c *Client) Timer(ctx context.Context, id string) (model.TimerDetail, error) {
	return read[model.TimerDetail](ctx, c, "/timer/"+url.PathEscape(id), nil)
}

// TimerStory returns the life of a timer, with at most blocks of the blocks that
// deferred it, from a height on; 0 leaves the number to the network.
func (c *Client) TimerStory(ctx context.Context, id string, from types.Height, blocks int) (model.TimerStory, error) {
	q := Page{Limit: blocks}.query()
	if from > 0 {
		q.Set("from", strconv.FormatUint(uint64(from), 10))
	}
	return read[model.TimerStory](ctx, c, "/timer/"+url.PathEscape(id)+"/story", q)
}

// Lane lists the records of the timer lane of the last blocks, newest last.
func (c *Client) Lane(ctx context.Context, last int) ([]model.LaneBlock, error) {
	return read[[]model.LaneBlock](ctx, c, "/timers/lane", url.Values{"last": {strconv.Itoa(last)}})
}

// Validators lists the validators and how they do.
func (c *Client) Validators(ctx context.Context) ([]model.Validator, error) {
	unbound := *c
	unbound.node = ""
	return read[[]model.Validator](ctx, &unbound, "/validators", nil)
}

// Faucet gives an account what the faucet gives.
func (c *Client) Faucet(ctx context.Context, address string) (model.Faucet, error) {
	return write[model.Faucet](ctx, c, "/faucet", model.FaucetRequest{Address: address})
}

// Accounts lists the accounts that the devnet signs for.
func (c *Client) Accounts(ctx context.Context) ([]model.DevnetAccount, error) {
	return read[[]model.DevnetAccount](ctx, c, "/devnet/accounts", nil)
}

// Send lets the devnet sign a call or a transfer, and returns its receipt.
func (c *Client) Send(ctx context.Context, r model.SendRequest) (model.Receipt, error) {
	return write[model.Receipt](ctx, c, "/devnet/send", r)
}

// Try executes a call or a transfer on the latest state and returns the receipt it
// would get.
func (c *Client) Try(ctx context.Context, r model.SendRequest) (model.Sent, error) {
	r.DryRun, r.Trace = true, true
	return write[model.Sent](ctx, c, "/devnet/send", r)
}

// Upgrade has the devnet upgrade an actor, or announce the upgrade.
func (c *Client) Upgrade(ctx context.Context, r model.UpgradeRequest) (model.Upgraded, error) {
	return write[model.Upgraded](ctx, c, "/devnet/upgrade", r)
}

// ApplyUpgrade has the devnet apply an announced upgrade.
func (c *Client) ApplyUpgrade(ctx context.Context, r model.ApplyUpgradeRequest) (model.Upgraded, error) {
	return write[model.Upgraded](ctx, c, "/devnet/upgrade/apply", r)
}

// SetUpgradeTerms has the devnet change who upgrades an actor.
func (c *Client) SetUpgradeTerms(ctx context.Context, r model.UpgradeTermsRequest) (model.Receipt, error) {
	out, err := write[model.Sent](ctx, c, "/devnet/upgrade/terms", r)
	return out.Receipt, err
}

// Deploy has the devnet deploy an actor.
func (c *Client) Deploy(ctx context.Context, r model.DeployRequest) (model.Deployed, error) {
	return write[model.Deployed](ctx, c, "/devnet/deploy", r)
}
