package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// maxReported bounds the failed cases that a report lists.
const maxReported = 20

// ReportCommand is the command report.
func ReportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "put the JUnit files of shards together, and judge them", ArgsUsage: "FILE…",
		Description: "Example: devnet report shards/*.xml --junit all.xml\n" +
			"Expected rare events (sometimes) are judged over all shards, and a missing shard is reported.\n" +
			"Files of other programs may be among them. Exit code 1 when a case failed or a shard is missing.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "junit", Usage: "write all of it to `FILE`"},
			command.JSONFlag,
		},
		Action: reportShards,
	}
}

func reportShards(c *cli.Context) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		return failure.NewUsage("Name the files that devnet run --junit wrote.", "FILE is missing")
	}
	r, err := batch.ReadReport(files)
	if path, is := errors.AsType[*fs.PathError](err); is {
		return failure.CausedBy(err, failure.NewUsage(failure.GivePath, "%s", failure.DescribeFile(path.Path, err)))
	}
	if err != nil {
		return failure.New("", "%v", err)
	}
	if out := c.String("junit"); out != "" {
		if err := r.Write(out); err != nil {
			return failure.New("", "--junit: %v", err)
		}
	}
	if err := command.PrintAnswerOrJSON(c, r, func(w io.Writer) { tellReport(w, r) }); err != nil || r.Passed() {
		return err
	}
	return failure.New("", "%s", reportFailure(r))
}

func tellReport(w io.Writer, r *batch.Report) {
	terminal.PrintTable(w, "The files have no suite.", "SUITE TESTS FAILED SKIPPED SECONDS",
		terminal.RowsOf(r.Suites, func(s *batch.ReportSuite) []string {
			return []string{words.Printable(s.Name), fmt.Sprint(s.Tests), fmt.Sprint(s.Failed), fmt.Sprint(s.Skipped),
				fmt.Sprintf("%.1f", s.Seconds)}
		}))
	for i, f := range r.Failed {
		if i == maxReported {
			fmt.Fprintf(w, "… and %d more\n", len(r.Failed)-i)
			break
		}
		first, _, _ := strings.Cut(f.Message, "\n")
		fmt.Fprintf(w, "FAILED %s, %s: %s\n", words.Printable(f.Suite), words.Printable(f.Name), words.Printable(first))
	}
	for _, m := range r.Never {
		fmt.Fprintf(w, "NEVER  %s: sometimes(%q) held in no seed\n", words.Printable(m.Where), words.Printable(m.Name))
	}
	for _, s := range r.Missing {
		fmt.Fprintf(w, "MISSING shard %s\n", s)
	}
}

// reportFailure returns why a report fails.
func reportFailure(r *batch.Report) string {
	var parts []string
	for _, one := range []struct {
		n    int
		what string
	}{{len(r.Failed), "%d failed"}, {len(r.Never), "%d of the expected rare events (sometimes) never happened"},
		{len(r.Missing), "missing shards: %d"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf(one.what, one.n))
		}
	}
	return strings.Join(parts, ", and ")
}
