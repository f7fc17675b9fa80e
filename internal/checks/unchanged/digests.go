package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// run is one seed of one scenario, as devnet run tells it.
type run struct {
	File   string
	Seed   uint64
	Code   int
	Digest string
	Height uint64
}

// compareDigests compares the runs of the base's scenario library.
func (c *comparison) compareDigests() (int, error) {
	before, err := c.libraryRuns(c.before)
	if err != nil {
		return 0, err
	}
	after, err := c.libraryRuns(c.after)
	if err != nil {
		return 0, err
	}
	if len(before) != len(after) {
		c.tellDifference("runs of scenarios", fmt.Sprint(len(before)), fmt.Sprint(len(after)))
		return len(before), nil
	}
	for i, b := range before {
		if a := after[i]; a != b {
			c.tellDifference(fmt.Sprintf("%s --seed %d", b.File, b.Seed), fmt.Sprintf("%+v", b), fmt.Sprintf("%+v", a))
		}
	}
	return len(before), nil
}

// libraryRuns plays the library of the base's tree with one side's command, which ends
// with 1 where a scenario fails: that is a verdict to compare like any other.
func (c *comparison) libraryRuns(s side) ([]run, error) {
	scripts, err := filepath.Glob(filepath.Join(c.before.tree, "fixtures/scenarios/*.star"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.binary, append([]string{"run", "--json", "--seeds", fmt.Sprint(c.seeds)}, scripts...)...)
	cmd.Dir = c.before.tree
	printed, failed := cmd.Output()
	var told struct{ Runs []run }
	if err := json.Unmarshal(printed, &told); err != nil {
		return nil, fmt.Errorf("devnet run of %s: %v, %v", s.name, failed, err)
	}
	return told.Runs, nil
}
