package sim

import (
	"testing"
	"time"
)

// All validators mute a validator that floods, or speaks in the names of others, for longer
// each time. They take it back when it has stopped. An honest validator is never muted, on
// links that lose, repeat and reorder. Nor is it muted after a minute's standstill, with all
// that was sent to it meanwhile.
func TestRubbishMutesItsSender(t *testing.T) {
	for _, kind := range []string{"flood", "impersonate"} {
		n, err := NewNetwork(NetworkConfig{Apart: true, World: Config{Seed: 7,
			Link: Link{Latency: 15 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.02, Duplicate: 0.05, Reorder: 0.05}}})
		if err != nil {
			t.Fatal(err)
		}
		n.Freeze("v2")
		if err := n.RunFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		n.Thaw("v2")
		if err := n.RunToHeight(n.Tip()+5, time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, name := range n.Names() {
			if shut := n.Validator(name).Status().Refused.Peers; shut != 0 {
				t.Errorf("%s muted %d honest peers", name, shut)
			}
		}
		if _, err := n.Misbehave("v3", kind); err != nil {
			t.Fatal(err)
		}
		if err := n.RunFor(30 * time.Second); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"v0", "v1", "v2"} {
			if shut := n.Validator(name).Status().Refused.Peers; shut == 0 || shut > 5 {
				t.Errorf("%s: %s muted %d peers", kind, name, shut)
			}
		}
		if _, err := n.Misbehave("v3", "honest"); err != nil {
			t.Fatal(err)
		}
		if err := n.RunFor(3 * time.Minute); err != nil { // longer than any peer is muted for
			t.Fatal(err)
		}
		if err := n.RunToHeight(n.Tip()+5, time.Minute); err != nil {
			t.Errorf("%s: it is not taken back: %v", kind, err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
