package custom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

var interpreter = sync.OnceValues(func() (string, error) { return findInterpreter("") })

// function offers a module as the executor f; the files that jobs leave are found.
func function(t *testing.T, source string) *Kind {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	path, err := interpreter()
	if err != nil && os.Getenv("DEVNET_PYTHON") == "" {
		t.Skip(err)
	}
	f, err := Python(path, []byte(source), false)
	if err != nil {
		t.Fatal(err)
	}
	return New(map[string]Executor{"f": f})
}

func TestAFunctionIsCalled(t *testing.T) {
	for _, c := range []struct{ source, params, want string }{
		{"def run(params):\n    return params[::-1]", "abc", "cba"},
		{"import json, statistics\ndef run(params):\n    return {'median': statistics.median(json.loads(params)), 'a': 'é'}", "[3, 1, 2]", `{"a":"é","median":2}`},
		{"import re\nfrom datetime import datetime\ndef run(params):\n    print('not a result')\n" +
			"    return str(datetime.strptime(re.sub('x', '', params.decode()), '%Y').year)", "x2026", "2026"},
		{"def run(params):\n    return list({'a', 'b', 'c', 'd', 'e'})", "", ""},
	} {
		k := function(t, c.source)
		result, err := do(t, k, job("f", c.params))
		if err != nil || c.want != "" && string(result) != c.want {
			t.Errorf("%s\n%q, %v", c.source, result, err)
		}
		if c.want != "" {
			continue // the last one's order comes from hashes, which all runners share
		}
		if again, err := do(t, k, job("f", c.params)); err != nil || string(again) != string(result) {
			t.Errorf("%s\n%q and then %q, %v", c.source, result, again, err)
		}
	}
}

func TestAFunctionThatFailsSaysHow(t *testing.T) {
	for source, want := range map[string]string{
		"def run(params):\n    return 1 / 0":                        "ZeroDivisionError: division by zero",
		"def run(params)":                                           "SyntaxError",
		"def other(params): return b''":                             "no function run(params)",
		"import socket\ndef run(params): return b''":                "may not import 'socket'",
		"def run(params):\n    import os\n    return b''":           "may not import 'os'",
		"def run(params):\n    return {}['é']":                      "KeyError: 'é'",
		"def run(params):\n    return float('nan')":                 "ValueError",
		"def run(params):\n    return set()":                        "TypeError",
		"def run(params):\n    return bytearray(1 << 30)":           "out of max_memory_mb",
		"def run(params):\n    return b'x' * 101":                   process.ErrFlood.Error(),
		"def run(params):\n    while True: print('x' * 1000000)":    "",
		"def run(params):\n    raise SystemExit":                    "SystemExit",
		"import sys\ndef run(params):\n    sys.stdout.close()":      "may not import 'sys'",
		"def run(params):\n    def f(): return f()\n    return f()": "RecursionError",
	} {
		k := function(t, source)
		spec := job("f", "")
		ctx := t.Context()
		if want == "" { // a flood of words has no result: its time ends it
			short, cancel := context.WithTimeout(ctx, 300_000_000)
			defer cancel()
			ctx = short
		}
		result, err := k.Do(ctx, executor.NewJob(idOf(7), spec, nil))
		if err == nil || !strings.Contains(err.Error(), want) || want == "" && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s\n%q, %v", source, result, err)
		}
	}
}

// Forbidden actions of a function, each tried with all of Python, as by code that
// has found a way to the modules under the list of libraries.
func TestAFunctionCannotLeaveItsWall(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const way = "import io, types\nos = io.__dict__['__builtins__']['__import__']('os') if isinstance(io.__dict__['__builtins__'], dict) " +
		"else __import__('os')\n" +
		"sys = __import__('sys')\ndef run(params):\n"
	for name, body := range map[string]string{
		"read a file":        "    return open('" + secret + "').read()",
		"read by descriptor": "    return os.read(os.open('" + secret + "', 0), 99)",
		"write a file":       "    open('left', 'w').write('x'); return 'wrote'",
		"list a folder":      "    return str(os.listdir('/'))",
		"the environment":    "    return open('/proc/self/environ').read()",
		"another program":    "    os.execv('/bin/echo', ['echo', 'out']); return 'out'",
		"a shell":            "    return str(os.system('echo out'))",
		"a process":          "    return 'forked %d' % os.fork()",
		"kill its parent":    "    os.kill(os.getppid(), 0); return 'killed'",
		"a socket":           "    import_ = __import__; s = import_('_socket').socket(); s.connect(('127.0.0.1', 80)); return 'connected'",
		"a thread":           "    t = __import__('_thread'); t.start_new_thread(print, ()); return 'threads'",
		"a system call":      "    import_ = __import__; return str(import_('_ctypes').__name__) + open('/etc/passwd').read()",
		"more memory":        "    r = __import__('resource'); r.setrlimit(r.RLIMIT_AS, (-1, -1)); return str(len(bytearray(1 << 30)))",
	} {
		t.Run(name, func(t *testing.T) {
			k := function(t, way+body)
			if result, err := do(t, k, job("f", "")); err == nil {
				t.Errorf("it ended with %q", result)
			}
		})
	}
}

func TestAnEndlessFunctionEndsWithItsTime(t *testing.T) {
	k := function(t, "def run(params):\n    while True: pass")
	ctx, cancel := context.WithTimeout(t.Context(), 200_000_000)
	defer cancel()
	if result, err := k.Do(ctx, executor.NewJob(idOf(7), job("f", ""), nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q, %v", result, err)
	}
}

func TestAFunctionNeedsRoomForItsInterpreter(t *testing.T) {
	k := function(t, "def run(params): return b''")
	spec := job("f", "")
	spec.Bounds.MaxMemoryMB = MinPythonMB - 1
	if r := k.Accepts(spec); r == nil || r.Reason != push.Unsupported {
		t.Errorf("%v", r)
	}
	spec.Bounds.MaxMemoryMB = MinPythonMB
	if result, err := do(t, k, spec); err != nil || len(result) != 0 {
		t.Errorf("%q, %v", result, err)
	}
}

func TestAPythonThatIsNotThereIsSaid(t *testing.T) {
	if _, err := Python("sh", nil, false); err == nil || !strings.Contains(err.Error(), "is not CPython 3.11") {
		t.Errorf("%v", err)
	}
	if _, err := Python("no-such-python", nil, false); err == nil || !strings.Contains(err.Error(), "no-such-python") {
		t.Errorf("%v", err)
	}
	if _, err := Python("", make([]byte, MaxSource+1), false); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

// A function with a parameter progress reports its progress; a hostile one reports no more
// than each percent.
func TestAFunctionTellsItsProgress(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"def run(params, progress):\n    progress(40, 'half\\n of it')\n    progress(90.7)\n    return params", "40 half of it,90 "},
		{"def run(params, *, progress=None):\n    progress(7)\n    return params", "7 "},
		{"def run(params, other=1):\n    return params", ""},
		{"def run(params, progress):\n    for n in range(5000):\n        progress(n % 101, 'x' * 9000)\n    progress(101)\n" +
			"    return params", "many"},
	} {
		k := function(t, c.source)
		set := executor.New(executor.Config{Kinds: map[push.JobKind]executor.Kind{push.JobCustom: k}})
		reports := make(chan execution.Report, 200)
		set.Execute(idOf(7), job("f", "abc"), func(r execution.Report) { reports <- r })
		var told []string
		for r := range reports {
			if r.What != execution.Progress {
				if string(r.Result) != "abc" {
					t.Errorf("%s: %+v", c.source, r)
				}
				break
			}
			told = append(told, fmt.Sprint(r.Fraction, " ", r.Detail))
		}
		set.Close()
		if got := strings.Join(told, ","); c.want != "many" && got != c.want || c.want == "many" && len(told) != 100 {
			t.Errorf("%s: %d, %.200q", c.source, len(told), got)
		}
	}
}
