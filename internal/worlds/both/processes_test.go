package both

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	clustered "github.com/cowboyinc/devnet/internal/worlds/cluster/stage"
)

// chosen begin the scripts that are played in processes each time: a verb of each way in
// which a node elsewhere is told something. All of them are in the soak.
var chosen = []string{`net.advance(blocks = 100)`, `net.pause(); net.pause()`, `net.partition(`, `r = net.join_runner(); r.misbehave("no_reveal"`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual", timeout_blocks = 200)`,
	refusing("shadow")}

// processes opens worlds whose nodes are processes of a devnet that is built here.
func processes(t *testing.T) func(script string) string {
	t.Helper()
	devnet := filepath.Join(t.TempDir(), "devnet")
	if out, err := exec.Command("go", "build", "-o", devnet, "../../../cmd/devnet").CombinedOutput(); err != nil {
		t.Fatalf("devnet cannot be built: %v\n%s", err, out)
	}
	open := unhurried(clustered.Processes(context.Background(), func(args ...string) *exec.Cmd { return exec.Command(devnet, args...) }))
	return func(script string) string { return played(t, open, script) }
}

// compareProcesses plays scripts in the simulator and in processes.
func compareProcesses(t *testing.T, all []string) {
	play := processes(t)
	var players sync.WaitGroup
	next := make(chan string)
	for range sideBySide / 4 { // each is a process for each node
		players.Go(func() {
			for script := range next {
				if sim, real := played(t, worlds["sim"], script), play(script); real != sim {
					t.Errorf("%s\nsim:       %s\nprocesses: %s", script, sim, real)
				}
			}
		})
	}
	for _, script := range all {
		next <- script
	}
	close(next)
	players.Wait()
}

func TestVerbsAreTheSameInProcesses(t *testing.T) {
	t.Parallel() // it mostly waits for blocks
	var some []string
	for _, prefix := range chosen {
		found := false
		for _, script := range scripts {
			if strings.HasPrefix(script, prefix) {
				some, found = append(some, script), true
				break
			}
		}
		if !found {
			t.Errorf("no script begins with %s", prefix)
		}
	}
	compareProcesses(t, some)
}

func TestSoakVerbsAreTheSameInProcesses(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("some of them are compared each time; DEVNET_SOAK=1 compares all")
	}
	compareProcesses(t, scripts)
}
