// Package needed decides what a test does without Python. It is skipped, or fails
// if DEVNET_PYTHON is "required", as under make.
package needed

import (
	"os"
	"testing"
)

// Variable is the environment variable that tests look at.
const Variable = "DEVNET_PYTHON"

// Required is its value that turns a test without Python from skipped to failed.
const Required = "required"

// Python ends a test that cannot have Python, err saying why; with nil it does
// nothing.
func Python(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv(Variable) == Required:
		t.Fatalf("%v\n%s=%s forbids skipping tests without Python (scripts/ensure-python installs it)", err, Variable, Required)
	default:
		t.Skipf("%v", err)
	}
}
