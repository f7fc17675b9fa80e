package pyhost

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// brief is a caller's time for a message, and slow what the children here take before their first.
const (
	brief = 100 * time.Millisecond
	slow  = "\nbegun = run_warmup\ndef run_warmup():\n    import time\n    over = time.monotonic() + 0.8\n" +
		"    while time.monotonic() < over: pass\n    begun()\n"
)

// A message is executed in the end even if a start and the first child each take longer than
// any caller waits. A start that was given up with its caller would begin again without end.
// On a busy machine that was so, first with the host and then with its child.
func TestAStartOutlivesWhoAskedForIt(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	changed := amended(t, p.sources.text(), "host.warmup", slow)
	p.sources = newArchive(func() []byte { return changed })
	for end, tries := time.Now().Add(startTimeout), 0; ; tries++ {
		until := time.Now().Add(brief)
		s, err := p.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		s.Bound(program.Bounds{Left: func() time.Duration { return time.Until(until) }})
		w := newWorld(s)
		_, _, err = w.handle(program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(1, "def f(p): pass\n"), Handler: "f"}, fire)
		s.Close()
		if err == nil {
			if tries == 0 {
				t.Error("nothing took longer than its caller waits")
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no message after %d tries: %v", tries, err)
		}
	}
}
