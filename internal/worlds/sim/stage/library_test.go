package stage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// library is where the scenarios of the repository are.
const library = "../../../../fixtures/scenarios"

func scripts(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(library, "*.star"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no scenarios in %s: %v", library, err)
	}
	return found
}

func play(path string, seed uint64) (*scenario.Report, string, error) {
	var out bytes.Buffer
	report, err := scenario.Run(path, scenario.Options{Open: Open, Seed: &seed, Out: &out})
	return report, out.String(), err
}

// Every scenario of the library passes, with as many seeds as there is time for,
// and what it says happens sometimes happens. Replay a failing one with
//
//	devnet run fixtures/scenarios/NAME.star --seed N
func TestSeedsOfTheLibrary(t *testing.T) {
	seeds := uint64(1) // three more are played for their digests
	if os.Getenv("DEVNET_SOAK") != "" {
		seeds = 100
	}
	for _, path := range scripts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			ever := map[string]bool{}
			for seed := uint64(1); seed <= seeds; seed++ {
				report, out, err := play(path, seed)
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, out)
				}
				for _, s := range report.Sometimes {
					ever[s.Name] = ever[s.Name] || s.True
				}
			}
			for name, happened := range ever { // order: each is judged alone
				if !happened && seeds >= 100 {
					t.Errorf("in %d seeds never: %s", seeds, name)
				}
			}
		})
	}
}

// TestSoakOfTheLargeScenarios plays those of fixtures/scenarios/soak once: they take
// minutes and gigabytes each.
func TestSoakOfTheLargeScenarios(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("set DEVNET_SOAK to play the large scenarios")
	}
	found, err := filepath.Glob(filepath.Join(library, "soak", "*.star"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no large scenarios: %v", err)
	}
	for _, path := range found {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, out, err := play(path, 1); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The script that docs/SCENARIOS.md begins with does what it says.
func TestTheTutorialsScriptPasses(t *testing.T) {
	hosts := pyhost.New(pyhost.Config{})
	defer hosts.Close()
	_, err := hosts.Probe()
	needed.Python(t, err)
	page, err := os.ReadFile("../../../../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```python\n")
	script, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page begins with no script")
	}
	path := filepath.Join(t.TempDir(), "first.star")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	report, out, err := play(path, 1)
	if err != nil || !strings.Contains(out, "the heartbeat has 99.99") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s%d blocks", out, report.Height)
}

// So do the other scripts of the page, which need no Python.
func TestTheScriptsOfThePagePass(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, block := range strings.Split(string(page), "```python\n")[2:] {
		script, _, _ := strings.Cut(block, "```")
		if !strings.Contains(script, "network(") {
			continue // a part of one
		}
		played++
		path := filepath.Join(t.TempDir(), "page.star")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, out, err := play(path, 1); err != nil || out == "" {
			t.Errorf("%v\n%s%s", err, script, out)
		}
	}
	if played < 2 {
		t.Errorf("the page has %d whole scripts after its first", played)
	}
}

// One seed is one run, on any number of cores.
func TestALibraryRunsDigestIsItsSeeds(t *testing.T) {
	digest := func(path string, cores int, seed uint64) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		report, out, err := play(path, seed)
		if err != nil {
			t.Fatalf("%s, seed %d: %v\n%s", path, seed, err, out)
		}
		return fmt.Sprint(report.Digest, out)
	}
	for _, path := range scripts(t) {
		first := digest(path, 1, 5)
		if again := digest(path, 2, 5); again != first {
			t.Errorf("%s: seed 5 has two digests:\n%s\n%s", filepath.Base(path), first, again)
		}
		if other := digest(path, 2, 6); other == first {
			t.Errorf("%s: seeds 5 and 6 have one digest", filepath.Base(path))
		}
	}
}
