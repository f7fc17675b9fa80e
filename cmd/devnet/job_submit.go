package main

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func jobSubmitCommand() *cli.Command {
	return &cli.Command{
		Name: "submit", Usage: "submit a job, and print it once its submission is final",
		Description: "Example: devnet job submit --kind custom --executor echo --params hello --wait\n" +
			"Example: devnet job submit --kind llm --model offline --prompt 'Say hello.' --runners 3 --mode deterministic\n" +
			"B is text, or 0x and hexadecimal digits; @FILE reads a file, - standard input, and @@ begins a text with @. " +
			"Amounts are in CBY: max-price and tip are held in escrow, and the unused part is refunded. Exit code 1 when the job fails with --wait.",
		Flags:  append(jobFlags(), jsonFlag, httpFlag),
		Action: takingNothing(jobSubmit),
	}
}

// jobFlags are what a job may say: first of every kind, then by kind.
func jobFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kind", Usage: "`KIND`: " + plural.List(push.JobKinds(), "or")},
		fromFlag,
		&cli.BoolFlag{Name: "wait", Usage: "wait until the job has ended and its actor was called back"},
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
	}, kindFlags()...)
}

// kindFlags are the flags of the fields that belong to one kind.
func kindFlags() (list []cli.Flag) {
	for _, field := range model.JobFields() {
		if field.Kind == "" {
			continue
		}
		name, usage := strings.TrimPrefix(flagOf(field.Name), "--"), field.Kind+": "+field.Usage
		switch reflect.New(field.Type).Interface().(type) {
		case *[]string:
			list = append(list, &cli.StringSliceFlag{Name: name, Usage: field.Kind + ", may be repeated: " + field.Usage})
		case **uint64:
			value, _ := strconv.ParseUint(field.Otherwise, 10, 64) // 0 without one
			list = append(list, &cli.Uint64Flag{Name: name, Value: value, Usage: usage})
		case **float64:
			value, _ := strconv.ParseFloat(field.Otherwise, 64) // as above
			list = append(list, &cli.Float64Flag{Name: name, Value: value, Usage: usage})
		default:
			list = append(list, &cli.StringFlag{Name: name, Value: field.Otherwise, Usage: usage})
		}
	}
	return list
}

func jobSubmit(c *cli.Context) error {
	request, err := jobRequest(c)
	if err != nil {
		return err
	}
	n := networkClient(c)
	j, err := n.SubmitJob(c.Context, request)
	if err == nil {
		noteDeliveryTrouble(c, n, &j)
		if request.Kind == push.JobLLM.String() {
			noteOfflineRunners(c, n, request.Model)
		}
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
	r := model.JobRequest{From: c.String("from"), Kind: c.String("kind"), Check: given.readChecks()}
	for _, field := range model.JobFields() {
		name := strings.TrimPrefix(flagOf(field.Name), "--")
		if name != "from" && name != "kind" && c.IsSet(name) {
			given.readFlag(name, field.As, reflect.ValueOf(&r).Elem().FieldByIndex(field.Index).Addr().Interface())
		}
	}
	return r, given.err
}

// flags reads the flags that were given; the first invalid value stays as the error.
type flags struct {
	c     *cli.Context
	piped string // the flag that standard input was read for, "" for none
	err   error
}

// readFlag reads a flag that was given into a field. as says how a text is bytes.
func (f *flags) readFlag(name, as string, into any) {
	switch into := into.(type) {
	case *string:
		switch {
		case name == "max-wall-time":
			*into = f.c.Duration(name).String()
		case as == "bytes":
			*into = f.readPayload(name)
		default:
			*into = f.nonEmptyText(name)
		}
	case **string:
		if *into = new(f.c.String(name)); as == "bytes" {
			*into = new(f.readPayload(name))
		}
	case **uint64:
		*into = f.numberOf(name)
	case **float64:
		*into = new(f.c.Float64(name))
	case **types.Wei:
		*into = f.amountOf(name)
	case *bool:
		*into = f.c.Bool(name)
	case *[]string:
		*into = f.c.StringSlice(name)
	case *json.RawMessage:
		*into = f.jsonOf(name, f.nonEmptyText(name), `{"path": "/a"}`)
	}
}

// readChecks reads each --check that was given.
func (f *flags) readChecks() (list []json.RawMessage) {
	for _, check := range f.c.StringSlice("check") {
		list = append(list, f.jsonOf("check", check, `{"Equal": ["/price"]}`))
	}
	return list
}

// nonEmptyText returns a text that is not empty, or "" if none was given.
func (f *flags) nonEmptyText(name string) string {
	if !f.c.IsSet(name) {
		return ""
	}
	if err := refuseEmpty(f.c, name); err != nil && f.err == nil {
		f.err = err
	}
	return f.c.String(name)
}

// refuseEmpty refuses an empty text if one was given: leaving it out means something
// different.
func refuseEmpty(c *cli.Context, name string) error {
	if c.IsSet(name) && c.String(name) == "" {
		return newUsageError("Leave it out, or say one.", "--%s: it is empty", name)
	}
	return nil
}

// readPayload returns bytes as a payload is given. Standard input is read for one flag.
func (f *flags) readPayload(name string) (payload string) {
	if f.err != nil {
		return ""
	}
	given := f.c.String(name)
	if given == "-" && f.piped != "" {
		f.err = newUsageError("Give one of them as @FILE.", "--%s: standard input is read for --%s already", name, f.piped)
		return ""
	}
	if given == "-" {
		f.piped = name
	}
	payload, f.err = payloadOf(f.c, "--"+name, given)
	return payload
}

func (f *flags) numberOf(name string) *uint64 {
	if !f.c.IsSet(name) {
		return nil
	}
	return new(f.c.Uint64(name))
}

// amountOf is in CBY.
func (f *flags) amountOf(name string) *types.Wei {
	if !f.c.IsSet(name) {
		return nil
	}
	w, err := parseCBY(name, f.c.String(name))
	if f.err == nil {
		f.err = err
	}
	return &w
}

// jsonOf returns a text of JSON like example; "" is nil.
func (f *flags) jsonOf(name, text, example string) json.RawMessage {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) && f.err == nil {
		f.err = newUsageError("Quote it for the shell: '"+example+"'.", "--%s: %.80q is not JSON", name, text)
	}
	return json.RawMessage(text)
}
