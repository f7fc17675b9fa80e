package container

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Files of the repository: for Docker Compose, and what a Swarm takes besides.
const (
	composeFile = "../../../../compose.yaml"
	swarmFile   = "../../../../compose.swarm.yaml"
)

// deployed is how a network of composeFile is brought up and down.
type deployed struct {
	*testing.T
	env  []string
	http string
	name string
}

// ofCompose is a network of composeFile at a port that is free.
func ofCompose(t *testing.T, name string) *deployed {
	t.Helper()
	image := image(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	return &deployed{t, append(os.Environ(), "DEVNET_IMAGE="+image, "DEVNET_PORT="+port), "127.0.0.1:" + port,
		fmt.Sprintf("devnet-%s-%s", name, newID())}
}

// do runs a command that has to succeed.
func (d *deployed) do(program string, args ...string) string {
	d.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = d.env
	said, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, said)
	}
	return string(said)
}

// ready waits until nothing is missing.
func (d *deployed) ready() model.Ready {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		ready, err := client.NewAPI(d.http).Ready(ctx)
		if err == nil && ready.Ready {
			return ready
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			d.Fatalf("it is not ready: %+v, %v\n%s", ready, err, d.stand())
		}
	}
}

// stand describes the status of its containers, and the last log lines of v0.
func (d *deployed) stand() (text string) {
	for _, call := range [][]string{{"ps", "--all", "--filter", "name=" + d.name, "--format", "{{.Names}}  {{.Status}}  {{.Ports}}"},
		{"logs", "--tail", "20", d.name + "_v0_1"}} {
		said, err := exec.Command("docker", call...).CombinedOutput()
		text += fmt.Sprintf("docker %s: %v\n%s", call[0], err, said)
	}
	return text
}

// works sees that the named accounts and the runners do.
func (d *deployed) works() (payment types.Hash) {
	d.Helper()
	n := client.NewAPI(d.http)
	receipt, err := n.Send(d.Context(), model.SendRequest{From: "alice", To: "bob", Value: new(types.Wei)})
	if err != nil {
		d.Fatal(err)
	}
	runners, err := client.Collect(n.Runners(d.Context(), "Healthy", client.Page{}))
	if err != nil || len(runners) != 4 {
		d.Errorf("%d runners, %v", len(runners), err)
	}
	return receipt.Hash
}

// looksInto finds in the volumes of nodes what they wrote of their connections.
func (d *deployed) looksInto(names ...string) {
	d.Helper()
	for _, name := range names {
		dir := d.TempDir()
		for _, path := range []string{"/qlog", "/keys.log"} {
			d.do("docker", "cp", d.name+"_"+name+"_1:"+inside+path, dir)
		}
		keys, err := os.ReadFile(filepath.Join(dir, "keys.log"))
		if err != nil || !strings.Contains(string(keys), "CLIENT_TRAFFIC_SECRET_0 ") {
			d.Errorf("%s wrote no secrets: %v", name, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "qlog", name, "*.sqlog"))
		if err != nil || len(files) == 0 {
			d.Errorf("%s wrote no qlog file: %v", name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), "urn:ietf:params:qlog:events:quic") {
				d.Errorf("%s is no qlog: %v", file, err)
			}
		}
	}
}

// docker-compose up gives the network of devnet up, which continues after a stop, and
// whose volumes pass the audit.
func TestTheComposeFileIsAWholeNetwork(t *testing.T) {
	t.Parallel()
	d := ofCompose(t, "compose")
	if _, err := exec.LookPath("docker-compose"); err != nil {
		t.Skip("docker-compose is not installed")
	}
	compose := func(args ...string) string {
		t.Helper()
		return d.do("docker-compose", append([]string{"--project-name", d.name, "--file", composeFile}, args...)...)
	}
	t.Cleanup(func() { compose("down", "--volumes", "--timeout", "1") })
	d.env = append(d.env, "DEVNET_QLOG="+inside+"/qlog", "DEVNET_KEYLOG="+inside+"/keys.log")
	begun := time.Now()
	compose("up", "--detach")
	ready := d.ready()
	t.Logf("4 validators and 4 runners are ready after %v", time.Since(begun))
	if at := strings.TrimSpace(compose("port", "v0", "4000")); at != d.http {
		t.Errorf("the API is published at %s, want %s: it signs", at, d.http)
	}
	if len(ready.Nodes) != 8 {
		t.Errorf("it has the nodes %+v", ready.Nodes)
	}
	payment := d.works()
	compose("kill", "v2")
	compose("start", "v2")
	compose("stop")
	d.looksInto("v0", "r0")
	var audits sync.WaitGroup
	for i := range 4 {
		audits.Go(func() {
			said, err := callDocker(t.Context(), nil, "run", "--rm", "--volume", fmt.Sprintf("%s_v%d:%s", d.name, i, inside), image(t),
				"check", fmt.Sprintf("%s/net/homes/v%d", inside, i))
			if err != nil {
				t.Errorf("v%d: %v\n%s", i, err, said)
			}
		})
	}
	audits.Wait()
	compose("up", "--detach")
	if again := d.ready(); again.Genesis != ready.Genesis || again.Height < ready.Height {
		t.Errorf("it continues as %+v, and was %+v", again, ready)
	}
	if _, err := client.NewAPI(d.http).Receipt(t.Context(), payment.String()); err != nil {
		t.Errorf("what was acknowledged is gone: %v", err)
	}
}

// The same file with that of a Swarm is a stack. A machine that is in one already is left
// alone. No test runs in parallel. An engine that leaves a Swarm takes starting containers off
// their networks (seen with 20.10: they run, without ports and without peers).
func TestTheComposeFileIsAStackOfASwarm(t *testing.T) {
	d := ofCompose(t, "stack")
	state, err := callDocker(t.Context(), nil, "info", "--format", "{{.Swarm.LocalNodeState}}")
	if err != nil || state != "inactive" {
		t.Skipf("this engine is in a Swarm (%s), %v", state, err)
	}
	d.do("docker", "swarm", "init", "--advertise-addr", "127.0.0.1")
	t.Cleanup(func() {
		label := "com.docker.stack.namespace=" + d.name
		d.do("docker", "stack", "rm", d.name)
		d.do("docker", "swarm", "leave", "--force")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := removeByLabel(ctx, label); err != nil {
			t.Error(err)
		}
	})
	begun := time.Now()
	d.do("docker", "stack", "deploy", "--compose-file", composeFile, "--compose-file", swarmFile, d.name)
	d.ready()
	t.Logf("4 validators and 4 runners are ready after %v", time.Since(begun))
	d.works()
	d.rollOut()
	d.works()
}

// rollOut gives one validator after the other another image, as docs/CONTAINERS.md does, and holds that each update
// ends while the others make blocks. It prints the longest time without a block, as a reader of v0 sees it.
func (d *deployed) rollOut() {
	d.Helper()
	next := image(d.T) + ":next"
	d.do("docker", "tag", image(d.T), next)
	d.Cleanup(func() { d.do("docker", "image", "rm", next) })
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() { longest <- d.watchBlocks(stop) }()
	before := d.ready().Height
	for _, v := range []string{"v1", "v2", "v3", "v0"} { // v0 answers until its own turn
		if v == "v0" {
			close(stop)
			d.Logf("while v1, v2 and v3 were updated the longest time without a block was %v", (<-longest).Round(time.Millisecond))
		}
		began := time.Now()
		d.do("docker", "service", "update", "--no-resolve-image", "--image", next, d.name+"_"+v)
		after := d.ready().Height
		d.Logf("%s has the next image after %v, %d blocks later", v, time.Since(began).Round(time.Second), after-before)
		if after <= before {
			d.Errorf("no block was made while %s was updated", v)
		}
		before = after
	}
}

// watchBlocks asks for the height until it is stopped, and returns the longest time between two blocks.
func (d *deployed) watchBlocks(stop <-chan struct{}) (longest time.Duration) {
	n, head, seen := client.NewAPI(d.http), types.Height(0), time.Time{}
	for {
		if ready, err := n.Ready(d.Context()); err == nil && ready.Height > head {
			now := time.Now()
			if head > 0 {
				longest = max(longest, now.Sub(seen))
			}
			head, seen = ready.Height, now
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-stop:
			return longest
		}
	}
}

// Any user may own the files of a container, and it has as few privileges as possible.
// Programs run inside every wall that they have outside of a container, and there is
// room for a home.
func TestTheImageRunsAsAnyUserWithoutPrivilege(t *testing.T) {
	t.Parallel()
	said, err := callDocker(t.Context(), nil, "run", "--rm", "--user", "1234:1234", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", image(t), "doctor", "--home", inside)
	if err != nil || strings.Contains(said, "NOT refused") {
		t.Errorf("%v\n%s", err, said)
	}
}
