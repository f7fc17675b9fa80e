package box

import (
	"strings"
	"testing"
	"time"
)

// What /ready, status and the terminal of up say of a network that makes no
// blocks: at once that none can be made, and what would change that.
func TestANetworkWithoutBlocksSaysWhy(t *testing.T) {
	n := up(t, Config{Ephemeral: true, Validators: 4, BlockTime: 50 * time.Millisecond})
	if l := n.Liveness(); l.Stalled() || l.Blocked {
		t.Errorf("%+v", l)
	}
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	if l := n.Liveness(); !l.Blocked || l.Cause != "the network is paused" || !strings.Contains(l.Hint, "resume") {
		t.Errorf("%+v", l)
	}
	if err := n.Resume(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v2", "v3"} {
		if err := n.StopNode(name); err != nil {
			t.Fatal(err)
		}
	}
	if l := n.Liveness(); !l.Blocked || l.Cause != "no quorum: 2 of 4 validators run, 3 are needed" {
		t.Errorf("%+v", l)
	}
	if err := n.StartNode("v2"); err != nil {
		t.Fatal(err)
	}
	if l := n.Liveness(); l.Blocked {
		t.Errorf("%+v", l)
	}
}
