package pyhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// MinMinor is the oldest fitting CPython: 3.11, whose -P and cheap try blocks the
// host needs.
const MinMinor = 11

// maxMinor is the latest that is looked for.
const maxMinor = 14

// MissingError says that no fitting Python was found.
type MissingError struct {
	Looked []string
	Minor  string   // that a genesis names; "": any from MinMinor on
	Found  []string // those of another minor version, with their paths
	// refused is what each program said or did that is on the PATH and does not fit.
	refused []*refusedPython
}

// refusedPython is a program that was asked for its version in vain.
type refusedPython struct {
	why  string
	slow bool // it may answer another time
}

func (r *refusedPython) Error() string { return r.why }

func (e *MissingError) Error() string {
	if text := e.describeSlow(); text != "" {
		return text
	}
	if e.Minor != "" {
		found := "none"
		if len(e.Found) > 0 {
			found = strings.Join(e.Found, ", ")
		}
		found += e.describeRefused()
		return fmt.Sprintf("the genesis names Python %s; no CPython %s found (got %s; looked for %s); "+
			"install python%s on the PATH or set python in the settings",
			e.Minor, e.Minor, found, strings.Join(e.Looked, ", "), e.Minor)
	}
	return fmt.Sprintf("no python3 of version 3.%d or later (looked for %s%s): install it with `apt-get install -y python3` "+
		"or `brew install python`", MinMinor, strings.Join(e.Looked, ", "), e.describeRefused())
}

// describeSlow says that a Python is there and did not answer: what to do is another thing than where none is. "" if
// all answered.
func (e *MissingError) describeSlow() string {
	for _, r := range e.refused {
		if r.slow {
			return r.why + ": the machine may be busy; try again when it is less so"
		}
	}
	return ""
}

// describeRefused says what each program did that does not fit, to go on after other words.
func (e *MissingError) describeRefused() (text string) {
	for _, r := range e.refused {
		text += "; " + r.why
	}
	return text
}

// A start takes a fifth of a second on an idle machine, and half a minute where an antivirus, a
// network's folder or a busy machine holds it.
const (
	probeTimeout = time.Minute
	startTimeout = time.Minute
	slowStart    = 3 * time.Second
)

// slowly is told, in words, of a Python that takes long to start; it may be nil.
type slowly func(string)

// reportIfSlow reports a start that is not over after slowStart, unless the caller calls
// over before.
func (s slowly) reportIfSlow(path string, patience time.Duration) (over func()) {
	if s == nil {
		return func() {}
	}
	timer := time.AfterFunc(slowStart, func() {
		s(fmt.Sprintf("Python, %s, has not started after %v: waiting at most %v; actors do not run meanwhile", path, slowStart,
			patience))
	})
	return func() { timer.Stop() }
}

// python is a fitting interpreter.
type python struct{ path, version string }

// findPython returns the named interpreter, or the first fitting one on PATH: plain
// python3 first, as it is the one its user maintains, then by version. If a minor version
// is required, no other fits. look is ask, or recall.
func findPython(named, required string, slow slowly, look func(string, slowly) (python, error)) (python, error) {
	names := []string{"python3"}
	if required != "" {
		names = append(names, "python"+required)
	}
	for minor := maxMinor; minor >= MinMinor; minor-- {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	if required != "" {
		names = names[:2]
	}
	if named != "" {
		names = []string{named}
	}
	missing := &MissingError{Looked: names, Minor: required}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		found, err := look(path, slow)
		if err == nil && (required == "" || Minor(found.version) == required) {
			return found, nil
		}
		if err == nil {
			missing.Found = append(missing.Found, found.version+" at "+found.path)
		} else if refused, is := errors.AsType[*refusedPython](err); is {
			missing.refused = append(missing.refused, refused)
		}
	}
	return python{}, missing
}

// askInterpreter returns what an interpreter says it is, by its own path: the name on PATH
// may be a script that picks one. Its error is a *refusedPython.
func askInterpreter(path string, slow slowly) (python, error) {
	return askWithin(path, probeTimeout, slow)
}

func askWithin(path string, patience time.Duration, slow slowly) (python, error) {
	defer slow.reportIfSlow(path, patience)()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, "-S", "-s", "-B", "-c",
		"import sys; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], sys.executable)")
	command.WaitDelay = waitDelay // of a program that it left behind
	out, err := command.Output()
	text := strings.TrimSpace(string(out))
	refuse := func(format string, args ...any) (python, error) {
		return python{}, &refusedPython{why: path + " " + fmt.Sprintf(format, args...)}
	}
	fields := strings.SplitN(text, " ", 3)
	switch {
	case ctx.Err() != nil:
		return python{}, &refusedPython{why: fmt.Sprintf("%s did not answer in %v", path, patience), slow: true}
	case err != nil:
		return refuse("does not run: %s", DescribeExit(err))
	case len(fields) < 2:
		return refuse("printed %.40q, and no version", text)
	case fields[0] != "cpython":
		return refuse("is %.40s, and no CPython", fields[0])
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(fields[1], "%d.%d.%d", &major, &minor, &patch); err != nil || major != 3 || minor < MinMinor {
		return refuse("is %.40s", fields[1])
	}
	if len(fields) == 3 && fields[2] != "" {
		path = fields[2]
	}
	return python{path, fields[1]}, nil
}

// DescribeExit is the error of a program with the line of its own words that says why: the first, or the last where
// Python traces back.
func DescribeExit(err error) string {
	ended, is := errors.AsType[*exec.ExitError](err)
	if !is || len(bytes.TrimSpace(ended.Stderr)) == 0 {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(ended.Stderr)), "\n")
	line := lines[0]
	if strings.HasPrefix(line, "Traceback") {
		line = lines[len(lines)-1]
	}
	return fmt.Sprintf("%v: %.*s", err, shownColumns, strings.Map(asPrinted, strings.ToValidUTF8(line, "?")))
}

// asPrinted drops what would steer a terminal.
func asPrinted(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

// shownColumns bounds the words of a program in an error.
const shownColumns = 200

// Minor is the minor version of a version: "3.11" of "3.11.2".
func Minor(version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor
}

// PythonsVariable names further interpreters for Installed: paths, as PATH lists folders.
const PythonsVariable = "DEVNET_PYTHONS"

// Installed lists the paths of every fitting CPython on this machine, one a version: those
// of all folders of PATH, of DEVNET_PYTHONS, and of pyenv.
func Installed() (paths []string) {
	candidates := filepath.SplitList(os.Getenv(PythonsVariable))
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		for minor := MinMinor; minor <= maxMinor; minor++ {
			candidates = append(candidates, filepath.Join(folder, fmt.Sprintf("python3.%d", minor)))
		}
	}
	root := os.Getenv("PYENV_ROOT")
	if home, err := os.UserHomeDir(); root == "" && err == nil {
		root = filepath.Join(home, ".pyenv")
	}
	kept, _ := filepath.Glob(filepath.Join(root, "versions", "3.*", "bin", "python3"))
	seen := map[string]bool{}
	for _, path := range append(candidates, kept...) {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if p, err := askInterpreter(path, nil); err == nil && !seen[p.version] {
			seen[p.version] = true
			paths = append(paths, p.path)
		}
	}
	return paths
}
