package scenario

import (
	"encoding/json"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// jobArguments are the flags of devnet job submit, _ for -.
const jobArguments = "kind: text, executor: text?, params: bytes?, url: text?, method: text?, header: texts?, body: bytes?, " +
	"extraction: text?, model: text?, prompt: text?, system_prompt: text?, temperature: number?, max_tokens: count?, server: text?, " +
	"tool: text?, arguments: json?, chain: count?, signed_transaction: bytes?, runners: count?, mode: text?, timeout_blocks: count?, " +
	"max_price: amount?, tip: amount?, threshold: count?, field: text?, check: jsons?, tee: bool?, pool: text?, callback: text?, " +
	"correlation_id: bytes?, context: bytes?, max_input_tokens: count?, max_output_tokens: count?, max_wall_time: duration?, " +
	"max_memory_mb: count?, max_retries: count?, max_return_bytes: count?, expected_ms: count?, data_format: text?"

// jobWords are the words that arguments of a job may be.
var jobWords = map[string][]string{"kind": {"custom", "http", "llm", "mcp", "ethsend"},
	"mode":        {"none", "economic_bond", "majority_vote", "structured_match", "deterministic", "semantic_similarity"},
	"data_format": {"bytes", "text", "json"}}

// jobRequest is what a call of net.submit_job asks for.
func (c *call) jobRequest() *model.JobRequest {
	text := func(name string) string { return get[string](c, name) }
	hex := func(name string) string {
		if b := get[[]byte](c, name); len(b) > 0 {
			return types.Bytes(b).String()
		}
		return ""
	}
	r := &model.JobRequest{Kind: text("kind"), Executor: text("executor"), Params: hex("params"), URL: text("url"), Method: text("method"),
		Header: get[[]string](c, "header"), Extraction: given[string](c, "extraction"), Model: text("model"), Prompt: text("prompt"),
		SystemPrompt: given[string](c, "system_prompt"), Temperature: given[float64](c, "temperature"), MaxTokens: given[uint64](c, "max_tokens"),
		Server: text("server"), Tool: text("tool"), Arguments: get[json.RawMessage](c, "arguments"), Chain: given[uint64](c, "chain"),
		SignedTransaction: hex("signed_transaction"), Runners: given[uint64](c, "runners"), Mode: text("mode"),
		TimeoutBlocks: given[uint64](c, "timeout_blocks"), MaxPrice: given[types.Wei](c, "max_price"), Tip: given[types.Wei](c, "tip"),
		Threshold: given[uint64](c, "threshold"), Field: given[string](c, "field"), Check: get[[]json.RawMessage](c, "check"),
		TEE: get[bool](c, "tee"), Pool: given[string](c, "pool"), Callback: text("callback"), CorrelationID: hex("correlation_id"),
		Context: hex("context"), MaxInputTokens: given[uint64](c, "max_input_tokens"), MaxOutputTokens: given[uint64](c, "max_output_tokens"),
		MaxMemoryMB: given[uint64](c, "max_memory_mb"), MaxRetries: given[uint64](c, "max_retries"),
		MaxReturnBytes: given[uint64](c, "max_return_bytes"), ExpectedMS: given[uint64](c, "expected_ms"), DataFormat: text("data_format")}
	if c.has("max_wall_time") {
		r.MaxWallTime = get[time.Duration](c, "max_wall_time").String()
	}
	if c.has("body") {
		body := hex("body")
		r.Body = &body
	}
	return r
}

// given returns an argument, or nil if it was not given.
func given[T any](c *call, name string) *T {
	if !c.has(name) {
		return nil
	}
	value := get[T](c, name)
	return &value
}

func netSubmitJob(c *call) (starlark.Value, error) {
	n := netOf(c)
	v, err := n.backend.Reader("")
	if err != nil {
		return nil, readable(c.title, err)
	}
	now, err := api.ParamsOf(v)
	if err != nil {
		return nil, err
	}
	spec, err := api.JobSpec(c.jobRequest(), now, func(actor string) (types.Address, error) {
		return n.party("callback", actor)
	})
	if err != nil {
		return nil, err
	}
	to := types.DispatcherAddress
	hash, err := c.submit(n, wallet.Draft{To: &to,
		Payload: types.Execute{Kind: types.KindExecute, Handler: "submit", Payload: spec.Order()}})
	if err != nil {
		return nil, err
	}
	receipt, err := c.await(n, hash)
	switch {
	case err != nil:
		return nil, err
	case receipt.Status != types.StatusOK || len(receipt.Output) != len(types.Hash{}):
		return nil, failure("net.submit_job: it was not submitted: %s%s", receipt.Status, faultText(receipt.Error))
	}
	return &jobValue{n, types.Hash(receipt.Output)}, nil
}

// party is an address by name or as 0x-hex.
func (n *network) party(field, text string) (types.Address, error) {
	if strings.HasPrefix(text, "0x") {
		at, err := types.ParseAddress(text)
		if err != nil {
			return at, mistake("net.submit_job: %s: %v", field, err)
		}
		return at, nil
	}
	at, err := n.named(text)
	if err != nil {
		return at, mistake("net.submit_job: %s %v", field, err)
	}
	return at, nil
}

func netJob(c *call) (starlark.Value, error) {
	v, err := c.reader()
	if err != nil {
		return nil, err
	}
	job, err := v.Job(get[types.Hash](c, "id"))
	if err != nil || job == nil {
		return starlark.None, err
	}
	return &jobValue{netOf(c), job.ID}, nil
}

// jobStatuses are the words of net.jobs(status = …).
var jobStatuses = []string{string(types.JobPending), string(types.JobAssigned), string(types.JobExecuting), string(types.JobCompleted),
	string(types.JobFailed)}

func netJobs(c *call) (starlark.Value, error) {
	v, err := c.reader()
	if err != nil {
		return nil, err
	}
	filter := history.JobFilter{Page: history.Page{Limit: MaxListed}, Submitter: given[types.Address](c, "submitter"),
		Runner: given[types.Address](c, "runner")}
	if c.has("status") {
		status := get[string](c, "status")
		if err := oneOf("net.jobs: status", status, jobStatuses); err != nil {
			return nil, err
		}
		filter.Status = types.JobStatus(status)
	}
	jobs, err := v.Jobs(filter)
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(jobs))
	for i := range jobs {
		list[i] = &jobValue{netOf(c), jobs[i].ID}
	}
	return frozen(list), nil
}

// jobStory is what HTTP's /job/{id}/story tells, whole.
func jobStory(c *call) (starlark.Value, error) {
	of := c.on.(*jobValue)
	v, err := of.n.backend.Reader("")
	if err != nil {
		return nil, readable("job.story", err)
	}
	story, err := v.JobStory(of.id, history.Page{Limit: MaxListed})
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(story))
	for i := range story {
		list[i] = recordOf("job event", story[i])
	}
	return frozen(list), nil
}

// jobDraws is what HTTP's /job/{id}/draws tells, whole.
func jobDraws(c *call) (starlark.Value, error) {
	of := c.on.(*jobValue)
	v, err := of.n.backend.Reader("")
	if err != nil {
		return nil, readable("job.draws", err)
	}
	draws, err := v.JobDraws(of.id)
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(draws))
	for i := range draws {
		list[i] = recordOf("draw", draws[i])
	}
	return frozen(list), nil
}
