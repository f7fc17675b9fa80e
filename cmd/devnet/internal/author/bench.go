package author

import (
	"errors"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/coverage"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// benchGCPercent lets the heap of a bench, which is small, grow further before it is
// collected, as runs of scenarios do.
const benchGCPercent = 400

// BenchCommand is for cowboy_sdk.testing, and similar tools.
func BenchCommand() *cli.Command {
	return &cli.Command{Name: "bench", Usage: "hold a simulated network for a test, on standard input and output", Hidden: true,
		Description: "Example: devnet bench <frames.jsonl\n" +
			"One JSON object a line, each answered by one: {\"id\": 1, \"do\": \"open\", \"open\": {\"version\": 1}}",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return failure.NewUsage("It reads what it is to do.", "bench takes no arguments")
			}
			debug.SetGCPercent(benchGCPercent)
			folder := os.Getenv(coverage.Variable)
			if folder == "" {
				return bench.Hold(c.Context, os.Stdin, c.App.Writer, simulated.OpenBench(self.Version, nil))
			}
			ran := coverage.New()
			err := bench.Hold(c.Context, os.Stdin, c.App.Writer, simulated.OpenBench(self.Version, ran.Add))
			return errors.Join(err, ran.WriteTo(folder))
		}}
}
