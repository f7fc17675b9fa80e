package explore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
	d := &draws{Rand: rand.New(rand.NewPCG(1, 2)), network: "net", victim: "v2", focus: "v1", actors: []actorVariable{{"heart", 3}},
		nodes: nodes{validators: []string{"v0", "v1", "v2", "v3"}, runners: []string{"r0", "r1"}}}
	drawn := map[string]bool{}
	path := written(t, "")
	var text strings.Builder
	text.WriteString("net = network(runners = 2)\nheart = net.deploy(\"go:heartbeat\")\n")
	p := &program{statements: []statement{{text: "net.run(blocks = 1)", repeatable: true}}}
	for i := range 2400 {
		d.twin = i%3 == 0
		lines := d.drawEpisode().lines
		if i%4 == 0 {
			lines = d.drawOrder(p).lines
		}
		for _, line := range lines {
			text.WriteString(line + "\n")
			for _, verb := range verbsCalled().FindAllStringSubmatch(line, -1) {
				drawn[verb[1]] = true
			}
		}
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := scenario.Check(path); err != nil {
		t.Error(err)
	}
	for _, v := range fault.Verbs() {
		if name := v.Name; !drawn[name] {
			t.Errorf("%s is never drawn", name)
		}
	}
	for _, o := range orderStatements {
		if verb := verbsCalled().FindStringSubmatch(o.text); !drawn[verb[1]] {
			t.Errorf("%s is never drawn", verb[1])
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

// What the search adds to a network stands beside what the script states, and never twice.
func TestSettingsAreAddedToTheNetwork(t *testing.T) {
	p := &program{settings: []string{`"chain.epoch_blocks": 3`, `"cip1.policy": "fifo"`, `"chain.epoch_blocks": 5`}}
	for text, want := range map[string]string{
		`net = network(runners = 4)`:                                       `net = network(params = {"chain.epoch_blocks": 3, "cip1.policy": "fifo"}, runners = 4)`,
		`net = network(params = {"a": 1})`:                                 `net = network(params = {"chain.epoch_blocks": 3, "cip1.policy": "fifo", "a": 1})`,
		`net = network(params={"cip1.policy": "gba"})`:                     `net = network(params={"chain.epoch_blocks": 3, "cip1.policy": "gba"})`,
		`net = network(params = {"chain.epoch_blocks": 9, "cip1.policy"})`: `net = network(params = {"chain.epoch_blocks": 9, "cip1.policy"})`,
	} {
		if got := p.addSettings(text); got != want {
			t.Errorf("%s\nbecame  %s\nand not %s", text, got, want)
		}
	}
}

// What met the rest of a program least is drawn next, and a verb that is done to all validators is one more thing.
func TestWhatMetLeastIsDrawn(t *testing.T) {
	n := &nodes{validators: []string{"v0", "v1"}}
	verbs, kinds := n.listThings([]string{`net.validator("v0").crash(may_be_idle = True)`, `net.run(blocks = 3)`, `net.validator("v1").crash()`,
		`net.validator("v1").restart()`, `net.validator("v0").misbehave("forge", may_be_idle = True)`, `net.validator("v0").misbehave("")`,
		`net.validator("v0").crash_amid("after send", 4)`})
	if got := strings.Join(verbs, ","); got != "crash,crash of all,misbehave,crash_amid" {
		t.Errorf("the verbs are %s", got)
	}
	if got := strings.Join(kinds, ","); got != "misbehave forge,crash_amid after send" {
		t.Errorf("the kinds are %s", got)
	}
	m := meetings{}
	for range 3 {
		m.addProgram([]string{"crash", "freeze", "wipe"})
	}
	m.addProgram([]string{"freeze", "crash"})
	for thing, want := range map[string]int{"crash": 4, "wipe": 3, "link": 0} {
		if got := m.countLeast(thing, []string{"freeze"}); got != want {
			t.Errorf("%s met freeze %d times, and not %d", thing, got, want)
		}
	}
	d := &draws{Rand: rand.New(rand.NewPCG(1, 2)), met: meetings{}, present: []string{"freeze"}}
	for _, kind := range []string{"misbehave forge", "misbehave flood"} {
		d.met.addProgram([]string{"freeze", kind})
	}
	if got := d.drawRareKind("misbehave", []string{"forge", "flood", "withhold_votes"}); got != "withhold_votes" {
		t.Errorf("drawn is %s", got)
	}
}

// Two programs that are put together have one liar, and what one names stays below the statement that makes it.
func TestProgramsPutTogetherHaveOneLiar(t *testing.T) {
	script := func(drawn ...string) *program {
		p := &program{}
		for i, text := range []string{"net = network()", "x = net.deploy(1)", "net.run(blocks = 3)"} {
			p.statements = append(p.statements, statement{text: text, ordinal: i})
		}
		for i, text := range drawn {
			p.statements = slices.Insert(p.statements, 2+i, statement{text: text, drawn: true})
		}
		p.statements = append(p.statements, statement{text: "net.heal()", drawn: true})
		return p
	}
	p := script(`net.validator("v1").misbehave("forge")`)
	p.spliceFrom(script(`net.validator("v2").wipe()`, "net.call(x)"))
	if got := p.findVictim("v3"); got != "v1" {
		t.Errorf("the liar is %s", got)
	}
	want := "net = network(seed = 0)\nx = net.deploy(1)\nnet.validator(\"v1\").misbehave(\"forge\")\n" +
		"net.call(x)\nnet.run(blocks = 3)\nnet.heal()\n"
	if got := p.scriptText(""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := script().findVictim("v3"); got != "v3" {
		t.Errorf("the liar of an honest program is %s", got)
	}
}

// A second process of a validator comes with no fault of another validator or of links: those may let both vote (decision C5).
func TestATwinIsDrawnBesideNoOtherFault(t *testing.T) {
	d := &draws{victim: "v1"}
	for text, want := range map[string]bool{
		`net.validator("v1").crash()`: false, `net.runner("r1").drop()`: false, `net.pause()`: false, `net.heal()`: false,
		`net.validator("v2").freeze()`: true, `net.partition([["v1"], []])`: true,
	} {
		if got := (&program{statements: []statement{{text: text, drawn: true}}}).hasManyFaults(d); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if !(&program{statements: []statement{{text: "one.crash()"}}}).hasManyFaults(d) {
		t.Error("a fault of the script counts as none")
	}
}

// A program runs from memory, so that nothing is left beside the script, even where the search dies.
func TestAProgramOfTheSearchLeavesNoFileBesideTheScript(t *testing.T) {
	path := written(t, explored)
	b, err := readBase(path)
	if err != nil {
		t.Fatal(err)
	}
	tester := newTester(path)
	defer tester.hosts.Close()
	out, err := tester.playScript(t.Context(), (&program{statements: b.statements, seed: 1}).scriptText(""))
	if err != nil || out.err != nil {
		t.Fatal(err, out.err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("%v, %v", entries, err)
	}
}

// An order that its node refuses ends a script. The search leaves it out, and goes on with the rest.
func TestARefusedOrderIsLeftOut(t *testing.T) {
	path := written(t, explored)
	b, err := readBase(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{statements: b.statements, seed: 1}
	for _, text := range []string{`net.run(blocks = 1)`, `net.validator("v1").thaw()`, `net.validator("v1").crash()`, `net.validator("v1").freeze()`,
		`net.run(blocks = 2)`, `net.validator("v1").crash()`, `net.validator("v1").restart()`} {
		p.statements = append(p.statements, statement{text: text, drawn: true})
	}
	tester := newTester(path)
	defer tester.hosts.Close()
	s := &search{base: b}
	got, out, err := s.playRepaired(t.Context(), tester, p)
	if err != nil || out.err != nil {
		t.Fatal(err, out.err)
	}
	text := got.scriptText("")
	if strings.Contains(text, "thaw") || strings.Contains(text, "freeze") || strings.Count(text, "crash") != 1 ||
		!strings.Contains(text, "restart") {
		t.Error(text)
	}
	if len(p.statements) != len(got.statements)+3 {
		t.Errorf("the program itself has %d statements", len(p.statements))
	}
}

// A repair may leave out what refused of a program's ending. What is drawn later stands before the rest of it.
func TestWhatIsDrawnStandsBeforeTheEnding(t *testing.T) {
	b, err := readBase(written(t, explored))
	if err != nil {
		t.Fatal(err)
	}
	s := &search{base: b}
	for left := range len(s.endingStatements()) + 1 {
		ending := s.endingStatements()[left:]
		p := &program{statements: slices.Concat(b.statements, ending), seed: 1}
		d := &draws{Rand: rand.New(rand.NewPCG(1, 2)), network: b.name}
		for range 50 {
			p.insertEpisode(d, len(b.statements)-1, []string{"net.pause()", "net.run(blocks = 1)", "net.resume()"})
		}
		p.dropSomeDraws(d)
		p.drawWaitsAgain(d)
		last := p.statements[len(p.statements)-len(ending):]
		if !slices.Equal(last, ending) || len(p.statements) < len(b.statements)+len(ending)+50 {
			t.Errorf("without %d statements of its ending a program of %d ends with %+v", left, len(p.statements), last)
		}
	}
}

// A parameter that the network refuses is left out. A statement of the script that waits in vain, since too many are down, comes after
// mends.
func TestAProgramThatEndsEarlyIsMended(t *testing.T) {
	path := written(t, explored)
	b, err := readBase(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{base: b}
	p := &program{statements: slices.Clone(b.statements), seed: 1, settings: []string{`"cip1.lane_timer_cycles": 5`, `"chain.epoch_blocks": 8`}}
	for _, name := range []string{"v1", "v2"} {
		p.statements = slices.Insert(p.statements, 2, statement{text: `net.validator("` + name + `").crash()`, drawn: true})
	}
	p.statements = append(p.statements, statement{text: `net.transfer("bob", "1 wei")`, ordinal: len(b.statements)})
	tester := newTester(path)
	defer tester.hosts.Close()
	got, out, err := s.playRepaired(t.Context(), tester, p)
	if err != nil || out.err != nil || out.wrong != "" {
		t.Fatalf("%v, %v, %s\n%s", err, out.err, out.wrong, got.scriptText(""))
	}
	text := got.scriptText("")
	if strings.Contains(text, "lane_timer_cycles") || !strings.Contains(text, "epoch_blocks") ||
		strings.Count(text, "    v.restart()") != 1 || strings.Count(text, ".crash()") != 2 {
		t.Error(text)
	}
}
