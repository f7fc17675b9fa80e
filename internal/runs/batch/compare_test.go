package batch_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

const observed = `
net = network(validators = 4, runners = 1, block_time = "100ms", seed = 7)
heart = net.deploy("go:heartbeat", name = "heart", fund = "100 CBY")
net.call(heart, "start", be8(3), sender = "bob")
net.run(until = lambda: len(net.timers(actor = heart, status = "fired")) >= 2, within = 60)
r = net.runner("r0")
eventually(lambda: r.present, within = 60)
job = net.submit_job(kind = "custom", executor = "echo", params = "hello")
net.run(until = lambda: job.completed_at, within = 60)
expect(True, "it holds anyhow")
`

// compared plays one scenario in three worlds, and changes the configuration of the last
// one by plant.
func compared(t *testing.T, plant func(*scenario.Config)) (batch.Comparison, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "observed.star")
	if err := os.WriteFile(path, []byte(observed), 0o644); err != nil {
		t.Fatal(err)
	}
	runner := &batch.Runner{Replay: func(batch.Job, batch.World, uint64) string { return "" },
		Open: func(_ context.Context, w batch.World) scenario.Open {
			return func(c scenario.Config) (scenario.Backend, error) {
				if w.Backend == batch.Docker && plant != nil {
					c.Params = maps.Clone(c.Params)
					plant(&c)
				}
				return simulated.Open(c)
			}
		}}
	var verdicts []batch.Verdict
	for _, backend := range []string{batch.Sim, batch.Live, batch.Docker} {
		v, err := runner.Alone(t.Context(), batch.World{Backend: backend, Record: true}, batch.Job{File: path}, "", io.Discard, nil)
		if err != nil || v.Failed() && plant == nil {
			t.Fatalf("%s: %v, %s", backend, err, v.Error)
		}
		verdicts = append(verdicts, v)
	}
	c := batch.Compare(verdicts)
	c.File = "observed.star"
	var told bytes.Buffer
	c.Tell(&told)
	return c, told.String()
}

func TestWhatIsTheSameEverywhereIsOneLine(t *testing.T) {
	c, told := compared(t, nil)
	if len(c.Differences) != 0 || told != "same    observed.star: 6 things are the same on sim, live and docker\n" {
		t.Errorf("%v\n%s", c.Differences, told)
	}
}

// A world with other rules: no account there can pay for a timer.
func TestAPlantedDifferenceIsToldWhereItIs(t *testing.T) {
	_, told := compared(t, func(c *scenario.Config) {
		if c.Params == nil {
			c.Params = map[string]string{}
		}
		c.Params["cip3.cycles_set_timer"] = "1000000000"
	})
	for _, want := range []string{
		"DIFFER  observed.star: 5 of 6 are not the same on sim, live and docker\n",
		"  the scenario\n    sim     passed\n    live    passed\n    docker  failed\n",
		"  transaction 2, to heart: start\n    sim     ok\n    live    ok\n    docker  out_of_cycles (out_of_cycles)\n",
		"  timers of heart, handle_timer\n    sim     fired when due, ok\n    live    fired when due, ok\n    docker  nothing\n",
		"  job 1, custom of alice\n    sim     Completed, result \"hello\"\n    live    Completed, result \"hello\"\n    docker  nothing\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
}

func TestADifferenceFitsTheScreen(t *testing.T) {
	long := strings.Repeat("é", 200)
	verdict := func(backend, what string) batch.Verdict {
		return batch.Verdict{File: "a.star", World: batch.World{Backend: backend},
			Outcome: &batch.Outcome{Lines: []batch.OutcomeLine{{Of: "job 1, " + long, What: what}}}}
	}
	failed := verdict(batch.Live, long)
	failed.Code = batch.Failed
	nothing := batch.Verdict{File: "a.star", World: batch.World{Backend: batch.Processes}}
	c := batch.Compare([]batch.Verdict{verdict(batch.Sim, "Completed"), failed, nothing})
	var told bytes.Buffer
	c.Tell(&told)
	if c.Same != 0 || len(c.Differences) != 2 || c.Differences[1].What[batch.Processes] != "nothing" {
		t.Errorf("%+v", c)
	}
	want := `DIFFER  a.star: 2 of 2 are not the same on sim, live and processes
  the scenario
    sim        passed
    live       failed
    processes  passed
`
	if !strings.HasPrefix(told.String(), want) {
		t.Error(told.String())
	}
	for line := range strings.Lines(told.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
