package simulated

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
const library = "../../../fixtures/scenarios"

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
// and what it says happens sometimes happens. One seed is one run, beside others on
// all cores as alone on one. Replay a failing one with
//
//	devnet run fixtures/scenarios/NAME.star --seed N
func TestSeedsOfTheLibrary(t *testing.T) {
	seeds := uint64(1) // make digests plays more
	if os.Getenv("DEVNET_SOAK") != "" {
		seeds = 100
	}
	paths := scripts(t)
	beside := make([]string, len(paths)) // what each printed, with its digest, of seed 1
	t.Run("beside", func(t *testing.T) {
		for i, path := range paths {
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
					if seed == 1 {
						beside[i] = fmt.Sprint(report.Digest, out)
					}
				}
				for name, happened := range ever { // order: each is judged alone
					if !happened && seeds >= 100 {
						t.Errorf("in %d seeds never: %s", seeds, name)
					}
				}
			})
		}
	})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i, path := range paths {
		report, out, err := play(path, 1)
		if alone := fmt.Sprint(report.Digest, out); err != nil || alone != beside[i] {
			t.Errorf("%s: seed 1 alone on a core gives %v and\n%s\nbeside others\n%s", filepath.Base(path), err, alone, beside[i])
		}
	}
}

// Another seed is another run.
func TestEachSeedHasADigestOfItsOwn(t *testing.T) {
	seen := map[string]uint64{}
	for seed := uint64(1); seed <= 8; seed++ {
		report, out, err := play(filepath.Join(library, "jobs.star"), seed)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		if other, is := seen[fmt.Sprint(report.Digest)]; is {
			t.Errorf("seeds %d and %d have one digest", other, seed)
		}
		seen[fmt.Sprint(report.Digest)] = seed
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
	page, err := os.ReadFile("../../../docs/SCENARIOS.md")
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
	page, err := os.ReadFile("../../../docs/SCENARIOS.md")
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
