package pyhost

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
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
		"or `brew install python`, or name one in the configuration", MinMinor, strings.Join(e.Looked, ", "))
}

const probeTimeout = 20 * time.Second

// python is a fitting interpreter.
type python struct{ path, version string }

// find returns the named interpreter, or the first fitting one on PATH: plain
// python3 first, as it is the one its user maintains, then by version.
func find(named string) (python, error) {
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
		if version, ok := versionOf(path); ok {
			return python{path, version}, nil
		}
	}
	return python{}, &MissingError{Looked: names}
}

// versionOf asks an interpreter for its real path's version.
func versionOf(path string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-S", "-s", "-B", "-c",
		"import sys; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3])").Output()
	name, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !ok || name != "cpython" {
		return "", false
	}
	parts := strings.Split(version, ".")
	if len(parts) != 3 || parts[0] != "3" {
		return "", false
	}
	minor, err := strconv.Atoi(parts[1])
	return version, err == nil && minor >= MinMinor
}
