package box

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// labour is a live network with runners, who submits jobs, and what its blocks said of
// jobs and of presence.
type labour struct {
	*testing.T
	n     *Network
	jobs  *docket
	alice *payer

	mu       sync.Mutex
	presence map[types.Height]*selection.Bitmap
}

// labouring brings a network up whose presence is judged by safe, so that one liar
// neither makes nor hides a runner, and where one ping lasts, so that a busy machine
// takes nobody out of P: who is gone has no connection.
func labouring(t *testing.T, runners int) *labour {
	l := &labour{T: t, jobs: newDocket(), presence: map[types.Height]*selection.Bitmap{}}
	l.n = up(t, Config{Plan: setup.Plan{Runners: runners, BlockTime: 100 * time.Millisecond,
		Params: params.Overrides{"cip11.presence_rule": "safe", "cip11.presence_timeout_blocks": "1000"}}, Ephemeral: true, Observe: l.observe})
	ready(t, l.n)
	l.alice = newPayer(l.n, "alice")
	return l
}

func (l *labour) observe(f validators.FinalBlocks) {
	l.mu.Lock()
	for _, r := range f.Results {
		l.presence[r.Block.Header.Height] = r.Presence.Bitmap
	}
	l.mu.Unlock()
	l.jobs.observe(f)
}

// echo has a job done by so many runners, and returns what became of it.
func (l *labour) echo(t *testing.T, runners, timeout uint64) (done types.JobChange) {
	t.Helper()
	spec := customJob("echo", "hello", runners, types.Address{})
	spec.Callback, spec.TimeoutBlocks = nil, timeout
	for _, c := range l.jobs.await(t, l.alice.submit(t, spec), "completed", kindIs(types.JobChangeCompleted)) {
		if c.Kind == types.JobChangeCompleted {
			done = c
		}
	}
	return done
}

// until has jobs done until a fault has had an effect, one at least.
func (l *labour) until(t *testing.T, job func()) fault.Effect {
	t.Helper()
	for range 40 {
		if job(); !lastFault(l.n).Idle {
			return lastFault(l.n)
		}
	}
	t.Fatalf("it does nothing: %+v", lastFault(l.n))
	return fault.Effect{}
}

// blocks waits for so many blocks more.
func (l *labour) blocks(count types.Height) types.Height {
	l.Helper()
	await(l, l.n, l.n.Best().finalHeight()+count)
	return l.n.Best().finalHeight()
}

// books judges that no money is held for a job, and that all of it adds up.
func (l *labour) books(t *testing.T) {
	t.Helper()
	state := l.n.bestState()
	if err := ledger.Audit(state); err != nil {
		t.Error(err)
	}
	if held := state.Account(types.DispatcherAddress).Balance; !held.IsZero() || state.OpenJobs() != 0 {
		t.Errorf("%d jobs are open, and the escrow has %s wei", state.OpenJobs(), held)
	}
}

// One validator of four that lies about runners, over real connections, in each way
// that there is: every job is done by the committee first drawn, no honest runner is
// hidden, punished or left unserved, and who is gone is in no P.
func TestALiveLiarAboutRunnersCostsNoJob(t *testing.T) {
	l := labouring(t, 4)
	for _, kind := range byzantine.Kinds() {
		if !kind.AboutRunners() {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			there := []int{0, 1, 2, 3}
			if kind == byzantine.FabricatePresence {
				there = there[:3]
				orderOf(t, l.n, fault.Order{Verb: fault.Drop, Node: "r3"})
				leaves(t, l.n, 3)
			}
			orderOf(t, l.n, fault.Order{Verb: fault.Misbehave, Node: "v0", Kind: string(kind)})
			from := l.n.Best().finalHeight() + 3
			l.until(t, func() {
				if done := l.echo(t, 3, 300); done.Attempts != 1 || len(done.Agreed) != 3 {
					t.Errorf("%d of 3 agree, drawn %d times", len(done.Agreed), done.Attempts)
				}
			})
			l.shown(t, from, l.blocks(6), there)
			orderOf(t, l.n, fault.Order{Verb: fault.Misbehave, Node: "v0", Kind: fault.Honest})
			if kind == byzantine.FabricatePresence {
				orderOf(t, l.n, fault.Order{Verb: fault.Restart, Node: "r3"})
				ready(t, l.n)
			}
			if done := l.echo(t, 1, 300); done.Attempts != 1 || len(done.Agreed) != 1 {
				t.Errorf("behind the lie: %+v", done)
			}
			l.books(t)
		})
	}
	for _, r := range l.n.RunnerList() {
		if got := l.n.bestState().Runner(r.Address).Reputation; got < 75 {
			t.Errorf("%s lost reputation: %d", r.Name, got)
		}
	}
}

// shown judges P of every block from one height to another: those of the registry that
// are there, and nobody else.
func (l *labour) shown(t *testing.T, from, to types.Height, there []int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := from; h <= to; h++ {
		p := l.presence[h]
		for i := range 4 {
			if p != nil && p.Has(i) != slices.Contains(there, i) {
				t.Errorf("block %d: that r%d is present is %t", h, i, p.Has(i))
			}
		}
	}
}

// One runner of three that lies, over real connections, in each way that there is. The
// two honest ones do every job, nobody else is paid, and they are served behind it.
func TestALiveLiarAmongRunnersIsNotPaid(t *testing.T) {
	l := labouring(t, 3)
	liar := l.n.findRunner("r2")
	for _, kind := range fault.KindsOf(fault.Runners) {
		t.Run(kind, func(t *testing.T) {
			orderOf(t, l.n, fault.Order{Verb: fault.Misbehave, Node: "r2", Kind: kind})
			paid := l.n.bestState().Account(liar.Address).Balance
			innocent := kind == string(byzantine.DuplicateResult) || kind == string(byzantine.ReplayNonce)
			l.until(t, func() {
				done := l.echo(t, 3, 20)
				if slices.Contains(done.Agreed, liar.Address) && !innocent {
					t.Errorf("it is among those that agree: %+v", done)
				}
				if len(done.Agreed) < 2 || done.Attempts != 1 {
					t.Errorf("%d agree, drawn %d times", len(done.Agreed), done.Attempts)
				}
			})
			if now := l.n.bestState().Account(liar.Address).Balance; now != paid && !innocent {
				t.Errorf("it had %s wei and has %s", paid, now)
			}
			orderOf(t, l.n, fault.Order{Verb: fault.Rejoin, Node: "r2", AfterBlocks: 1}) // lies cost it its place
			ready(t, l.n)
			if done := l.echo(t, 2, 300); len(done.Agreed) != 2 {
				t.Errorf("behind the lie: %+v", done)
			}
			l.books(t)
		})
	}
}

// Each fault of a runner at its work, over real connections: a black hole is told by
// deadlines alone, who is slow does its job, and who comes and goes is back at the end.
func TestRunnersFalterAtWork(t *testing.T) {
	l := labouring(t, 3)
	t.Run("blackhole", func(t *testing.T) {
		hole := l.n.findRunner("r0")
		orderOf(t, l.n, fault.Order{Verb: fault.Blackhole, Node: "r0", On: true})
		drawn := false
		l.until(t, func() {
			done := l.echo(t, 2, 8)
			drawn = drawn || done.Attempts == 2
			if slices.Contains(done.Agreed, hole.Address) || done.Attempts > 2 {
				t.Errorf("the hole had a part in %+v", done)
			}
		})
		if got := l.n.bestState().Runner(hole.Address).Reputation; !drawn || got >= 75 {
			t.Errorf("a hole that answered nothing has a reputation of %d; drawn anew: %t", got, drawn)
		}
		if !l.n.presence.hasRunner(0) {
			t.Error("it pings, and is not present")
		}
		orderOf(t, l.n, fault.Order{Verb: fault.Blackhole, Node: "r0"})
		if done := l.echo(t, 3, 300); len(done.Agreed) != 3 {
			t.Errorf("behind it: %+v", done)
		}
	})
	t.Run("slow", func(t *testing.T) {
		orderOf(t, l.n, fault.Order{Verb: fault.Slow, Node: "r0", Delay: 700 * time.Millisecond})
		from := l.n.Best().finalHeight()
		if done := l.echo(t, 3, 300); len(done.Agreed) != 3 || done.At < from+5 {
			t.Errorf("begun behind %d: %+v", from, done)
		}
		if effect := orderOf(t, l.n, fault.Order{Verb: fault.Slow, Node: "r0"}); !strings.HasSuffix(effect.Did, "delayed") ||
			!strings.Contains(effect.Did, "result") || !effect.Ended {
			t.Errorf("%+v", effect)
		}
	})
	t.Run("flap", func(t *testing.T) {
		orderOf(t, l.n, fault.Order{Verb: fault.Flap, Node: "r0", Up: 200 * time.Millisecond, Down: 600 * time.Millisecond, Times: 2})
		leaves(t, l.n, 0)
		if done := l.echo(t, 2, 300); done.Attempts == 0 {
			t.Errorf("%+v", done)
		}
		ready(t, l.n)
		for range 100 {
			if l.blocks(1); lastFault(l.n).Ended {
				break
			}
		}
		if effect := lastFault(l.n); effect.Idle || !effect.Ended {
			t.Errorf("%+v", effect)
		}
		ready(t, l.n)
		if done := l.echo(t, 3, 300); len(done.Agreed) != 3 {
			t.Errorf("behind it: %+v", done)
		}
	})
	l.books(t)
}

// Who says one result to one validator and another to the next has one of them
// revealed: the two honest members agree, whichever it is.
func TestAnEquivocalRunnerOfALiveNetwork(t *testing.T) {
	h := besiege(t, params.Overrides{"cip11.presence_timeout_blocks": "1000", "cip2.min_reputation": "0"})
	for _, order := range [][]string{{"hello", "other"}, {"other", "hello"}, {"other", "third"}} {
		var all []*line
		for _, v := range h.validators {
			all = append(all, h.dial(v, 0).live())
		}
		h.present(2)
		spec := customJob("echo", "hello", 3, types.Address{})
		spec.Callback, spec.Verification.Mode, spec.TimeoutBlocks = nil, push.MajorityVote, 20
		job := h.alice.submit(t, spec)
		for i, l := range all {
			on, a := l.job(job)
			ack := &push.JobAck{JobID: a.JobID, Status: push.AckStatus{Accepted: true}}
			ack.Signed = h.key.Sign(ack.Digest(h.n.genesis.ChainID))
			on.say(ack)
			result := &push.JobResult{JobID: a.JobID, ResultData: []byte(order[i%2])}
			result.RunnerSigned = h.key.Sign(result.Digest(h.n.genesis.ChainID))
			signed := h.key.Sign(push.CommitmentDigest(h.n.genesis.ChainID, a.JobID, a.BlockHeight,
				push.Commitment(result.ResultData, result.RunnerSigned)))
			result.CommitSigned = &signed
			on.say(result)
		}
		revealed := map[types.Address]string{}
		for _, c := range h.jobs.await(t, job, "completed", kindIs(types.JobChangeCompleted)) {
			switch c.Kind {
			case types.JobChangeRevealed:
				if before, twice := revealed[*c.Runner]; twice {
					t.Errorf("%v: %s is revealed behind %s", order, c.Result, before)
				}
				revealed[*c.Runner] = string(c.Result)
			case types.JobChangeCompleted:
				mine := slices.Contains(c.Agreed, h.key.Address())
				if honest := revealed[h.key.Address()] == "hello"; mine != honest || len(c.Agreed) < 2 {
					t.Errorf("%v: of %v %d agree, the equivocal one %t", order, revealed, len(c.Agreed), mine)
				}
			}
		}
		if said := revealed[h.key.Address()]; !slices.Contains(order, said) {
			t.Errorf("%v: it is taken to have said %q", order, said)
		}
		for _, l := range all {
			l.conn.CloseWithError(0, "")
		}
		h.served()
	}
}
