package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// patience bounds each wait.
const patience = 30 * time.Second

// TestMain lets the tests' own program act as devnet, and as the owner of nodes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		os.Exit(standIn(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "supervise" {
		os.Exit(supervise(os.Args[2]))
	}
	os.Exit(m.Run())
}

// standIn is a node that prints how it was started. It ends by a signal, with its
// standard input, or by itself if a file in its folder orders that.
func standIn(args []string) int {
	config := args[len(args)-1]
	for i, arg := range args {
		if arg == "--config" {
			config = args[i+1]
		}
	}
	fmt.Println("it begins:", strings.Join(args, " "))
	fmt.Fprintln(os.Stderr, "time=now level=WARN msg=something")
	if _, err := os.Stat(strings.TrimSuffix(config, ".toml") + ".fails"); err == nil {
		fmt.Fprintln(os.Stderr, "devnet: it cannot")
		fmt.Fprintln(os.Stderr, "  Mend it.")
		return 3
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	fmt.Fprintln(os.Stderr, "process", os.Getpid())
	select {
	case <-asked:
		fmt.Println("it ends in good order")
	case <-gone:
	}
	return 0
}

// supervise runs the nodes of a folder, one of them frozen, until it is killed.
func supervise(dir string) int {
	told := make(chan string, 64)
	c, err := open(dir, func(_, line string) { told <- line })
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, name := range []string{"v0", "r0"} {
		if err := c.Start(context.Background(), name); err != nil {
			fmt.Println(err)
			return 1
		}
		for line := range told {
			if pid, is := strings.CutPrefix(line, "process "); is {
				fmt.Println(pid)
				break
			}
		}
	}
	if err := c.Freeze("r0"); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("all run")
	select {}
}

func open(dir string, tell func(string, string)) (*Carrier, error) {
	return Open(Config{Dir: dir, Tell: tell, Nodes: []cluster.Node{{Name: "v0", Kind: cluster.Validator}, {Name: "r0", Kind: cluster.Runner}},
		Command: func(args ...string) *exec.Cmd { return exec.Command(os.Args[0], args...) }})
}

// folder has the settings of a validator and of a runner.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "v0.toml"), "name = \"v0\"\nhome = \"homes/v0\"\nhttp = \"0.0.0.0:4001\"\n")
	write(t, filepath.Join(dir, "r0.toml"), "name = \"r0\"\ncontrol = \"127.0.0.1:5001\"\n[http]\ndomains = []\n")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// carried opens a folder's nodes, and sends their lines on standard error to the
// channel.
func carried(t *testing.T, dir string) (*Carrier, chan string) {
	t.Helper()
	told := make(chan string, 256)
	c, err := open(dir, func(node, line string) { told <- node + " | " + line })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, told
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("have %v, want %s", err, want)
	}
}

// hears waits for a line.
func hears(t *testing.T, told chan string, want string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line := <-told:
			if strings.Contains(line, want) {
				return
			}
		case <-late:
			t.Fatalf("%q is not heard", want)
		}
	}
}

func TestANodeIsStartedStoppedKilledAndLetGoOn(t *testing.T) {
	c, told := carried(t, folder(t))
	ctx := t.Context()
	refused(t, c.Start(ctx, "v7"), "no settings of a node")
	refused(t, c.Stop(ctx, "v0"), "v0 does not run")
	refused(t, c.Freeze("v0"), "v0 does not run")
	must(t, c.Start(ctx, "v0"))
	hears(t, told, "v0 | process")
	refused(t, c.Start(ctx, "v0"), "v0 runs already")
	refused(t, c.Wipe(ctx, "v0"), "v0 runs: stop it first")
	refused(t, c.Thaw("v0"), "is not frozen")
	must(t, c.Freeze("v0"))
	refused(t, c.Freeze("v0"), "is already frozen")
	if runs, frozen := state(c, "v0"); !runs || !frozen {
		t.Errorf("it runs: %t, it is frozen: %t", runs, frozen)
	}
	must(t, c.Thaw("v0"))
	must(t, c.Freeze("v0"))
	must(t, c.Stop(ctx, "v0")) // a frozen one too
	must(t, c.Start(ctx, "v0"))
	hears(t, told, "v0 | process")
	must(t, c.Freeze("v0"))
	must(t, c.Kill(ctx, "v0"))
	must(t, c.Start(ctx, "r0"))
	hears(t, told, "r0 | process")
	if have := [2]string{c.Control("v0"), c.Control("r0")}; have != [2]string{"http://127.0.0.1:4001", "http://127.0.0.1:5001"} {
		t.Errorf("they answer at %v", have)
	}
	must(t, c.Close())
	for e := range c.Ended() {
		t.Errorf("%s ended by itself: %v", e.Name, e.Err)
	}
	refused(t, c.Start(ctx, "v0"), "stopped for good")
}

// All that it wrote in both of its lives is in its log, as lines with a time.
func TestWhatANodeWritesIsItsLog(t *testing.T) {
	dir := folder(t)
	c, told := carried(t, dir)
	for range 2 {
		must(t, c.Start(t.Context(), "v0"))
		hears(t, told, "v0 | process")
		must(t, c.Stop(t.Context(), "v0"))
	}
	r, err := c.Logs("v0")
	must(t, err)
	defer r.Close()
	text, err := io.ReadAll(r)
	must(t, err)
	for _, want := range []string{"level=WARN msg=something", `msg="it ends in good order"`, "node validator --attached"} {
		if strings.Count(string(text), strings.TrimPrefix(want, "node ")) != 2 {
			t.Errorf("%s is not found twice:\n%s", want, text)
		}
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("a line without a time: %s", line)
		}
	}
	if file, err := os.ReadFile(home.NodeLog(dir, "v0")); err != nil || string(file) != string(text) {
		t.Errorf("devnet logs would read another text (%v)", err)
	}
}

func TestANodeThatEndsByItselfIsToldOfInItsOwnWords(t *testing.T) {
	dir := folder(t)
	c, told := carried(t, dir)
	must(t, c.Start(t.Context(), "v0"))
	hears(t, told, "v0 | process")
	v0, err := c.Find("v0")
	must(t, err)
	l := v0.currentLife()
	must(t, l.cmd.Process.Kill())
	if e := <-c.Ended(); e.Name != "v0" || !strings.Contains(e.Err.Error(), "signal: killed") {
		t.Errorf("%+v", e)
	}
	write(t, filepath.Join(dir, "v0.fails"), "")
	must(t, c.Start(t.Context(), "v0"))
	if e := <-c.Ended(); e.Name != "v0" || e.Err.Error() != "exit status 3: devnet: it cannot\n  Mend it." {
		t.Errorf("%+v", e)
	}
	must(t, os.Remove(filepath.Join(dir, "v0.fails")))
	must(t, c.Start(t.Context(), "v0"))
}

// A validator whose home was wiped is started as one that has run before, until it
// has votes again.
func TestAWipedValidatorIsToldThatItHasRun(t *testing.T) {
	dir := folder(t)
	c, told := carried(t, dir)
	votes := home.NodeFiles(filepath.Join(dir, "homes", "v0"), "v0").Votes
	must(t, os.MkdirAll(filepath.Dir(votes), 0o755))
	write(t, votes, "")
	refused(t, c.Wipe(t.Context(), "r0"), "stores only its key")
	must(t, c.Wipe(t.Context(), "v0"))
	if _, err := os.Stat(filepath.Join(dir, "homes", "v0")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its home exists: %v", err)
	}
	for range 2 { // as often as it is started without having voted
		must(t, c.Start(t.Context(), "v0"))
		hears(t, told, "v0 | process")
		must(t, c.Kill(t.Context(), "v0"))
	}
	must(t, os.MkdirAll(filepath.Dir(votes), 0o755))
	write(t, votes, "")
	must(t, c.Start(t.Context(), "v0"))
	hears(t, told, "v0 | process")
	must(t, c.Kill(t.Context(), "v0"))
	text, err := os.ReadFile(home.NodeLog(dir, "v0"))
	must(t, err)
	if n := strings.Count(string(text), "--lost"); n != 2 {
		t.Errorf("it was told %d times:\n%s", n, text)
	}
}

func TestANodeJoinsAFolderThatIsOpen(t *testing.T) {
	dir := folder(t)
	c, told := carried(t, dir)
	refused(t, c.Add(t.Context(), cluster.Node{Name: "v1", Kind: cluster.Validator}), "its settings cannot be read")
	write(t, filepath.Join(dir, "v1.toml"), "home = \"homes/v1\"\n")
	must(t, c.Add(t.Context(), cluster.Node{Name: "v1", Kind: cluster.Validator}))
	refused(t, c.Add(t.Context(), cluster.Node{Name: "v1", Kind: cluster.Validator}), "there is a node v1 already")
	must(t, c.Start(t.Context(), "v1"))
	hears(t, told, "v1 | process")
}

// Nothing outlives who runs it, however that ends: a node that runs does not, and on
// Linux a frozen one neither.
func TestNothingIsLeftOfASupervisorThatIsKilled(t *testing.T) {
	supervisor := exec.Command(os.Args[0], "supervise", folder(t))
	out, err := supervisor.StdoutPipe()
	must(t, err)
	must(t, supervisor.Start())
	var nodes []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "all run" {
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatal(lines.Text())
		}
		nodes = append(nodes, pid)
	}
	if len(nodes) != 2 {
		t.Fatalf("%d nodes run", len(nodes))
	}
	for _, pid := range nodes {
		must(t, syscall.Kill(pid, 0))
	}
	must(t, supervisor.Process.Kill())
	_ = supervisor.Wait()
	for i, pid := range nodes {
		if i > 0 && !killsTheFrozen {
			must(t, syscall.Kill(pid, syscall.SIGCONT))
		}
		if !ends(pid) {
			t.Errorf("process %d is left", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// ends waits for the end of a process that is not a child of this one: there is nothing
// else to wait on.
func ends(pid int) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || zombie(pid) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// zombie reports whether a process has ended and its parent has not waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}

// state is whether a node runs, and whether it is frozen.
func state(c *Carrier, name string) (runs, frozen bool) {
	n, err := c.Find(name)
	if err != nil {
		return false, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life != nil, n.frozen
}

// A process has the network of its machine, and is told to have its links cut instead.
func TestAProcessIsNotTakenOffItsNetwork(t *testing.T) {
	c, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, do := range []func(context.Context, string) error{c.Detach, c.Attach} {
		if err := do(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), "v1 shares its network") {
			t.Errorf("v1 is taken off: %v", err)
		}
	}
}
