package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// sittingOut collects who sits out in a network.
func sittingOut(c *NetworkConfig) map[string]int {
	sits := map[string]int{}
	c.Tell = func(_ types.Time, name string, report simplex.Report) {
		if _, is := report.(simplex.SitsOut); is {
			sits[name]++
		}
	}
	return sits
}

// A disk that lies of its syncs loses in a crash all that was written since; told to stop,
// it has all. The rest of the network continues, and no oracle accuses it.
func TestADiskThatLiesOfItsSyncs(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(3)})
	if err := n.RunToHeight(10, time.Minute); err != nil {
		t.Fatal(err)
	}
	r := n.SyncLies("v1", true)
	if err := n.RunToHeight(20, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Crash("v1")
	if r.Lost() == 0 {
		t.Fatal("nothing is lost")
	}
	if err := n.Boot("v1"); err != nil {
		t.Fatal(err)
	}
	if h := n.Height("v1"); h < 8 || h > 12 {
		t.Errorf("it boots at height %d, and kept what it wrote up to 10", h)
	}
	if err := n.RunToHeight(30, time.Minute); err != nil {
		t.Fatal(err)
	}
	if n.SyncLies("v1", false) == nil || !r.Over() {
		t.Error("the lies do not end")
	}
	n.Crash("v1")
	if err := n.Boot("v1"); err != nil {
		t.Fatal(err)
	}
	if h := n.Height("v1"); h < 29 {
		t.Errorf("synced, it boots at height %d", h)
	}
	if err := n.RunToHeight(40, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// A validator whose log lost its end sits out, and votes again; one whose log lost nothing
// does not.
func TestALogThatIsCutIsSatOut(t *testing.T) {
	c := NetworkConfig{World: quick(4)}
	sits := sittingOut(&c)
	n := aNetwork(t, c)
	if err := n.RunToHeight(10, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Crash("v2")
	if r, err := n.CutLog("v2", 30); err != nil || r.Lost() != 30 {
		t.Fatalf("%v, %v", r, err)
	}
	for _, name := range []string{"v2", "v0"} {
		n.Crash(name)
		if err := n.Boot(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.RunToHeight(30, time.Minute); err != nil {
		t.Fatal(err)
	}
	if sits["v2"] != 1 || len(sits) != 1 {
		t.Errorf("these sat out: %v", sits)
	}
}

// One node's slow disk or slow processors delay it, and no other: the chain keeps its pace
// but for the views that it leads.
func TestOneSlowNodeDelaysItselfAlone(t *testing.T) {
	for name, slow := range map[string]func(n *Network, d time.Duration) *Effect{
		"disk": func(n *Network, d time.Duration) *Effect { return n.DiskSlow("v3", d) },
		"cpu":  func(n *Network, d time.Duration) *Effect { return n.CPUSlow("v3", d) },
	} {
		n := aNetwork(t, NetworkConfig{World: quick(5)})
		if err := n.RunToHeight(5, time.Minute); err != nil {
			t.Fatal(err)
		}
		r := slow(n, 300*time.Millisecond)
		begun := n.Now()
		if err := n.RunUntil(func() bool { return n.Height("v0") >= 45 }, begun.Add(5*time.Minute)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if took := n.Now().Sub(begun); took > 90*time.Second || r.Slowed() == 0 {
			t.Errorf("%s: forty blocks of a second with a slow node took %v; %v", name, took, r)
		}
		if slow(n, 0) == nil || !r.Over() {
			t.Errorf("%s: it stays slow", name)
		}
		if err := n.RunToHeight(60, time.Minute); err != nil {
			t.Errorf("%s: once it is quick again: %v", name, err)
		}
	}
}
