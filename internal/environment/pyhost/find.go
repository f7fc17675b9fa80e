package pyhost

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// MinMinor is the least fitting CPython: 3.11, whose -P and cheap try blocks
// the host needs.
const MinMinor = 11

// MissingError says that no fitting Python was found.
type MissingError struct{ Looked []string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("no python3 of version 3.%d or later (looked for %s): install it with `apt-get install -y python3` "+
		"or `brew install python`", MinMinor, strings.Join(e.Looked, ", "))
}

const (
	probeTimeout = 20 * time.Second
	slowStart    = 3 * time.Second // an idle machine starts one in a fifth
)

// slowly is told, in words, of a Python that takes long to start; it may be nil.
type slowly func(string)

// watch tells of a start that is not over after slowStart, until what it returns
// is called.
func (s slowly) watch(path string, patience time.Duration) (over func()) {
	if s == nil {
		return func() {}
	}
	timer := time.AfterFunc(slowStart, func() {
		s(fmt.Sprintf("Python, %s, has not started after %v: it is waited for, at most %v; actors do not run meanwhile", path, slowStart,
			patience))
	})
	return func() { timer.Stop() }
}

// python is a fitting interpreter.
type python struct{ path, version string }

// find returns the named interpreter, or the first fitting one on PATH: plain
// python3 first, as it is the one its user maintains, then by version.
func find(named string, slow slowly) (python, error) {
	names := []string{"python3"}
	for minor := 14; minor >= MinMinor; minor-- {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	if named != "" {
		names = []string{named}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if found, ok := ask(path, slow); ok {
			return found, nil
		}
	}
	return python{}, &MissingError{Looked: names}
}

// ask returns what an interpreter says it is, by its own path: the name on PATH
// may be a script that picks one.
func ask(path string, slow slowly) (python, bool) {
	defer slow.watch(path, probeTimeout)()
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-S", "-s", "-B", "-c",
		"import sys; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], sys.executable)").Output()
	fields := strings.SplitN(strings.TrimSpace(string(out)), " ", 3)
	if err != nil || len(fields) < 2 || fields[0] != "cpython" {
		return python{}, false
	}
	if len(fields) == 3 && fields[2] != "" {
		path = fields[2]
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(fields[1], "%d.%d.%d", &major, &minor, &patch); err != nil || major != 3 || minor < MinMinor {
		return python{}, false
	}
	return python{path, fields[1]}, true
}
