package pyhost

import (
	"testing"
	"time"
)

// A host whose start takes longer than each of those has who ask for one is there
// in the end: a start that was given up with its asker would begin anew for ever,
// as it did on a busy machine, where no actor could be deployed.
func TestAStartOutlivesWhoAskedForIt(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	brief := func() time.Duration { return time.Millisecond }
	for end, tries := time.Now().Add(startTimeout), 0; ; tries++ {
		h, err := p.take("a test", p.blocks, brief)
		if err == nil {
			if tries == 0 {
				t.Skip("a host starts within a millisecond here")
			}
			p.blocks <- h
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no host after %d tries: %v", tries, err)
		}
	}
}
