package why

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// script writes a script, and returns it with a seed.
func script(t *testing.T, seed uint64, lines ...string) Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "asked.star")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return Script{Path: path, Seed: &seed}
}

// noise is a network in which views fail only if something is lost: three of four run, and frames come late, twice and
// out of order.
var noise = []string{
	`net = network(validators = 4, link = link(latency = "20ms", jitter = "40ms", duplicate = 0.1, reorder = 0.1, loss = 0.002))`,
	`net.validator("v3").crash()`,
	`for i in range(12):`,
	`    net.transfer(to = "bob", amount = 1 + i)`,
}

// Some views fail by one planted frame that is lost among noise: a leader's proposal to one of the others. It is named
// first. Replay one by its seed: each is a function of it.
func TestSeedsNameThePlantedFrame(t *testing.T) {
	views, least := 3, 3
	if os.Getenv("DEVNET_SOAK") != "" {
		views, least = 20, 18
	}
	named, asked := 0, 0
	for seed := uint64(1); asked < views && seed < 200; seed++ {
		view, to := types.View(6+seed%4), fmt.Sprintf("v%d", seed%3)
		if _, err := Find(t.Context(), Options{Script: script(t, seed, noise...), About: About{View: view}}); err == nil ||
			!strings.Contains(err.Error(), "did not fail") {
			continue // it fails by noise
		}
		o := Options{Script: script(t, seed, noise...), About: About{View: view}, Trials: 60, Jobs: 1,
			Lose: func(_, receiver string, s sim.Saying) bool {
				return receiver == to && s.Name == "proposal" && s.View == view
			}}
		report, err := Find(t.Context(), o)
		if err != nil {
			continue // the frame is to its own sender, or a copy came
		}
		asked++
		what := fmt.Sprintf("'s proposal of view %d to %s", view, to)
		if len(report.Findings) > 0 && len(report.Findings[0].Things) == 1 && strings.HasSuffix(report.Findings[0].Things[0].What, what) {
			named++
			if asked == 1 {
				t.Log(report.Findings[0].Sentence)
			}
		} else {
			t.Logf("seed %d: …%s is not named first: %+v", seed, what, report)
		}
	}
	if asked < views || named < least {
		t.Errorf("of %d views the planted frame was named of %d, want %d of %d", asked, named, least, views)
	}
}

// A view fails by an order of the script: it is named.
func TestSeedsNameTheDeed(t *testing.T) {
	const network = `net = network(validators = 4, link = link(latency = "20ms", jitter = "20ms"))`
	deeds := map[string][]string{
		`net.partition([["v0", "v1"], ["v2", "v3"]])`: {`net.run(blocks = 4)`, `net.heal()`},
		`victim.freeze()`:                                       {`net.run(blocks = 3)`, `victim.thaw()`},
		`victim.misbehave("silent_leader")`:                     {`net.run(blocks = 5)`},
		`victim.disk_slow(delay = "3s")`:                        {`net.run(blocks = 5)`, `victim.disk_slow(delay = 0)`},
		`net.bridge("v0", left = ["v1"], right = ["v2", "v3"])`: {`net.run(blocks = 5)`, `net.heal()`},
	}
	seeds := uint64(1)
	if os.Getenv("DEVNET_SOAK") != "" {
		seeds = 10
	}
	for deed, rest := range deeds { // order: each is judged alone
		for seed := uint64(1); seed <= seeds; seed++ {
			lines := []string{network, `net.run(blocks = 3 + random(3))`, `victim = net.leader()`, deed}
			lines = append(append(lines, rest...), `net.run(blocks = 3)`)
			report, err := Find(t.Context(), Options{Script: script(t, seed, lines...), Trials: 40, Jobs: 1})
			if err != nil {
				t.Errorf("%s, seed %d: %v", deed, seed, err)
				continue
			}
			isNamed := false
			for _, f := range report.Findings {
				isNamed = isNamed || strings.Contains(f.Sentence, deed+" (asked.star:4)")
			}
			if !isNamed {
				t.Errorf("%s, seed %d, is not named: %+v", deed, seed, report)
			} else if seed == 1 {
				t.Log(report.Findings[0].Sentence)
			}
		}
	}
}

// The script fails by a crash whose validator restarts later: the crash is named, and its restart goes with it.
func TestAFailedScriptNamesItsCrash(t *testing.T) {
	s := script(t, 1, `net = network(validators = 4, link = link(latency = "20ms"))`,
		`net.run(blocks = 3)`,
		`net.validator("v2").crash()`,
		`net.validator("v1").crash()`,
		`made = net.run(blocks = 3)`,
		`net.validator("v1").restart()`,
		`net.validator("v2").restart()`,
		`net.run(blocks = 3)`,
		`expect_eq(made, 3)`)
	report, err := Find(t.Context(), Options{Script: s, Trials: 20, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	// Either of them saves the quorum.
	want := []string{
		`The script fails with net.validator("v1").crash() (asked.star:4); without it the script passes.`,
		`The script fails with net.validator("v2").crash() (asked.star:3); without it the script passes.`,
	}
	for i, sentence := range want {
		if len(report.Findings) < 2 || report.Findings[i].Sentence != sentence {
			t.Errorf("want %s\n%+v", sentence, report)
		}
	}
}

// Two crashes, of which each alone takes the quorum: only both together change the outcome.
func TestTwoThingsAreNamedTogether(t *testing.T) {
	s := script(t, 1, `net = network(validators = 4, link = link(latency = "20ms"))`,
		`net.run(blocks = 3)`,
		`net.validator("v3").crash()`,
		`net.partition([["v0", "v1"], ["v2"]])`,
		`net.partition([["v0"], ["v1", "v2"]])`,
		`expect_eq(net.run(blocks = 3), 3)`)
	report, err := Find(t.Context(), Options{Script: s, Trials: 120, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) == 0 || len(report.Findings[0].Things) != 2 ||
		!strings.HasSuffix(report.Findings[0].Sentence, "(asked.star:4); without both the script passes.") &&
			!strings.HasSuffix(report.Findings[0].Sentence, "(asked.star:3); without both the script passes.") {
		t.Errorf("%+v", report)
	}
}

// A late timer and a failed job are asked about by their IDs, and what is no trouble is refused.
func TestWhatIsNoTroubleIsRefused(t *testing.T) {
	s := script(t, 1, `net = network(validators = 4, link = link(latency = "20ms"))`, `net.run(blocks = 5)`)
	for about, want := range map[About]string{
		{}:            "nothing went wrong",
		{View: 2}:     "did not fail",
		{View: 99}:    "no view 99",
		{Timer: "0x"}: "no timer",
		{Job: "0x"}:   "no job",
	} {
		if _, err := Find(t.Context(), Options{Script: s, About: about, Trials: 5}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", about, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, Options{Script: s, Trials: 5}); err == nil {
		t.Error("an interrupted search has no error")
	}
}
