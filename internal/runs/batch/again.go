package batch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Limits of the search for the cause of an irreproducible run.
const (
	// maxProbes bounds the failing runs of a batch that are made again: the
	// first tell.
	maxProbes = 5
	// probeTraces is how many traces of a run are made until two differ.
	probeTraces = 4
	// maxTraceLine bounds a line of a trace.
	maxTraceLine = 1 << 20
)

// compareWithFreshRun makes a failing run of the simulator again in a fresh process and
// says where the two differ, or "": one seed is to be one run.
func (r *Runner) compareWithFreshRun(ctx context.Context, j Job, v *Verdict) string {
	if v.Backend != Sim || v.Digest == "" || v.Code != Failed {
		return ""
	}
	dir, err := os.MkdirTemp("", "devnet-run-")
	if err != nil {
		return "it could not be run again: " + err.Error()
	}
	defer os.RemoveAll(dir)
	first := filepath.Join(dir, "0")
	again, problem := r.runWithTrace(ctx, j, v, first)
	if ctx.Err() != nil {
		return "" // interrupted: nothing is known
	}
	if problem != "" || again.Digest == v.Digest {
		return problem
	}
	for i := 1; i < probeTraces; i++ {
		other := filepath.Join(dir, fmt.Sprint(i))
		_, problem := r.runWithTrace(ctx, j, v, other)
		switch {
		case ctx.Err() != nil:
			return ""
		case problem != "":
			return problem
		}
		if at := firstDifference(first, other); at != "" {
			return at
		}
	}
	return fmt.Sprintf("its digest was %s, and is %s in a fresh process each time: it depends on what ran before it", shortDigest(v.Digest),
		shortDigest(again.Digest))
}

// runWithTrace makes a run again, and writes its trace.
func (r *Runner) runWithTrace(ctx context.Context, j Job, v *Verdict, path string) (again Verdict, problem string) {
	seed := v.Seed
	j.Seed = &seed
	done, end := r.runBatchProcess(ctx, batch{World: v.World, Trace: path, Jobs: []Job{j}},
		func(_ int, got Verdict) { again = got })
	if done == 0 {
		return again, fmt.Sprintf("run again, its process ended without a verdict: %v %s", end.err, end.words)
	}
	return again, ""
}

// firstDifference names the first line in which two traces differ, or "".
func firstDifference(a, b string) string {
	left, err := os.Open(a)
	if err != nil {
		return err.Error()
	}
	defer left.Close()
	right, err := os.Open(b)
	if err != nil {
		return err.Error()
	}
	defer right.Close()
	ours, theirs := bufio.NewScanner(left), bufio.NewScanner(right)
	ours.Buffer(nil, maxTraceLine)
	theirs.Buffer(nil, maxTraceLine)
	for line := 1; ; line++ {
		one, more := ours.Scan(), theirs.Scan()
		switch {
		case !one && !more:
			return ""
		case one != more || ours.Text() != theirs.Text():
			return fmt.Sprintf("two runs of this seed first differ in line %d of their traces:\n    %s\n    %s", line, orEnd(ours.Text()),
				orEnd(theirs.Text()))
		}
	}
}

func orEnd(line string) string {
	if line == "" {
		return "(the end)"
	}
	return line
}
