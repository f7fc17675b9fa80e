package clustered

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/container"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// faulty is a network of containers, and what was acknowledged to its clients.
type faulty struct {
	*testing.T
	*client.Client
	stage   *live.Stage
	backend *cluster.Backend
	carrier *container.Carrier
	image   string
	paid    map[client.Hash]client.Height // payments, by the height at which they were final
	jobs    []client.Hash
}

func containers(t *testing.T) *faulty {
	t.Helper()
	image := os.Getenv("DEVNET_IMAGE")
	if image == "" {
		t.Skip("containers are tested only with DEVNET_IMAGE, the name of an image of this commit: make containers")
	}
	if err := container.Available(t.Context()); err != nil {
		t.Skip(err)
	}
	f := &faulty{T: t, image: image, paid: map[client.Hash]client.Height{}}
	open := live.OpenerOn(t.Context(), "docker", func(ctx context.Context, c *box.Config) error {
		err := prepare(c, hosts.Plan{Format: hosts.Compose, Image: image}, nil,
			func(dir string, nodes []cluster.Node) (carrier cluster.Carrier, err error) {
				f.carrier, err = container.Open(ctx, container.Config{Dir: dir, Image: image, Nodes: nodes})
				return f.carrier, err
			})
		if err == nil {
			f.backend = c.Elsewhere.(*folderNodes).Backend
		}
		return err
	})
	backend, err := open(scenario.Config{Seed: 7, Validators: 4, Runners: 4, BlockTime: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.done(backend.Close()) })
	f.stage = backend.(*live.Stage)
	answers := api.New(f.stage.Network, api.Config{})
	server := httptest.NewServer(answers.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		f.done(answers.Close())
		server.Close()
	})
	if f.Client, err = client.Connect(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *faulty) done(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// works sends a payment, and a job that any runner may do, and waits for both.
func (f *faulty) works() {
	f.Helper()
	receipt, err := f.Transfer(f.Context(), "alice", "bob", client.CBY(1))
	f.done(err)
	f.paid[receipt.Hash] = receipt.Height
	job, err := f.SubmitJob(f.Context(),
		client.JobRequest{Kind: "custom", Executor: "sha256", Params: "hello", TimeoutBlocks: new(uint64(12))})
	f.done(err)
	f.jobs = append(f.jobs, job.ID)
	f.backend.Saw(job.SubmittedAt)
	f.done(f.stage.Violation())
}

// behind waits until a validator has what the others have.
func (f *faulty) behind(name string) {
	f.Helper()
	height, err := f.Height(f.Context())
	f.done(err)
	ctx, cancel := context.WithTimeout(f.Context(), 2*time.Minute)
	defer cancel()
	for {
		have, err := f.OnNode(name).Height(ctx)
		if err == nil && have >= height {
			return
		}
		if _, err := f.stage.Next(height, time.Second); err != nil || ctx.Err() != nil {
			f.Fatalf("%s has height %d and not %d: %v, %v", name, have, height, err, ctx.Err())
		}
		f.done(f.stage.Violation())
	}
}

// Nodes of both kinds are killed, paused, taken off their network and, where they keep
// something, wiped while the network works. Every validator has all acknowledged
// transactions, in its volume too, and no oracle has seen a rule broken.
func TestFaultsOfContainersLoseNothingThatWasAcknowledged(t *testing.T) {
	f := containers(t)
	f.works()
	for _, one := range []struct {
		node       string
		begin, end func(context.Context, string) error
	}{
		{"v1", f.verb(fault.Crash), f.verb(fault.Restart)},
		{"v2", f.verb(fault.Freeze), f.verb(fault.Thaw)},
		{"v3", f.backend.Detach, f.backend.Attach},
		{"v1", f.verb(fault.Crash, fault.Wipe), f.verb(fault.Restart)},
		{"r0", f.verb(fault.Drop), f.verb(fault.Restart)},
		{"r1", f.verb(fault.Freeze), f.verb(fault.Thaw)},
		{"r2", f.backend.Detach, f.backend.Attach},
	} {
		f.done(one.begin(t.Context(), one.node))
		f.works()
		f.done(one.end(t.Context(), one.node))
		if strings.HasPrefix(one.node, "v") {
			f.behind(one.node)
		}
		f.works()
	}
	for _, id := range f.jobs {
		job, err := f.WaitJob(t.Context(), id)
		if err != nil || job.Status != "Completed" {
			t.Errorf("a job that was accepted is %s: %v", job.Status, err)
		}
	}
	for _, v := range []string{"v0", "v1", "v2", "v3"} {
		f.behind(v)
		for hash, height := range f.paid { // independent of one another
			if receipt, err := f.OnNode(v).Receipt(t.Context(), hash); err != nil || receipt.Height != height {
				t.Errorf("%s has a payment of block %d in block %d: %v", v, height, receipt.Height, err)
			}
		}
	}
	f.judged()
	f.audited()
}

// verb is an order to a node, or two.
func (f *faulty) verb(verbs ...*fault.Verb) func(context.Context, string) error {
	return func(_ context.Context, node string) error {
		for _, verb := range verbs {
			if _, err := f.stage.Do(fault.Order{Verb: verb, Node: node}); err != nil { // which tells the oracles
				return err
			}
		}
		return nil
	}
}

// judged has every oracle say that it has judged something, and that nothing was wrong.
func (f *faulty) judged() {
	f.Helper()
	f.done(f.stage.Violation())
	for _, name := range []string{"agreement", "certificates", "leader", "roots", "supply", "nonces", "accounts", "fees", "basefees", "jobs",
		"presence", "durable"} {
		if err := f.stage.Check(name); err != nil {
			f.Errorf("%s: %v", name, err)
		}
	}
}

// audited stops the validators and has devnet check read their volumes.
func (f *faulty) audited() {
	f.Helper()
	for _, v := range []string{"v0", "v1", "v2", "v3"} {
		f.done(f.carrier.Stop(f.Context(), v))
		check := exec.CommandContext(f.Context(), "docker", "run", "--rm", "--volumes-from", f.carrier.Container(v), f.image, "check",
			"/devnet/homes/"+v)
		if said, err := check.CombinedOutput(); err != nil {
			f.Errorf("%s: %v\n%s", v, err, said)
		}
	}
}
