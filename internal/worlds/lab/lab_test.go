package lab

import (
	"context"
	"runtime"
	"testing"

	"github.com/cowboyinc/devnet/fixtures"
)

// carried loads an experiment of the program.
func carried(t testing.TB, name string) *Experiment {
	t.Helper()
	text, err := fixtures.Lab.ReadFile("lab/" + name + "/experiment.star")
	if err != nil {
		t.Fatal(err)
	}
	return loaded(t, name, string(text))
}

func loaded(t testing.TB, name, text string) *Experiment {
	t.Helper()
	e, err := Load(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// quickly runs few points of an experiment with few seeds.
func quickly(t testing.TB, e *Experiment) *Results {
	t.Helper()
	plan := Plan{Seeds: quickSeeds, Quick: true, Jobs: runtime.GOMAXPROCS(0), Out: t.TempDir()}
	rows, err := e.Run(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	results, err := e.Judge(rows, false)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestExperimentsHoldTheirClosedForms(t *testing.T) {
	folders, err := fixtures.Lab.ReadDir("lab")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			e := carried(t, folder.Name())
			results := quickly(t, e)
			if len(results.Forms) == 0 {
				t.Error("no point of the quick grid has a closed form")
			}
			for _, f := range results.Forms {
				t.Logf("%s: %s is %s, the form says %s ± %s", e.Describe(f.Point), e.Measures[f.Measure].Name, f.Seen, short(f.Value),
					short(f.Tolerance))
				if !f.Holds() {
					t.Errorf("%s: %s is %s, the form says %s ± %s", e.Describe(f.Point), e.Measures[f.Measure].Name, f.Seen, short(f.Value),
						short(f.Tolerance))
				}
			}
		})
	}
}
