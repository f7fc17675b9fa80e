package box

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// BenchmarkAssignment is the time from the block that draws a runner, when a
// validator's consensus made it final, to the runner's answer, when the validator has
// judged it: of each validator its own. An assignment and its answer take four
// operations on signatures. The validator signs the assignment while the block is voted
// on, so that three of them are in this time: the runner verifies it and signs its
// answer, the first one for itself and that there is one already once for all others,
// and the validator verifies that. With the memory of all-on, who verifies what was
// signed in this process looks it up.
//
// Beside it, in turns, a round trip on a stream of bare quic-go with all four operations
// (aim: p50 within 1.5 times), alone, and as many of them at the same time as validators
// push one assignment. Its machine does nothing else, while the validators here, all in
// this process, write the block, tell runners of it, and vote on. Who polls every five seconds waits half of that in the mean, which is
// arithmetic and not measured, and the request besides. Run it with -benchtime 100x.
func BenchmarkAssignment(b *testing.B) {
	for _, s := range []struct {
		name string
		set  func(*Config)
	}{{"all-on", func(*Config) {}}, {"no-remembered-signatures", func(c *Config) { c.NoRemember = true }},
		{"strict-without-fault-seam", func(c *Config) { c.Strict = true }}} {
		b.Run(s.name, func(b *testing.B) {
			answered, jobs := &answers{final: map[finalAt]time.Time{}}, newDocket()
			config := Config{Ephemeral: true, Runners: 4, BlockTime: 250 * time.Millisecond, Seed: testSeed(), Observe: jobs.observe,
				Tell: answered.finals, tellRunners: answered.saw}
			s.set(&config)
			n := up(b, config)
			ready(b, n)
			alice := newPayer(n, "alice")
			spec := customJob("echo", "hello", 1, types.Address{})
			spec.Callback = nil
			bare, subset := newBare(b, n, spec), newBareSubset(b, n, spec)
			var trips, together []time.Duration
			for b.Loop() {
				job := alice.submit(b, spec)
				jobs.await(b, job, "completed", kindIs(types.JobChangeCompleted))
				for range 4 {
					trips = append(trips, bare.trip())
					together = append(together, subset.trip()...)
				}
			}
			took := answered.sorted()
			slices.Sort(trips)
			slices.Sort(together)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(percentile(took, 50)), "ms-p50")
			b.ReportMetric(milliseconds(percentile(took, 99)), "ms-p99")
			b.ReportMetric(milliseconds(percentile(answered.push, 50)), "ms-pushed-p50")
			b.ReportMetric(milliseconds(percentile(trips, 50)), "ms-bare-p50")
			b.ReportMetric(milliseconds(percentile(trips, 99)), "ms-bare-p99")
			b.ReportMetric(milliseconds(percentile(together, 50)), "ms-bare-subset-p50")
			b.ReportMetric(float64(len(subset)), "validators-pushing")
			b.ReportMetric(milliseconds(5*time.Second/2), "ms-mean-of-polling")
		})
	}
}

// finalAt is a block as one validator made it final.
type finalAt struct {
	validator string
	height    types.Height
}

// answers measures from assignments to their first answers.
type answers struct {
	mu    sync.Mutex
	final map[finalAt]time.Time
	push  []time.Duration // to the assignment on its stream
	took  []time.Duration // to its answer
}

func (a *answers) finals(_ types.Time, name string, report simplex.Report) {
	f, is := report.(simplex.Finalized)
	if !is {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, block := range f.Blocks {
		a.final[finalAt{name, block.Header.Height}] = time.Now()
	}
}

// saw takes note of an answer: the runner accepts what the first validator pushes, and
// says of the others' that it has it.
func (a *answers) saw(name string, report gateway.Report) {
	var of gateway.AssignmentID
	into := &a.took
	switch r := report.(type) {
	case gateway.Pushed:
		of, into = r.Assignment, &a.push
	case gateway.Accepted:
		of = r.Assignment
	case gateway.Classified:
		if r.Outcome != gateway.Duplicate {
			return
		}
		of = r.Assignment
	default:
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if final, is := a.final[finalAt{name, of.Drawn}]; is {
		*into = append(*into, time.Since(final))
	}
}

func (a *answers) sorted() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.took)
	slices.Sort(a.push)
	return a.took
}

// BenchmarkCallback is the time from a job's submission to the callback of its actor,
// at a block a second, and the blocks between the two (decision J16: 2 with one runner,
// 3 with a committee). Beside it, one transaction to its final receipt. Run it with
// -benchtime 5x.
func BenchmarkCallback(b *testing.B) {
	for _, committee := range []uint64{1, 3} {
		b.Run(fmt.Sprint("runners-", committee), func(b *testing.B) {
			jobs := newDocket()
			n := up(b, Config{Ephemeral: true, Runners: 4, BlockTime: time.Second, Seed: testSeed(), Observe: jobs.observe})
			ready(b, n)
			alice := newPayer(n, "alice")
			counter := deploySample(b, alice, "counter", "counter", 0)
			var took, plain []time.Duration
			blocks := 0
			for b.Loop() {
				began := time.Now()
				job := alice.submit(b, customJob("echo", "hello", committee, counter))
				of := jobs.await(b, job, "called back", kindIs(types.JobChangeCalledBack))
				took = append(took, time.Since(began))
				blocks += int(of[len(of)-1].At - of[0].At)
				began = time.Now()
				land(b, n, alice.transfer(types.Address{1}, 1))
				plain = append(plain, time.Since(began))
			}
			slices.Sort(took)
			slices.Sort(plain)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(blocks)/float64(b.N), "blocks")
			b.ReportMetric(milliseconds(percentile(took, 50)), "ms-p50")
			b.ReportMetric(milliseconds(percentile(took, 100)), "ms-most")
			b.ReportMetric(milliseconds(percentile(plain, 50)), "ms-transaction-p50")
		})
	}
}
