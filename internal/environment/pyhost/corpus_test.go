package pyhost

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// The corpus of costly programs is measured in one process: each program's
// processor time a cycle is a multiple of a plain loop's. The aim is 15. The bound
// here is 30, since a busy machine may double the lowest of several measurements.
// A missing charge costs hundreds. CI measures all programs that are written out,
// and make test one in four. With DEVNET_PRICES the generated ones are measured
// too, against the aim.
func TestNoProgramCostsMoreTimeThanItPays(t *testing.T) {
	pricesAreKept(t, []string{"--written", "--cycles", "50000"}, nil)
}

// A deploy pays for the time that reading, checking and compiling a source takes.
func TestNoDeployCostsMoreTimeThanItPays(t *testing.T) {
	pricesAreKept(t, []string{"--deploys"}, []string{"--deploys"})
}

// pricesAreKept measures with the arguments for a usual run or for a whole one.
func pricesAreKept(t *testing.T, usual, whole []string) {
	python, err := shared.python.find()
	needed.Python(t, err)
	args := []string{"-I", "-S", "-B", "../../../python-host/prices/measure.py"}
	if os.Getenv("DEVNET_PRICES") != "" {
		args = append(append(args, "--bound", "15"), whole...)
	} else {
		args = append(append(args, "--bound", "30"), usual...)
		if os.Getenv("CI") == "" {
			args = append(args, "--part", "0/4")
		}
	}
	ctx, end := context.WithTimeout(t.Context(), time.Hour)
	defer end()
	told, err := exec.CommandContext(ctx, python.path, args...).CombinedOutput()
	t.Logf("%s", told)
	if err != nil {
		t.Error(err)
	}
}

// A program that is free is found: the measure fails for a function of the
// host that walks its argument without a charge.
func TestAProgramThatIsFreeIsFound(t *testing.T) {
	python, err := shared.python.find()
	needed.Python(t, err)
	told, err := exec.Command(python.path, "-I", "-S", "-B", "../../../python-host/prices/measure.py",
		"--written", "--only", "negated Counter", "--cycles", "50000", "--free", "counted").CombinedOutput()
	if err == nil {
		t.Errorf("found nothing:\n%s", told)
	}
}
