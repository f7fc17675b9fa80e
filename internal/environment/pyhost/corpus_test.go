package pyhost

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// The corpus of costly programs is measured in one process: each program's
// processor time a cycle is a multiple of a plain loop's. The aim is 8. The bound here
// is 12, since a machine under load may multiply the lowest of several measurements. A
// missing charge costs hundreds. DEVNET_PRICES=bounded measures all programs, as CI
// does, and make test one in eight of those that are written out. DEVNET_PRICES=all
// measures all of them with more cycles, against the aim.
func TestNoProgramCostsMoreTimeThanItPays(t *testing.T) {
	pricesAreKept(t)
}

// A deploy pays for the time that reading, checking and compiling a source takes.
func TestNoDeployCostsMoreTimeThanItPays(t *testing.T) {
	pricesAreKept(t, "--deploys")
}

// A message with a stranger's value pays for it before the work, whatever the value is
// and whichever way it comes.
func TestNoValueCostsMoreTimeThanItPays(t *testing.T) {
	pricesAreKept(t, "--values")
}

// A type without a generator of hostile values fails the measure.
func TestC22ATypeWithoutHostileValuesFails(t *testing.T) {
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	told, err := exec.Command(python.path, "-I", "-S", "-B", "../../../python-host/prices/measure.py",
		"--values", "--only", "nothing", "--forgotten", "Tuple").CombinedOutput()
	if err == nil || !strings.Contains(string(told), "Tuple has no generator of hostile values") {
		t.Errorf("%v\n%s", err, told)
	}
}

// pricesAreKept measures what the arguments say, as DEVNET_PRICES says. A program's ratio is to loops of its
// own process, so that the bound of 12 holds beside another measure; the aim is measured alone.
func pricesAreKept(t *testing.T, what ...string) {
	if os.Getenv("DEVNET_PRICES") != "all" {
		t.Parallel()
	}
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	args := []string{"-I", "-S", "-B", "../../../python-host/prices/measure.py"}
	switch os.Getenv("DEVNET_PRICES") {
	case "all":
		args = append(args, "--bound", "8")
	case "bounded":
		args = append(args, "--bound", "12", "--cycles", "50000")
	default:
		args = append(args, "--bound", "12", "--cycles", "50000", "--written", "--part", "0/8")
	}
	ctx, end := context.WithTimeout(t.Context(), time.Hour)
	defer end()
	told, err := exec.CommandContext(ctx, python.path, append(args, what...)...).CombinedOutput()
	t.Logf("%s", told)
	if err != nil {
		t.Error(err)
	}
}

// A program that is free is found: the measure fails for a function of the
// host that walks its argument without a charge.
func TestAProgramThatIsFreeIsFound(t *testing.T) {
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	told, err := exec.Command(python.path, "-I", "-S", "-B", "../../../python-host/prices/measure.py",
		"--written", "--only", "negated Counter", "--cycles", "50000", "--free", "charge_repetition").CombinedOutput()
	if err == nil {
		t.Errorf("found nothing:\n%s", told)
	}
}
