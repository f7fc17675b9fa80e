package main

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// doctor tells what was tried behind the wall, and that nothing got through, where
// this system has one.
func TestDoctorTriesTheWall(t *testing.T) {
	pool := pyhost.New(pyhost.Config{})
	defer pool.Close()
	_, err := pool.Probe()
	needed.Python(t, err)
	f := wall(pool)
	if !f.OK || !strings.Contains(f.Is, "tried and refused: ") {
		t.Fatalf("%+v", f)
	}
	if lacks := strings.Contains(f.Is, "lacks"); !lacks && (f.Do != "" || !strings.Contains(f.Is, "exec, fork")) {
		t.Errorf("%+v", f)
	}
}

// Where no host starts, doctor says so and what to do.
func TestDoctorWithoutAHost(t *testing.T) {
	pool := pyhost.New(pyhost.Config{Python: "python-that-is-not-there"})
	defer pool.Close()
	if f := wall(pool); f.OK || f.Do == "" || !strings.Contains(f.Is, "python-that-is-not-there") {
		t.Errorf("%+v", f)
	}
}
