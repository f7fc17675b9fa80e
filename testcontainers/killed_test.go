package devnet_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	devnet "github.com/cowboyinc/devnet/testcontainers"
)

// How the test binary dies that dieBy starts, and how long it may take for that.
const (
	dieBy       = "DEVNET_TEST_DIE_BY"
	diePatience = 2 * time.Minute
)

// The next test removes the containers of a killed one, without testcontainers' reaper.
// Containers of live tests stay.
func TestWhatAKilledTestLeftIsRemoved(t *testing.T) {
	name := image(t)
	if how := os.Getenv(dieBy); how != "" {
		dieWithACluster(t, name, how)
		return
	}
	living := cluster(t, name)
	var dead []string
	for how, flags := range map[string]string{"SIGKILL": "-test.timeout=0", "SIGTERM": "-test.timeout=0", "panic": "-test.timeout=0",
		"timeout": "-test.timeout=30s"} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name()+"$", flags)
		child.Env = append(os.Environ(), dieBy+"="+how, "TMPDIR="+t.TempDir())
		said, err := child.CombinedOutput()
		if err == nil || strings.Contains(string(said), "it lives on") {
			t.Fatalf("%s: it was to die: %v\n%s", how, err, said)
		}
		claimed, err := filepath.Glob(filepath.Join(child.Env[len(child.Env)-1][len("TMPDIR="):], "devnet-owner-*"))
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%s: its folders are %v, %v\n%s", how, claimed, err, said)
		}
		if left(t, claimed[0]) == 0 {
			t.Errorf("%s: it left nothing, so that this test shows nothing\n%s", how, said)
		}
		dead = append(dead, claimed...)
	}
	cluster(t, name)
	for _, folder := range dead {
		if n := left(t, folder); n != 0 {
			t.Errorf("%d things of %s are left", n, folder)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("the folder %s is left", folder)
		}
	}
	if _, err := living.Height(t.Context()); err != nil {
		t.Errorf("what lives was removed: %v", err)
	}
}

// cluster is a small one that goes with the test.
func cluster(t *testing.T, image string) *devnet.Cluster {
	t.Helper()
	n, err := devnet.RunCluster(t.Context(), image, devnet.WithValidators(1), devnet.WithRunners(1))
	if err != nil {
		t.Fatal(err)
	}
	devnet.CleanUp(t, n)
	return n
}

func dieWithACluster(t *testing.T, image, how string) {
	n, err := devnet.RunCluster(t.Context(), image, devnet.WithValidators(1), devnet.WithRunners(1))
	if err != nil {
		t.Fatal("it lives on: ", err)
	}
	if err := n.Runner("r0").Freeze(t.Context()); err != nil { // which is harder to remove
		t.Fatal("it lives on: ", err)
	}
	switch how {
	case "SIGKILL", "SIGTERM":
		signal := map[string]syscall.Signal{"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM}[how]
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal("it lives on: ", err)
		}
	case "panic":
		go panic("in another goroutine than the test's")
	}
	<-time.After(diePatience)
	t.Fatal("it lives on")
}

// left counts what the engine holds of a folder's owner.
func left(t *testing.T, folder string) (n int) {
	t.Helper()
	for _, list := range [][]string{{"ps", "--all"}, {"network", "ls"}, {"volume", "ls"}} {
		out, err := exec.Command("docker", append(list, "--quiet", "--filter", "label=devnet.folder="+folder)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		n += len(strings.Fields(string(out)))
	}
	return n
}

// The readiness of a node is its own: one that was restarted is ready while another is
// frozen, which is not.
func TestANodesReadinessIsItsOwn(t *testing.T) {
	ctx := t.Context()
	n, err := devnet.RunCluster(ctx, image(t), devnet.WithValidators(1), devnet.WithRunners(2))
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
	v0, r0, r1 := n.Validator("v0"), n.Runner("r0"), n.Runner("r1")
	must(r1.Freeze(ctx))
	must(v0.Kill(ctx))
	if err := v0.WaitReady(ctx); err == nil || !strings.Contains(err.Error(), "v0 does not run: restart it first") {
		t.Errorf("v0, killed: %v", err)
	}
	must(v0.Restart(ctx))
	must(v0.WaitReady(ctx))
	must(r0.WaitReady(ctx))
	if err := readySoon(t, r1); err == nil || !strings.Contains(err.Error(), "r1 is not ready: ") {
		t.Errorf("r1, frozen: %v", err)
	}
	must(r1.Thaw(ctx))
	must(r1.WaitReady(ctx))
	must(n.WaitReady(ctx))
	if err := n.Runner("r7").WaitReady(ctx); err == nil || !strings.Contains(err.Error(), `no runner "r7"`) {
		t.Errorf("r7: %v", err)
	}
}

// frozenPatience is how long one that is frozen has to become ready, which it does not.
const frozenPatience = 5 * time.Second

func readySoon(t *testing.T, n *devnet.Node) error {
	ctx, cancel := context.WithTimeout(t.Context(), frozenPatience)
	defer cancel()
	return n.WaitReady(ctx)
}
