package doctor

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// doctor tells what was tried behind the wall, and that nothing got through, where
// this system has one.
func TestDoctorTriesTheWall(t *testing.T) {
	pool := pyhost.New(pyhost.Config{})
	defer pool.Close()
	_, err := pool.Probe()
	needed.Python(t, err)
	f := checkWall(pool)
	if !f.OK || !strings.Contains(f.Is, "tried and refused: ") {
		t.Fatalf("%+v", f)
	}
	if lacks := strings.Contains(f.Is, "lacks"); !lacks && (f.Do != "" || !strings.Contains(f.Is, "exec, fork")) {
		t.Errorf("%+v", f)
	}
}

// Where no host starts, doctor says so and what to do.
func TestDoctorWithoutAHost(t *testing.T) {
	pool := pyhost.New(pyhost.Config{Python: "python-that-is-not-there"})
	defer pool.Close()
	if f := checkWall(pool); f.OK || f.Do == "" || !strings.Contains(f.Is, "python-that-is-not-there") {
		t.Errorf("%+v", f)
	}
}

// What listens at up's address may be the devnet that is up already: nothing is missing
// then. It may be another's, which doctor does not take for it.
func TestDoctorKnowsThePortOfItsOwnDevnet(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	dir := filepath.Join(t.TempDir(), "home")
	h, err := home.Open(dir, home.Want{Version: "test", ChainID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if f := checkPort(address, dir); f.OK || !strings.Contains(f.Is, "is taken") || !strings.Contains(f.Do, "devnet down") {
		t.Errorf("the port of a stranger: %+v", f)
	}
	if err := command.WriteRunFile(dir, command.RunFile{HTTP: address, PID: os.Getpid(), ChainID: 1}); err != nil {
		t.Fatal(err)
	}
	if f := checkPort(address, dir); !f.OK || f.Do != "" || !strings.Contains(f.Is, "belongs to the devnet") {
		t.Errorf("its own port: %+v", f)
	}
	if f := checkPort(address, t.TempDir()); f.OK {
		t.Errorf("the port of a devnet of another home: %+v", f)
	}
}

// A Python that is slow, crashes or prints something else is not missing, and not too old.
func TestDoctorSaysWhatAPythonDid(t *testing.T) {
	for script, want := range map[string]string{
		"exec sleep 60": "did not answer in 300ms: the machine may be busy",
		"kill -SEGV $$": "does not run: signal: segmentation fault",
		"echo hello":    `printed "hello", and no version`,
		"exit 3":        "does not run: exit status 3",
		"echo 'pyenv: python3: not found\nit is in 3.9' >&2; exit 127":            "does not run: exit status 127: pyenv: python3: not found",
		"echo 'Traceback (most):\n  File x\nImportError: no _ctypes' >&2; exit 1": "does not run: exit status 1: ImportError: no _ctypes",
		"echo 3.9.2; exit 1": "is 3.9.2: actors need 3.11 or later",
		"echo 3.12.1":        "3.12.1, ",
	} {
		path := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		patience := time.Minute
		if strings.Contains(script, "sleep") {
			patience = 300 * time.Millisecond
		}
		f, _ := pythonAt(t.Context(), path, patience)
		if !strings.Contains(f.Is, want) || f.OK != (f.Do == "") || f.OK != strings.HasPrefix(f.Is, "3.12") {
			t.Errorf("%s: %+v", script, f)
		}
	}
}

// doctor judges the address that up takes, which the environment may name.
func TestDoctorJudgesTheAddressThatUpTakes(t *testing.T) {
	t.Setenv(command.HTTPVariable, "127.0.0.1:1")
	var said string
	app := &cli.App{Commands: []*cli.Command{Command()}}
	app.Commands[0].Action = func(c *cli.Context) error { said = c.String("http"); return nil }
	if err := app.Run([]string{"devnet", "doctor"}); err != nil || said != "127.0.0.1:1" {
		t.Errorf("%q, %v", said, err)
	}
}

// A Python that is slow and first on the PATH is the one that up waits for: no other stands for it.
func TestDoctorJudgesThePythonThatUpTakes(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{"python3": "exec sleep 60", "python3.12": "echo 3.12.1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if f := checkPython(t.Context(), 300*time.Millisecond); f.OK || !strings.Contains(f.Is, "python3 did not answer in 300ms") {
		t.Errorf("%+v", f)
	}
}

// Less memory than programs may take is told: who reaches it is killed with all its nodes.
func TestDoctorTellsALimitBelowWhatPythonMayTake(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		bytes, allowed uint64
		isTold         bool
	}{{5632 * mib, 1024 * mib, true}, {5632 * mib, 5632*mib - 1, true}, {5632 * mib, 5632 * mib, false}, {5632 * mib, 24576 * mib, false}} {
		f := judgeMemory(2, c.bytes, c.allowed)
		told := strings.Contains(f.Is, fmt.Sprintf("and it may have %d MiB here", c.allowed/mib)) && strings.Contains(f.Do, "5632 MiB")
		if !f.OK || told != c.isTold || told != (f.Do != "") || !strings.Contains(f.Is, "at most 2 hosts of Python") {
			t.Errorf("%d of %d MiB: %+v", c.bytes/mib, c.allowed/mib, f)
		}
	}
}

// Limits of a process that are below what nodes and hosts of Python may take are told, with what to type.
func TestDoctorTellsLimitsOfProcesses(t *testing.T) {
	real, err := readLimits()
	if err != nil {
		t.Fatal(err)
	}
	without := func(which int, is uint64) []processLimit {
		all := slices.Clone(real)
		for i := range all {
			if all[i].is = math.MaxUint64; all[i].which == which {
				all[i].is = is
			}
		}
		return all
	}
	for _, c := range []struct {
		which int
		is    uint64
		says  string
		do    string
	}{
		{-1, 0, "no limit of memory, no limit of open files, no limit of file size, no limit of CPU time", ""},
		{syscall.RLIMIT_AS, pyhost.DefaultAddressSpace, "memory at most 2048 MiB", ""},
		{syscall.RLIMIT_AS, pyhost.DefaultAddressSpace - 1, "memory at most 2047 MiB", "ulimit -v unlimited"},
		{syscall.RLIMIT_NOFILE, 255, "open files at most 255", "ulimit -n 256"},
		{syscall.RLIMIT_NOFILE, 1024, "open files at most 1024", ""},
		{syscall.RLIMIT_FSIZE, 1 << 20, "file size at most 1 MiB", "ulimit -f unlimited"},
		{syscall.RLIMIT_CPU, 3600, "CPU time at most 3600 s: the network is ended once it has used that", "ulimit -t unlimited"},
	} {
		f := checkLimits(without(c.which, c.is))
		if f.OK != (c.do == "") || f.OK != (f.Do == "") || !strings.Contains(f.Is, c.says) || !strings.HasSuffix(f.Do, c.do) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
