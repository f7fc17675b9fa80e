// Package jobtext writes jobs, their story and their draws for people.
package jobtext

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

const (
	// FullCommittee and ShortCommittee bound the named runners of a committee, in a line of a terminal and in a
	// table's cell.
	FullCommittee  = 8
	ShortCommittee = 3
	// maxShownResult bounds the shown part of a job's result, in bytes.
	maxShownResult = 1_024
)

// Print prints a job, and its status.
func Print(w io.Writer, names *naming.Names, j *model.Job) {
	callback, winner, result := "", "", ""
	if j.Callback != nil {
		callback = names.Of(j.Callback.Actor) + "." + words.Printable(j.Callback.Handler)
	}
	if j.Winner != nil {
		winner = names.Of(*j.Winner)
	}
	if j.Result != nil {
		result = shownResult(*j.Result)
	}
	terminal.PrintFacts(w, "job", j.ID.String(), "kind", j.Kind, "asks", asksBySpec(j.Spec), "submitter",
		names.Of(j.Submitter)+"  "+j.Submitter.String(),
		"status", jobStatusLine(j), "mode", fmt.Sprintf("%s, %s", j.Mode, plural.Of(j.Runners, "runner")),
		"committee", Committee(names, j.Committee, FullCommittee), "price", priceLine(j), "tip", words.CBY(j.Tip), "callback", callback,
		"winner", winner, "answered by", offlineAnswerer(j), "result", result)
	if j.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", j.Error.Code, words.Printable(j.Error.Message))
	}
	printPool(w, j.Pool)
}

// printPool prints how many runners may be drawn for a job, and a line for each filter
// that leaves some out.
func printPool(w io.Writer, p *model.JobPool) {
	if p == nil {
		return
	}
	fmt.Fprintf(w, "It asks for %s, and %d may be drawn.\n", plural.Of(p.Wanted, "runner"), p.Eligible)
	for _, left := range p.LeftOut {
		fmt.Fprintf(w, "  %d %s: %s\n", left.Runners, strings.ReplaceAll(left.Filter, "_", " "), words.Printable(left.Why))
	}
}

// shownResult is a result as people read it; of a long one the beginning.
func shownResult(b types.Bytes) string {
	switch {
	case len(b) == 0:
		return "empty"
	case len(b) > maxShownResult:
		return words.ShortBytes(b) + ": --json has all"
	}
	return words.Value(b)
}

// jobStatusLine returns a job's status, and until when it may last.
func jobStatusLine(j *model.Job) string {
	draws := ""
	if j.Attempts > 1 {
		draws = fmt.Sprintf(", draw %d", j.Attempts)
	}
	switch {
	case j.CompletedAt != nil:
		return fmt.Sprintf("%s in block %s, submitted in %s%s", j.Status, terminal.Height(*j.CompletedAt), terminal.Height(j.SubmittedAt), draws)
	case j.Status == string(types.JobPending):
		return fmt.Sprintf("%s: it waits for runners until block %s%s", j.Status, terminal.Height(j.Deadline), draws)
	}
	return fmt.Sprintf("%s: results are taken until block %s%s", j.Status, terminal.Height(j.Deadline), draws)
}

func priceLine(j *model.Job) string {
	if j.Price != nil {
		return words.CBY(*j.Price) + " of at most " + words.CBY(j.MaxPrice)
	}
	return "at most " + words.CBY(j.MaxPrice)
}

// Committee names runners, of many the first.
func Committee(names *naming.Names, committee []types.Address, most int) string {
	if len(committee) == 0 {
		return "-"
	}
	text := names.OfAll(committee[:min(most, len(committee))])
	if more := len(committee) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// knownExecutors are those whose names people give; a job has their hash.
var knownExecutors = []string{"echo", "sha256", "manual"}

// asksBySpec returns a job's request, from its spec; "" if that is unknown.
func asksBySpec(spec types.Bytes) string {
	var s push.JobSpec
	if codec.Unmarshal(spec, len(spec), &s) != nil {
		return ""
	}
	return DescribeSpec(&s)
}

// DescribeSpec says what a job asks for in a line.
func DescribeSpec(s *push.JobSpec) string {
	bytes := func(b []byte) string {
		if text := model.Text(b); text != "" && len(b) <= terminal.MaxShownText {
			return strconv.Quote(text)
		}
		return words.ShortBytes(b)
	}
	text := func(s string) string { return bytes([]byte(s)) }
	switch t := s.JobType; {
	case t.Custom != nil:
		executor := words.Short(t.Custom.ExecutorHash.String())
		for _, name := range knownExecutors {
			if types.Keccak([]byte(name)) == t.Custom.ExecutorHash {
				executor = name
			}
		}
		return executor + " of " + bytes(t.Custom.Params)
	case t.Llm != nil:
		return words.Printable(t.Llm.Model) + ": " + text(t.Llm.Prompt)
	case t.Mcp != nil:
		return words.Printable(t.Mcp.Tool + " of " + t.Mcp.Server + " with " + t.Mcp.Arguments)
	case t.EthSend != nil:
		return fmt.Sprintf("a transaction of %s to chain %d", plural.Of(len(t.EthSend.SignedTransaction), "byte"), t.EthSend.Chain)
	}
	return words.Printable(s.JobType.Text())
}

// PrintStory prints a line for each thing that happened to a job.
func PrintStory(w io.Writer, names *naming.Names, j *model.Job, story []model.JobEvent) {
	rows := terminal.RowsOf(story, func(e *model.JobEvent) []string {
		return []string{terminal.Height(e.Height), e.What, actorOfEvent(names, j, e), strings.Join(EventDetails(names, e), ", ")}
	})
	fmt.Fprintln(w)
	terminal.PrintColumns(w, append([][]string{{"HEIGHT", "WHAT", "WHO", "DETAIL"}}, rows...))
}

// actorOfEvent is whose doing an event is.
func actorOfEvent(names *naming.Names, j *model.Job, e *model.JobEvent) string {
	switch {
	case e.Runner != nil:
		return names.Of(*e.Runner)
	case e.What == model.JobSubmitted || e.What == model.JobCancelled:
		return names.Of(j.Submitter)
	case e.What == model.JobCalledBack && j.Callback != nil:
		return names.Of(j.Callback.Actor)
	}
	return "-"
}

// EventDetails are the facts of an event, besides whose doing it is.
func EventDetails(names *naming.Names, e *model.JobEvent) (details []string) {
	switch e.What {
	case model.JobDrawn, model.JobRetried:
		details = append(details, fmt.Sprintf("draw %d: %s", e.Attempt, Committee(names, e.Committee, FullCommittee)))
	}
	if e.Validator != nil {
		details = append(details, "by "+names.Of(*e.Validator))
	}
	switch {
	case e.Rejected != nil:
		details = append(details, "rejects: "+*e.Rejected)
	case e.Outcome != nil:
		details = append(details, *e.Outcome)
	}
	if e.Fraction != nil {
		details = append(details, fmt.Sprintf("%d %%", *e.Fraction))
	}
	if e.Detail != nil {
		details = append(details, words.Printable(*e.Detail))
	}
	if e.Error != nil {
		why := e.Error.Code
		if e.What == model.JobRefused && e.Error.Message != "" {
			why += ": " + words.Printable(e.Error.Message)
		}
		details = append(details, why)
	}
	if e.Pool != nil {
		details = append(details, poolLine(e.Pool))
	}
	return details
}

// poolLine is how many runners each filter leaves out.
func poolLine(p *model.JobPool) string {
	parts := []string{fmt.Sprintf("%d of %d eligible", p.Eligible, p.Wanted)}
	for _, left := range p.LeftOut {
		parts = append(parts, fmt.Sprintf("%d %s", left.Runners, strings.ReplaceAll(left.Filter, "_", " ")))
	}
	return strings.Join(parts, ", ")
}

// offlineAnswerer is who answered a job, if that was the offline model; "" otherwise.
func offlineAnswerer(j *model.Job) string {
	if j.Result == nil || j.Kind != push.JobLLM.String() || !llm.IsOffline(*j.Result) {
		return ""
	}
	return "the offline model, which is no language model"
}
