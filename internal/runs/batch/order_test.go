package batch_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// workerEnv makes a batch's process of the binary of tests.
const workerEnv = "DEVNET_TEST_BATCH"

// own is a runner whose processes are the binary of tests.
func own() *batch.Runner {
	return &batch.Runner{Replay: func(batch.Job, batch.World, uint64) string { return "again" },
		Open: func(context.Context, batch.World) scenario.Open { return simulated.Open },
		Process: func(ctx context.Context) (*exec.Cmd, error) {
			command := exec.CommandContext(ctx, os.Args[0])
			command.Env = append(os.Environ(), workerEnv+"=1")
			return command, nil
		}}
}

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) == "" {
		os.Exit(m.Run())
	}
	if err := own().Work(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

// However many runs are made at a time, and although the first takes longer than all others,
// the verdicts are told in the order of the jobs, and few wait for their turn.
func TestVerdictsAreToldInTheOrderOfTheJobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.star")
	script := `n = setting("n", 0)
for i in range(setting("steps", 0)):
    pass
measure("n", n)
if n % 50 == 7:
    fail("it is odd")
`
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	const count = 400
	for _, processes := range []int{1, 3} {
		jobs := func(yield func(batch.Job) bool) {
			for i := range count {
				steps := "0"
				if i == 0 {
					steps = "8000000"
				}
				j := batch.Job{File: path, Point: i, Settings: []scenario.Setting{{Name: "n", Text: strconv.Itoa(i)}, {Name: "steps", Text: steps}}}
				if !yield(j) {
					return
				}
			}
		}
		came, ahead, order := 0, 0, []int{}
		err := own().Run(t.Context(), batch.Batch{World: batch.World{Backend: batch.Sim}, Jobs: jobs, Count: count, Processes: processes},
			func(*batch.Verdict) {
				came++
				ahead = max(ahead, came-len(order))
			},
			func(j batch.Job, v *batch.Verdict) {
				order = append(order, j.Point)
				if failed := j.Point%50 == 7; v.Failed() != failed || v.Measures[0].Samples[0] != float64(j.Point) {
					t.Errorf("run %d: %+v", j.Point, v)
				}
			})
		if err != nil || came != count || len(order) != count || !slices.IsSorted(order) {
			t.Fatalf("%d processes: %d came and %d were told, %v", processes, came, len(order), err)
		}
		// A batch has min(32, count/4/processes) jobs, and four for each process wait at most.
		if most := min(32, count/4/processes) * processes * 4; ahead > most {
			t.Errorf("%d processes: %d verdicts waited for their turn, want at most %d", processes, ahead, most)
		}
	}
}

// Where a process cannot be started, nobody waits for its runs.
func TestABatchThatCannotBeStartedEndsTheOthers(t *testing.T) {
	r := own()
	r.Process = func(context.Context) (*exec.Cmd, error) {
		return exec.Command(filepath.Join(t.TempDir(), "nothing")), nil
	}
	jobs := func(yield func(batch.Job) bool) {
		for range 2_000 {
			if !yield(batch.Job{File: "a.star"}) {
				return
			}
		}
	}
	told := 0
	err := r.Run(t.Context(), batch.Batch{World: batch.World{Backend: batch.Sim}, Jobs: jobs, Count: 2_000, Processes: 3},
		func(*batch.Verdict) {}, func(batch.Job, *batch.Verdict) { told++ })
	if err == nil || told > 0 {
		t.Errorf("%v, and %d runs were told", err, told)
	}
}
