package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// A run that failed names its Python: under another minor version the same seed may go otherwise.
func TestAFailedRunNamesItsPython(t *testing.T) {
	for script, wanted := range map[string]string{
		"net = network(validators = 1, seed = 7)\nexpect(False, \"it fails\")\n": "3.12",
		"net = network(validators = 1, seed = 7)\nexpect(True, \"it holds\")\n":  "",
	} {
		path := filepath.Join(t.TempDir(), "run.star")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		runner := &batch.Runner{Replay: func(batch.Job, batch.World, uint64) string { return "again" }, Python: func() string { return "3.12" },
			Process: func(context.Context) (*exec.Cmd, error) { return nil, errors.New("no second run here") },
			Open:    func(context.Context, batch.World) scenario.Open { return simulated.Open }}
		v, err := runner.Alone(t.Context(), batch.World{Backend: batch.Sim}, batch.Job{File: path}, "", io.Discard, nil)
		if err != nil || v.Python != wanted {
			t.Errorf("%s: %q, %v", script, v.Python, err)
		}
		if wanted == "" {
			continue
		}
		var told bytes.Buffer
		v.Complain(&told)
		written, err := json.Marshal(v)
		if err != nil || !strings.Contains(told.String(), "python: 3.12") || !strings.Contains(string(written), `"python":"3.12"`) {
			t.Errorf("%v\n%s\n%s", err, told.String(), written)
		}
	}
}
