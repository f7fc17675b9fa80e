package scenario

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// jobArguments are the fields of a job, by kind and then those of all kinds. A name is a
// flag of devnet job submit, with _ for -.
func jobArguments() string {
	return "kind: text, " + kindArguments() +
		"runners: count?, mode: text?, timeout_blocks: count?, " +
		"max_price: amount?, tip: amount?, threshold: count?, field: text?, check: jsons?, tee: bool?, pool: text?, callback: text?, " +
		"correlation_id: bytes?, context: bytes?, max_input_tokens: count?, max_output_tokens: count?, max_wall_time: duration?, " +
		"max_memory_mb: count?, max_retries: count?, max_return_bytes: count?, expected_ms: count?, data_format: text?"
}

// kindArguments lists the fields that belong to one kind.
func kindArguments() (list string) {
	for _, field := range model.JobFields() {
		if field.Kind != "" {
			list += field.Name + ": " + argumentOf(&field) + "?, "
		}
	}
	return list
}

// argumentOf is the type of an argument that sets a field.
func argumentOf(field *model.JobField) string {
	switch {
	case field.As != "":
		return "bytes"
	case field.Type == reflect.TypeFor[json.RawMessage]():
		return "json"
	}
	switch t := field.Type; t.Kind() {
	case reflect.Slice:
		return "texts"
	case reflect.Pointer:
		return map[reflect.Kind]string{reflect.String: "text", reflect.Float64: "number", reflect.Uint64: "count"}[t.Elem().Kind()]
	}
	return "text"
}

// jobWords are the words that arguments of a job may be.
var jobWords = map[string][]string{"kind": push.JobKinds(),
	"mode":        {"none", "economic_bond", "majority_vote", "structured_match", "deterministic", "semantic_similarity"},
	"data_format": {"bytes", "text", "json"}}

// jobRequest is what a call of net.submit_job asks for. A value has the type of its field,
// or bytes or a duration that the field has as a text.
func (c *call) jobRequest() *model.JobRequest {
	r := &model.JobRequest{}
	for _, field := range model.JobFields() {
		value, given := c.values[field.Name]
		if !given {
			continue
		}
		switch v := value.(type) {
		case []byte:
			if value = types.Bytes(v).String(); len(v) == 0 {
				value = ""
			}
		case time.Duration:
			value = v.String()
		}
		into := reflect.ValueOf(r).Elem().FieldByIndex(field.Index)
		if into.Kind() == reflect.Pointer {
			into.Set(reflect.New(into.Type().Elem()))
			into = into.Elem()
		}
		into.Set(reflect.ValueOf(value))
	}
	return r
}

// argumentOrNil returns an argument, or nil if it was not given.
func argumentOrNil[T any](c *call, name string) *T {
	if !c.hasArgument(name) {
		return nil
	}
	value := argOf[T](c, name)
	return &value
}

func netSubmitJob(c *call) (starlark.Value, error) {
	n := netOf(c)
	v, err := n.backend.Reader("")
	if err != nil {
		return nil, readableError(c.title, err)
	}
	now, err := api.ParamsOf(v)
	if err != nil {
		return nil, err
	}
	spec, err := api.JobSpec(c.jobRequest(), now, func(actor string) (types.Address, error) {
		return n.partyAddress("callback", actor)
	})
	if err != nil {
		return nil, err
	}
	to := types.DispatcherAddress
	hash, err := c.submitDraft(n, wallet.Draft{To: &to,
		Payload: types.Execute{Kind: types.KindExecute, Handler: "submit", Payload: spec.Order()}})
	if err != nil {
		return nil, err
	}
	receipt, err := c.awaitReceipt(n, hash)
	switch {
	case err != nil:
		return nil, err
	case receipt.Status != types.StatusOK || len(receipt.Output) != len(types.Hash{}):
		return nil, newFailure("net.submit_job: it was not submitted: %s%s", receipt.Status, faultText(receipt.Error))
	}
	return &jobValue{n, types.Hash(receipt.Output)}, nil
}

// partyAddress is an address by name or as 0x-hex.
func (n *network) partyAddress(field, text string) (types.Address, error) {
	if strings.HasPrefix(text, "0x") {
		at, err := types.ParseAddress(text)
		if err != nil {
			return at, newMistake("net.submit_job: %s: %v", field, err)
		}
		return at, nil
	}
	at, err := n.findAddress(text)
	if err != nil {
		return at, newMistake("net.submit_job: %s %v", field, err)
	}
	return at, nil
}

func netJob(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	job, err := v.Job(argOf[types.Hash](c, "id"))
	if err != nil || job == nil {
		return starlark.None, err
	}
	return &jobValue{netOf(c), job.ID}, nil
}

// jobStatuses are the words of net.jobs(status = …).
var jobStatuses = []string{string(types.JobPending), string(types.JobAssigned), string(types.JobExecuting), string(types.JobCompleted),
	string(types.JobFailed)}

func netJobs(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	filter := history.JobFilter{Page: history.Page{Limit: MaxListed}, Submitter: argumentOrNil[types.Address](c, "submitter"),
		Runner: argumentOrNil[types.Address](c, "runner")}
	if c.hasArgument("status") {
		status := argOf[string](c, "status")
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
	return frozenList(list), nil
}

// jobStory is what HTTP's /job/{id}/story tells, whole.
func jobStory(c *call) (starlark.Value, error) {
	of := c.on.(*jobValue)
	v, err := of.n.backend.Reader("")
	if err != nil {
		return nil, readableError("job.story", err)
	}
	story, err := v.JobStory(of.id, history.Page{Limit: MaxListed})
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(story))
	for i := range story {
		list[i] = recordOf("job event", story[i])
	}
	return frozenList(list), nil
}

// jobDraws is what HTTP's /job/{id}/draws tells, whole.
func jobDraws(c *call) (starlark.Value, error) {
	of := c.on.(*jobValue)
	v, err := of.n.backend.Reader("")
	if err != nil {
		return nil, readableError("job.draws", err)
	}
	draws, err := v.JobDraws(of.id)
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(draws))
	for i := range draws {
		list[i] = recordOf("draw", draws[i])
	}
	return frozenList(list), nil
}
