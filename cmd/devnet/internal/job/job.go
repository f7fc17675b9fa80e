// Package job has the commands about jobs.
package job

import (
	"io"
	"iter"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Command is the command job.
func Command() *cli.Command {
	reads := command.ReadFlags
	return &cli.Command{
		Name: "job", Usage: "submit work to runners, outside the chain, and read its results",
		Description: "Example: devnet job submit --kind custom --executor echo --params hello --wait",
		Subcommands: []*cli.Command{
			jobSubmitCommand(),
			{Name: "show", Usage: "a job, all that blocks did to it, and what validators saw of it", ArgsUsage: "ID",
				Description: "Example: devnet job show --draw 0x2f370e1a",
				Flags: append([]cli.Flag{&cli.BoolFlag{Name: "draw",
					Usage: "its draws instead: seed, candidates, weights and each step, to be checked by hand"}}, reads...),
				Action: command.WithArguments(jobShow)},
			{Name: "list", Usage: "jobs in the order they were submitted, the latest first",
				Description: "Example: devnet job list --status Pending",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: Pending, Assigned, Executing, Completed or Failed"},
					&cli.StringFlag{Name: "submitter", Usage: "only those of `ACCOUNT`, by address or name"},
					&cli.StringFlag{Name: "runner", Usage: "only those in whose committee `RUNNER` is or was"},
					command.OldestFlag, command.JSONFlag, command.HTTPFlag, command.NodeFlag, command.AtFlag}, command.PageFlags...),
				Action: command.WithoutArguments(jobList)},
			{Name: "wait", Usage: "wait until a job has ended and its actor was called back", ArgsUsage: "ID",
				Description: "Example: devnet job wait 0x2f370e1a\nExit code 1 when it fails.",
				Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithArguments(jobWait)},
			{Name: "cancel", Usage: "cancel a job; its escrow returns to its submitter", ArgsUsage: "ID",
				Description: "Example: devnet job cancel 0x2f370e1a",
				Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag},
				Action: command.WithArguments(func(c *cli.Context, args []string) error {
					j, err := command.NewClient(c).CancelJob(c.Context, args[0])
					return shownJob(c, j, err)
				})},
			{Name: "answer", Usage: "give the result of a job of the executor manual", ArgsUsage: "ID RESULT",
				Description: "Example: devnet job answer 0x2f370e1a 42\nRESULT is 0x-hex, or text; " +
					"@FILE reads a file, - standard input, and @@ begins a text with @. " +
					"It goes to each of the devnet's runners that has the job.",
				Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag},
				Action: command.WithArguments(func(c *cli.Context, args []string) error {
					result, err := command.PayloadOf(c, "RESULT", args[1])
					if err != nil {
						return err
					}
					j, err := command.NewClient(c).AnswerJob(c.Context, model.AnswerRequest{ID: args[0], Result: result})
					return shownJob(c, j, err)
				})},
			{Name: "progress", Usage: "report the progress of a job of the executor manual", ArgsUsage: "ID PERCENT",
				Description: "Example: devnet job progress 0x2f370e1a 40 --detail \"half of the pages\"\nPERCENT is 1 to 100, and more than before. " +
					"Each of the devnet's runners that has the job tells it to its validator.",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "detail", Usage: "say `WORDS` with it"}, command.JSONFlag, command.HTTPFlag},
				Action: command.WithArguments(jobProgress)},
		},
	}
}

func jobProgress(c *cli.Context, args []string) error {
	percent, err := strconv.ParseUint(args[1], 10, 8)
	if err != nil || percent < 1 || percent > 100 {
		return failure.NewUsage("PERCENT is a whole number from 1 to 100.", "PERCENT is %.20q", args[1])
	}
	j, err := command.NewClient(c).ProgressJob(c.Context,
		model.ProgressRequest{ID: args[0], Percent: uint8(percent), Detail: c.String("detail")})
	return shownJob(c, j, err)
}

// shownJob prints the job that an order answered, if it was not refused.
func shownJob(c *cli.Context, j model.Job, err error) error {
	return command.PrintAnswer(c, j, err, func(w io.Writer) { jobtext.Print(w, command.NewNames(c.Context, command.NewClient(c)), &j) })
}

// wholeJob is a job with its changes by blocks: the output of --json.
type wholeJob struct {
	model.Job
	Story []model.JobEvent `json:"story"`
}

func jobShow(c *cli.Context, args []string) error {
	n := command.NewClient(c)
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
	return command.PrintAnswerOrJSON(c, wholeJob{story.Job, story.Story}, func(w io.Writer) {
		names := command.NewNames(c.Context, n)
		jobtext.Print(w, names, &story.Job)
		printSilent(c, w, names, story.Job.ID)
		jobtext.PrintStory(w, names, &story.Job, story.Story)
	})
}

func jobList(c *cli.Context) error {
	for _, name := range []string{"status", "submitter", "runner"} {
		if err := command.RefuseEmpty(c, name); err != nil {
			return err
		}
	}
	n := command.NewClient(c)
	filter := client.JobFilter{Status: c.String("status"), Submitter: c.String("submitter"), Runner: c.String("runner")}
	get := func(p client.Page) iter.Seq2[model.Job, error] { return n.Jobs(c.Context, filter, p) }
	return command.PrintPage(c, "more", get, func(w io.Writer, jobs []model.Job) {
		names := command.NewNames(c.Context, n)
		terminal.PrintTable(w, "No jobs.", "ID KIND SUBMITTER AT STATUS COMMITTEE PRICE_CBY", terminal.RowsOf(jobs, func(j *model.Job) []string {
			return []string{words.Short(j.ID.String()), j.Kind, names.Of(j.Submitter), terminal.Height(j.SubmittedAt), jobtext.Fate(j),
				jobtext.Committee(names, j.Committee, jobtext.ShortCommittee), jobtext.Cost(j)}
		}))
	})
}

func jobWait(c *cli.Context, args []string) error {
	j, err := awaitJob(c, command.NewClient(c), args[0])
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
		printSilent(c, c.App.Writer, command.NewNames(c.Context, command.NewClient(c)), j.ID)
	}
	return failure.New("devnet job show "+words.Short(j.ID.String())+" shows the events of the job.", "job %s failed: %s", j.ID, j.Error.Code)
}
