package both

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/clustered"
	"github.com/cowboyinc/devnet/internal/runs/live"
)

// backend is a world for scripts that is compared with the simulator.
type backend struct {
	name       string
	open       func(*testing.T) scenario.Open
	sideBySide int // scripts that play at once: they mostly wait for blocks
	scripts    func(*testing.T) []string
}

// others are all backends of this machine but the simulator.
var others = []backend{
	{"live", liveOpen, 4, func(*testing.T) []string { return slices.Concat(withinAnEpoch, scripts) }},
	{"processes", processes, 1, chosenScripts}, // each is a process for each node
}

func liveOpen(*testing.T) scenario.Open { return unhurried(live.Opener(context.Background())) }

// processes opens worlds whose nodes are processes of a devnet that is built here.
func processes(t *testing.T) scenario.Open {
	t.Helper()
	devnet := filepath.Join(t.TempDir(), "devnet")
	// Without what debuggers read it is linked in two thirds of the time.
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", devnet, "../../../cmd/devnet").CombinedOutput(); err != nil {
		t.Fatalf("devnet cannot be built: %v\n%s", err, out)
	}
	return unhurried(clustered.Processes(context.Background(), func(args ...string) *exec.Cmd { return exec.Command(devnet, args...) }))
}

// chosen begin the scripts that are played in processes each time: a verb of each way in
// which a node elsewhere is told something. DEVNET_SOAK=1 plays all of them.
var chosen = []string{`net.advance(blocks = 100)`, `net.pause(); net.pause()`, `net.partition(`, `r = net.join_runner(); r.misbehave("no_reveal"`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual", timeout_blocks = 200)`,
	`r = net.join_runner(); r.offer(rate`, refusing("shadow")}

func chosenScripts(t *testing.T) (some []string) {
	if os.Getenv("DEVNET_SOAK") != "" {
		return scripts
	}
	for _, prefix := range chosen {
		i := slices.IndexFunc(scripts, func(script string) bool { return strings.HasPrefix(script, prefix) })
		if i < 0 {
			t.Errorf("no script begins with %s", prefix)
			continue
		}
		some = append(some, scripts[i])
	}
	return some
}
