package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// How long a job waits for its results that says nothing of it.
const (
	defaultTimeout     = 30 * time.Second
	leastTimeoutBlocks = 12
)

// JobSpec returns the spec for a request, which is not submitted yet. now are the
// parameters of the next block; find is the address of an actor that the request
// calls by its name or address. An error is an *Error at the field of the request
// that is wrong, with whose name its message begins; it is find's own where that
// fails.
//
// Spec: CIP-2; decision J19.
func JobSpec(r *model.JobRequest, now *params.Params, find func(actor string) (types.Address, error)) (*push.JobSpec, error) {
	f := &form{request: r}
	spec := &push.JobSpec{JobType: f.jobType(), Bounds: f.readBounds(), Verification: f.readVerification(),
		MaxPrice: orDefault(r.MaxPrice, types.WeiOf(types.CBY)), Tip: orDefault(r.Tip, types.Wei{}),
		TimeoutBlocks: orDefault(r.TimeoutBlocks, timeoutBlocks(now)), RequiredRunnerPool: f.entitlementOf(),
		ResultSchema: push.ResultSchema{MaxReturnBytes: orDefault(r.MaxReturnBytes, model.JobMaxReturnBytes),
			ExpectedExecutionMS: orDefault(r.ExpectedMS, model.JobExpectedMS),
			DataFormat:          f.dataFormat()}}
	actor := f.readCallback(spec)
	f.refuseForeignFields()
	if f.err != nil {
		return nil, f.err
	}
	if spec.Callback != nil {
		address, err := find(actor)
		if err != nil {
			return nil, err
		}
		spec.Callback.Actor = address
	}
	if wrong := system.CheckSpec(spec, now); wrong != nil {
		return nil, badJob(fieldOf(wrong.Field), "%s", wrong.Detail)
	}
	if wrong := spec.Acceptable(); wrong != nil {
		return nil, badJob(fieldOf(wrong.Field), "%s", wrong.Detail)
	}
	if n := len(spec.Order()); uint64(n) > now.MaxSpecBytes {
		return nil, badJob(f.longestField(), "the job has %d bytes with it, at most %d", n, now.MaxSpecBytes)
	}
	return spec, nil
}

// ParamsOf are the parameters of the next block, as a reader tells them.
func ParamsOf(v answers.Reader) (*params.Params, error) {
	list, err := v.Params()
	if err != nil {
		return nil, err
	}
	now := params.Defaults()
	for _, p := range list {
		if err := now.Set(p.Key, p.Value); err != nil {
			return nil, err
		}
	}
	return &now, nil
}

// timeoutBlocks is what a job's timeout is that states none. Blocks that come as fast
// as they can count as cip11.min_block_ms.
func timeoutBlocks(now *params.Params) uint64 {
	each := max(now.BlockTimeMS, now.MinBlockMS).Duration()
	return min(max(uint64(defaultTimeout/each), leastTimeoutBlocks), now.MaxTimeoutBlocks)
}

// badJob refuses a request for a job.
func badJob(field, message string, args ...any) *Error {
	return Refuse(http.StatusBadRequest, "invalid_job", field+": "+message, args...).At(field)
}

// fieldOf returns the request's field for a field of a spec.
func fieldOf(path string) string {
	words := strings.Split(path, ".")
	switch last := words[len(words)-1]; {
	case words[0] == "callback":
		return "callback"
	case len(words) > 1 && words[1] == "checks":
		return "check"
	case last == "max_wall_time_seconds":
		return "max_wall_time"
	case last == "job_type":
		return "kind"
	case last == "headers":
		return "header"
	default:
		return last
	}
}

// form is a request that is read; the first fault in it stays.
type form struct {
	request *model.JobRequest
	err     error
}

func (f *form) refuseField(field, message string, args ...any) {
	if f.err == nil {
		f.err = badJob(field, message, args...)
	}
}

// bytesOf reads a field that is text, or 0x and hexadecimal digits.
func (f *form) bytesOf(field, text string) []byte {
	b, err := model.Payload(text)
	if err != nil {
		f.refuseField(field, "%v", err)
	}
	return b
}

func (f *form) readBounds() push.Bounds {
	r := f.request
	return push.Bounds{MaxInputTokens: orDefault(r.MaxInputTokens, model.JobMaxInputTokens),
		MaxOutputTokens:    orDefault(r.MaxOutputTokens, model.JobMaxOutputTokens),
		MaxWallTimeSeconds: f.wallTime(), MaxMemoryMB: orDefault(r.MaxMemoryMB, model.JobMaxMemoryMB),
		MaxRetries: orDefault(r.MaxRetries, model.JobMaxRetries)}
}

func (f *form) wallTime() uint64 {
	text := f.request.MaxWallTime
	if text == "" {
		return uint64(model.JobMaxWallTime / time.Second)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d%time.Second != 0 {
		f.refuseField("max_wall_time", "%q is not a time in whole seconds: write 30s or 2m", clipText(text))
		return 0
	}
	return uint64(d / time.Second)
}

// entitlementOf is the entitlement that runners have to have, or nil. No entitlement is empty.
func (f *form) entitlementOf() *string {
	if f.request.Pool != nil && *f.request.Pool == "" {
		f.refuseField("pool", "empty pool name: name a pool, or leave it out")
	}
	return f.request.Pool
}

func (f *form) dataFormat() push.DataFormat {
	switch format := push.DataFormat(f.request.DataFormat); format {
	case "":
		return push.FormatBytes
	case push.FormatBytes, push.FormatText, push.FormatJSON:
		return format
	}
	f.refuseField("data_format", "%q is none of bytes, text, json", clipText(f.request.DataFormat))
	return ""
}

func (f *form) readVerification() push.Verification {
	r := f.request
	v := push.Verification{Runners: orDefault(r.Runners, 1), Threshold: r.Threshold, Field: r.Field, TEERequired: r.TEE}
	mode, known := answers.JobModes[r.Mode]
	if mode == push.EconomicBond && f.err == nil {
		f.err = Refuse(http.StatusBadRequest, system.CodeUnsupportedMode, "mode: %s", system.UnsupportedMode).
			Hint("Leave mode out, or say none.").At("mode")
	}
	if v.Mode = mode; !known {
		f.refuseField("mode", "%q is none of none, economic_bond, majority_vote, structured_match, deterministic, semantic_similarity",
			clipText(r.Mode))
	}
	for _, raw := range r.Check {
		v.Checks = append(v.Checks, f.readCheck(raw))
	}
	return v
}

// readCheck reads one of four, a JSON object of one entry.
func (f *form) readCheck(raw json.RawMessage) (c push.Check) {
	const want = `it is one of {"Schema": …}, {"Equal": [pointer, …]}, {"Tolerance": {"pointer": …, "permille": …}}, ` +
		`{"Range": {"pointer": …, "min": …, "max": …}}`
	var one struct {
		Schema    json.RawMessage
		Equal     *[]string
		Tolerance *struct {
			Pointer  *string `json:"pointer"`
			Permille *uint64 `json:"permille"`
		}
		Range *struct {
			Pointer *string `json:"pointer"`
			Min     *uint64 `json:"min"`
			Max     *uint64 `json:"max"`
		}
	}
	var entries map[string]json.RawMessage
	text := plainJSON(raw)
	if decodeStrict(text, &one) != nil || json.Unmarshal(text, &entries) != nil || len(entries) != 1 {
		f.refuseField("check", "%s is not a check: %s", clipText(string(text)), want)
		return c
	}
	switch {
	case one.Schema != nil:
		c.Schema = new(string(plainJSON(one.Schema)))
	case one.Equal != nil:
		c.Equal = one.Equal
	case one.Tolerance != nil && one.Tolerance.Pointer != nil && one.Tolerance.Permille != nil:
		c.Tolerance = &push.Tolerance{Pointer: *one.Tolerance.Pointer, Permille: *one.Tolerance.Permille}
	case one.Range != nil && one.Range.Pointer != nil && one.Range.Min != nil && one.Range.Max != nil:
		c.Range = &push.Range{Pointer: *one.Range.Pointer, Min: *one.Range.Min, Max: *one.Range.Max}
	default:
		f.refuseField("check", "%s is not a check: %s", clipText(string(text)), want)
	}
	return c
}

// plainJSON is JSON that was given as it is, or as the text of a string.
func plainJSON(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return raw
}

// decodeStrict reads JSON whose objects have no other fields, and no data after it.
func decodeStrict(text []byte, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if !json.Valid(text) {
		return strconv.ErrSyntax
	}
	return nil
}

// readCallback reads ACTOR.HANDLER, and returns the actor, which is to be found yet.
func (f *form) readCallback(spec *push.JobSpec) string {
	r := f.request
	if r.Callback == "" {
		if r.CorrelationID != "" {
			f.refuseField("correlation_id", "needs a callback")
		}
		if r.Context != "" {
			f.refuseField("context", "needs a callback")
		}
		return ""
	}
	at := strings.LastIndexByte(r.Callback, '.')
	if at < 1 || at == len(r.Callback)-1 {
		f.refuseField("callback", "%q is not ACTOR.HANDLER", clipText(r.Callback))
		return ""
	}
	spec.Callback = &push.Callback{Handler: r.Callback[at+1:], CorrelationID: f.bytesOf("correlation_id", r.CorrelationID),
		Context: f.bytesOf("context", r.Context)}
	return r.Callback[:at]
}
