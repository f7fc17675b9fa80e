package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func findNone(string) (types.Address, error) {
	return types.Address{}, errors.New("asked for an actor")
}

func specOf(t *testing.T, body string, now *params.Params) (*push.JobSpec, error) {
	t.Helper()
	var r model.JobRequest
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return JobSpec(&r, now, findNone)
}

func TestAJobThatSaysLittleHasTheDefaults(t *testing.T) {
	now := params.Defaults()
	s, err := specOf(t, `{"kind": "custom", "executor": "echo", "params": "0x6869"}`, &now)
	if err != nil {
		t.Fatal(err)
	}
	want := &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{ExecutorHash: types.Keccak([]byte("echo")), Params: []byte("hi")}},
		Bounds:       push.Bounds{MaxInputTokens: 4096, MaxOutputTokens: 1024, MaxWallTimeSeconds: 30, MaxMemoryMB: 256, MaxRetries: 3},
		Verification: push.Verification{Mode: push.None, Runners: 1}, MaxPrice: types.WeiOf(types.CBY), TimeoutBlocks: 30,
		ResultSchema: push.ResultSchema{MaxReturnBytes: 65_536, ExpectedExecutionMS: 1000, DataFormat: push.FormatBytes}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
	if _, err := push.ParseOrder(s.Order(), types.Address{1}, 7); err != nil {
		t.Error(err)
	}
	for blockTimeMS, blocks := range map[params.Milliseconds]uint64{0: 300, 200: 150, 1000: 30, 2500: 12, 3_600_000: 12} {
		now.BlockTimeMS = blockTimeMS
		if s, err := specOf(t, `{"kind": "custom", "executor": "echo"}`, &now); err != nil || s.TimeoutBlocks != blocks {
			t.Errorf("with blocks of %d ms: %+v, %v, want %d blocks", blockTimeMS, s, err, blocks)
		}
	}
}

func TestEachKindHasItsFields(t *testing.T) {
	now := params.Defaults()
	text := func(s string) *string { return &s }
	body := types.Bytes("x")
	for request, want := range map[string]push.JobType{
		`{"kind": "http", "url": "https://a.b/c", "header": ["Accept:  text/plain ", "x-a: b:c"]}`: {Http: &push.Http{URL: "https://a.b/c",
			Method: "GET", Headers: [][2]string{{"Accept", "text/plain"}, {"x-a", "b:c"}}}},
		`{"kind": "http", "url": "http://a", "method": "POST", "body": "x", "extraction": "/a"}`: {Http: &push.Http{URL: "http://a",
			Method: "POST", Headers: [][2]string{}, Body: &body, Extraction: text("/a")}},
		`{"kind": "llm", "model": "m", "prompt": "p"}`: {Llm: &push.Llm{Model: "m", Prompt: "p", Temperature: 700, MaxTokens: 256}},
		`{"kind": "llm", "model": "m", "prompt": "p", "system_prompt": "s", "temperature": 1.125, "max_tokens": 9}`: {Llm: &push.Llm{
			Model: "m", Prompt: "p", SystemPrompt: text("s"), Temperature: 1125, MaxTokens: 9}},
		`{"kind": "llm", "model": "m", "prompt": "p", "temperature": 0}`:         {Llm: &push.Llm{Model: "m", Prompt: "p", MaxTokens: 256}},
		`{"kind": "mcp", "server": "s", "tool": "t"}`:                            {Mcp: &push.Mcp{Server: "s", Tool: "t", Arguments: "{}"}},
		`{"kind": "mcp", "server": "s", "tool": "t", "arguments": {"a": 1}}`:     {Mcp: &push.Mcp{Server: "s", Tool: "t", Arguments: `{"a": 1}`}},
		`{"kind": "mcp", "server": "s", "tool": "t", "arguments": "{\"a\": 1}"}`: {Mcp: &push.Mcp{Server: "s", Tool: "t", Arguments: `{"a": 1}`}},
		`{"kind": "ethsend", "chain": 1337, "signed_transaction": "0x02f8"}`: {EthSend: &push.EthSend{Chain: 1337,
			SignedTransaction: []byte{2, 0xf8}}},
	} {
		if s, err := specOf(t, request, &now); err != nil || !reflect.DeepEqual(s.JobType, want) {
			t.Errorf("%s: %+v, %v", request, s, err)
		}
	}
}

func TestChecksAndCallbacksAreRead(t *testing.T) {
	now := params.Defaults()
	r := &model.JobRequest{Kind: "custom", Executor: "echo", Mode: "structured_match", Runners: new(uint64), Callback: "a.b.on",
		Context: "0x01", CorrelationID: "c", Check: []json.RawMessage{json.RawMessage(`{"Schema": {"type": "object"}}`), json.RawMessage(`{"Equal": ["/a"]}`),
			json.RawMessage(`"{\"Tolerance\": {\"pointer\": \"/b\", \"permille\": 5}}"`),
			json.RawMessage(`{"Range": {"pointer": "", "min": 1, "max": 2}}`)}}
	*r.Runners = 3
	asked := ""
	s, err := JobSpec(r, &now, func(actor string) (types.Address, error) { asked = actor; return types.Address{7}, nil })
	if err != nil {
		t.Fatal(err)
	}
	schema := `{"type": "object"}`
	checks := []push.Check{{Schema: &schema}, {Equal: &[]string{"/a"}}, {Tolerance: &push.Tolerance{Pointer: "/b", Permille: 5}},
		{Range: &push.Range{Min: 1, Max: 2}}}
	if !reflect.DeepEqual(s.Verification, push.Verification{Mode: push.StructuredMatch, Runners: 3, Checks: checks}) {
		t.Errorf("%+v", s.Verification)
	}
	want := &push.Callback{Actor: types.Address{7}, Handler: "on", CorrelationID: []byte("c"), Context: []byte{1}}
	if !reflect.DeepEqual(s.Callback, want) || asked != "a.b" {
		t.Errorf("%+v of %s", s.Callback, asked)
	}
	if r.Callback = "nobody.on"; true {
		if _, err := JobSpec(r, &now, findNone); err == nil || !strings.Contains(err.Error(), "asked for an actor") {
			t.Error(err)
		}
	}
}

func TestWhatIsWrongWithAJobIsSaidOfItsField(t *testing.T) {
	now := params.Defaults()
	now.MaxSpecBytes = 1000
	const echo = `{"kind": "custom", "executor": "echo", `
	for request, want := range map[string]string{
		`{}`:                                    `kind: missing, want one of custom`,
		`{"kind": "oops"}`:                      `kind: "oops" is none of custom`,
		`{"kind": "custom"}`:                    "executor: a job of the kind custom needs it",
		`{"kind": "http"}`:                      "url: ",
		`{"kind": "http", "url": "mailto:x"}`:   "url: not an http or https URL with a host",
		`{"kind": "http", "url": "ftp://a/x"}`:  "url: not an http or https URL with a host",
		`{"kind": "http", "url": "https:///x"}`: "url: not an http or https URL with a host",
		`{"kind": "http", "url": "http://a", "header": ["nothing"]}`:                    `header: "nothing" is not NAME: VALUE`,
		`{"kind": "http", "url": "http://a", "method": "get"}`:                          `method: "get" is none of GET, HEAD,`,
		`{"kind": "http", "url": "http://a", "body": "x"}`:                              "body: a GET has none",
		`{"kind": "http", "url": "http://a", "header": ["a b: c"]}`:                     `header: invalid header name "a b"`,
		`{"kind": "ethsend", "chain": 1, "signed_transaction": "0x80"}`:                 "signed_transaction: invalid first byte 0x80",
		`{"kind": "http", "url": "http://a", "extraction": "a"}`:                        "extraction: not a JSON pointer",
		`{"kind": "llm", "prompt": "p"}`:                                                "model: ",
		`{"kind": "llm", "model": "m"}`:                                                 "prompt: ",
		`{"kind": "llm", "model": "m", "prompt": "p", "temperature": 0.0001}`:           "temperature: 0.0001 is not a number",
		`{"kind": "llm", "model": "m", "prompt": "p", "temperature": -1}`:               "temperature: ",
		`{"kind": "llm", "model": "m", "prompt": "p", "temperature": 2.001}`:            "temperature: 2.001 is not between 0 and 2",
		`{"kind": "llm", "model": "m", "prompt": "p", "max_tokens": 0}`:                 "max_tokens: 0 is below the minimum 1",
		`{"kind": "llm", "model": "m", "prompt": "12345", "max_input_tokens": 1}`:       "max_input_tokens: 1 is too low: the prompts count as 2",
		`{"kind": "ethsend", "chain": 0, "signed_transaction": "0x02"}`:                 "chain: 0 is below the minimum 1",
		`{"kind": "mcp", "server": "s"}`:                                                "tool: ",
		`{"kind": "mcp", "server": "s", "tool": "t", "arguments": [1]}`:                 "arguments: ",
		`{"kind": "mcp", "server": "s", "tool": "t", "arguments": "{"}`:                 "arguments: ",
		`{"kind": "ethsend", "signed_transaction": "0x00"}`:                             "chain: ",
		`{"kind": "ethsend", "chain": 1, "signed_transaction": "00"}`:                   "signed_transaction: ",
		echo + `"url": "http://a"}`:                                                     "url: wrong kind: the field belongs to http, and this job is custom",
		echo + `"params": "0x1"}`:                                                       "params: ",
		echo + `"params": "` + strings.Repeat("x", 1000) + `"}`:                         "params: the job has",
		echo + `"runners": 0}`:                                                          "runners: ",
		echo + `"runners": 3}`:                                                          "runners: verification None takes one runner, not 3",
		echo + `"runners": 1, "mode": "deterministic"}`:                                 "runners: verification Deterministic takes 2 or more runners, not 1",
		echo + `"runners": 32, "mode": "deterministic"}`:                                "runners: there are 32, at most 31",
		echo + `"mode": "None"}`:                                                        `mode: "None" is none of none,`,
		echo + `"threshold": 2}`:                                                        "threshold: 2 is not between 1 and 1, the number of runners",
		echo + `"pool": ""}`:                                                            "pool: empty pool name",
		echo + `"field": "/a"}`:                                                         "field: ",
		echo + `"runners": 2, "mode": "structured_match"}`:                              "check: StructuredMatch needs one",
		echo + `"runners": 2, "mode": "structured_match", "check": [{"Equal": ["a"]}]}`: `check: "a" is not a JSON pointer`,
		echo + `"check": [{"Equal": ["/a"], "Schema": {}}]}`:                            "check: ",
		echo + `"check": [{"Range": {"pointer": "/a"}}]}`:                               "check: ",
		echo + `"check": [{"Other": 1}]}`:                                               "check: ",
		echo + `"check": [7]}`:                                                          "check: 7 is not a check",
		echo + `"timeout_blocks": 0}`:                                                   "timeout_blocks: must not be 0",
		echo + `"timeout_blocks": 100001}`:                                              "timeout_blocks: 100001 is above the maximum 100000",
		echo + `"max_price": "0"}`:                                                      "max_price: ",
		echo + `"max_wall_time": "30"}`:                                                 "max_wall_time: ",
		echo + `"max_wall_time": "1500ms"}`:                                             "max_wall_time: ",
		echo + `"max_memory_mb": 0}`:                                                    "max_memory_mb: ",
		echo + `"max_return_bytes": 0}`:                                                 "max_return_bytes: ",
		echo + `"data_format": "xml"}`:                                                  "data_format: ",
		echo + `"callback": "on"}`:                                                      `callback: "on" is not ACTOR.HANDLER`,
		echo + `"context": "x"}`:                                                        "context: needs a callback",
	} {
		s, err := specOf(t, request, &now)
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %+v, %v", request, s, err)
			continue
		}
		if field, _, _ := strings.Cut(want, ":"); !strings.HasPrefix(refused.Body.Message, want) || refused.Body.Field != field ||
			refused.Status != 400 || refused.Body.Code != "invalid_job" {
			t.Errorf("%.100s: %+v, want %s", request, refused.Body, want)
		}
	}
}
