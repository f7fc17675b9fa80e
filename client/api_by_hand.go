package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Metrics are the figures of GET /metrics, as Prometheus reads them.
func (a *API) Metrics(ctx context.Context) ([]byte, error) {
	status, data, _, err := a.exchangeBytes(ctx, http.MethodGet, "/metrics", "", nil)
	if err == nil && status != http.StatusOK {
		err = decodeRefusal(status, data)
	}
	return data, err
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

// Failures lists what failed of an actor in the latest blocks, newest first.
func (a *API) Failures(ctx context.Context, actor string, blocks int, p Page) iter.Seq2[model.Receipt, error] {
	return listPages[model.Receipt](ctx, a, "/actor/"+url.PathEscape(actor)+"/receipts",
		query(nil).withBool("failed", true).withNumber("blocks", uint64(blocks)), p)
}

// Submit hands in a signed transaction and returns once the pool took it.
func (a *API) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	var out model.Submitted
	err := a.submitRaw(ctx, "/submit", raw, &out)
	return out.Hash, err
}

// SubmitWait hands in a signed transaction and returns its receipt.
func (a *API) SubmitWait(ctx context.Context, raw []byte) (model.Receipt, error) {
	var out model.Receipt
	err := a.submitRaw(ctx, "/submit_wait", raw, &out)
	return out, err
}

func (a *API) submitRaw(ctx context.Context, path string, raw []byte, out any) error {
	if err := a.requirePresent(path); err != nil {
		return err
	}
	return a.doRequest(ctx, http.MethodPost, path, "application/cbor", raw, out)
}

// Schema returns what an actor's annotations say, byte for byte as it is on the chain.
func (a *API) Schema(ctx context.Context, actor string) (json.RawMessage, error) {
	return getJSON[json.RawMessage](ctx, a, "/actor/"+url.PathEscape(actor)+"/schema", nil)
}

// StateAt lists an actor's state as it was at a moment, such as h12.
func (a *API) StateAt(ctx context.Context, actor, prefix, moment string, p Page) iter.Seq2[model.StateEntry, error] {
	return a.At(moment).State(ctx, actor, prefix, p)
}

// Timers lists timers by due height.
func (a *API) Timers(ctx context.Context, f TimerFilter, p Page) iter.Seq2[model.Timer, error] {
	q := query(nil).withText("actor", f.Actor).withNumber("due_by", uint64(f.DueBy)).withText("status", f.Status)
	return listPages[model.Timer](ctx, a, "/timers", q, p)
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

// SetUpgradeTerms has the devnet change who upgrades an actor.
func (a *API) SetUpgradeTerms(ctx context.Context, r model.UpgradeTermsRequest) (model.Receipt, error) {
	out, err := postJSON[model.Sent](ctx, a, "/devnet/upgrade/terms", r)
	return out.Receipt, err
}

// NodeLog returns a node's last log lines, at most limit of them at a level or above:
// DEBUG, INFO, WARN or ERROR, "" for all. before comes from the previous answer, or is
// nil.
func (a *API) NodeLog(ctx context.Context, node string, before *int64, limit int, level string) (NodeLog, error) {
	q := query(nil).withNumber("limit", uint64(limit)).withText("level", level)
	if before != nil {
		q = q.withText("before", strconv.FormatInt(*before, 10))
	}
	return getJSON[model.NodeLog](ctx, a.wholeNetwork(), "/nodes/"+url.PathEscape(node)+"/log", q)
}

// Retell returns what was done by hand to the network, as a scenario that does it again.
func (a *API) Retell(ctx context.Context) (model.Retold, error) {
	return getJSON[model.Retold](ctx, a.At(""), "/devnet/scenario", nil)
}

// Jobs lists jobs in the order they were submitted.
func (a *API) Jobs(ctx context.Context, f JobFilter, p Page) iter.Seq2[model.Job, error] {
	q := query(nil).withText("status", f.Status).withText("submitter", f.Submitter).withText("runner", f.Runner)
	return listPages[model.Job](ctx, a, "/jobs", q, p)
}

// BringHeartbeat hands in the heartbeat of a runner that polls.
func (a *API) BringHeartbeat(ctx context.Context, runner string, r model.HeartbeatRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/heartbeat", r)
}

// BringResult hands in its result.
func (a *API) BringResult(ctx context.Context, runner string, r model.ResultRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/job_result", r)
}

// BringRefusal hands in its refusal of a job.
func (a *API) BringRefusal(ctx context.Context, runner string, r model.RefusalRequest) (model.Reported, error) {
	return postJSON[model.Reported](ctx, a, "/runner/"+url.PathEscape(runner)+"/job_refusal", r)
}
