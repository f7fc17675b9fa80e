package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

const (
	// Number of runners of a committee in a line of a terminal, and in a table's cell.
	fullCommittee  = 8
	shortCommittee = 3
	// maxShownResult bounds the shown part of a job's result, in bytes.
	maxShownResult = 1_024
)

// printJob prints a job, and its status.
func printJob(w io.Writer, names *naming, j *model.Job) {
	callback, winner, result := "", "", ""
	if j.Callback != nil {
		callback = names.nameOf(j.Callback.Actor) + "." + printable(j.Callback.Handler)
	}
	if j.Winner != nil {
		winner = names.nameOf(*j.Winner)
	}
	if j.Result != nil {
		result = shownResult(*j.Result)
	}
	printFacts(w, "job", j.ID.String(), "kind", j.Kind, "asks", asksBySpec(j.Spec), "submitter",
		names.nameOf(j.Submitter)+"  "+j.Submitter.String(),
		"status", jobStatusLine(j), "mode", fmt.Sprintf("%s, %s", j.Mode, plural.Of(j.Runners, "runner")),
		"committee", committeeOf(names, j.Committee, fullCommittee), "price", priceLine(j), "tip", cby(j.Tip), "callback", callback,
		"winner", winner, "answered by", offlineAnswerer(j), "result", result)
	if j.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", j.Error.Code, printable(j.Error.Message))
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
		fmt.Fprintf(w, "  %d %s: %s\n", left.Runners, strings.ReplaceAll(left.Filter, "_", " "), printable(left.Why))
	}
}

// shownResult is a result as people read it; of a long one the beginning.
func shownResult(b types.Bytes) string {
	switch {
	case len(b) == 0:
		return "empty"
	case len(b) > maxShownResult:
		return shortBytes(b) + ": --json has all"
	}
	return value(b)
}

// jobStatusLine returns a job's status, and until when it may last.
func jobStatusLine(j *model.Job) string {
	draws := ""
	if j.Attempts > 1 {
		draws = fmt.Sprintf(", draw %d", j.Attempts)
	}
	switch {
	case j.CompletedAt != nil:
		return fmt.Sprintf("%s in block %s, submitted in %s%s", j.Status, plainHeight(*j.CompletedAt), plainHeight(j.SubmittedAt), draws)
	case j.Status == string(types.JobPending):
		return fmt.Sprintf("%s: it waits for runners until block %s%s", j.Status, plainHeight(j.Deadline), draws)
	}
	return fmt.Sprintf("%s: results are taken until block %s%s", j.Status, plainHeight(j.Deadline), draws)
}

func priceLine(j *model.Job) string {
	if j.Price != nil {
		return cby(*j.Price) + " of at most " + cby(j.MaxPrice)
	}
	return "at most " + cby(j.MaxPrice)
}

// committeeOf names runners, of many the first.
func committeeOf(names *naming, committee []types.Address, most int) string {
	if len(committee) == 0 {
		return "-"
	}
	text := names.namesOf(committee[:min(most, len(committee))])
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
	return asksFor(&s)
}

// asksFor says what a job asks for in a line.
func asksFor(s *push.JobSpec) string {
	bytes := func(b []byte) string {
		if text := model.Text(b); text != "" && len(b) <= maxShownText {
			return strconv.Quote(text)
		}
		return shortBytes(b)
	}
	text := func(s string) string { return bytes([]byte(s)) }
	switch t := s.JobType; {
	case t.Custom != nil:
		executor := short(t.Custom.ExecutorHash.String())
		for _, name := range knownExecutors {
			if types.Keccak([]byte(name)) == t.Custom.ExecutorHash {
				executor = name
			}
		}
		return executor + " of " + bytes(t.Custom.Params)
	case t.Llm != nil:
		return printable(t.Llm.Model) + ": " + text(t.Llm.Prompt)
	case t.Mcp != nil:
		return printable(t.Mcp.Tool + " of " + t.Mcp.Server + " with " + t.Mcp.Arguments)
	case t.EthSend != nil:
		return fmt.Sprintf("a transaction of %s to chain %d", plural.Of(len(t.EthSend.SignedTransaction), "byte"), t.EthSend.Chain)
	}
	return printable(s.JobType.Text())
}

// printJobStory prints a line for each thing that happened to a job.
func printJobStory(w io.Writer, names *naming, j *model.Job, story []model.JobEvent) {
	rows := rowsOf(story, func(e *model.JobEvent) []string {
		return []string{plainHeight(e.Height), e.What, actorOfEvent(names, j, e), strings.Join(detailsOf(names, e), ", ")}
	})
	fmt.Fprintln(w)
	for _, line := range alignColumns(append([][]string{{"HEIGHT", "WHAT", "WHO", "DETAIL"}}, rows...)) {
		fmt.Fprintln(w, line)
	}
}

// actorOfEvent is whose doing an event is.
func actorOfEvent(names *naming, j *model.Job, e *model.JobEvent) string {
	switch {
	case e.Runner != nil:
		return names.nameOf(*e.Runner)
	case e.What == model.JobSubmitted || e.What == model.JobCancelled:
		return names.nameOf(j.Submitter)
	case e.What == model.JobCalledBack && j.Callback != nil:
		return names.nameOf(j.Callback.Actor)
	}
	return "-"
}

func detailsOf(names *naming, e *model.JobEvent) (details []string) {
	switch e.What {
	case model.JobDrawn, model.JobRetried:
		details = append(details, fmt.Sprintf("draw %d: %s", e.Attempt, committeeOf(names, e.Committee, fullCommittee)))
	}
	if e.Validator != nil {
		details = append(details, "by "+names.nameOf(*e.Validator))
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
		details = append(details, printable(*e.Detail))
	}
	if e.Error != nil {
		why := e.Error.Code
		if e.What == model.JobRefused && e.Error.Message != "" {
			why += ": " + printable(e.Error.Message)
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

// printRefusals prints why runners rejected a job, a line for each of them.
func printRefusals(c *cli.Context, j *model.Job) {
	n := networkClient(c)
	story, err := n.JobStory(c.Context, j.ID.String(), 0, maxPage)
	if err != nil {
		return // the job itself was told
	}
	names, told := newNaming(c.Context, n), map[types.Address]bool{}
	for i := range story.Story {
		e := &story.Story[i]
		if e.Rejected == nil || e.Runner == nil || told[*e.Runner] {
			continue
		}
		told[*e.Runner] = true
		why := *e.Rejected
		if e.Detail != nil {
			why += ", " + printable(*e.Detail)
		}
		fmt.Fprintf(c.App.Writer, "%s rejects it: %s\n", names.nameOf(*e.Runner), why)
	}
}
