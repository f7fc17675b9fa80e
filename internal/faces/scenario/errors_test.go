package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// SCENARIOS.md, Mistakes: fail(…) is an expectation that failed, and no mistake. A
// function of that name is the script's own.
func TestFailIsAFailedExpectation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "first.star")
	for text, want := range map[string]string{ // order: each is judged by itself
		"fail(\"no\", 7)\n": "first.star:1:5: fail: no 7",
		"def f(x):\n    fail(x)\nx = sorted([1], key = f)\n":    "first.star:2:9: fail: 1",
		"def stop():\n    [][1]\nfail = stop\nfail()\n":         "",
		"def fail(x):\n    return 1 // x\nx = fail(0)\n":        "",
		"f = fail\ndef g():\n    f(\"by another name\")\ng()\n": "first.star:3:6: fail: by another name",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Run(path, Options{})
		var failed *Failure
		var wrong *Mistake
		switch {
		case want == "" && !errors.As(err, &wrong):
			t.Errorf("%sended with %v, want a mistake", text, err)
		case want != "" && (!errors.As(err, &failed) || failed.At.String()+": "+failed.What != want):
			t.Errorf("%sended with %v, want the failure %s", text, err, want)
		}
	}
}
