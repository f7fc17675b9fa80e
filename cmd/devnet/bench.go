package main

import (
	"errors"
	"os"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/bench"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// benchGCPercent lets the heap of a bench, which is small, grow further before it is
// collected, as runs of scenarios do.
const benchGCPercent = 400

// benchCommand is for cowboy_sdk.testing, and similar tools.
func benchCommand() *cli.Command {
	return &cli.Command{Name: "bench", Usage: "hold a simulated network for a test, on standard input and output", Hidden: true,
		Description: "Example: devnet bench <frames.jsonl\n" +
			"One JSON object a line, each answered by one: {\"id\": 1, \"do\": \"open\", \"open\": {\"version\": 1}}",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return newUsageError("It reads what it is to do.", "bench takes no arguments")
			}
			debug.SetGCPercent(benchGCPercent)
			folder := os.Getenv(coverageVariable)
			if folder == "" {
				return bench.Hold(c.Context, os.Stdin, c.App.Writer, simulated.OpenBench(version, nil))
			}
			ran := newCoverage()
			err := bench.Hold(c.Context, os.Stdin, c.App.Writer, simulated.OpenBench(version, ran.addMessage))
			return errors.Join(err, ran.writeTo(folder))
		}}
}
