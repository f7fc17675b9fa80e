package model

import (
	"encoding/json"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Defaults of a job's fields.
const (
	JobMaxInputTokens  = 4_096
	JobMaxOutputTokens = 1_024
	JobMaxWallTime     = 30 * time.Second
	JobMaxMemoryMB     = 256
	JobMaxRetries      = 3
	JobMaxReturnBytes  = 65_536
	JobExpectedMS      = 1_000
)

// JobRequest asks for a job, by the names of the flags of devnet job submit. Missing
// fields have the defaults of their descriptions; bytes are text, or 0x and
// hexadecimal digits.
type JobRequest struct {
	From            string            `json:"from,omitempty" maxLength:"64" example:"alice" doc:"The devnet account that submits and pays; left out: alice."`
	Kind            string            `json:"kind"`
	Runners         *uint64           `json:"runners,omitempty" doc:"The size of the committee; left out: 1."`
	Mode            string            `json:"mode,omitempty" enum:"none,economic_bond,majority_vote,structured_match,deterministic,semantic_similarity" doc:"How results are judged; left out: none."`
	TimeoutBlocks   *uint64           `json:"timeout_blocks,omitempty" doc:"Left out: what 30 seconds hold, and at least 12."`
	MaxPrice        *types.Wei        `json:"max_price,omitempty" doc:"In wei, for the whole committee; left out: 1 CBY."`
	Tip             *types.Wei        `json:"tip,omitempty" doc:"In wei, to the winner; left out: 0."`
	Threshold       *uint64           `json:"threshold,omitempty" doc:"How many have to agree; left out: two thirds, rounded up."`
	Field           *string           `json:"field,omitempty" doc:"For majority_vote: a JSON pointer to the value that is compared; left out: the whole result."`
	Check           []json.RawMessage `json:"check,omitempty" doc:"For structured_match, each with one entry: {\"Schema\": a JSON schema}, {\"Equal\": [pointer, …]}, {\"Tolerance\": {\"pointer\", \"permille\"}} or {\"Range\": {\"pointer\", \"min\", \"max\"}}."`
	TEE             bool              `json:"tee,omitempty" doc:"Only runners with a trusted execution environment."`
	Pool            *string           `json:"pool,omitempty" doc:"Only runners with this entitlement."`
	Callback        string            `json:"callback,omitempty" example:"prices.on_price" doc:"ACTOR.HANDLER, the actor by name or address; left out: none."`
	CorrelationID   string            `json:"correlation_id,omitempty" as:"bytes" doc:"Bytes that the callback gets back."`
	Context         string            `json:"context,omitempty" as:"bytes" doc:"Bytes that the callback gets back."`
	MaxInputTokens  *uint64           `json:"max_input_tokens,omitempty" doc:"Left out: 4,096."`
	MaxOutputTokens *uint64           `json:"max_output_tokens,omitempty" doc:"Left out: 1,024."`
	MaxWallTime     string            `json:"max_wall_time,omitempty" example:"30s" doc:"Whole seconds; left out: 30s."`
	MaxMemoryMB     *uint64           `json:"max_memory_mb,omitempty" doc:"Left out: 256."`
	MaxRetries      *uint64           `json:"max_retries,omitempty" doc:"Draws after the first; left out: 3."`
	MaxReturnBytes  *uint64           `json:"max_return_bytes,omitempty" doc:"Left out: 65,536."`
	ExpectedMS      *uint64           `json:"expected_ms,omitempty" doc:"Milliseconds of work, from which the price is computed; left out: 1,000."`
	DataFormat      string            `json:"data_format,omitempty" enum:"bytes,text,json" doc:"Format of a result; left out: bytes."`

	// The fields of each kind, and the tags that describe them (JobField).

	Executor string `json:"executor,omitempty" kind:"custom" needed:"true" wire:"executor_hash" flag:"the executor {NAME}, like echo, sha256 or manual" doc:"For custom: the executor's name."`
	Params   string `json:"params,omitempty" kind:"custom" as:"bytes" long:"true" flag:"{B} for the executor" doc:"Of custom: bytes."`

	URL        string   `json:"url,omitempty" kind:"http" needed:"true" flag:"{URL}" doc:"Of http."`
	Method     string   `json:"method,omitempty" kind:"http" otherwise:"GET" flag:"{METHOD}" doc:"For http; left out: GET."`
	Header     []string `json:"header,omitempty" kind:"http" wire:"headers" flag:"{LINE} is 'NAME: VALUE'" example:"[\"accept: application/json\"]" doc:"Of http, each NAME: VALUE."`
	Body       *string  `json:"body,omitempty" kind:"http" as:"bytes" long:"true" flag:"{B}" doc:"For http: bytes; left out: none."`
	Extraction *string  `json:"extraction,omitempty" kind:"http" flag:"the result is what {POINTER} leads to in the answer" doc:"For http: a JSON pointer into the answer; left out: the whole."`

	Model        string   `json:"model,omitempty" kind:"llm" needed:"true" flag:"the model {NAME}, like offline" doc:"Of llm."`
	Prompt       string   `json:"prompt,omitempty" kind:"llm" needed:"true" long:"true" flag:"{TEXT}" doc:"Of llm."`
	SystemPrompt *string  `json:"system_prompt,omitempty" kind:"llm" flag:"{TEXT}" doc:"For llm; left out: none."`
	Temperature  *float64 `json:"temperature,omitempty" kind:"llm" otherwise:"0.7" flag:"{T}, with at most three decimals" doc:"For llm, with at most three decimals; left out: 0.7."`
	MaxTokens    *uint64  `json:"max_tokens,omitempty" kind:"llm" otherwise:"256" flag:"at most {N} tokens are asked for" doc:"For llm; left out: 256."`

	Server    string          `json:"server,omitempty" kind:"mcp" needed:"true" flag:"the server {NAME}" doc:"Of mcp."`
	Tool      string          `json:"tool,omitempty" kind:"mcp" needed:"true" flag:"the tool {NAME}" doc:"Of mcp."`
	Arguments json.RawMessage `json:"arguments,omitempty" kind:"mcp" otherwise:"{}" long:"true" flag:"{JSON}, an object" doc:"Of mcp: a JSON object, or its text; left out: {}."`

	Chain             *uint64 `json:"chain,omitempty" kind:"ethsend" needed:"true" flag:"the chain's number {N}" doc:"For ethsend: the chain's number."`
	SignedTransaction string  `json:"signed_transaction,omitempty" kind:"ethsend" needed:"true" as:"hex" long:"true" flag:"{0xHEX}" doc:"For ethsend: 0x and hexadecimal digits."`
}
