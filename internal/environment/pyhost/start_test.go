package pyhost

import (
	"testing"
	"time"
)

// A host starts in the end even if its start takes longer than any caller waits. A
// start that was given up with its caller would begin again without end. On a busy
// machine that was so, and no actor could be deployed.
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
