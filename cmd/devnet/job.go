package main

import (
	"io"
	"iter"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func jobCommand() *cli.Command {
	reads := readFlags
	return &cli.Command{
		Name: "job", Usage: "submit work to runners, outside the chain, and read its results",
		Description: "Example: devnet job submit --kind custom --executor echo --params hello --wait",
		Subcommands: []*cli.Command{
			jobSubmitCommand(),
			{Name: "show", Usage: "a job, all that blocks did to it, and what validators saw of it", ArgsUsage: "ID",
				Description: "Example: devnet job show --draw 0x2f370e1a",
				Flags: append([]cli.Flag{&cli.BoolFlag{Name: "draw",
					Usage: "its draws instead: seed, candidates, weights and each step, to be checked by hand"}}, reads...),
				Action: withArguments(jobShow)},
			{Name: "list", Usage: "jobs in the order they were submitted, the latest first",
				Description: "Example: devnet job list --status Pending",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: Pending, Assigned, Executing, Completed or Failed"},
					&cli.StringFlag{Name: "submitter", Usage: "only those of `ACCOUNT`, by address or name"},
					&cli.StringFlag{Name: "runner", Usage: "only those in whose committee `RUNNER` is or was"},
					oldestFlag, jsonFlag, httpFlag, nodeFlag, atFlag}, pageFlags...),
				Action: takingNothing(jobList)},
			{Name: "wait", Usage: "wait until a job has ended and its actor was called back", ArgsUsage: "ID",
				Description: "Example: devnet job wait 0x2f370e1a\nExit code 1 when it fails.",
				Flags:       []cli.Flag{jsonFlag, httpFlag}, Action: withArguments(jobWait)},
			{Name: "cancel", Usage: "cancel a job; its escrow returns to its submitter", ArgsUsage: "ID",
				Description: "Example: devnet job cancel 0x2f370e1a",
				Flags:       []cli.Flag{jsonFlag, httpFlag},
				Action: withArguments(func(c *cli.Context, args []string) error {
					j, err := networkClient(c).CancelJob(c.Context, args[0])
					return shownJob(c, j, err)
				})},
			{Name: "answer", Usage: "give the result of a job of the executor manual", ArgsUsage: "ID RESULT",
				Description: "Example: devnet job answer 0x2f370e1a 42\nRESULT is 0x-hex, or text; " +
					"@FILE reads a file, - standard input, and @@ begins a text with @. " +
					"It goes to each of the devnet's runners that has the job.",
				Flags: []cli.Flag{jsonFlag, httpFlag},
				Action: withArguments(func(c *cli.Context, args []string) error {
					result, err := payloadOf(c, "RESULT", args[1])
					if err != nil {
						return err
					}
					j, err := networkClient(c).AnswerJob(c.Context, model.AnswerRequest{ID: args[0], Result: result})
					return shownJob(c, j, err)
				})},
			{Name: "progress", Usage: "report the progress of a job of the executor manual", ArgsUsage: "ID PERCENT",
				Description: "Example: devnet job progress 0x2f370e1a 40 --detail \"half of the pages\"\nPERCENT is 1 to 100, and more than before. " +
					"Each of the devnet's runners that has the job tells it to its validator.",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "detail", Usage: "say `WORDS` with it"}, jsonFlag, httpFlag},
				Action: withArguments(jobProgress)},
		},
	}
}

func jobProgress(c *cli.Context, args []string) error {
	percent, err := strconv.ParseUint(args[1], 10, 8)
	if err != nil || percent < 1 || percent > 100 {
		return newUsageError("PERCENT is a whole number from 1 to 100.", "PERCENT is %.20q", args[1])
	}
	j, err := networkClient(c).ProgressJob(c.Context, model.ProgressRequest{ID: args[0], Percent: uint8(percent), Detail: c.String("detail")})
	return shownJob(c, j, err)
}

// shownJob prints the job that an order answered, if it was not refused.
func shownJob(c *cli.Context, j model.Job, err error) error {
	return printAnswer(c, j, err, func(w io.Writer) { printJob(w, newNaming(c.Context, networkClient(c)), &j) })
}

// wholeJob is a job with its changes by blocks: the output of --json.
type wholeJob struct {
	model.Job
	Story []model.JobEvent `json:"story"`
}

func jobShow(c *cli.Context, args []string) error {
	n := networkClient(c)
	if c.Bool("draw") {
		return jobDraws(c, n, args[0])
	}
	j, err := n.Job(c.Context, args[0])
	if err != nil {
		return err
	}
	story, err := (&client.Client{API: n}).JobStory(c.Context, j.ID)
	if err != nil {
		return err
	}
	return printAnswerOrJSON(c, wholeJob{story.Job, story.Story}, func(w io.Writer) {
		names := newNaming(c.Context, n)
		printJob(w, names, &story.Job)
		printSilent(c, w, names, story.Job.ID)
		printJobStory(w, names, &story.Job, story.Story)
	})
}

func jobList(c *cli.Context) error {
	for _, name := range []string{"status", "submitter", "runner"} {
		if err := refuseEmpty(c, name); err != nil {
			return err
		}
	}
	n := networkClient(c)
	filter := client.JobFilter{Status: c.String("status"), Submitter: c.String("submitter"), Runner: c.String("runner")}
	get := func(p client.Page) iter.Seq2[model.Job, error] { return n.Jobs(c.Context, filter, p) }
	return printPage(c, "more", get, func(w io.Writer, jobs []model.Job) {
		names := newNaming(c.Context, n)
		printTable(w, "No jobs.", "ID KIND SUBMITTER AT STATUS COMMITTEE PRICE_CBY", rowsOf(jobs, func(j *model.Job) []string {
			return []string{short(j.ID.String()), j.Kind, names.nameOf(j.Submitter), plainHeight(j.SubmittedAt), jobFate(j),
				committeeOf(names, j.Committee, shortCommittee), jobCost(j)}
		}))
	})
}

// jobFate returns the status of a job; for a failed job, why.
func jobFate(j *model.Job) string {
	if j.Error != nil {
		return j.Status + ", " + j.Error.Code
	}
	return j.Status
}

// jobCost returns the cost of a job without its tip.
func jobCost(j *model.Job) string {
	if j.Price == nil {
		return "-"
	}
	return amountWords(*j.Price)
}

func jobWait(c *cli.Context, args []string) error {
	j, err := awaitJob(c, networkClient(c), args[0])
	if err != nil {
		return err
	}
	return endedJob(c, &j)
}

// endedJob prints a job that is over; that it failed is the command's failure.
func endedJob(c *cli.Context, j *model.Job) error {
	if err := shownJob(c, *j, nil); err != nil || j.Error == nil {
		return err
	}
	if !c.Bool("json") {
		printRefusals(c, j)
		printSilent(c, c.App.Writer, newNaming(c.Context, networkClient(c)), j.ID)
	}
	return newFailure("devnet job show "+short(j.ID.String())+" shows the events of the job.", "job %s failed: %s", j.ID, j.Error.Code)
}
