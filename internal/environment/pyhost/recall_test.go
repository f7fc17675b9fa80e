package pyhost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// script is a program that runs the interpreter whose path a file holds, and notes each run.
type script struct {
	t                   *testing.T
	path, choice, calls string
}

func newScript(t *testing.T) *script {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	s := &script{t, filepath.Join(dir, "python3"), filepath.Join(dir, "choice"), filepath.Join(dir, "calls")}
	s.write(s.path, "#!/bin/sh\necho x >>"+s.calls+"\nexec \"$(cat "+s.choice+")\" \"$@\"\n")
	return s
}

func (s *script) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) runs() int {
	text, _ := os.ReadFile(s.calls)
	return strings.Count(string(text), "x")
}

// An answer is recalled at once. Another one, for a reason that no key has, is told and
// used by the next start.
func TestAScriptIsAskedAgainBesideItsRecall(t *testing.T) {
	real, err := shared.python.findOnce()
	needed.Python(t, err)
	s := newScript(t)
	s.write(s.choice, real.path)
	first, err := recallAnswer(s.path, nil)
	if err != nil || first != real || s.runs() != 1 {
		t.Fatalf("%v, %v after %d runs, want %v", first, err, s.runs(), real)
	}

	other := filepath.Join(t.TempDir(), "python3")
	if err := os.Symlink(real.path, other); err != nil {
		t.Fatal(err)
	}
	s.write(s.choice, other)
	told := make(chan string, 1)
	if second, err := recallAnswer(s.path, func(words string) { told <- words }); err != nil || second != real {
		t.Errorf("the second start has %v, want %v", second, real)
	}
	if words := <-told; !strings.Contains(words, other) || !strings.Contains(words, real.path) {
		t.Errorf("told %q", words)
	}
	key, _ := askKey(s.path)
	value, _ := readCache(key)
	if third, ok := parseAnswer(value); !ok || third.path != other {
		t.Errorf("the third start has %v, want %s", third, other)
	}
}

// A changed script, and a changed interpreter that it starts, are asked again.
func TestWhatChangedIsNotRecalled(t *testing.T) {
	real, err := shared.python.findOnce()
	needed.Python(t, err)
	s := newScript(t)
	s.write(s.choice, real.path)
	before, _ := askKey(s.path)
	if _, err := recallAnswer(s.path, nil); err != nil {
		t.Fatal("the script was not asked")
	}
	value, _ := readCache(before)
	if _, ok := parseAnswer(value); !ok {
		t.Fatalf("%q is not an answer", value)
	}
	version, stamp, _ := strings.Cut(value, " ")
	if _, ok := parseAnswer(version + " 1" + stamp); ok {
		t.Error("an interpreter of another size is recalled")
	}
	t.Setenv("PYENV_VERSION", "3.99")
	if key, _ := askKey(s.path); key == before {
		t.Error("a script in another environment is recalled")
	}
	s.write(s.path, "#!/bin/sh\nexit 1\n")
	if _, err := recallAnswer(s.path, nil); err == nil {
		t.Error("a changed script is recalled")
	}
}

// An interpreter that is a separate file is asked once, and the answer outlives a process.
func TestAnInterpreterIsAskedOnce(t *testing.T) {
	real, err := shared.python.findOnce()
	needed.Python(t, err)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	key, isScript := askKey(real.path)
	if isScript {
		t.Fatalf("%s is a script", real.path)
	}
	known.Delete(key)
	if got, err := recallAnswer(real.path, nil); err != nil || got != real {
		t.Fatalf("%v, want %v", got, real)
	}
	known.Delete(key)
	if value, ok := readCache(key); !ok || !strings.HasPrefix(value, real.version+" ") {
		t.Errorf("the file keeps %q of %q", value, key)
	}
}

// The file of answers is bounded, and keeps the newest.
func TestTheCacheIsBounded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for n := range maxCached + 5 {
		writeCache(strings.Repeat("k", n+1), "v")
	}
	lines := cachedLines()
	if len(lines) != maxCached || lines[maxCached-1] != strings.Repeat("k", maxCached+5)+" v" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	writeCache("two lines", "a\nb")
	if len(cachedLines()) != maxCached {
		t.Error("a value of two lines was kept")
	}
}
