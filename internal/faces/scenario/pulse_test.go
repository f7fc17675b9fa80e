package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A string larger than any memory is the script's mistake, and has its place.
func TestWhatNoMemoryHoldsIsAMistake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "first.star")
	for text, want := range map[string]string{ // order-independent: each is judged separately
		"x = \"a\" * (1 << 26)\ny = x.replace(\"a\", x)\n": tooMuchMemory,
		"x = 1\ny = sorted(range(1 << 40))\n":              "range has 1099511627776 numbers",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Run(path, Options{})
		var wrong *Mistake
		if !errors.As(err, &wrong) || wrong.At.Line != 2 || !strings.Contains(wrong.What, want) {
			t.Errorf("%s%v", text, err)
		}
	}
}

// A watcher sees where each step of a script begins, and its end.
func TestThePulseFollowsTheScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "first.star")
	if err := os.WriteFile(path, []byte("x = 0\nfor i in range(1000):\n    x += i\nprint(x)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pulse := &Pulse{}
	seen := 0
	report, err := Run(path, Options{Pulse: pulse, Out: writer(func() {
		beats, alone, at := pulse.Look()
		if !alone || at.Line != 4 || at.File != "first.star" || beats < 1000 {
			t.Errorf("where it prints: %d beats, alone %v, %s", beats, alone, at)
		}
		seen++
	})})
	if err != nil || seen != 1 {
		t.Fatalf("it printed %d times: %v", seen, err)
	}
	if beats, alone, _ := pulse.Look(); alone || beats < report.Steps {
		t.Errorf("at its end: %d beats of %d steps, alone %v", beats, report.Steps, alone)
	}
}

type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
