package box

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// BenchmarkAssignment is the time from the block that draws a runner, when a
// validator's consensus made it final, to the runner's answer, when the validator has
// judged it: of each validator its own. The runner accepts what comes first, ms-ack-p50,
// and says of what the others push that it has it, ms-duplicate-p50; ms-p50 is of both.
// An assignment and its answer take four operations on signatures. The validator signs
// the assignment while the block is voted on, so that three of them are in this time: the
// runner verifies it and signs its answer, the first one for itself and that there is one
// already once for all others, and the validator verifies that. With the memory of all-on,
// who verifies what was signed in this process looks it up.
//
// The validators, all in this process, make the block final at the same time, write it,
// tell runners of it and vote on. From the first that has it final to the last answer is
// ms-until-all-p50, and what the process takes of its cores meanwhile
// ms-cores-until-all-p50; ms-cores-until-ack-p50 is the same of one validator's answer that
// accepts. Where others use the machine too, these two tell what became faster.
//
// Beside it, in turns, a round trip on a stream of bare quic-go with all four operations
// (aim: p50 within 1.5 times): alone, ms-bare-p50, and as many at the same time as
// validators push one assignment, ms-bare-subset-p50, some in a row while nothing else is
// done; and alone when a block is final that draws nobody, ms-bare-at-final-p50, which has the
// validators beside it as an assignment has. Who polls every five seconds waits half of
// that in the mean, which is arithmetic and not measured, and the request besides. Run it
// with -benchtime 100x.
func BenchmarkAssignment(b *testing.B) {
	for _, s := range []struct {
		name string
		set  func(*Config)
	}{{"all-on", func(*Config) {}}, {"no-remembered-signatures", func(c *Config) { c.NoRemember = true }},
		{"strict-without-fault-seam", func(c *Config) { c.Strict = true }},
		{"with-qlog", func(c *Config) { c.Qlog = b.TempDir() }}} {
		b.Run(s.name, func(b *testing.B) {
			answered, jobs := newAnswerTimes(b), newDocket()
			config := Config{Plan: setup.Plan{Runners: 4, BlockTime: 250 * time.Millisecond, Seed: testSeed()}, Ephemeral: true,
				Observe: jobs.observe, Tell: answered.finals, tellRunners: answered.saw}
			s.set(&config)
			n := up(b, config)
			ready(b, n)
			alice := newPayer(n, "alice")
			spec := customJob("echo", "hello", 1, types.Address{})
			spec.Callback = nil
			bare, subset := newBare(b, n, spec), newBareSubset(b, n, spec)
			var trips, together, atFinal []time.Duration
			for b.Loop() {
				job := alice.submit(b, spec)
				jobs.await(b, job, "completed", kindIs(types.JobChangeCompleted))
				for range 4 {
					trips = append(trips, bare.trip())
					together = append(together, subset.trip()...)
				}
				<-answered.next()
				atFinal = append(atFinal, bare.trip())
			}
			b.ReportMetric(0, "ns/op")
			answered.metrics(b)
			for _, of := range []struct {
				name string
				took []time.Duration
			}{{"bare", trips}, {"bare-subset", together}, {"bare-at-final", atFinal}} {
				slices.Sort(of.took)
				b.ReportMetric(milliseconds(percentile(of.took, 50)), "ms-"+of.name+"-p50")
			}
			b.ReportMetric(milliseconds(percentile(trips, 99)), "ms-bare-p99")
			b.ReportMetric(float64(len(subset)), "validators-pushing")
			b.ReportMetric(milliseconds(5*time.Second/2), "ms-mean-of-polling")
		})
	}
}

// answerTimes measures from assignments to their first answers.
type answerTimes struct {
	testing.TB
	mu     sync.Mutex
	began  map[types.Height]moment // of the block, at the first validator that had it final
	final  map[finalAt]moment
	ended  map[types.Height]moment // when the last answer came to what the block drew
	told   chan struct{}           // closed when a block is final
	pushed []time.Duration         // to the assignment on its stream
	acked  []time.Duration         // to its first answer
	spent  []time.Duration         // of the cores, until then
	again  []time.Duration         // to the others
}

// finalAt is a block as one validator made it final.
type finalAt struct {
	validator string
	height    types.Height
}

// moment is a time, and what the process had taken of its cores by then.
type moment struct {
	at   time.Time
	used time.Duration
}

func newAnswerTimes(b testing.TB) *answerTimes {
	return &answerTimes{TB: b, began: map[types.Height]moment{}, final: map[finalAt]moment{}, ended: map[types.Height]moment{},
		told: make(chan struct{})}
}

func (a *answerTimes) now() moment { return moment{time.Now(), coresTime(a)} }

// next is closed when the next block is final at some validator.
func (a *answerTimes) next() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

func (a *answerTimes) finals(_ types.Time, name string, report simplex.Report) {
	f, is := report.(simplex.Finalized)
	if !is {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for _, block := range f.Blocks {
		height := block.Header.Height
		a.final[finalAt{name, height}] = now
		if _, others := a.began[height]; !others {
			a.began[height] = now
			close(a.told)
			a.told = make(chan struct{})
		}
	}
}

// saw takes note of an answer: the runner accepts what the first validator pushes, and
// says of the others' that it has it.
func (a *answerTimes) saw(name string, report gateway.Report) {
	var of gateway.AssignmentID
	into := &a.acked
	switch r := report.(type) {
	case gateway.Pushed:
		of, into = r.Assignment, &a.pushed
	case gateway.Accepted:
		of = r.Assignment
	case gateway.Classified:
		if r.Outcome != gateway.Duplicate {
			return
		}
		of, into = r.Assignment, &a.again
	default:
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if final, is := a.final[finalAt{name, of.Drawn}]; is {
		*into = append(*into, now.at.Sub(final.at))
		if into == &a.acked {
			a.spent = append(a.spent, now.used-final.used)
		}
		a.ended[of.Drawn] = now
	}
}

// metrics reports what was measured.
func (a *answerTimes) metrics(b *testing.B) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var until, cores []time.Duration
	for height, ended := range a.ended {
		until = append(until, ended.at.Sub(a.began[height].at))
		cores = append(cores, ended.used-a.began[height].used)
	}
	all := slices.Concat(a.acked, a.again)
	for _, of := range []struct {
		name string
		took []time.Duration
	}{{"", all}, {"pushed-", a.pushed}, {"ack-", a.acked}, {"duplicate-", a.again}, {"until-all-", until}, {"cores-until-all-", cores},
		{"cores-until-ack-", a.spent}} {
		slices.Sort(of.took)
		b.ReportMetric(milliseconds(percentile(of.took, 50)), "ms-"+of.name+"p50")
	}
	b.ReportMetric(milliseconds(percentile(all, 99)), "ms-p99")
	b.ReportMetric(milliseconds(percentile(a.acked, 99)), "ms-ack-p99")
}

// BenchmarkCallback is the time from a job's submission to the callback of its actor,
// at a block a second, and the blocks between the two (decision J16: 2 with one runner,
// 3 with a committee). Beside it, one transaction to its final receipt. Run it with
// -benchtime 5x.
func BenchmarkCallback(b *testing.B) {
	for _, committee := range []uint64{1, 3} {
		b.Run(fmt.Sprint("runners-", committee), func(b *testing.B) {
			jobs := newDocket()
			n := up(b, Config{Plan: setup.Plan{Runners: 4, BlockTime: time.Second, Seed: testSeed()}, Ephemeral: true, Observe: jobs.observe})
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
