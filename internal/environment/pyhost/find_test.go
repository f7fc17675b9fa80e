package pyhost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Python that is slow, crashes, is old or prints something else is there: the error says what it did, and names
// another remedy than where none is.
func TestAPythonThatDoesNotFitIsNotMissing(t *testing.T) {
	for script, want := range map[string][]string{
		"exec sleep 60":                         {" did not answer in 300ms: the machine may be busy; try again"},
		"sleep 60":                              {" did not answer in 300ms: the machine may be busy; try again"},
		"kill -SEGV $$":                         {" does not run: signal: segmentation fault", "install it with"},
		"exit 3":                                {" does not run: exit status 3", "install it with"},
		"echo 'pyenv: none\n3.9' >&2; exit 127": {" does not run: exit status 127: pyenv: none", "install it with"},
		"echo hello":                            {` printed "hello", and no version`, "install it with"},
		"echo cpython 3.9.2 /p3":                {" is 3.9.2", "install it with"},
		"echo pypy 3.11.1 /pypy":                {" is pypy, and no CPython", "install it with"},
	} {
		path := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		patience := time.Minute
		if strings.Contains(script, "sleep") {
			patience = 300 * time.Millisecond
		}
		ask := func(path string, slow slowly) (python, error) { return askWithin(path, patience, slow) }
		for _, required := range []string{"", "3.11"} {
			_, err := findPython(path, required, nil, ask)
			var missing *MissingError
			if !errors.As(err, &missing) {
				t.Fatalf("%s: %v", script, err)
			}
			if required != "" && len(want) > 1 {
				want = []string{want[0], "install python3.11"}
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s, of which %q is required: %q is not in %v", script, required, part, err)
				}
			}
			if strings.Contains(script, "sleep") && strings.Contains(err.Error(), "install") {
				t.Errorf("%s: %v", script, err)
			}
		}
	}
}
