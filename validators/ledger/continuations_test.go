package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// waiter is an actor whose continuation waits for less than its job may take.
const waiter = `
from cowboy_sdk import actor, public, runner
@actor
class Waiter:
    @public
    @runner.continuation(timeout_blocks=2)
    async def ask(self, payload):
        try:
            self.storage["answer"] = await runner.custom("echo", payload, timeout_blocks=9, max_price=1_000_000)
        except runner.RunnerTimeout:
            self.storage["answer"] = b"late"

    @public
    @runner.continuation(timeout_blocks=2)
    async def lets_pass(self, payload):
        self.storage["answer"] = await runner.custom("echo", payload, timeout_blocks=9, max_price=1_000_000)

    @public
    def stop(self, payload):
        runner.cancel(payload)
`

// newContinuationWorld has runners, and Echo and Waiter at work.
func newContinuationWorld(t *testing.T, overrides params.Overrides) *world {
	t.Helper()
	hosts := pyhost.New(pyhost.Config{Hosts: 1})
	t.Cleanup(hosts.Close)
	_, err := hosts.Probe()
	needed.Python(t, err)
	w := newRunnerWorld(t, 3, overrides)
	w.executor.Programs = samples.Mux{Other: hosts}
	w.step(w.fixture("alice", "echo", 100*types.CBY), w.python("alice", "waiter", waiter, 100*types.CBY))
	w.ok()
	return w
}

// answered has the runner of the only job bring its result.
func (w *world) answered(result string) {
	w.t.Helper()
	job := w.onlyJob()
	w.step(w.result("v0", system.OpResult, job.ID, job.Committee[0].Runner, result))
	w.ok()
}

// settledWith checks what an actor keeps, and that nothing of its jobs is left.
func (w *world) settledWith(actor, want string) {
	w.t.Helper()
	if got := w.state(actor, "answer"); got != want {
		w.t.Errorf("the answer is %q, want %q", got, want)
	}
	if w.head.OpenJobs() != 0 || !w.head.Account(types.DispatcherAddress).Balance.IsZero() {
		w.t.Errorf("%d jobs are open, 0x02 holds %s", w.head.OpenJobs(), w.head.Account(types.DispatcherAddress).Balance)
	}
	if waiting := w.state(actor, "\x00runner/waiting"); waiting != string(make([]byte, 13)) {
		w.t.Errorf("places are taken: %x", waiting)
	}
	if at := w.state(actor, "\x00runner/at/\x00"); at != "" {
		w.t.Errorf("a place is not free: %x", at)
	}
}

// J16, CIP-6: a call in H submits and waits; the result of H+1 is in the actor's
// state in H+2, and the actor paid the runner.
func TestAContinuationGoesOnWithItsJobsResult(t *testing.T) {
	w := newContinuationWorld(t, nil)
	before := w.balance("echo")
	w.step(w.call("bob", "echo", "ask", []byte("hello")))
	w.ok()
	job := w.onlyJob()
	if job == nil || job.Submitter != w.address("echo") || string(w.last.Receipts[0].Output) != string(job.ID[:]) {
		t.Fatalf("%+v", job)
	}
	if spec := system.SpecOf(reader{w.head.tree}, job.ID); spec.JobType.Custom.ExecutorHash != types.Keccak([]byte("echo")) ||
		spec.Callback.Handler != "ask__resume" || spec.Callback.Actor != w.address("echo") || spec.Verification.Mode != push.None {
		t.Errorf("%+v", spec)
	}
	w.answered("hello")
	w.step()
	w.ok()
	if r := w.last.Receipts[0]; r.Handler != "ask__resume" || r.Sender != types.DispatcherAddress {
		t.Errorf("%+v", r)
	}
	w.settledWith("echo", "hello")
	if w.state("echo", "asked") != "hello" || len(w.head.Timers(w.address("echo"))) != 0 {
		t.Error("the captured values are missing, or the watchdog still exists")
	}
	if paid := before.Sub(w.balance("echo")); paid.IsZero() || !paid.Less(types.WeiOf(types.CBY)) {
		t.Errorf("the actor paid %s", paid)
	}
}

// C16: a failure is raised at the await: after every draw of 5 blocks no result came,
// and the escrow is refunded.
func TestAContinuationHearsOfAFailure(t *testing.T) {
	w := newContinuationWorld(t, params.Overrides{"cip2.max_retries": "1"})
	w.step(w.call("bob", "echo", "ask", []byte("hello")))
	for w.onlyJob() != nil {
		w.step()
	}
	w.step()
	w.ok()
	w.settledWith("echo", "failed: timeout")
}

// CIP-6: the watchdog is the timeout of an await. It cancels the job, whose result
// comes too late.
func TestTheWatchdogEndsAnAwait(t *testing.T) {
	for handler, want := range map[string]string{"ask": "late", "lets_pass": ""} {
		t.Run(handler, func(t *testing.T) {
			w := newContinuationWorld(t, nil)
			w.step(w.call("bob", "waiter", handler, []byte("hello")))
			job := w.onlyJob()
			late := w.result("v0", system.OpResult, job.ID, job.Committee[0].Runner, "hello")
			w.step()
			if w.onlyJob() == nil || w.state("waiter", "answer") != "" {
				t.Fatal("it ended before its time")
			}
			w.step()
			w.ok()
			if fires := w.fired(); len(fires) != 1 || w.onlyJob() != nil {
				t.Fatalf("%+v, %+v", fires, w.onlyJob())
			}
			if failed := w.events("continuation.failed"); (len(failed) > 0) != (want == "") {
				t.Errorf("%q", failed)
			}
			if refusal := w.head.precheckReport(late); refusal == nil {
				t.Error("a result of a job that was cancelled is taken")
			}
			w.settledWith("waiter", want)
		})
	}
}

// A result that settles in the block before the watchdog's is delivered after it, since
// timers come first (CIP-1 §3): the callback finds nothing that waits.
func TestALateCallbackChangesNothing(t *testing.T) {
	w := newContinuationWorld(t, nil)
	w.step(w.call("bob", "waiter", "ask", []byte("hello")))
	w.answered("hello")
	w.step()
	w.ok()
	if late := w.events("continuation.late"); len(late) != 1 || late[0] != "ask" {
		t.Errorf("%q in %+v", late, w.last.Receipts)
	}
	w.settledWith("waiter", "late")
}

// J19: the actor may cancel its job until it settles; no callback comes then, and the
// watchdog ends the await.
func TestACancelledJobEndsWithTheWatchdog(t *testing.T) {
	w := newContinuationWorld(t, nil)
	w.step(w.call("bob", "waiter", "ask", []byte("hello")))
	id := w.onlyJob().ID
	w.step(w.call("bob", "waiter", "stop", id[:]))
	w.ok()
	if w.onlyJob() != nil || w.state("waiter", "answer") != "" {
		t.Fatal("the job is open still, or its await ended")
	}
	w.step(w.call("bob", "waiter", "stop", id[:]))
	w.settledWith("waiter", "late")
	if r := w.last.Receipts[0]; r.Status != types.StatusReverted || r.Error.Code != "no_job" {
		t.Errorf("%+v", r)
	}
}

// Only the dispatcher wakes a continuation, and not with another actor's job.
func TestAStrangerWakesNoContinuation(t *testing.T) {
	w := newContinuationWorld(t, nil)
	w.step(w.call("bob", "echo", "ask", []byte("hello")))
	mine := w.onlyJob()
	forged := []byte("\xa6")
	w.step(w.call("bob", "echo", "ask__resume", forged), w.call("bob", "echo", "ask__timeout", []byte{0}),
		w.call("bob", "echo", "on_runner_result", forged))
	for _, r := range w.last.Receipts {
		if r.Status != types.StatusReverted || r.Error.Code != "not_callable" {
			t.Errorf("%+v", r)
		}
	}
	for _, handler := range []string{"ask__resume", "ask__timeout", "on_runner_result"} {
		s := jobSpec(1)
		s.Callback = &push.Callback{Actor: w.address("echo"), Handler: handler, CorrelationID: []byte{0}, Context: []byte{}}
		w.step(w.submit("bob", s))
		w.ok()
		var theirs *system.Job
		w.head.Jobs(func(j *system.Job) bool {
			if j.ID != mine.ID {
				theirs = j
			}
			return theirs == nil
		})
		w.step(w.result("v0", system.OpResult, theirs.ID, theirs.Committee[0].Runner, "forged"))
		w.step()
		if r := w.last.Receipts[0]; r.Handler != handler || w.state("echo", "answer") != "" || w.state("echo", "posted") != "" {
			t.Errorf("%+v", r)
		}
	}
	w.answered("hello") // by the runner that has it now
	w.step()
	w.settledWith("echo", "hello")
}

// A job that is not awaited calls on_runner_result, once, with its context.
func TestOnRunnerResult(t *testing.T) {
	w := newContinuationWorld(t, nil)
	w.step(w.call("bob", "echo", "post", []byte("mine")))
	w.ok()
	w.answered("yes")
	w.step()
	w.ok()
	if w.state("echo", "posted") != "yes" || w.state("echo", "context") != "mine" || w.head.OpenJobs() != 0 {
		t.Errorf("%q, %q", w.state("echo", "posted"), w.state("echo", "context"))
	}
}

// CIP-6: a read submits no job. A dry run does, and forgets it.
func TestReadsAndDryRunsSubmitNothing(t *testing.T) {
	w := newContinuationWorld(t, nil)
	root := w.head.Root()
	for _, handler := range []string{"ask", "post"} {
		read, err := w.executor.Read(w.head, Call{Actor: w.address("echo"), Handler: handler, Payload: []byte("x")})
		if err != nil || read.Outcome.Fault == nil || read.Outcome.Fault.Code != "read_only" {
			t.Errorf("%s: %+v, %v", handler, read.Outcome, err)
		}
		receipt, _, err := w.executor.Simulate(w.head, w.key("bob").Address(), w.call("bob", "echo", handler, []byte("x")).Tx)
		if err != nil || receipt.Status != types.StatusOK || len(receipt.Output) != len(types.Hash{}) {
			t.Errorf("%s: %+v, %v", handler, receipt, err)
		}
		w.forget()
	}
	if w.head.OpenJobs() != 0 || w.head.Root() != root {
		t.Error("a job was submitted")
	}
}
