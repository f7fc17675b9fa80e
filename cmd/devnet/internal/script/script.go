package script

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// Patience is how long a script waits for what has to come.
const Patience = 60 * time.Second

// Background is a devnet that a script started with await.
type Background struct {
	Command *exec.Cmd
	Output  *Watched
	Ended   chan error
}

// Watched is output that can be waited on.
type Watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	News chan struct{}
}

func (w *Watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.News)
	w.News = make(chan struct{})
	return w.text.Write(p)
}

// State is the output so far, and a channel that is closed at the next.
func (w *Watched) State() (string, chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String(), w.News
}

var networks sync.Map // *testscript.TestScript → *background

// await REGEXP devnet ARGS… starts devnet and waits until its output matches;
// await REGEXP alone waits for more of the same one. The first group, if there
// is one, becomes $FOUND.
func awaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await REGEXP [devnet ARGS…]")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	if len(args) > 1 {
		startDevnet(ts, args[1], args[2:])
	}
	found, ok := networks.Load(ts)
	if !ok {
		ts.Fatalf("await: nothing was started")
	}
	b := found.(*Background)
	deadline := time.After(Patience)
	for {
		text, news := b.Output.State()
		if match := pattern.FindStringSubmatch(text); match != nil {
			if len(match) > 1 {
				ts.Setenv("FOUND", match[1])
			}
			return
		}
		select {
		case <-news:
		case err := <-b.Ended:
			b.Ended <- err
			text, _ = b.Output.State()
			if pattern.MatchString(text) {
				continue
			}
			ts.Fatalf("devnet ended with %v before %q was there:\n%s", err, args[0], text)
		case <-deadline:
			ts.Fatalf("%q did not come:\n%s", args[0], text)
		}
	}
}

// environmentOf is this process's environment, with the variables of a script that devnet reads.
func environmentOf(ts *testscript.TestScript) []string {
	all := append(os.Environ(), "DEVNET_HTTP=")
	for _, name := range []string{"DEVNET_TEST_LIVE", "PYTHONPATH", "DEVNET_HOST", "DEVNET_CORS", "PATH",
		"XDG_CACHE_HOME", "HTTP_PROXY", "NO_PROXY"} {
		all = append(all, name+"="+ts.Getenv(name))
	}
	return all
}

func startDevnet(ts *testscript.TestScript, name string, args []string) {
	path, err := exec.LookPath(name)
	ts.Check(err)
	b := &Background{Command: exec.Command(path, args...), Output: &Watched{News: make(chan struct{})}, Ended: make(chan error, 1)}
	b.Command.Dir = ts.MkAbs(".")
	b.Command.Env = environmentOf(ts)
	b.Command.Stdout, b.Command.Stderr = b.Output, b.Output
	ts.Check(b.Command.Start())
	go func() { b.Ended <- b.Command.Wait() }()
	networks.Store(ts, b)
	ts.Defer(func() {
		_ = b.Command.Process.Kill()
		<-b.Ended
	})
}

// finish SIGNAL CODE ends the devnet that await started, and checks its exit
// code; -1 is the death by a signal. Its output is then in the file output.
func finishDevnet(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}
	found, ok := networks.Load(ts)
	if neg || len(args) != 2 || signals[args[0]] == nil || !ok {
		ts.Fatalf("usage, after await: finish INT|TERM|KILL CODE")
	}
	b := found.(*Background)
	ts.Check(b.Command.Process.Signal(signals[args[0]]))
	var err error
	select {
	case err = <-b.Ended:
		b.Ended <- err
	case <-time.After(Patience):
		ts.Fatalf("devnet did not end on %s", args[0])
	}
	text, _ := b.Output.State()
	ts.Check(os.WriteFile(ts.MkAbs("output"), []byte(text), 0o644))
	var died *exec.ExitError
	if err != nil && !errors.As(err, &died) {
		ts.Check(err)
	}
	if got := strconv.Itoa(b.Command.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("devnet ended with %s, want %s:\n%s", got, args[1], text)
	}
}

// exit CODE devnet ARGS… [<FILE] runs a command and checks its exit code; stdout and
// stderr are then in the files out and err.
func checkExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND…")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	input, piped := strings.CutPrefix(args[len(args)-1], "<")
	if piped {
		args = args[:len(args)-1]
	}
	command := exec.Command(path, args[2:]...)
	if piped {
		command.Stdin = strings.NewReader(ts.ReadFile(input))
	}
	command.Dir = ts.MkAbs(".")
	command.Env = environmentOf(ts)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err"), errs.Bytes(), 0o644))
	var died *exec.ExitError
	if err != nil && !errors.As(err, &died) {
		ts.Check(err)
	}
	if got := strconv.Itoa(command.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("%v ended with %s, want %s:\n%s%s", args[1:], got, args[0], out.String(), errs.String())
	}
}

// found REGEXP FILE looks for a line and puts its first group into $FOUND.
func findLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: found REGEXP FILE")
	}
	match := regexp.MustCompile("(?m)" + args[0]).FindStringSubmatch(ts.ReadFile(args[1]))
	if len(match) < 2 {
		ts.Fatalf("%q is not in\n%s", args[0], ts.ReadFile(args[1]))
	}
	ts.Setenv("FOUND", match[1])
}

// fill FILE… puts the script's variables into files, where ${NAME} stands.
func fillVariables(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fill FILE…")
	}
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(os.Expand(ts.ReadFile(name), ts.Getenv)), 0o644))
	}
}

// Repository is the top of this source tree.
func Repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// descendants are the processes below those that scripts started, as descend saw them.
var descendants sync.Map // *testscript.TestScript → []int

// descend notes all processes below the devnet that await started; there must be some.
func noteDescendants(ts *testscript.TestScript, neg bool, args []string) {
	found, ok := networks.Load(ts)
	if neg || len(args) > 0 || !ok {
		ts.Fatalf("usage, after await: descend")
	}
	if runtime.GOOS != "linux" {
		return // there is no list of them
	}
	all := Below(found.(*Background).Command.Process.Pid)
	if len(all) < 6 { // five nodes, and a host of Python at least
		ts.Fatalf("only the processes %v are below devnet", all)
	}
	descendants.Store(ts, all)
}

// gone waits until every process that descend noted has ended.
func awaitDescendantsEnd(ts *testscript.TestScript, neg bool, args []string) {
	all, _ := descendants.Load(ts)
	pids, _ := all.([]int)
	end := time.Now().Add(Patience)
	for _, pid := range pids {
		for isAlive(pid) {
			if time.Now().After(end) {
				ts.Fatalf("process %d is left of %v", pid, pids)
			}
			time.Sleep(5 * time.Millisecond) // it is nobody's child here: there is nothing to wait on
		}
	}
}

// tidy HOME ends what a script leaves running on a home.
func endNetworkOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tidy HOME")
	}
	dir := ts.MkAbs(args[0])
	ts.Defer(func() {
		if pid, runs := home.User(dir); runs && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// Below lists the processes that one started, and those that they did.
func Below(pid int) (found []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(append(found, child), Below(child)...)
			}
		}
	}
	return found
}

// isAlive reports whether a process runs: not one that waits for nothing but being asked how it
// ended.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}
