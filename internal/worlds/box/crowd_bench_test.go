package box

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators"
)

var (
	crowd       = flag.Int("crowd", 0, "how many runners BenchmarkCrowd has, in place of its own number")
	crowdBlocks = flag.Int("crowd-blocks", 0, "over how many blocks it measures, in place of its own number")
)

// BenchmarkCrowd is ten validators and a thousand runners in one process, at a block a
// second for sixty blocks, every ping signed and verified; beside it, the same
// validators alone. Aim: 1.9 cores where every signature is verified each time, 0.9
// where what the process signed is remembered. DEVNET_SOAK makes it whole; else it is a
// tenth of the runners and of the blocks. Run it with -benchtime 1x.
//
// Presence is whole in a block where all runners are in P. Under the rule quorum it is not
// where the leader has no more votes than a quorum to carry, which is counted beside it: 7
// of 10, of which 3 have to be of a runner's subset of 5 (findings F47 and F58). Under the
// rule subset 2 of them are enough.
func BenchmarkCrowd(b *testing.B) {
	count, blocks := 100, types.Height(6)
	if os.Getenv("DEVNET_SOAK") != "" {
		count, blocks = 1_000, 60
	}
	if *crowd > 0 {
		count = *crowd
	}
	if *crowdBlocks > 0 {
		blocks = types.Height(*crowdBlocks)
	}
	for _, c := range []struct {
		name    string
		runners int
		set     func(*Config)
	}{
		{"baseline-no-runners", 0, func(*Config) {}},
		{"remembering", count, func(*Config) {}},
		{"remembering-rule-subset", count, func(c *Config) { c.Params = map[string]string{"cip11.presence_rule": "subset"} }},
		{"verifying-each", count, func(c *Config) { c.NoRemember = true }},
		{"strict-remembering", count, func(c *Config) { c.Strict = true }},
		{"strict-verifying-each", count, func(c *Config) { c.Strict, c.NoRemember = true, true }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				benchCrowd(b, c.runners, blocks, c.set)
			}
		})
	}
}

// crowdValidators is how many validators the crowd has.
const crowdValidators = 10

func benchCrowd(b *testing.B, count int, blocks types.Height, set func(*Config)) {
	p, attended := &pulses{}, newAttendance(count)
	config := Config{Plan: setup.Plan{Validators: crowdValidators, Runners: count, BlockTime: time.Second, Seed: testSeed()},
		Ephemeral: true, wrapRunner: p.wrap, Observe: attended.observe}
	set(&config)
	begin := time.Now()
	n, err := Up(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	attended.await(b, func(a *attendance) bool { return a.height > 2 && a.whole })
	gathered := time.Since(begin)
	p.begin()
	from, began, used := attended.restart(), time.Now(), coresTime(b)
	attended.await(b, func(a *attendance) bool { return a.height >= from+blocks })
	took, cores := time.Since(began), coresTime(b)-used
	round := p.end()

	connected := 0
	for _, r := range n.RunnerList() {
		connected += len(r.Status().Connected)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(gathered.Seconds(), "s-to-gather")
	b.ReportMetric(float64(connected), "connections")
	b.ReportMetric(residentMiB(b), "MiB-resident")
	b.ReportMetric(cores.Seconds()/took.Seconds(), "cores")
	whole, bare := attended.complete()
	b.ReportMetric(float64(whole), "blocks-complete")
	b.ReportMetric(float64(bare), "blocks-incomplete-by-bare-quorum")
	b.ReportMetric(float64(blocks), "blocks")
	b.ReportMetric(took.Seconds()/float64(blocks), "s/block")
	if len(round) > 0 {
		b.ReportMetric(float64(len(round))/took.Seconds(), "pings/s")
		b.ReportMetric(milliseconds(percentile(round, 50)), "ms-pong-p50")
		b.ReportMetric(milliseconds(percentile(round, 99)), "ms-pong-p99")
	}
	if err := n.Close(); err != nil {
		b.Error(err)
	}
}

// coresTime is the time that all cores have spent on this process.
func coresTime(t testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Error(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// percentile is one of sorted times.
func percentile(sorted []time.Duration, of int) time.Duration { return sorted[(len(sorted)-1)*of/100] }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// attendance is in which blocks all runners are present.
type attendance struct {
	mu     sync.Mutex
	all    int
	height types.Height
	whole  bool // in the newest
	counts int  // of those since restart
	bare   int  // blocks since restart that are not whole and carry no more votes than a quorum
	told   chan struct{}
}

func newAttendance(all int) *attendance { return &attendance{all: all, told: make(chan struct{}, 1)} }

func (a *attendance) observe(f validators.FinalBlocks) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range f.Results {
		if h := r.Block.Header.Height; h > a.height {
			a.height, a.whole = h, r.Presence.Bitmap.Count() == a.all
			switch {
			case a.whole:
				a.counts++
			case r.Block.Parent != nil && len(r.Block.Parent.Votes) <= QuorumPeers(crowdValidators)+1:
				a.bare++
			}
		}
	}
	select {
	case a.told <- struct{}{}:
	default:
	}
}

// restart counts from now on.
func (a *attendance) restart() types.Height {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts, a.bare = 0, 0
	return a.height
}

// complete is how many blocks were whole, and how many were not for want of votes.
func (a *attendance) complete() (whole, bare int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts, a.bare
}

// await waits until enough is said.
func (a *attendance) await(b *testing.B, enough func(*attendance) bool) {
	late := time.After(5 * patience)
	for {
		a.mu.Lock()
		done := enough(a)
		a.mu.Unlock()
		if done {
			return
		}
		select {
		case <-a.told:
		case <-late:
			b.Fatalf("at height %d all %d runners are present: %v", a.height, a.all, a.whole)
		}
	}
}

// pulses measures from a ping, when a runner hands it to its connection, to its pong,
// when that is handed to the runner.
type pulses struct {
	on   atomic.Bool
	mu   sync.Mutex
	took []time.Duration
}

func (p *pulses) wrap(given env.Runner) env.Runner {
	given.Connections = &pulse{Connections: given.Connections, all: p, of: map[connection.ID]*beat{}}
	return given
}

func (p *pulses) begin() { p.on.Store(true) }

// end returns what was measured, sorted.
func (p *pulses) end() []time.Duration {
	p.on.Store(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.took)
	return p.took
}

// pulse is of one runner.
type pulse struct {
	env.Connections
	all *pulses
	mu  sync.Mutex
	of  map[connection.ID]*beat
}

// beat is the pings of one connection that are not answered, and the last pong.
type beat struct {
	asked []time.Time
	last  []byte
}

// Do implements env.Connections.
func (p *pulse) Do(v connection.Verb) {
	if s, is := v.(connection.Send); is && s.Stream == connection.Control && push.Type(s.Frame[0]) == push.TypeHeartbeatPing {
		p.mu.Lock()
		of := p.of[s.ID]
		if of == nil {
			of = &beat{}
			p.of[s.ID] = of
		}
		of.asked = append(of.asked, time.Now())
		p.mu.Unlock()
	}
	p.Connections.Do(v)
}

// Start implements env.Connections.
func (p *pulse) Start(receive func(connection.Event)) error {
	return p.Connections.Start(func(e connection.Event) {
		if c, is := e.(connection.Came); is && c.Stream == connection.Control && push.Type(c.Frame[0]) == push.TypeHeartbeatPong {
			p.pong(c)
		}
		receive(e)
	})
}

// pong takes note of one. The first of each head is the one that nobody asked for: the
// validator says it before it attends to anything else. All others are answers.
func (p *pulse) pong(c connection.Came) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.of[c.ID]
	if of == nil {
		return
	}
	unasked := of.last != nil && !bytes.Equal(of.last, c.Frame)
	of.last = bytes.Clone(c.Frame)
	if unasked || len(of.asked) == 0 {
		return
	}
	took := time.Since(of.asked[0])
	of.asked = of.asked[1:]
	if p.all.on.Load() {
		p.all.mu.Lock()
		p.all.took = append(p.all.took, took)
		p.all.mu.Unlock()
	}
}
