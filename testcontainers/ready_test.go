package devnet

import (
	"testing"

	"github.com/cowboyinc/devnet/client"
)

// A node waits only for its own needs: a validator also for the blocks that the others
// had, and none for another node's.
func TestANodeWaitsForWhatItLacksItself(t *testing.T) {
	ready := client.Ready{Nodes: []client.ReadyNode{
		{Name: "v0", Kind: validator, Ready: true, Height: 7},
		{Name: "v1", Kind: validator, Missing: []string{"no connection with v0"}},
		{Name: "r0", Kind: runner, Ready: true},
		{Name: "r1", Kind: runner, Missing: []string{"it is not present in the votes"}},
	}}
	for _, c := range []struct {
		name, kind string
		others     client.Height
		want       string
	}{
		{"v0", validator, 7, ""}, {"v0", validator, 8, "it is at height 7, others were at 8"}, {"v1", validator, 0, "no connection with v0"},
		{"r0", runner, 8, ""}, {"r1", runner, 0, "it is not present in the votes"}, {"r2", runner, 0, "it is not known yet"},
		{"v0", runner, 0, "it is not known yet"},
	} {
		n := &Node{name: c.name, kind: c.kind}
		if got := n.whyNotReady(ready, c.others); got != c.want {
			t.Errorf("%s %s lacks %q, want %q", c.kind, c.name, got, c.want)
		}
	}
}
