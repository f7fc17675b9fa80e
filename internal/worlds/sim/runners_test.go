package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// TestRunnersHearOfTheChain, from another validator where one does not answer.
func TestRunnersHearOfTheChain(t *testing.T) {
	n := network(t, NetworkConfig{World: quick(1), Runners: 3})
	if err := n.RunToHeight(4, time.Minute); err != nil {
		t.Fatal(err)
	}
	behind := func(want types.Height) {
		t.Helper()
		for _, name := range n.Runners() {
			if got := n.Runner(name).Status().Height; got+1 < want {
				t.Errorf("%s knows of height %d, want %d", name, got, want)
			}
		}
	}
	behind(4)
	n.Crash("v1")
	n.Partition([]string{"v0"})
	n.Freeze("v2")
	if err := n.RunFor(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	n.Heal()
	if err := n.Thaw("v2"); err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(12, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := n.RunFor(viewPatience); err != nil {
		t.Fatal(err)
	}
	behind(n.Tip())
}
