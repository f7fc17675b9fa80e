package pyhost

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// family is a process and those below it.
func family(pid int) []int {
	found := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, family(child)...)
			}
		}
	}
	return found
}

// lives reports whether a process exists and is not a zombie.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// dies reports whether a process ends within ten seconds. A killed child lets go of its pipes a moment before it
// ends, so that its host is closed by then.
func dies(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return !lives(pid)
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int((10 * time.Second).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return !lives(pid)
		}
	}
}

// census lists all processes of a pool's hosts that were seen.
type census struct {
	mu   sync.Mutex
	seen map[int]bool
}

func (c *census) of(h *host) []int {
	found := family(h.cmd.Process.Pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pid := range found {
		c.seen[pid] = true
	}
	return found
}

func descriptors(t *testing.T) int {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// Hosts killed with signal 9, fork server or child, at any moment under load: each
// kill fails at most the one message that was in it, as a crash; every other has
// its right outcome; nothing hangs, and nothing is left after Close.
func TestKillsAtAnyMoment(t *testing.T) {
	kills, workers := int64(24), 4
	if os.Getenv("DEVNET_SOAK") != "" {
		kills = 1000
	}
	open, people := descriptors(t), &census{seen: map[int]bool{}}
	p := openPool(t, Config{Hosts: 2, CallTimeout: time.Minute})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var killed, crashed, done atomic.Int64
	var all sync.WaitGroup
	for n := range workers {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		all.Go(func() {
			purpose := []program.Purpose{program.ForBlock, program.ForRead}[n%2]
			for killed.Load() < kills && !t.Failed() {
				ran, err := visit(t, p, purpose, rng, people, &killed)
				done.Add(int64(ran))
				if err == nil {
					continue
				}
				crashed.Add(1)
				var host *program.HostError
				if !errors.As(err, &host) || host.Failure != program.Crashed {
					t.Errorf("a kill was told as %v", err)
				}
			}
		})
	}
	all.Wait()
	p.Close()
	t.Logf("%d kills, %d messages crashed, %d went well", killed.Load(), crashed.Load(), done.Load())
	if crashed.Load() > killed.Load() || crashed.Load() == 0 || done.Load() == 0 {
		t.Errorf("%d kills made %d messages crash", killed.Load(), crashed.Load())
	}
	for pid := range people.seen {
		if !dies(pid) {
			t.Errorf("process %d of a host is left", pid)
		}
	}
	for _, pid := range family(os.Getpid()) {
		if people.seen[pid] {
			t.Errorf("process %d of a host was never waited for", pid)
		}
	}
	if len(people.seen) < int(killed.Load())/2 {
		t.Errorf("%d processes were seen in %d kills", len(people.seen), killed.Load())
	}
	if left := descriptors(t); left > open {
		t.Errorf("%d descriptors are left of the hosts", left-open)
	}
}

// visit runs some messages in one session while what runs them may be killed, and
// returns how many went well and the error of the first that did not.
func visit(t *testing.T, p *Pool, purpose program.Purpose, rng *rand.Rand, people *census, killed *atomic.Int64) (int, error) {
	s, err := p.Open(purpose)
	if err != nil {
		return 0, err
	}
	var racing sync.WaitGroup
	defer racing.Wait()
	w := newWorld(s)
	counter, caller := w.deploy(1, fixture(t, "counter.py")), w.deploy(2, fixture(t, "caller.py"))
	ran := 1 + rng.IntN(6)
	for i := range ran {
		if h := s.(*session).host; h != nil && rng.IntN(4) == 0 {
			spin := rng.IntN(40_000)
			racing.Go(func() {
				for range spin { // some moment of the next step
					_ = h.isOver()
				}
				if victims := people.of(h); !h.isOver() && syscall.Kill(victims[rng.IntN(len(victims))], syscall.SIGKILL) == nil {
					killed.Add(1)
				}
			})
		}
		m := program.Message{Kind: program.Call, Sender: alice, Self: caller, Handler: "relay", Payload: append(counter[:], '1'), Owner: owner}
		out, _, err := w.handle(m, plenty)
		if err != nil {
			racing.Wait()
			s.Close()
			return i, err
		}
		if want := fmt.Sprint(i + 1); out.Status != types.StatusOK || string(out.Output) != want {
			t.Errorf("message %d: %v %q %v", i, out.Status, out.Output, out.Fault)
		}
		if i%2 == 0 {
			racing.Wait()
		}
	}
	s.Close() // while a kill may be under way
	return ran, nil
}
