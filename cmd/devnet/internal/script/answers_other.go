//go:build !linux

package script

import "github.com/rogpeppe/go-internal/testscript"

// answers needs the terminals of Linux.
func checkAnswers(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("answers needs Linux") }
