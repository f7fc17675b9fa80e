package api

import (
	"encoding/json"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// longest is the field of each kind that makes a job long.
var longest = map[string]string{"custom": "params", "http": "body", "llm": "prompt", "mcp": "arguments", "ethsend": "signed_transaction"}

// jobType reads the fields of one kind.
func (f *form) jobType() (t push.JobType) {
	r := f.request
	switch r.Kind {
	case "custom":
		f.needs("executor", r.Executor)
		t.Custom = &push.Custom{ExecutorHash: types.Keccak([]byte(r.Executor)), Params: f.bytes("params", r.Params)}
	case "http":
		t.Http = f.http()
	case "llm":
		f.needs("model", r.Model)
		f.needs("prompt", r.Prompt)
		t.Llm = &push.Llm{Model: r.Model, Prompt: r.Prompt, SystemPrompt: r.SystemPrompt, MaxTokens: or(r.MaxTokens, model.JobMaxTokens),
			Temperature: f.thousandths("temperature", r.Temperature)}
	case "mcp":
		f.needs("server", r.Server)
		f.needs("tool", r.Tool)
		t.Mcp = &push.Mcp{Server: r.Server, Tool: r.Tool, Arguments: f.arguments()}
	case "ethsend":
		t.EthSend = f.ethSend()
	default:
		f.refuse("kind", "%q is none of custom, http, llm, mcp, ethsend", clip(r.Kind))
	}
	return t
}

func (f *form) http() *push.Http {
	r := f.request
	f.needs("url", r.URL)
	h := &push.Http{URL: r.URL, Method: "GET", Headers: [][2]string{}, Extraction: r.Extraction}
	if r.Method != "" {
		h.Method = r.Method
	}
	if r.Body != nil {
		body := types.Bytes(f.bytes("body", *r.Body))
		h.Body = &body
	}
	for _, line := range r.Header {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			f.refuse("header", "%q is not NAME: VALUE", clip(line))
		}
		h.Headers = append(h.Headers, [2]string{name, strings.TrimSpace(value)})
	}
	return h
}

func (f *form) arguments() string {
	if len(f.request.Arguments) == 0 {
		return "{}"
	}
	text := plainJSON(f.request.Arguments)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		f.refuse("arguments", "%s is not a JSON object", clip(string(text)))
	}
	return string(text)
}

func (f *form) ethSend() *push.EthSend {
	r := f.request
	if r.Chain == nil {
		f.needs("chain", "")
	}
	f.needs("signed_transaction", r.SignedTransaction)
	if !strings.HasPrefix(r.SignedTransaction, "0x") {
		f.refuse("signed_transaction", "want 0x and hexadecimal digits")
	}
	return &push.EthSend{Chain: or(r.Chain, 0), SignedTransaction: f.bytes("signed_transaction", r.SignedTransaction)}
}

// belongs refuses a field that belongs to another kind.
func (f *form) belongs() {
	r := f.request
	for _, one := range []struct {
		kind, field string
		given       bool
	}{
		{"custom", "executor", r.Executor != ""}, {"custom", "params", r.Params != ""},
		{"http", "url", r.URL != ""}, {"http", "method", r.Method != ""}, {"http", "header", len(r.Header) > 0},
		{"http", "body", r.Body != nil}, {"http", "extraction", r.Extraction != nil},
		{"llm", "model", r.Model != ""}, {"llm", "prompt", r.Prompt != ""}, {"llm", "system_prompt", r.SystemPrompt != nil},
		{"llm", "temperature", r.Temperature != nil}, {"llm", "max_tokens", r.MaxTokens != nil},
		{"mcp", "server", r.Server != ""}, {"mcp", "tool", r.Tool != ""}, {"mcp", "arguments", len(r.Arguments) > 0},
		{"ethsend", "chain", r.Chain != nil}, {"ethsend", "signed_transaction", r.SignedTransaction != ""},
	} {
		if one.given && one.kind != r.Kind {
			f.refuse(one.field, "wrong kind: the field belongs to %s, and this job is %s", one.kind, clip(r.Kind))
		}
	}
}
