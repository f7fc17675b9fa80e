package both

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// samples are an order of each verb of a node that every backend has. Orders that bring
// a node into a phase belong to the test, and a panic ends its node at some time.
func samples(kind fault.Whose) (all []fault.Order) {
	if kind == fault.Runners {
		all = []fault.Order{{Verb: fault.Blackhole, On: true}, {Verb: fault.Blackhole}, {Verb: fault.Slow, Delay: time.Second},
			{Verb: fault.Slow},
			{Verb: fault.Saturate, On: true}, {Verb: fault.Saturate}, {Verb: fault.Capability, Add: []string{"model:small"}},
			{Verb: fault.Flap, Up: time.Second, Down: time.Second, Times: 1}, {Verb: fault.Misbehave, Kind: "no_reveal"},
			{Verb: fault.Misbehave, Kind: "equivocate"}, {Verb: fault.Crash}, {Verb: fault.HostFail, How: fault.HostCrashes}}
	} else {
		all = []fault.Order{{Verb: fault.Misbehave, Kind: "silent_leader"}, {Verb: fault.Misbehave, Kind: "no_reveal"}, {Verb: fault.Drop},
			{Verb: fault.HostFail, How: fault.HostCrashes}, {Verb: fault.HostFail, How: fault.HostWorks}, {Verb: fault.HostFail, How: "melts"},
			{Verb: fault.Blackhole, On: true}}
	}
	return append(all, fault.Order{Verb: fault.Misbehave, Kind: fault.Honest})
}

// phases are what a node is brought into, and the orders that do so and end it.
var phases = []struct {
	name       string
	begin, end []*fault.Verb
	more       []*fault.Verb // verbs that are refused in the phase, or leave it
}{
	{"running", nil, nil, []*fault.Verb{fault.Thaw, fault.Wipe, fault.Restart}},
	{"frozen", []*fault.Verb{fault.Freeze}, []*fault.Verb{fault.Thaw}, []*fault.Verb{fault.Freeze, fault.Wipe, fault.Restart}},
	{"down", []*fault.Verb{nil}, []*fault.Verb{fault.Restart}, []*fault.Verb{nil, fault.Freeze, fault.Thaw, fault.Wipe}},
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
	kill := map[fault.Whose]*fault.Verb{fault.Validators: fault.Crash, fault.Runners: fault.Drop}[kind]
	do := func(o fault.Order) string {
		if o.Node = node; o.Verb == nil {
			o.Verb = kill
		}
		if _, err := net.Do(o); err != nil {
			return o.Verb.Name + " " + o.Kind + o.How + ": " + figures.ReplaceAllString(err.Error(), "#")
		}
		return o.Verb.Name + " " + o.Kind + o.How + ": done"
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
