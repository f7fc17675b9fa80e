package job

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func jobSubmitCommand() *cli.Command {
	return &cli.Command{
		Name: "submit", Usage: "submit a job, and print it once its submission is final",
		Description: "Example: devnet job submit --kind custom --executor echo --params hello --wait\n" +
			"Example: devnet job submit --kind llm --model offline --prompt 'Say hello.' --runners 3 --mode deterministic\n" +
			"B is text, or 0x and hexadecimal digits; @FILE reads a file, - standard input, and @@ begins a text with @. " +
			"Amounts are in CBY: max-price and tip are held in escrow, and the unused part is refunded. Exit code 1 when the job fails with --wait.",
		Flags:  append(jobFlags(), command.JSONFlag, command.HTTPFlag),
		Action: command.WithoutArguments(jobSubmit),
	}
}

// jobFlags are what a job may say: first of every kind, then by kind.
func jobFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kind", Usage: "`KIND`: " + plural.List(push.JobKinds(), "or")},
		command.FromFlag,
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
		name, usage := strings.TrimPrefix(command.FlagOf(field.Name), "--"), field.Kind+": "+field.Usage
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
	n := command.NewClient(c)
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
	given := command.Flags{Context: c}
	r := model.JobRequest{From: c.String("from"), Kind: c.String("kind"), Check: given.ReadChecks()}
	for _, field := range model.JobFields() {
		name := strings.TrimPrefix(command.FlagOf(field.Name), "--")
		if name != "from" && name != "kind" && c.IsSet(name) {
			given.ReadFlag(name, field.As, reflect.ValueOf(&r).Elem().FieldByIndex(field.Index).Addr().Interface())
		}
	}
	return r, given.Err
}
