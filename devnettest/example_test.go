package devnettest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/devnettest"
)

// adder is an actor that keeps a number, and adds to it again five blocks later.
const adder = `
import pvm_host

def init(payload):
    pvm_host.set_state(b"n", b"0")

def add(payload):
    n = int(pvm_host.get_state(b"n")) + int(payload)
    pvm_host.set_state(b"n", str(n).encode())
    pvm_host.schedule_timer(pvm_host.block_height() + 5, payload)
    return str(n).encode()

def handle_timer(payload):
    n = int(pvm_host.get_state(b"n")) + int(payload)
    pvm_host.set_state(b"n", str(n).encode())
    print("n is", n)
`

// A test deploys an actor, calls it, and travels to its timer.
func TestAnActorAndItsTimer(t *testing.T) {
	n, ctx := devnettest.Start(t), t.Context()
	actor, err := n.Deploy(ctx, []byte(adder), client.Deployment{Name: "adder", Fund: client.CBY(10)})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := actor.Call(ctx, "alice", "add", []byte("3"))
	if err != nil || string(receipt.Output) != "3" {
		t.Fatalf("%s, %v", receipt.Output, err)
	}
	travelled, err := n.AdvanceToNextTimer(ctx)
	if err != nil || travelled.Fired != 1 {
		t.Fatalf("%d timers fired, %v", travelled.Fired, err)
	}
	if value, err := actor.Get(ctx, []byte("n")); err != nil || string(value) != "6" {
		t.Errorf("n is %s, %v", value, err)
	}
	// A failed execution is an error with its receipt.
	var failed *client.ExecutionError
	if _, err := actor.Call(ctx, "bob", "add", []byte("three")); !errors.As(err, &failed) {
		t.Errorf("three is no number, and the call ended with %v", err)
	}
}

// A job is done by runners; one of them dies, and another is drawn.
func TestAJobWhoseRunnerDies(t *testing.T) {
	n, ctx := devnettest.Start(t, devnettest.Runners(3)), t.Context()
	job, err := n.SubmitJob(ctx, client.JobRequest{Kind: "custom", Executor: "manual", Params: "hello", TimeoutBlocks: new(uint64(12))})
	if err != nil {
		t.Fatal(err)
	}
	drawn := func() (done bool, err error) {
		job, err = n.Job(ctx, job.ID)
		return len(job.Committee) > 0, err
	}
	if err := n.RunUntil(ctx, 10, drawn); err != nil {
		t.Fatal(err)
	}
	first := job.Committee[0]
	if err := n.Runner(first.String()).Drop(ctx); err != nil {
		t.Fatal(err)
	}
	again := func() (bool, error) {
		_, err := drawn()
		return err == nil && len(job.Committee) > 0 && job.Committee[0] != first, err
	}
	if err := n.RunUntil(ctx, 60, again); err != nil {
		t.Fatal(err)
	}
	if _, err := n.AnswerJob(ctx, job.ID, []byte("done")); err != nil {
		t.Fatal(err)
	}
	if job, err = n.WaitJob(ctx, job.ID); err != nil || string(*job.Result) != "done" || job.Attempts < 2 {
		t.Errorf("after %d draws: %v", job.Attempts, err)
	}
}

// A network survives one validator of four, and not two; it keeps agreed
// transactions.
func TestAPartition(t *testing.T) {
	n, ctx := devnettest.Start(t, devnettest.Runners(0)), t.Context()
	if err := n.Validator("v2").Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Transfer(ctx, "alice", "bob", client.CBY(1)); err != nil {
		t.Fatal(err)
	}
	if err := n.Validator("v2").Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.Partition(ctx, []string{"v0", "v1"}, []string{"v2", "v3"}); err != nil {
		t.Fatal(err)
	}
	before, _ := n.Height(ctx)
	if at, err := n.Run(ctx, 5); err != nil || at > before+1 { // one may have been under way
		t.Errorf("with two halves the height went from %d to %d, %v", before, at, err)
	}
	if err := n.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	if at, err := n.Run(ctx, 5); err != nil || at < before+5 {
		t.Errorf("healed, it is at %d, %v", at, err)
	}
}

// Many cases begin from one state: a simulated network goes back to a snapshot.
func TestCasesOfOneSnapshot(t *testing.T) {
	n, ctx := devnettest.Start(t, devnettest.Validators(1), devnettest.Runners(0)), t.Context()
	actor, err := n.Deploy(ctx, []byte(adder), client.Deployment{Name: "adder", Fund: client.CBY(10)})
	if err != nil {
		t.Fatal(err)
	}
	begin, err := n.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"1", "20", "-4"} {
		t.Run(number, func(t *testing.T) {
			if err := begin.Revert(); err != nil {
				t.Fatal(err)
			}
			if r, err := actor.Call(ctx, "alice", "add", []byte(number)); err != nil || string(r.Output) != number {
				t.Errorf("0 + %s is %s, %v", number, r.Output, err)
			}
		})
	}
}

// The same test on real validators over QUIC: other programs reach it at its URL.
func TestLive(t *testing.T) {
	n, ctx := devnettest.Start(t, devnettest.Live(), devnettest.BlockTime(100*time.Millisecond), devnettest.Runners(1)), t.Context()
	other, err := client.Connect(ctx, n.URL())
	if err != nil {
		t.Fatal(err)
	}
	job, err := other.SubmitJob(ctx, client.JobRequest{Kind: "custom", Executor: "echo", Params: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if job, err = other.WaitJob(ctx, job.ID); err != nil || string(*job.Result) != "hello" {
		t.Errorf("%v", err)
	}
}

// A program other than a test has a network as well.
func ExampleOpen() {
	ctx := context.Background()
	n, err := devnettest.Open(ctx, devnettest.Validators(1), devnettest.Runners(0), devnettest.Seed(7))
	if err != nil {
		panic(err)
	}
	defer n.Close()
	before, _ := n.Balance(ctx, "bob")
	if _, err := n.Transfer(ctx, "alice", "bob", client.CBY(5)); err != nil {
		panic(err)
	}
	after, _ := n.Balance(ctx, "bob")
	fmt.Println("bob got", after.Sub(before), "wei")
	// Output: bob got 5000000000 wei
}

// Client.Run makes its blocks when a leader is down: a lost view ends no run.
func TestARunOutlastsALostView(t *testing.T) {
	n, ctx := devnettest.Start(t, devnettest.Runners(0), devnettest.BlockTime(200*time.Millisecond)), t.Context()
	if err := n.Validator("v1").Kill(ctx); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		before, err := n.Height(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := n.Run(ctx, 1); err != nil || at != before+1 {
			t.Errorf("after a block more than %d the height is %d, %v", before, at, err)
		}
	}
}
