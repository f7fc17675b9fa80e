package explore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

const explored = `# A comment.
net = network(validators = 4, runners = 2, link = link(latency = "20ms",
    jitter = "5ms"))

def ticks():
    return 3

heart = net.deploy("go:heartbeat", fund = "10 CBY")
net.send(heart, "start", be8(2))
expect(net.height > 100, "under faults this need not hold")
net.run(blocks = ticks())
`

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "explored.star")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAScriptIsItsStatements(t *testing.T) {
	b, err := readBase(written(t, explored))
	if err != nil {
		t.Fatal(err)
	}
	if b.name != "net" || b.opens != 0 || len(b.statements) != 5 {
		t.Fatalf("%+v", b)
	}
	p := &program{statements: b.statements, seed: 7}
	want := `net = network(seed = 7, validators = 4, runners = 2, link = link(latency = "20ms",
    jitter = "5ms"))
def ticks():
    return 3
heart = net.deploy("go:heartbeat", fund = "10 CBY")
net.send(heart, "start", be8(2))
net.run(blocks = ticks())
`
	if got := p.scriptText(""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := readBase(written(t, "def f():\n    return network()\nf()\n")); err == nil || !strings.Contains(err.Error(), "top level") {
		t.Errorf("a script without a network at its top level: %v", err)
	}
}

// Each verb that can be drawn makes statements that a script may have, for validators and for runners.
func TestEveryDrawnEpisodeIsAScript(t *testing.T) {
	d := &draws{Rand: rand.New(rand.NewPCG(1, 2)), network: "net", victim: "v2",
		nodes: nodes{validators: []string{"v0", "v1", "v2", "v3"}, runners: []string{"r0", "r1"}}}
	drawn := map[string]bool{}
	path := written(t, "")
	var text strings.Builder
	text.WriteString("net = network(runners = 2)\n")
	for range 600 {
		for _, s := range d.drawEpisode() {
			text.WriteString(s.text + "\n")
			for i := range fault.Verbs() {
				name := fault.Verbs()[i].Name
				drawn[name] = drawn[name] || strings.Contains(s.text, "."+name+"(")
			}
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := scenario.Check(path); err != nil {
		t.Error(err)
	}
	for i := range fault.Verbs() {
		switch v := &fault.Verbs()[i]; v.Name {
		case "host_fail", "hang", "twin", "capability": // draws.drawEpisode says why; a capability needs names
		default:
			if !drawn[v.Name] {
				t.Errorf("%s is never drawn", v.Name)
			}
		}
	}
}

// Of forty statements two are needed, and of one of them a single block.
func TestAFindIsShrunk(t *testing.T) {
	p := &program{}
	for i := range 40 {
		text := strings.Repeat("x", i+1)
		if i == 31 {
			text = "net.run(blocks = 7)"
		}
		p.statements = append(p.statements, statement{text: text})
	}
	trials := 0
	got := p.shrinkWhile(func(p *program) bool {
		trials++
		text := "\n" + p.scriptText("")
		return strings.Contains(text, "\nxxxx\n") && strings.Contains(text, "\nnet.run(blocks = ")
	})
	if text := got.scriptText(""); text != "xxxx\nnet.run(blocks = 1)\n" || trials > 200 {
		t.Errorf("after %d trials\n%s", trials, text)
	}
}

// On a sound chain no rule is broken, whatever the faults; programs that reach something new are kept.
func TestSeedsFindNothingOnASoundChain(t *testing.T) {
	runs := 12
	if os.Getenv("DEVNET_SOAK") != "" {
		runs = 500
	}
	dir := t.TempDir()
	report, err := Explore(t.Context(), Options{Path: written(t, explored), Dir: dir, For: time.Hour, Runs: runs, Jobs: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "corpus-*.star"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
	if len(report.Finds) > 0 || report.Runs < runs || report.Corpus < 3 || len(kept) != report.Corpus || report.Reached < 20 {
		t.Errorf("%+v, %d files", report, len(kept))
	}
}
