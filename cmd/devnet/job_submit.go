package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func jobSubmitCommand() *cli.Command {
	return &cli.Command{
		Name: "submit", Usage: "submit a job, and print it once its submission is final",
		Description: "Example: devnet job submit --kind custom --executor echo --params hello --wait\n" +
			"Example: devnet job submit --kind llm --model offline --prompt 'Say hello.' --runners 3 --mode deterministic\n" +
			"B is text, or 0x and hexadecimal digits; @FILE reads a file, - standard input, and @@ begins a text with @. " +
			"Amounts are in CBY: max-price and tip are held in escrow, and the unused part is refunded. Exit code 1 when the job fails with --wait.",
		Flags:  append(append([]cli.Flag{}, jobFlags...), jsonFlag, httpFlag),
		Action: jobSubmit,
	}
}

// jobFlags are what a job may say: first of every kind, then by kind.
var jobFlags = []cli.Flag{
	&cli.StringFlag{Name: "kind", Usage: "`KIND`: custom, http, llm, mcp or ethsend"},
	fromFlag,
	&cli.BoolFlag{Name: "wait", Usage: "wait until the job ended, and its actor was called back"},
	&cli.Uint64Flag{Name: "runners", Value: 1, Usage: "a committee of `N`"},
	&cli.StringFlag{Name: "mode", Value: "none", Usage: "`MODE` by which results are judged: none, majority_vote, structured_match, " +
		"deterministic or semantic_similarity; economic_bond is refused, since the drafts do not define the bond"},
	&cli.Uint64Flag{Name: "threshold", DefaultText: "two thirds, rounded up", Usage: "`N` results have to agree"},
	&cli.StringFlag{Name: "field", Usage: "majority_vote: compare the value at `POINTER`"},
	&cli.StringSliceFlag{Name: "check", Usage: "structured_match, may be repeated: `JSON` like {\"Equal\": [\"/price\"]}, with Schema, " +
		"Equal, Tolerance or Range"},
	&cli.Uint64Flag{Name: "timeout-blocks", DefaultText: "30 s of blocks, at least 12", Usage: "draw again after `N` blocks"},
	&cli.StringFlag{Name: "max-price", Value: "1", Usage: "at most `CBY` for the committee's work"},
	&cli.StringFlag{Name: "tip", Value: "0", Usage: "`CBY` to the winner"},
	&cli.StringFlag{Name: "callback", Usage: "tell `ACTOR.HANDLER` the result"},
	&cli.StringFlag{Name: "correlation-id", Usage: "`B` that the callback gets back"},
	&cli.StringFlag{Name: "context", Usage: "`B` that the callback gets back"},
	&cli.BoolFlag{Name: "tee", Usage: "only runners with a trusted execution environment"},
	&cli.StringFlag{Name: "pool", Usage: "only runners with the entitlement `NAME`"},
	&cli.StringFlag{Name: "data-format", Value: "bytes", Usage: "a result is `FORMAT`: bytes, text or json"},
	&cli.Uint64Flag{Name: "max-return-bytes", Value: model.JobMaxReturnBytes, Usage: "a result has at most `N` bytes"},
	&cli.Uint64Flag{Name: "max-input-tokens", Value: model.JobMaxInputTokens, Usage: "prompts have at most `N` tokens"},
	&cli.Uint64Flag{Name: "max-output-tokens", Value: model.JobMaxOutputTokens, Usage: "an answer has at most `N` tokens"},
	&cli.DurationFlag{Name: "max-wall-time", Value: model.JobMaxWallTime, Usage: "the work takes at most `TIME`, in whole seconds"},
	&cli.Uint64Flag{Name: "max-memory-mb", Value: model.JobMaxMemoryMB, Usage: "the work has at most `N` MiB"},
	&cli.Uint64Flag{Name: "max-retries", Value: model.JobMaxRetries, Usage: "draw again at most `N` times"},
	&cli.Uint64Flag{Name: "expected-ms", Value: model.JobExpectedMS, Usage: "`N` milliseconds of work, from which the price is computed"},

	&cli.StringFlag{Name: "executor", Usage: "custom: the executor `NAME`, like echo, sha256 or manual"},
	&cli.StringFlag{Name: "params", Usage: "custom: `B` for the executor"},
	&cli.StringFlag{Name: "url", Usage: "http: `URL`"},
	&cli.StringFlag{Name: "method", Value: "GET", Usage: "http: `METHOD`"},
	&cli.StringSliceFlag{Name: "header", Usage: "http, may be repeated: `LINE` is 'NAME: VALUE'"},
	&cli.StringFlag{Name: "body", Usage: "http: `B`"},
	&cli.StringFlag{Name: "extraction", Usage: "http: the result is what `POINTER` leads to in the answer"},
	&cli.StringFlag{Name: "model", Usage: "llm: the model `NAME`, like offline"},
	&cli.StringFlag{Name: "prompt", Usage: "llm: `TEXT`"},
	&cli.StringFlag{Name: "system-prompt", Usage: "llm: `TEXT`"},
	&cli.Float64Flag{Name: "temperature", Value: float64(model.JobTemperature) / 1000, Usage: "llm: `T`, with at most three decimals"},
	&cli.Uint64Flag{Name: "max-tokens", Value: model.JobMaxTokens, Usage: "llm: at most `N` tokens are asked for"},
	&cli.StringFlag{Name: "server", Usage: "mcp: the server `NAME`"},
	&cli.StringFlag{Name: "tool", Usage: "mcp: the tool `NAME`"},
	&cli.StringFlag{Name: "arguments", Value: "{}", Usage: "mcp: `JSON`, an object"},
	&cli.Uint64Flag{Name: "chain", Usage: "ethsend: the chain's number `N`"},
	&cli.StringFlag{Name: "signed-transaction", Usage: "ethsend: `0xHEX`"},
}

func jobSubmit(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	request, err := jobRequest(c)
	if err != nil {
		return err
	}
	n := network(c)
	j, err := n.SubmitJob(c.Context, request)
	if err == nil {
		sayUndelivered(c, n, &j)
	}
	if err != nil || !c.Bool("wait") {
		return shownJob(c, j, err)
	}
	if j, err = awaitJob(c, n, j.ID.String()); err != nil {
		return err
	}
	return endedJob(c, &j)
}

// jobRequest is what the flags ask for: those that were given, and no other.
func jobRequest(c *cli.Context) (model.JobRequest, error) {
	given := flags{c: c}
	r := model.JobRequest{From: c.String("from"), Kind: c.String("kind"), Runners: given.number("runners"), Mode: given.text("mode"),
		TimeoutBlocks: given.number("timeout-blocks"), MaxPrice: given.amount("max-price"), Tip: given.amount("tip"),
		Threshold: given.number("threshold"), Field: given.some("field"), TEE: c.Bool("tee"), Pool: given.some("pool"),
		Callback: given.text("callback"), CorrelationID: given.payload("correlation-id"), Context: given.payload("context"),
		MaxInputTokens: given.number("max-input-tokens"), MaxOutputTokens: given.number("max-output-tokens"),
		MaxMemoryMB: given.number("max-memory-mb"), MaxRetries: given.number("max-retries"),
		MaxReturnBytes: given.number("max-return-bytes"), ExpectedMS: given.number("expected-ms"), DataFormat: given.text("data-format"),
		Executor: given.text("executor"), Params: given.payload("params"),
		URL: given.text("url"), Method: given.text("method"), Header: c.StringSlice("header"), Body: given.somePayload("body"),
		Extraction: given.some("extraction"),
		Model:      given.text("model"), Prompt: given.text("prompt"), SystemPrompt: given.some("system-prompt"),
		MaxTokens: given.number("max-tokens"), Server: given.text("server"), Tool: given.text("tool"),
		Arguments: given.json("arguments", given.text("arguments"), `{"path": "/a"}`),
		Chain:     given.number("chain"), SignedTransaction: given.text("signed-transaction")}
	if c.IsSet("max-wall-time") {
		r.MaxWallTime = c.Duration("max-wall-time").String()
	}
	if c.IsSet("temperature") {
		t := c.Float64("temperature")
		r.Temperature = &t
	}
	for _, check := range c.StringSlice("check") {
		r.Check = append(r.Check, given.json("check", check, `{"Equal": ["/price"]}`))
	}
	return r, given.err
}

// flags reads the flags that were given; the first invalid value stays as the error.
type flags struct {
	c     *cli.Context
	piped string // the flag that standard input was read for, "" for none
	err   error
}

// text returns a text that is not empty, or "" if none was given.
func (f *flags) text(name string) string {
	if !f.c.IsSet(name) {
		return ""
	}
	if err := filled(f.c, name); err != nil && f.err == nil {
		f.err = err
	}
	return f.c.String(name)
}

// filled refuses an empty text if one was given: leaving it out means something
// different.
func filled(c *cli.Context, name string) error {
	if c.IsSet(name) && c.String(name) == "" {
		return usage("Leave it out, or say one.", "--%s: it is empty", name)
	}
	return nil
}

// some is a text that may be empty, or nil.
func (f *flags) some(name string) *string {
	if !f.c.IsSet(name) {
		return nil
	}
	text := f.c.String(name)
	return &text
}

// payload is bytes as a payload is given.
func (f *flags) payload(name string) string {
	if p := f.somePayload(name); p != nil {
		return *p
	}
	return ""
}

// somePayload returns bytes, possibly empty, or nil. Standard input is read for one
// flag.
func (f *flags) somePayload(name string) *string {
	if f.err != nil || !f.c.IsSet(name) {
		return nil
	}
	given := f.c.String(name)
	if given == "-" && f.piped != "" {
		f.err = usage("Give one of them as @FILE.", "--%s: standard input is read for --%s already", name, f.piped)
		return nil
	}
	if given == "-" {
		f.piped = name
	}
	payload, err := payloadOf(f.c, "--"+name, given)
	f.err = err
	return &payload
}

func (f *flags) number(name string) *uint64 {
	if !f.c.IsSet(name) {
		return nil
	}
	n := f.c.Uint64(name)
	return &n
}

// amount is in CBY.
func (f *flags) amount(name string) *types.Wei {
	if !f.c.IsSet(name) {
		return nil
	}
	w, err := parseCBY(name, f.c.String(name))
	if f.err == nil {
		f.err = err
	}
	return &w
}

// json returns a text of JSON like example; "" is nil.
func (f *flags) json(name, text, example string) json.RawMessage {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) && f.err == nil {
		f.err = usage("Quote it for the shell: '"+example+"'.", "--%s: %.80q is not JSON", name, text)
	}
	return json.RawMessage(text)
}
