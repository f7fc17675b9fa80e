package devnet_test

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/client"
	devnet "github.com/cowboyinc/devnet/testcontainers"
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
`

// The whole network in one container, and what devnet up can do: actors, timers, time
// travel, jobs, and faults of its nodes.
func TestAWholeNetworkInOneContainer(t *testing.T) {
	ctx := t.Context()
	n, err := devnet.Run(ctx, image(t), devnet.WithRunners(2), devnet.WithParam("cip3.min_basefee", "3"))
	if err != nil {
		t.Fatal(err)
	}
	devnet.CleanUp(t, n)
	actor, err := n.Deploy(ctx, []byte(adder), client.Deployment{Name: "adder", Fund: client.CBY(10)})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := actor.Call(ctx, "alice", "add", []byte("3")); err != nil || string(r.Output) != "3" {
		t.Fatalf("%s, %v", r.Output, err)
	}
	if _, err := n.AdvanceBlocks(ctx, 6); err != nil {
		t.Fatal(err)
	}
	if value, err := actor.Get(ctx, []byte("n")); err != nil || string(value) != "6" {
		t.Errorf("n is %s, %v", value, err)
	}
	if err := errors.Join(n.Validator("v2").Kill(ctx), n.Runner("r1").Drop(ctx)); err != nil {
		t.Fatal(err)
	}
	job, err := n.SubmitJob(ctx, client.JobRequest{Kind: "custom", Executor: "echo", Params: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if job, err = n.WaitJob(ctx, job.ID); err != nil || string(*job.Result) != "hello" {
		t.Errorf("the job: %v", err)
	}
	if least, err := n.Param(ctx, "cip3.min_basefee"); err != nil || least != "3" {
		t.Errorf("the parameter is %s, %v", least, err)
	}
}

// One container per node: one is killed and loses its disk, and the network continues.
// Halves that do not reach one another make no block, and lose none.
func TestAContainerANode(t *testing.T) {
	ctx := t.Context()
	n, err := devnet.RunCluster(ctx, image(t), devnet.WithRunners(2))
	if err != nil {
		t.Fatal(err)
	}
	devnet.CleanUp(t, n)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pay := func() {
		t.Helper()
		_, err := n.Transfer(ctx, "alice", "bob", client.CBY(1))
		must(err)
	}
	before, err := n.Balance(ctx, "bob")
	must(err)
	pay()

	v2 := n.Validator("v2")
	must(v2.Kill(ctx))
	pay() // three of four agree
	must(v2.Wipe(ctx))
	must(v2.Restart(ctx))
	was, err := n.Height(ctx)
	must(err)
	must(v2.WaitReady(ctx)) // it has everything from the others
	if at, err := v2.Client().Height(ctx); err != nil || at < was {
		t.Errorf("v2 is ready at height %d, %v, and v0 was at %d", at, err, was)
	}
	must(n.Runner("r1").Drop(ctx))
	pay()

	must(n.Partition(ctx, []string{"v0", "v1"}, []string{"v2", "v3"}))
	at, err := n.Run(ctx, 2) // one may have been under way
	must(err)
	if later, err := n.Run(ctx, 2); err != nil || later != at {
		t.Errorf("two halves continued from %d to %d, %v", at, later, err)
	}
	must(n.Heal(ctx))
	must(n.RunUntil(ctx, 100, func() (bool, error) { // until then nothing is taken that would not become final
		now, err := n.Height(ctx)
		return now > at, err
	}))
	pay()

	must(n.Validator("v3").Freeze(ctx))
	pay()
	must(n.Validator("v3").Thaw(ctx))
	_, err = n.Run(ctx, 3)
	must(err)

	// Each executed every block itself, and all have the same.
	height, err := n.Height(ctx)
	must(err)
	own, err := n.Block(ctx, height)
	must(err)
	for _, name := range []string{"v1", "v2", "v3"} {
		other := n.Validator(name).Client()
		must(other.RunUntil(ctx, 50, func() (bool, error) {
			at, err := other.Height(ctx)
			return at >= height, err
		}))
		block, err := other.Block(ctx, height)
		if err != nil || block.StateRoot != own.StateRoot || block.Hash != own.Hash {
			t.Errorf("%s has %s at height %d and v0 has %s, %v", name, block.StateRoot, height, own.StateRoot, err)
		}
		if has, err := other.Balance(ctx, "bob"); err != nil || has.Sub(before).Cmp(client.CBY(5)) != 0 {
			t.Errorf("bob got %s on %s, %v", has.Sub(before), name, err)
		}
	}
}
