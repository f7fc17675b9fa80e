package fault

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// heal ends what is wrong with links. What stays is told with the command that ends it, which the command line takes.
func TestHealSaysWhatEndsTheFaultsThatStay(t *testing.T) {
	order := func(verb, node string) *model.FaultRequest {
		return &model.FaultRequest{Verb: verb, Node: node, Kind: "equivocate", Actor: "club", How: "crash", Delay: "2s"}
	}
	var said bytes.Buffer
	faultsThatStay(&said, []model.FaultReceipt{{Verb: "partition", Ended: true}, {Verb: "drop", Order: order("drop", "r1")},
		{Verb: "crash", Ended: true, Order: order("crash", "v0")}, {Verb: "freeze", Order: order("freeze", "v1")},
		{Verb: "misbehave", Order: order("misbehave", "v2")}, {Verb: "slow", Order: order("slow", "r2")},
		{Verb: "saturate", Order: order("saturate", "r3")}, {Verb: "host_fail", Order: order("host_fail", "v3")}, {Verb: "set_state"}})
	want := strings.Join([]string{"heal is about links. To end the others:", "  devnet fault restart r1", "  devnet fault thaw v1",
		"  devnet fault misbehave v2 honest", "  devnet fault slow r2 0s", "  devnet fault saturate r3 --off",
		"  devnet fault host_fail v3 club works", ""}, "\n")
	if got := strings.ReplaceAll(said.String(), self.ProgramName(), "devnet"); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	said.Reset()
	if faultsThatStay(&said, []model.FaultReceipt{{Verb: "partition", Ended: true}}); said.Len() > 0 {
		t.Error(said.String())
	}
}

// What a command begins and False ends is ended by --off.
func TestEveryFaultOfACommandHasItsEnding(t *testing.T) {
	for _, v := range fault.Verbs() {
		if v.Command == "" || !slices.Contains(v.Takes, fault.On) {
			continue
		}
		if got, want := endingWords(&model.FaultRequest{Verb: v.Name, Node: "n0"}), v.Name+" n0 --off"; got != want {
			t.Errorf("%s: %q, want %q", v.Name, got, want)
		}
	}
	if got := endingWords(&model.FaultRequest{Verb: "set_state", Node: "v0"}); got != "" {
		t.Errorf("what is no fault of a node is ended by %q", got)
	}
}

// What a verb of the command line takes can be typed.
func TestEveryFaultCanBeTyped(t *testing.T) {
	for _, v := range fault.Verbs() {
		for _, a := range v.Takes {
			if word := faultWords[a]; v.Command != "" && word.texts == nil && word.set == nil && word.rest == nil && word.read == nil {
				t.Errorf("%s takes an argument that cannot be typed", v.Name)
			}
		}
	}
}
