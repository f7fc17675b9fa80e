package container

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/owner"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// patience bounds each wait for a network; only one that stands still lets it pass.
const patience = 2 * time.Minute

// image is the one to test, of this commit; without one the test is skipped.
func image(t testing.TB) string {
	t.Helper()
	name := os.Getenv("DEVNET_IMAGE")
	if name == "" {
		t.Skip("containers are tested only with DEVNET_IMAGE, the name of an image of this commit: make containers")
	}
	if err := Available(t.Context()); err != nil {
		t.Skip(err)
	}
	return name
}

// opened is a network that no node runs of yet, and that goes with the test.
func opened(t *testing.T, validators, runners int) (*Carrier, []cluster.Node) {
	t.Helper()
	c, nodes := made(t, image(t), validators, runners, 200*time.Millisecond)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, nodes
}

// made is such a network, to be closed.
func made(t testing.TB, image string, validators, runners int, blockTime time.Duration) (*Carrier, []cluster.Node) {
	t.Helper()
	seed := uint64(7)
	made, err := hosts.Make(hosts.Plan{Chain: setup.Plan{Validators: validators, Runners: runners, ChainID: 8011, BlockTime: blockTime},
		Seed: &seed, Format: hosts.Compose, Image: image, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "net")
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	var nodes []cluster.Node
	for _, v := range made.Validators {
		nodes = append(nodes, cluster.Node{Name: v.Name, Kind: cluster.Validator})
	}
	for _, r := range made.Runners {
		nodes = append(nodes, cluster.Node{Name: r.Name, Kind: cluster.Runner})
	}
	c, err := Open(t.Context(), Config{Dir: dir, Image: image, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return c, nodes
}

// all does something to many nodes at once.
func all(t testing.TB, nodes []cluster.Node, do func(context.Context, string) error) {
	t.Helper()
	var group sync.WaitGroup
	for _, n := range nodes {
		group.Go(func() {
			if err := do(t.Context(), n.Name); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// reach waits until a node has a height, and returns the one it has.
func reach(t *testing.T, c *Carrier, name string, height types.Height) types.Height {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		have, err := client.NewAPI(c.Control(name)).Height(ctx)
		if err == nil && have >= height {
			return have
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s does not reach height %d: it has %d, %v\n%s", name, height, have, err, logOf(t, c, name))
		}
	}
}

func logOf(t *testing.T, c *Carrier, name string) string {
	t.Helper()
	r, err := c.Logs(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A node of each kind is killed, frozen, taken off the network and wiped. All keep
// acknowledged transactions, and every volume passes the audit.
func TestANetworkOfContainersOutlivesItsFaults(t *testing.T) {
	t.Parallel() // it waits for blocks, most of the time
	c, nodes := opened(t, 4, 1)
	all(t, nodes, c.Start)
	height := reach(t, c, "v0", 3)
	receipt, err := client.NewAPI(c.Control("v0")).Send(t.Context(), model.SendRequest{From: "alice", To: "bob", Value: new(types.Wei)})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	goOn := func(name string) { // v0 makes more blocks than there are, and then the node has them
		t.Helper()
		height = reach(t, c, "v0", height+3)
		if c.Control(name) != "" {
			height = reach(t, c, name, height)
		}
	}
	must(c.Kill(t.Context(), "v1"))
	goOn("v0")
	must(c.Start(t.Context(), "v1"))
	goOn("v1")
	must(c.Freeze("v2"))
	goOn("v0")
	must(c.Thaw("v2"))
	goOn("v2")
	must(c.Detach(t.Context(), "v3"))
	goOn("v0")
	must(c.Attach(t.Context(), "v3"))
	goOn("v3")
	must(c.Freeze("v1"))
	must(c.Kill(t.Context(), "v1")) // a frozen one dies as any
	must(c.Wipe(t.Context(), "v1"))
	goOn("v0")
	must(c.Start(t.Context(), "v1"))
	goOn("v1")
	must(c.Stop(t.Context(), "v1")) // it has its log of votes again, and is not told that it lost one
	must(c.Start(t.Context(), "v1"))
	goOn("v1")
	if lives := strings.Count(logOf(t, c, "v1"), "reached at"); lives != 4 {
		t.Errorf("the log of v1 has %d lives, not 4", lives)
	}
	if _, err := callDocker(t.Context(), nil, "kill", c.Container("r0")); err != nil {
		t.Fatal(err)
	}
	if e := <-c.Ended(); e.Name != "r0" || !strings.Contains(e.Err.Error(), "exit status 137") {
		t.Errorf("it was told that %s ended: %v", e.Name, e.Err)
	}
	must(c.Start(t.Context(), "r0"))
	for _, n := range nodes[:4] {
		reach(t, c, n.Name, height)
		have, err := client.NewAPI(c.Control(n.Name)).Receipt(t.Context(), receipt.Hash.String())
		if err != nil || have.Height != receipt.Height {
			t.Errorf("%s has the receipt at height %d, not %d: %v", n.Name, have.Height, receipt.Height, err)
		}
	}
	all(t, nodes, c.Stop)
	all(t, nodes[:4], func(ctx context.Context, name string) error {
		said, err := callDocker(ctx, nil, "run", "--rm", "--volumes-from", c.Container(name), "--label", owner.NetworkLabel+"="+c.id,
			c.config.Image,
			"check", inside+"/homes/"+name)
		t.Log(said)
		return err
	})
}

func TestOrdersThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := opened(t, 1, 1)
	for what, err := range map[string]error{
		"does not run":    c.Kill(t.Context(), "v0"),
		"is a runner":     c.Wipe(t.Context(), "r0"),
		"there is no":     c.Start(t.Context(), "v7"),
		"is on the":       c.Attach(t.Context(), "v0"),
		"already":         c.Add(t.Context(), cluster.Node{Name: "v0", Kind: cluster.Validator}),
		"cannot be added": c.Add(t.Context(), cluster.Node{Name: "v9", Kind: cluster.Validator}),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q is not said: %v", what, err)
		}
	}
	if _, err := Open(t.Context(), Config{Dir: c.config.Dir, Image: c.config.Image}); err == nil ||
		!strings.Contains(err.Error(), "run already") {
		t.Errorf("a second owner: %v", err)
	}
	if _, err := Open(t.Context(), Config{Dir: t.TempDir(), Image: "devnet-no-such-image"}); err == nil ||
		!strings.Contains(err.Error(), "make image") {
		t.Errorf("no image: %v", err)
	}
}

func TestTheFilesOfANodeAreThoseOfInit(t *testing.T) {
	made, err := hosts.Make(hosts.Plan{Chain: setup.Plan{Validators: 1, ChainID: 8011}, Format: hosts.Compose, Image: "i", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "net")
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	c := &Carrier{config: Config{Dir: dir}}
	if _, err := c.archiveFiles("v0"); err != nil {
		t.Error(err)
	}
	if port != hosts.Port {
		t.Errorf("nodes listen at %d, and %d is published", hosts.Port, port)
	}
}

// dieIn has this test binary be the owner that dies.
const dieIn = "DEVNET_TEST_DIE_IN"

// An owner that is killed leaves containers; the next owner removes them, and keeps those
// of live owners. No test runs in parallel, since its Open would be the next owner.
func TestWhatADeadOwnerLeftIsRemoved(t *testing.T) {
	name := image(t)
	if dir := os.Getenv(dieIn); dir != "" {
		dieWithANode(t, dir, name)
		return
	}
	living, _ := opened(t, 1, 0)
	if err := living.Start(t.Context(), "v0"); err != nil {
		t.Fatal(err)
	}
	dead, _ := opened(t, 1, 0) // for its folder
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name()+"$")
	cmd.Env = append(os.Environ(), dieIn+"="+dead.config.Dir)
	if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it was to die: %v\n%s", err, said)
	}
	of := func(dir string) string { return owner.FolderLabel + "=" + dir }
	if n := left(t, of(dead.config.Dir)); n != 3 {
		t.Fatalf("%d of a container, a network and a volume are left to remove", n)
	}
	folders, err := Reap(t.Context())
	if err != nil || !slices.Contains(folders, dead.config.Dir) || slices.Contains(folders, living.config.Dir) {
		t.Fatalf("removed: %v, %v", folders, err)
	}
	if n := left(t, of(dead.config.Dir)); n != 0 {
		t.Errorf("%d things are left", n)
	}
	reach(t, living, "v0", 1)
	if err := living.Close(); err != nil {
		t.Fatal(err)
	}
	if n := left(t, of(living.config.Dir)); n != 0 {
		t.Errorf("Close left %d things", n)
	}
}

// dieWithANode starts a node and dies without a word.
func dieWithANode(t *testing.T, dir, image string) {
	c, err := Open(t.Context(), Config{Dir: dir, Image: image, Nodes: []cluster.Node{{Name: "v0", Kind: cluster.Validator}}})
	if err == nil {
		err = c.Start(t.Context(), "v0")
	}
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(self.Kill())
	select {}
}

// The next owner removes the containers of a dead one, and two may start at once.
func TestTwoMayRemoveTheSame(t *testing.T) {
	name := image(t)
	t.Parallel()
	label := owner.NetworkLabel + "=" + newID()
	for range 3 {
		if _, err := callDocker(t.Context(), nil, "run", "--detach", "--label", label, name); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	for range 3 {
		both.Go(func() {
			if err := removeByLabel(t.Context(), label); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if n := left(t, label); n != 0 {
		t.Errorf("%d things are left", n)
	}
}

// left counts what has a label.
func left(t *testing.T, label string) (n int) {
	t.Helper()
	for kind := range kinds {
		all, err := engine.List(t.Context(), kind, label)
		if err != nil {
			t.Fatal(err)
		}
		n += len(all)
	}
	return n
}
