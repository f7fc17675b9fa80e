package devnet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/cowboyinc/devnet/internal/environment/neighbours"
	devnet "github.com/cowboyinc/devnet/testcontainers"
)

// held is a test that a test looks at: what it logs, and what it does at its end.
type held struct {
	testing.TB
	failed bool
	logged strings.Builder
	last   func()
}

func (h *held) Helper()                      {}
func (h *held) Failed() bool                 { return h.failed }
func (h *held) Cleanup(f func())             { h.last = f }
func (h *held) Logf(format string, a ...any) { fmt.Fprintf(&h.logged, format+"\n", a...) }

// A test that failed shows what its containers logged, and nothing of them is left.
func TestNothingIsLeftOfAFailedTest(t *testing.T) {
	name := image(t)
	n, err := devnet.RunCluster(t.Context(), name, devnet.WithValidators(1), devnet.WithRunners(1), devnet.WithAuto())
	if err != nil {
		t.Fatal(err)
	}
	h := &held{TB: t, failed: true}
	devnet.CleanUp(h, n)
	if err := n.Validator("v0").Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := n.Validator("v0").Freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "v0 does not run") {
		t.Errorf("it is frozen: %v", err)
	}
	if err := n.Runner("r0").Wipe(t.Context()); err == nil {
		t.Error("a runner has a disk")
	}
	if err := n.Partition(t.Context(), []string{"v7"}, nil); err == nil {
		t.Error("there is a v7")
	}
	if err := n.Runner("v0").Drop(t.Context()); err == nil || !strings.Contains(err.Error(), `no runner "v0"`) {
		t.Errorf("v0 is a runner: %v", err)
	}
	if n.Validator("v7").Client() != nil || n.Validator("v7").Container() != nil || n.Validator("v7").Logs() != "" {
		t.Error("there is something of v7")
	}
	var ids []string
	for _, node := range n.Nodes() {
		ids = append(ids, node.Container().GetContainerID())
	}
	h.last()
	for _, want := range []string{"--- v0", "reached at  v0:4000", "Stopped.", "--- r0", "connected with a validator"} {
		if !strings.Contains(h.logged.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, h.logged.String())
		}
	}
	for _, id := range ids {
		if exec.Command("docker", "inspect", id).Run() == nil {
			t.Errorf("the container %s is left", id)
		}
	}
	session := "label=org.testcontainers.sessionId=" + testcontainers.SessionID()
	for _, what := range []string{"volume", "network"} {
		out, err := exec.Command("docker", what, "ls", "--format", "{{.Name}}", "--filter", session).Output()
		if err != nil {
			t.Error(err)
		}
		for _, name := range strings.Fields(string(out)) {
			if name != "reaper_default" { // the library's own, which it makes once for an engine and leaves
				t.Errorf("the %s %s is left", what, name)
			}
		}
	}
}

// A runner whose validators do not answer yet, or that the engine's DNS does not know yet,
// waits for them.
func TestARunnerWaitsForItsValidators(t *testing.T) {
	ctx := t.Context()
	n, err := devnet.Open(ctx, image(t), devnet.WithValidators(1), devnet.WithRunners(1))
	if err != nil {
		t.Fatal(err)
	}
	devnet.CleanUp(t, n)
	early := n.Runner("r0").Container()
	if err := early.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := wait.ForLog("Waiting for the devnet").WaitUntilReady(ctx, early); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

// More nodes than this machine's table of neighbours has room for are refused before any
// is made, where the engine is here.
func TestMoreNodesThanThereIsRoomForAreRefused(t *testing.T) {
	name := image(t)
	const validators, runners = 100, 100
	want := neighbours.Crowded(validators, runners)
	engine, err := exec.CommandContext(t.Context(), "docker", "info", "--format", "{{.Name}}").Output()
	if here, _ := os.Hostname(); want == nil || err != nil || strings.TrimSpace(string(engine)) != here {
		t.Skip("the engine's machine has room for 200 nodes, or it is another, or does not tell")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := devnet.RunCluster(ctx, name, devnet.WithValidators(validators), devnet.WithRunners(runners))
	if err == nil || !strings.Contains(err.Error(), want.Error()) {
		t.Errorf("%v, %v, and not %v", n, err, want)
	}
}

func TestANetworkThatCannotStartSaysWhy(t *testing.T) {
	name := image(t)
	if n, err := devnet.Run(t.Context(), name, devnet.WithParam("no.such", "1")); err == nil || !strings.Contains(err.Error(), "no.such") {
		t.Errorf("it runs: %v, %v", n, err)
	}
	no := devnet.WithParam("no.such", "1")
	if n, err := devnet.RunCluster(t.Context(), name, no); err == nil || !strings.Contains(err.Error(), "no.such") {
		t.Errorf("it runs: %v, %v", n, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := devnet.RunCluster(ended, name); err == nil {
		t.Errorf("it runs: %v", n)
	}
	for want, option := range map[string]devnet.Option{"1 to 100": devnet.WithValidators(0), "0 to 100": devnet.WithRunners(-1),
		"whole milliseconds": devnet.WithBlockTime(1)} {
		if _, err := devnet.Run(t.Context(), name, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %s", err, want)
		}
		if _, err := devnet.RunCluster(t.Context(), name, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %s", err, want)
		}
	}
}
