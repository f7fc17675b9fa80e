package both

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// samples are an order of each verb of a node that every backend has. Orders that bring
// a node into a phase belong to the test, and a panic ends its node at some time.
func samples(kind fault.Whose) (all []fault.Order) {
	if kind == fault.Runners {
		all = []fault.Order{{Verb: "blackhole", On: true}, {Verb: "blackhole"}, {Verb: "slow", Delay: time.Second}, {Verb: "slow"},
			{Verb: "saturate", On: true}, {Verb: "saturate"}, {Verb: "capability", Add: []string{"model:small"}},
			{Verb: "flap", Up: time.Second, Down: time.Second, Times: 1}, {Verb: "misbehave", Kind: "no_reveal"},
			{Verb: "misbehave", Kind: "equivocate"}, {Verb: "crash"}, {Verb: "host_fail", How: fault.HostCrashes}}
	} else {
		all = []fault.Order{{Verb: "misbehave", Kind: "silent_leader"}, {Verb: "misbehave", Kind: "no_reveal"}, {Verb: "drop"},
			{Verb: "host_fail", How: fault.HostCrashes}, {Verb: "host_fail", How: fault.HostWorks}, {Verb: "host_fail", How: "melts"},
			{Verb: "blackhole", On: true}}
	}
	return append(all, fault.Order{Verb: "misbehave", Kind: fault.Honest}, fault.Order{Verb: "nonsense"})
}

// phases are what a node is brought into, and the orders that do so and end it.
var phases = []struct {
	name       string
	begin, end []string
	more       []string // verbs that are refused in the phase, or leave it
}{
	{"running", nil, nil, []string{"thaw", "wipe", "restart"}},
	{"frozen", []string{"freeze"}, []string{"thaw"}, []string{"freeze", "wipe", "restart"}},
	{"down", []string{""}, []string{"restart"}, []string{"", "freeze", "thaw", "wipe"}},
}

// outcomes is how each order of a node ends in each phase.
func outcomes(t *testing.T, open scenario.Open, node string, kind fault.Whose) (lines []string) {
	net, err := open(scenario.Config{Seed: 7, Validators: 4, Runners: 1, BlockTime: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	if _, err := net.Next(2, time.Minute); err != nil {
		t.Fatal(err)
	}
	kill := map[fault.Whose]string{fault.Validators: "crash", fault.Runners: "drop"}[kind]
	do := func(o fault.Order) string {
		if o.Node = node; o.Verb == "" {
			o.Verb = kill
		}
		if _, err := net.Do(o); err != nil {
			return o.Verb + " " + o.Kind + o.How + ": " + figures.ReplaceAllString(err.Error(), "#")
		}
		return o.Verb + " " + o.Kind + o.How + ": done"
	}
	for _, phase := range phases {
		for _, verb := range phase.begin {
			if said := do(fault.Order{Verb: verb}); !strings.HasSuffix(said, "done") {
				t.Fatal(said)
			}
		}
		for _, o := range samples(kind) {
			lines = append(lines, phase.name+" "+do(o))
		}
		for _, verb := range phase.more {
			lines = append(lines, phase.name+" "+do(fault.Order{Verb: verb}))
		}
		for _, verb := range phase.end {
			lines = append(lines, phase.name+" "+do(fault.Order{Verb: verb}))
		}
	}
	return lines
}

// A node of every backend takes the same orders in the same phases, and refuses the others
// with the same words.
func TestANodeTakesTheSameOrdersOnEveryBackend(t *testing.T) {
	for node, kind := range map[string]fault.Whose{"v3": fault.Validators, "r0": fault.Runners} {
		want := outcomes(t, simulated.Open, node, kind)
		for phase, refused := range map[string]string{"running thaw": "not frozen", "running wipe": "", "running restart": "runs already",
			"frozen freeze": "frozen already", "down freeze": "does not run", "down misbehave": "does not run"} {
			if !said(want, phase, refused) {
				t.Errorf("%s: %s is not refused by %q:\n%s", node, phase, refused, strings.Join(want, "\n"))
			}
		}
		for _, b := range others {
			t.Run(fmt.Sprint(node, " ", b.name), func(t *testing.T) {
				t.Parallel()
				got := outcomes(t, b.open(t), node, kind)
				for i, line := range want {
					if got[i] != line {
						t.Errorf("got  %s\nwant %s, as on sim", got[i], line)
					}
				}
			})
		}
	}
}

// said reports whether the first line of a phase and verb shows a refusal.
func said(lines []string, begins, refused string) bool {
	for _, line := range lines {
		if strings.HasPrefix(line, begins) {
			return strings.Contains(line, refused) && !strings.HasSuffix(line, "done")
		}
	}
	return false
}
