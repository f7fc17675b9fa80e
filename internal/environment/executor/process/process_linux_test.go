package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// own gives the test a folder for the jobs' folders, and looks after it.
func own(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func sh(script string) Command { return Command{Argv: []string{"/bin/sh", "-c", script}} }

func TestAProgramGetsWhatItIsGivenAlone(t *testing.T) {
	own(t)
	t.Setenv("SECRET", "of this process")
	c := sh(`cat; echo "$# $1 $SECRET $GIVEN"; echo x > left; ls`)
	c.Argv, c.Env = append(c.Argv, "name", "a b; echo no"), []string{"GIVEN=given", "PATH=/usr/bin:/bin"}
	output, err := Run(context.Background(), c, []byte("input\n"), 100)
	if want := "input\n1 a b; echo no  given\nleft\n"; err != nil || string(output) != want {
		t.Errorf("%q, %v", output, err)
	}
}

func TestHowAProgramEnds(t *testing.T) {
	own(t)
	for _, c := range []struct{ script, want string }{
		{"echo why >&2; exit 3", "exit status 3: why"},
		{"kill -9 $$", "signal: killed"},
		{"exec 1>&-; exit 5", "exit status 5"},
		{"head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", "exit status 1: xxx"},
		{"echo; echo first >&2; yes between | head -c 100000 >&2; echo last >&2; exit 1", "exit status 1: first … "},
		{"echo first >&2; yes between | head -c 100000 >&2; echo last >&2; exit 1", "between last"},
	} {
		output, err := Run(context.Background(), sh(c.script), nil, 100)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 2*maxStderr {
			t.Errorf("%s: %q, %v", c.script, output, err)
		}
	}
	if _, err := Run(context.Background(), Command{Argv: []string{"/no/such/program"}}, nil, 1); err == nil ||
		!strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%v", err)
	}
	if _, err := Run(context.Background(), sh("true"), make([]byte, 1<<20), 1); err != nil {
		t.Errorf("unread input: %v", err)
	}
}

func TestAFloodEndsAProgramAtOnce(t *testing.T) {
	own(t)
	for _, script := range []string{"yes", "yes >&2 & yes", "printf 12345"} {
		if output, err := Run(context.Background(), sh(script), nil, 4); !errors.Is(err, ErrFlood) || output != nil {
			t.Errorf("%s: %q, %v", script, output, err)
		}
	}
	if output, err := Run(context.Background(), sh("printf 1234"), nil, 4); string(output) != "1234" {
		t.Errorf("%q, %v", output, err)
	}
}

// gone reports whether a process has ended, or is about to: it waits for that,
// since a killed process takes its time to die.
func gone(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
		if !errors.Is(err, unix.EINTR) {
			return n == 1
		}
	}
}

// A program, its children and their children end with its context, and a process
// that holds the output does not delay the job.
func TestTheEndOfTheTimeEndsTheGroup(t *testing.T) {
	own(t)
	for name, script := range map[string]string{
		"waits":            `sleep 1000 & echo $$ $!; wait`,
		"ignores signals":  `trap '' TERM INT HUP; sleep 1000 & echo $$ $!; while :; do wait; done`,
		"ended before":     `sleep 1000 & echo $$ $!`,
		"never reads":      `sleep 1000 <&- & echo $$ $!; exec sleep 1000`,
		"holds the output": `(sleep 1000; sleep 1000) & echo $$ $!; wait`,
	} {
		ctx, cancel := context.WithCancel(context.Background())
		p, err := Start(ctx, sh(script))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(p.Stdout)
		var leader, child int
		line, _ := lines.ReadString('\n')
		if _, err := fmt.Sscan(line, &leader, &child); err != nil {
			t.Fatalf("%s: %q, %v", name, line, err)
		}
		cancel()
		lines.ReadString('\n') // returns when the output's end is met
		p.Wait()
		if !gone(leader) {
			t.Errorf("%s: the program still runs", name)
		}
		if !gone(child) {
			t.Errorf("%s: its child still runs", name)
		}
		if err := p.Wait(); err != nil {
			t.Errorf("a second Wait: %v", err)
		}
		p.Kill() // after the end it has no effect
	}
}

func TestWhatAProgramLeftEndsWithIt(t *testing.T) {
	own(t)
	output, err := Run(context.Background(), sh(`sleep 1000 >/dev/null 2>&1 & echo $!`), nil, 100)
	var child int
	if _, scan := fmt.Sscan(string(output), &child); err != nil || scan != nil {
		t.Fatalf("%q, %v, %v", output, err, scan)
	}
	if !gone(child) {
		t.Errorf("process %d goes on", child)
	}
}

// Daemons end with the program too: those in a separate session, and those that start
// others until they are killed.
func TestWhatLeftItsGroupEndsWithIt(t *testing.T) {
	own(t)
	for name, script := range map[string]string{
		"a separate session": `setsid sleep 1000 >/dev/null 2>&1 & echo $!`,
		"a daemon's child":   `(setsid sh -c 'sleep 1000 & echo $! >pid; wait' >/dev/null 2>&1 &); while ! [ -s pid ]; do :; done; cat pid`,
		"a chain of daemons": `setsid sh -c 'echo "setsid sh next & sleep 1000" >next; sh next' >/dev/null 2>&1 & echo $!`,
	} {
		output, err := Run(context.Background(), sh(script), nil, 100)
		var child int
		if _, scan := fmt.Sscan(string(output), &child); err != nil || scan != nil {
			t.Fatalf("%s: %q, %v, %v", name, output, err, scan)
		}
		if !gone(child) {
			t.Errorf("%s: process %d goes on", name, child)
		}
	}
	if own, err := os.ReadFile("/proc/self/environ"); err != nil || hasVariable(own, "TMPDIR=") {
		t.Errorf("the mark of no program is found: %v", err)
	}
}

func TestMemoryIsBoundedBeforeInputComes(t *testing.T) {
	own(t)
	c := sh(`read go; ulimit -d; ulimit -c`)
	c.Memory = 512 << 20
	output, err := Run(context.Background(), c, []byte("go\n"), 100)
	if err != nil || string(output) != "524288\n0\n" {
		t.Errorf("%q, %v", output, err)
	}
}

// TestMain makes this program, as a child of a test, use memory: as many MiB as it is told.
func TestMain(m *testing.M) {
	var mib int
	if _, err := fmt.Sscan(os.Getenv("PROCESS_USES"), &mib); err != nil {
		os.Exit(m.Run())
	}
	used := make([]byte, mib<<20)
	for i := range used {
		used[i] = 1
	}
	fmt.Print(len(used) >> 20)
}

// Memory that is used is bounded, and not what is reserved: a program of Go, which reserves
// hundreds of MiB at its start, has room in the default of a job.
func TestMemoryThatIsUsedIsBounded(t *testing.T) {
	own(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bound uint64 // bytes
		uses  string // MiB
		fits  bool
	}{{128 << 20, "1", true}, {256 << 20, "128", true}, {256 << 20, "257", false}} {
		command := Command{Argv: []string{self}, Env: []string{"PROCESS_USES=" + c.uses}, Memory: c.bound}
		output, err := Run(context.Background(), command, nil, 100)
		if fits := err == nil && string(output) == c.uses; fits != c.fits {
			t.Errorf("%s MiB in %d: %q, %v", c.uses, c.bound>>20, output, err)
		}
		// Go says so in words, or ends by a signal where it had no memory left for them.
		if !c.fits && (err == nil || !strings.Contains(err.Error(), "fatal error") && !strings.Contains(err.Error(), "SIGSEGV")) {
			t.Errorf("what a program says first, before its stacks: %v", err)
		}
	}
}

func TestNothingStartsAfterTheEnd(t *testing.T) {
	own(t)
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, sh("touch "+mark), nil, 1)
	if _, there := os.Stat(mark); !errors.Is(err, context.Canceled) || there == nil {
		t.Errorf("%v; the mark: %v", err, there)
	}
}

// A line of standard error reports progress if it has that form, and all others stay a
// program's last words.
func TestAProgramTellsItsProgress(t *testing.T) {
	own(t)
	var told []string
	c := sh(`printf 'progress 5\nprogr' >&2; printf 'ess 40 half  of it\nprogress 101\nprogress -1\nprogress x\n progress 9\n' >&2
printf 'progress 60 ' >&2; head -c 2000 /dev/zero | tr '\0' x >&2; printf '\nprogress 70 on\nprogress 80' >&2; exit 1`)
	c.Progress = func(percent uint8, words string) { told = append(told, fmt.Sprint(percent, " ", words)) }
	_, err := Run(context.Background(), c, nil, 100)
	if want := "5 ,40 half  of it,70 on"; strings.Join(told, ",") != want {
		t.Errorf("%q, want %q", told, want)
	}
	if err == nil || !strings.HasSuffix(err.Error(), "x progress 80") || strings.Contains(err.Error(), "progress 70") {
		t.Errorf("%v", err)
	}
}

func FuzzStandardError(f *testing.F) {
	f.Add([]byte("progress 1 a\nprogress 2\n\n"), 3)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		var whole, parts []string
		one := stderr{progress: func(n uint8, words string) { whole = append(whole, fmt.Sprint(n, words)) }}
		two := stderr{progress: func(n uint8, words string) { parts = append(parts, fmt.Sprint(n, words)) }}
		at = min(max(at, 0), len(data))
		one.Write(data)
		two.Write(data[:at])
		two.Write(data[at:])
		if strings.Join(whole, "|") != strings.Join(parts, "|") || len(one.kept) > maxStderr || len(one.line) > maxProgress {
			t.Errorf("%q, and in two parts %q", whole, parts)
		}
	})
}
