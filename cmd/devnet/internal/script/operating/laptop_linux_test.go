package operating

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/script"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// What a laptop's day consists of. After each trouble a block comes within maxOutage block times, or a
// command says what to type.
const (
	laptopBlockTime = 2 * time.Second
	maxOutage       = 2 // block times
	laptopPatience  = 3 * time.Minute
	pythonDelay     = 30 * time.Second
	laptopSleep     = 20 * time.Second
	clockStep       = time.Hour
	diskMegabytes   = 24
)

// laptop is a machine on which a person runs the built devnet: what is typed is typed as words, and
// what happens to the machine happens to its processes.
type laptop struct {
	t       *testing.T
	devnet  string // the program
	dir     string
	address string // of the network's API
	env     []string
	rows    *[]laptopRow
}

// laptopRow is a row of the day's table.
type laptopRow struct{ trouble, blocks, said string }

// TestSoakALaptopsDay plays on live networks of the built program what happens to them on a laptop.
func TestSoakALaptopsDay(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("a laptop's day takes ten minutes: DEVNET_SOAK=1 plays it")
	}
	pool := pyhost.New(pyhost.Config{})
	_, err := pool.Probe()
	pool.Close()
	needed.Python(t, err)
	program := filepath.Join(t.TempDir(), "devnet")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows []laptopRow
	for _, part := range []struct {
		name string
		play func(*laptop)
	}{
		{"a Python that needs 30s", (*laptop).startSlowPython},
		{"suspend and resume", (*laptop).suspend},
		{"the clock", (*laptop).setClock},
		{"the disk", (*laptop).fillDisk},
		{"a stop in a travel", (*laptop).stopTravel},
		{"a reset", (*laptop).reset},
		{"a pipe", (*laptop).leaveUnread},
		{"a partition", (*laptop).partition},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.play(&laptop{t: t, devnet: program, dir: t.TempDir(), rows: &rows,
				env: append(os.Environ(), "DEVNET_HTTP=", "NO_COLOR=1")})
		})
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT HAPPENED\tFIRST BLOCK AFTER\tWHAT WAS SAID")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.trouble, r.blocks, r.said)
	}
	_ = w.Flush()
	t.Logf("a laptop's day, with blocks of %v:\n%s", laptopBlockTime, table.String())
}

func (l *laptop) note(trouble, blocks, said string) {
	said = strings.Join(strings.Fields(strings.ReplaceAll(said, l.devnet, "devnet")), " ")
	*l.rows = append(*l.rows, laptopRow{trouble, blocks, said})
}

// runningUp is a devnet up of a laptop.
type runningUp struct {
	*script.Background
	laptop *laptop
}

// up starts a network in a process group of its own.
func (l *laptop) up(words ...string) *runningUp {
	l.t.Helper()
	return l.upBy(exec.Command(l.devnet, l.upWords(words)...))
}

func (l *laptop) upWords(words []string) []string {
	return append([]string{"up", "--http", "127.0.0.1:0", "--block-time", laptopBlockTime.String()}, words...)
}

// upBy starts the command of a network, and waits until it is up.
func (l *laptop) upBy(command *exec.Cmd) *runningUp {
	l.t.Helper()
	u := &runningUp{&script.Background{Command: command, Output: &script.Watched{News: make(chan struct{})}, Ended: make(chan error, 1)}, l}
	command.Dir, command.Env = l.dir, l.env
	if command.Stdout == nil {
		command.Stdout = u.Output
	}
	command.Stderr = u.Output
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() { u.Ended <- command.Wait() }()
	l.t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		<-u.Ended
	})
	if command.Stdout == u.Output {
		l.address = u.await(`^HTTP API +(\S+?),?$`)
	}
	return u
}

// await waits until the output of a network matches, and returns the first group or all.
func (u *runningUp) await(expression string) string {
	u.laptop.t.Helper()
	pattern, patience := regexp.MustCompile("(?m)"+expression), time.After(laptopPatience)
	for {
		text, news := u.Output.State()
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found[len(found)-1]
		}
		select {
		case <-news:
		case err := <-u.Ended:
			u.Ended <- err
			u.laptop.t.Fatalf("devnet ended with %v before %q was there:\n%s", err, expression, text)
		case <-patience:
			u.laptop.t.Fatalf("%q did not come:\n%s", expression, text)
		}
	}
}

// end ends a network by a signal, and requires its exit code; -1 is the death by a signal.
func (u *runningUp) end(signal syscall.Signal, code int) {
	u.laptop.t.Helper()
	if err := u.Command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		u.laptop.t.Fatal(err)
	}
	select {
	case err := <-u.Ended:
		u.Ended <- err
	case <-time.After(laptopPatience):
		u.laptop.t.Fatalf("devnet did not end on %v", signal)
	}
	if got := u.Command.ProcessState.ExitCode(); got != code {
		text, _ := u.Output.State()
		u.laptop.t.Fatalf("devnet ended with %d, want %d:\n%s", got, code, text)
	}
}

// processes are those of a network: itself, and all that it started.
func (u *runningUp) processes() []int {
	return append(script.Below(u.Command.Process.Pid), u.Command.Process.Pid)
}

func (u *runningUp) signal(signal syscall.Signal) {
	for _, pid := range u.processes() {
		_ = syscall.Kill(pid, signal) // one of them may have ended
	}
}

// typedAnswer is what a command said, and how it ended.
type typedAnswer struct {
	out  string
	code int
	took time.Duration
}

// typeWords runs a command about the network.
func (l *laptop) typeWords(words ...string) typedAnswer {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), laptopPatience)
	defer cancel()
	command := exec.CommandContext(ctx, l.devnet, words...)
	command.Dir, command.Env = l.dir, append(slices.Clone(l.env), "DEVNET_HTTP="+strings.TrimPrefix(l.address, "http://"))
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	began := time.Now()
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		l.t.Fatal(err)
	}
	return typedAnswer{out.String(), command.ProcessState.ExitCode(), time.Since(began)}
}

// mustType runs a command that succeeds.
func (l *laptop) mustType(words ...string) string {
	l.t.Helper()
	said := l.typeWords(words...)
	if said.code != 0 {
		l.t.Fatalf("devnet %s ended with %d:\n%s", strings.Join(words, " "), said.code, said.out)
	}
	return said.out
}

// write writes a file of the laptop's folder, and returns its name.
func (l *laptop) write(name, text string) string {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return name
}

// arrival is a final block, and when its event came.
type arrival struct {
	model.Block
	at time.Time
}

// blockWatch is the stream of a network's final blocks.
type blockWatch struct {
	t    *testing.T
	mu   sync.Mutex
	all  []arrival
	news chan struct{}
	over chan error // the stream's end
}

// watchBlocks follows the blocks of a network until the test ends, or the network.
func (l *laptop) watchBlocks() *blockWatch {
	w := &blockWatch{t: l.t, news: make(chan struct{}), over: make(chan error, 1)}
	api, follow := client.NewAPI(l.address), client.Follow{Kinds: []string{model.EventBlock}}
	go func() {
		err := error(&client.Error{ErrorBody: client.ErrorBody{Code: "slow_reader"}})
		for command.RefusedAs(err, "slow_reader") { // a travel makes blocks faster than they are read
			err = api.Events(l.t.Context(), follow, w.note(&follow))
		}
		w.over <- err
	}()
	return w
}

// note keeps each block, and its event as the one to continue after.
func (w *blockWatch) note(follow *client.Follow) func(client.Event) error {
	return func(e client.Event) error {
		follow.LastID = e.ID
		b, err := e.Block()
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, arrival{b, time.Now()})
		close(w.news)
		w.news = make(chan struct{})
		return nil
	}
}

// awaitBlock waits for the first block that came after a time and is wanted.
func (w *blockWatch) awaitBlock(after time.Time, wanted func(arrival) bool) (before, first arrival) {
	w.t.Helper()
	patience := time.After(laptopPatience)
	for {
		w.mu.Lock()
		all, news := w.all, w.news
		w.mu.Unlock()
		for i, b := range all {
			if !b.at.After(after) || wanted != nil && !wanted(b) {
				before = b
				continue
			}
			if i == 0 {
				before = arrival{}
			}
			return before, b
		}
		select {
		case <-news:
		case err := <-w.over:
			w.over <- err
			w.t.Fatalf("the stream of blocks ended: %v", err)
		case <-patience:
			w.t.Fatalf("no block came; the latest was %d", before.Height)
		}
	}
}

// awaitAny waits for a block, so that a trouble begins with a network that makes them.
func (w *blockWatch) awaitAny() arrival {
	w.t.Helper()
	_, b := w.awaitBlock(time.Now(), nil)
	return b
}

// mustGoOn waits for the first block after a trouble, and requires that it came in time. It returns the
// time it took, in block times.
func (w *blockWatch) mustGoOn(since time.Time, wanted func(arrival) bool) string {
	w.t.Helper()
	before, b := w.awaitBlock(since, wanted)
	blockTimes := float64(b.at.Sub(since)) / float64(laptopBlockTime)
	if blockTimes > maxOutage {
		w.t.Errorf("block %d came %.1f block times after the trouble, and not within %d", b.Height, blockTimes, maxOutage)
	}
	if before.Height > 0 && b.Height != before.Height+1 {
		w.t.Errorf("block %d follows block %d", b.Height, before.Height)
	}
	return fmt.Sprintf("%.1f block times", blockTimes)
}

// stampsBetween is by how much the chain's time went on, from one block to another.
func stampsBetween(a, b arrival) time.Duration {
	return time.Duration(b.TimestampMS-a.TimestampMS) * time.Millisecond
}

// slowPython is a Python that starts late.
const slowPython = `#!%s -S
import os, sys, time
time.sleep(%v)
if any("sys.implementation.name" in word for word in sys.argv):
    print("cpython", "%%d.%%d.%%d" %% sys.version_info[:3], os.path.abspath(sys.argv[0]))
else:
    os.execv(%q, sys.argv)
`

// startSlowPython starts a network whose Python takes half a minute, at each start of a host too.
func (l *laptop) startSlowPython() {
	real, err := pyhost.Interpreter("", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	bin := filepath.Join(l.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		l.t.Fatal(err)
	}
	// It names itself, so that each start of a host goes by it, and not that of the interpreter behind it.
	text := fmt.Sprintf(slowPython, real, pythonDelay.Seconds(), real)
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(text), 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+filepath.Join(l.dir, "cache"))
	heartbeat := l.write("heartbeat.py", l.actor("heartbeat.py"))
	began := time.Now()
	u := l.up("--home", "home", "--runners", "0", "--actor", heartbeat)
	slow := u.await(`^Python, .* has not started after 3s.*$`)
	upAfter := time.Since(began)
	w := l.watchBlocks()
	w.awaitAny()
	from := time.Now()
	blocks := w.mustGoOn(from, nil)
	u.await(`^heartbeat.start ran in block (\d+)\.$`)
	w.mu.Lock()
	for i, b := range w.all[1:] {
		if gap := b.at.Sub(w.all[i].at); gap > maxOutage*laptopBlockTime {
			w.t.Errorf("block %d came %v after the block before it", b.Height, gap)
		}
	}
	w.mu.Unlock()
	l.note(fmt.Sprintf("Python needs %v, up after %v, its first actor after %v", pythonDelay, upAfter.Round(time.Second),
		time.Since(began).Round(time.Second)), blocks, slow)
	u.end(syscall.SIGINT, 0)
}

func (l *laptop) actor(name string) string {
	root, err := script.Repository()
	if err != nil {
		l.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "fixtures", "actors", name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// suspend stops all processes of a network for a while: a job of a shell that Ctrl-Z stops, or a virtual
// machine that is paused with its clocks going on.
func (l *laptop) suspend() {
	u := l.up("--home", "home", "--runners", "1", "--actor", l.write("heartbeat.py", l.actor("heartbeat.py")))
	w := l.watchBlocks()
	u.await(`heartbeat fired`)
	w.awaitAny()
	u.signal(syscall.SIGSTOP)
	stopped := time.Now()
	timer := time.NewTimer(laptopSleep)
	<-timer.C
	u.signal(syscall.SIGCONT)
	resumed := time.Now()
	made := func(b arrival) bool { return b.TimestampMS.Time().Sub(types.Time(stopped.UnixNano())) > laptopSleep/2 }
	blocks := w.mustGoOn(resumed, made)
	l.note(fmt.Sprintf("suspended for %v, and resumed", laptopSleep), blocks, "")
	l.mustType("transfer", "bob", "1")
	u.end(syscall.SIGINT, 0)
	l.mustType("check", "home")
}

// setClock sets the wall clock of a running network: by an hour back and forward, and forward while it is
// stopped, which is what a machine that slept finds.
func (l *laptop) setClock() {
	u := l.up("--home", "home", "--runners", "1", "--actor", l.write("heartbeat.py", l.actor("heartbeat.py")))
	w := l.watchBlocks()
	w.awaitAny()
	clock, err := takeWallClock(u.Command.Process.Pid)
	if err != nil {
		l.t.Skip(err)
	}
	defer clock.close()
	set := func(ahead time.Duration, asleep bool, trouble, words string) {
		before := w.awaitAny()
		if asleep {
			u.signal(syscall.SIGSTOP)
		}
		if err := clock.set(ahead); err != nil {
			l.t.Fatal(err)
		}
		if asleep {
			u.signal(syscall.SIGCONT)
		}
		since := time.Now()
		blocks := w.mustGoOn(since, nil)
		_, after := w.awaitBlock(since, nil)
		if by := stampsBetween(before, after); by > (maxOutage+1)*laptopBlockTime {
			l.t.Errorf("%s: the chain's time went on by %v", trouble, by)
		}
		said := regexp.MustCompile(words).FindString(l.typeWords("status").out)
		if said == "" {
			l.t.Errorf("%s: status does not say so: %s", trouble, l.typeWords("status").out)
		}
		l.note(trouble, blocks, said)
	}
	set(-clockStep, false, "the clock is put back by an hour", `this machine's clock was put back by 1h0m0s.*`)
	l.mustType("transfer", "bob", "1")
	set(0, false, "the clock is put forward by an hour", `this machine's clock was put forward by 1h0m0s.*`)
	set(clockStep, true, "the lid was closed for an hour", `this machine's clock was put forward by 1h0m0s.*`)
	l.mustType("transfer", "bob", "1")
	u.end(syscall.SIGINT, 0)
	// A second start finds stamps of the hour before, or after.
	l.mustType("check", "home")
}

// fillDisk fills the disk of a network, and frees it. The disk is a file system in memory that only its
// process sees.
func (l *laptop) fillDisk() {
	disk := filepath.Join(l.dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		l.t.Fatal(err)
	}
	flags := []string{"--mount"}
	if os.Getuid() != 0 {
		flags = append(flags, "--map-root-user")
	}
	mount := fmt.Sprintf(`mount -t tmpfs -o size=%dm devnet "$1"`, diskMegabytes)
	if out, err := exec.Command("unshare", append(flags, "sh", "-c", mount, "sh", disk)...).CombinedOutput(); err != nil {
		l.t.Skipf("no disk of one process can be had here: %v: %s", err, out)
	}
	words := append(flags, "sh", "-c", mount+` && shift && exec "$@"`, "sh", disk, l.devnet)
	u := l.upBy(exec.Command("unshare", append(words, l.upWords([]string{"--home", filepath.Join(disk, "home"), "--runners", "0"})...)...))
	w := l.watchBlocks()
	w.awaitAny()
	filler := fmt.Sprintf("/proc/%d/root%s/filler", u.Command.Process.Pid, disk)
	file, err := os.Create(filler)
	if err != nil {
		l.t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		l.t.Fatal(err)
	}
	_ = file.Close()
	full := u.await(`^No block for .*: no quorum.*$`)
	if !strings.Contains(full, "free some space, then run devnet fault validator restart NODE") {
		l.t.Errorf("the disk is full, and up says: %s", full)
	}
	refused := l.typeWords("transfer", "bob", "1")
	if refused.code != failure.ExitFailed || !strings.Contains(refused.out, "free some space") {
		l.t.Errorf("the disk is full, and transfer says, with %d: %s", refused.code, refused.out)
	}
	l.note("the disk is full", "none, as said", strings.TrimSpace(refused.out))
	if err := os.Remove(filler); err != nil {
		l.t.Fatal(err)
	}
	ready, err := client.NewAPI(l.address).Ready(l.t.Context())
	if err != nil && !errors.As(err, new(*client.Error)) {
		l.t.Fatal(err)
	}
	var said []string
	for _, node := range ready.Nodes {
		if !node.Ready {
			said = append(said, strings.TrimSpace(l.mustType("fault", "validator", "restart", node.Name)))
		}
	}
	blocks := w.mustGoOn(time.Now(), nil)
	l.note("the disk has room again", blocks, strings.Join(said, "; "))
	l.mustType("transfer", "bob", "1")
	u.end(syscall.SIGINT, 0)
}

// stopTravel stops a network in the midst of a travel: by Ctrl-C, and by kill -9.
func (l *laptop) stopTravel() {
	start := []string{"--home", "home", "--runners", "0", "--actor", l.write("heartbeat.py", l.actor("heartbeat.py"))}
	for _, by := range []struct {
		signal syscall.Signal
		code   int
		name   string
	}{{syscall.SIGINT, 0, "Ctrl-C"}, {syscall.SIGKILL, -1, "kill -9"}} {
		u := l.up(start...)
		u.await(`^heartbeat(\.start ran| is already deployed)`)
		w := l.watchBlocks()
		head := w.awaitAny()
		const journey = 1_000_000 // a timer is due each ten heights
		command := exec.Command(l.devnet, "advance", "--blocks", strconv.Itoa(journey), "--http", strings.TrimPrefix(l.address, "http://"))
		command.Dir, command.Env = l.dir, l.env
		var said bytes.Buffer
		command.Stdout, command.Stderr = &said, &said
		if err := command.Start(); err != nil {
			l.t.Fatal(err)
		}
		_, last := w.awaitBlock(head.at, func(b arrival) bool { return b.Height > head.Height+100 })
		u.end(by.signal, by.code)
		_ = command.Wait()
		again := l.up(start...)
		travels := again.await(`^travels +(to height .*)$`)
		var to types.Height
		if _, err := fmt.Sscanf(travels, "to height %d;", &to); err != nil || to < head.Height+journey || to > last.Height+journey {
			l.t.Errorf("it travels %q, and not some %d heights from %d", travels, journey, head.Height)
		}
		since := time.Now()
		w = l.watchBlocks()
		_, first := w.awaitBlock(since, nil)
		ahead := stampsBetween(last, first) - time.Duration(first.Height-last.Height)*laptopBlockTime
		if away := first.at.Sub(last.at) + maxOutage*laptopBlockTime; ahead > away || ahead < -away {
			l.t.Errorf("from block %d to block %d the chain's time is %v ahead of the heights", last.Height, first.Height, ahead)
		}
		blocks := fmt.Sprintf("%.1f block times", float64(first.at.Sub(since))/float64(laptopBlockTime))
		l.note("stopped in a travel by "+by.name+", and started", blocks, travels+"; advance said: "+lastLine(said.String()))
		l.mustType("advance", "--stop")
		l.note("the travel is ended", w.mustGoOn(time.Now(), nil), "")
		again.end(syscall.SIGINT, 0)
		l.mustType("check", "home")
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// reset begins the network anew at its address, while a stream of events and the page's are open.
func (l *laptop) reset() {
	port, err := script.FreePorts(1)
	if err != nil {
		l.t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", port)
	start := []string{"up", "--http", at, "--home", "home", "--runners", "0", "--block-time", laptopBlockTime.String()}
	u := l.upBy(exec.Command(l.devnet, start...))
	w := l.watchBlocks()
	genesis := l.genesisOf(l.openPage())
	w.awaitAny()
	followed := &script.Watched{News: make(chan struct{})}
	follower := exec.Command(l.devnet, "events", "-f", "--type", "block", "--http", at)
	follower.Dir, follower.Env, follower.Stdout, follower.Stderr = l.dir, l.env, followed, followed
	if err := follower.Start(); err != nil {
		l.t.Fatal(err)
	}
	beats := l.openPage()
	w.awaitAny()
	latest := w.awaitAny()
	u.end(syscall.SIGINT, 0)
	_ = follower.Wait()
	said, _ := followed.State()
	if code := follower.ProcessState.ExitCode(); code != failure.ExitFailed || !strings.Contains(lastLine(said), "devnet up") &&
		!strings.Contains(lastLine(said), "Connect again") {
		l.t.Errorf("the network stopped, and a follower of its events ended with %d and says: %s", code, lastLine(said))
	}
	for beats.Scan() { // the page's stream ends with the network
	}
	since := time.Now()
	u = l.upBy(exec.Command(l.devnet, append(start, "--reset")...))
	w = l.watchBlocks()
	_, first := w.awaitBlock(since, nil)
	blocks := fmt.Sprintf("%.1f block times", float64(first.at.Sub(since))/float64(laptopBlockTime))
	if again := l.genesisOf(l.openPage()); again == genesis {
		l.t.Errorf("the page's stream still tells of genesis %s", again)
	}
	// A reader that connects with its last event is told, also before the new chain is as high.
	id := fmt.Sprintf("%d.0.%s", latest.Height, latest.Hash.String()[2:10])
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.address+"/events", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", id)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	refusal, lines := "", bufio.NewScanner(response.Body)
	for refusal == "" && lines.Scan() {
		if strings.Contains(lines.Text(), "other_chain") {
			refusal = lines.Text()
		}
	}
	if refusal == "" {
		l.t.Error("a reader of the old chain's events is not told that this is another chain")
	}
	l.note("reset with a page and a stream open", blocks, lastLine(said)+"; on the new chain: "+refusal)
	u.end(syscall.SIGINT, 0)
}

// openPage opens the stream of the page.
func (l *laptop) openPage() *bufio.Scanner {
	l.t.Helper()
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.address+"/page/live", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	return lines
}

var beatGenesis = regexp.MustCompile(`"genesis":"(0x[0-9a-f]{64})"`)

// genesisOf waits until a stream of the page names its genesis.
func (l *laptop) genesisOf(beats *bufio.Scanner) string {
	l.t.Helper()
	for beats.Scan() {
		if found := beatGenesis.FindStringSubmatch(beats.Text()); found != nil {
			return found[1]
		}
	}
	l.t.Fatalf("the page's stream names no genesis: %v", beats.Err())
	return ""
}

// leaveUnread starts a network whose output nobody reads.
func (l *laptop) leaveUnread() {
	port, err := script.FreePorts(1)
	if err != nil {
		l.t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	defer read.Close()
	fd := int(write.Fd()) // once: it makes the pipe one that blocks
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 4096); err != nil {
		l.t.Fatal(err)
	}
	l.address = fmt.Sprintf("http://127.0.0.1:%d", port)
	command := exec.Command(l.devnet, "up", "--json", "--http", strings.TrimPrefix(l.address, "http://"), "--home", "home", "--runners", "0",
		"--block-time", laptopBlockTime.String())
	command.Stdout = write
	u := l.upBy(command)
	if line, err := bufio.NewReaderSize(read, 16).ReadString('{'); err != nil { // it is up; the rest is left
		l.t.Fatal(line, err)
	}
	w := l.watchBlocks()
	w.awaitAny()
	for range 4 {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { l.typeWords("transfer", "bob", "1") })
		}
		all.Wait()
	}
	err = syscall.SetNonblock(fd, true)
	for err == nil {
		_, err = syscall.Write(fd, []byte("x"))
	}
	if err := errors.Join(syscall.SetNonblock(fd, false), err); !errors.Is(err, syscall.EAGAIN) { // the network shares it
		l.t.Fatal(err)
	}
	blocks := w.mustGoOn(time.Now(), nil)
	began := time.Now()
	down := l.mustType("down", "--home", "home")
	l.note(fmt.Sprintf("a pipe that nobody reads; down after %v", time.Since(began).Round(time.Second)), blocks, strings.TrimSpace(down))
	u.end(syscall.SIGCONT, 0) // which ends nothing: down has ended it
	_ = write.Close()
	l.mustType("check", "home")
}

// partition cuts all validators off from each other, and types eight commands that write.
func (l *laptop) partition() {
	counter := l.write("counter.py", l.actor("counter.py"))
	u := l.up("--home", "home", "--runners", "1")
	w := l.watchBlocks()
	l.mustType("actor", "deploy", counter, "--name", "counter", "--upgrade-by", "alice")
	w.awaitAny()
	l.mustType("fault", "partition", "v0", "/", "v1", "/", "v2", "/", "v3")
	for _, words := range [][]string{
		{"transfer", "bob", "1"},
		{"faucet", "bob"},
		{"actor", "call", "counter", "add"},
		{"actor", "deploy", counter, "--name", "second"},
		{"actor", "upgrade", "counter", counter},
		{"job", "submit", "--kind", "llm", "--model", "m", "--prompt", "hello", "--wait"},
		{"params", "set", "cip3.min_basefee", "10"},
		{"advance", "--blocks", "5"},
	} {
		said := l.typeWords(words...)
		if said.took > maxOutage*laptopBlockTime {
			l.t.Errorf("devnet %s took %v", strings.Join(words, " "), said.took)
		}
		if said.code != failure.ExitFailed || !strings.Contains(said.out, "partition v0 / v1 / v2 / v3 is in force") ||
			!strings.Contains(said.out, "devnet heal") {
			l.t.Errorf("behind a partition devnet %s ended with %d and says: %s", strings.Join(words, " "), said.code, said.out)
		}
		l.note("a partition: devnet "+strings.Join(words[:min(2, len(words))], " "), "none, as said", strings.TrimSpace(said.out))
	}
	l.mustType("heal")
	l.note("devnet heal", w.mustGoOn(time.Now(), nil), "")
	l.mustType("transfer", "bob", "1")
	u.end(syscall.SIGINT, 0)
}
