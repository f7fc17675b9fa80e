package simulated

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Transcripts of scripts and what a person reads: run prints what the script
// prints, and how it ends, with the exit code; check reads without running; file
// writes another file into the script's folder.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		dir := t.TempDir()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			name := "first.star"
			if len(d.CmdArgs) > 0 {
				name = d.CmdArgs[0].Key
			}
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(d.Input), 0o644); err != nil {
				t.Fatal(err)
			}
			switch d.Cmd {
			case "file":
				return "ok\n"
			case "check":
				return ending("", scenario.Check(file))
			case "run":
				var out bytes.Buffer
				_, err := scenario.Run(file, scenario.Options{Open: Open, Out: &out, Steps: 2_000_000, Memory: 256 << 20})
				return ending(out.String(), err)
			}
			d.Fatalf(t, "there is no command %s", d.Cmd)
			return ""
		})
	})
}

func ending(out string, err error) string {
	var wrong *scenario.Mistake
	var failed *scenario.Failure
	switch {
	case err == nil:
		return out + "passed\n"
	case errors.As(err, &wrong):
		out += "exit code 2: "
	case errors.As(err, &failed):
		out += "exit code 1: "
	default:
		out += fmt.Sprintf("a fault of the devnet (%T): ", err)
	}
	var lines []string
	for _, line := range strings.Split(err.Error(), "\n") {
		line, _, cut := strings.Cut(line, "the fixtures are ")
		if cut { // which grow in number
			line += "the fixtures are …"
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return out + strings.Join(lines, "\n") + "\n"
}
