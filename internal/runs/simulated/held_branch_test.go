package simulated

import (
	"fmt"
	"os"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/moment"
)

// parted is a run with a moment amid a partition, a frozen node, a slow disk and links that lose, where net.snapshot refuses.
const parted = `
net = network(validators = 4, runners = 1, block_time = "500ms", link = link(latency = "20ms", jitter = "20ms", loss = 0.02))
hb = net.deploy("go:heartbeat", name = "hb", fund = "100 CBY")
net.call(hb, "start", be8(2))
net.validator("v3").disk_slow(delay = "200ms")
net.partition([["v0", "v1", "v2"], ["v3"]])
net.run(blocks = 4)
net.validator("v2").freeze()
net.run(blocks = 2)
net.validator("v2").thaw()
net.heal()
net.run(blocks = 4)
`

// A moment is kept exactly by playing its seed again: frames under way, alarms, disks, votes and faults in force. Two
// branches from one, each played several times, are each one run, and the branch that nobody touches is the run never interrupted.
func TestSeedsBranchExactlyAmidFaults(t *testing.T) {
	path := write(t, parted)
	seed := uint64(failingSeed)
	report, _, err := play(path, seed)
	if err != nil {
		t.Fatal(err)
	}
	h := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 7})
	at := see[model.Held](h, "/hold")
	if faults := see[[]model.Fault](h, "/devnet/faults"); len(faults) < 2 || at.Ended {
		t.Fatalf("at %+v there are the faults %+v", at, faults)
	}
	runs := 2
	if os.Getenv("DEVNET_SOAK") != "" {
		runs = 10
	}
	untouched, crashed := map[string]int{}, map[string]int{}
	for range runs {
		back := func() {
			if got := post[model.Held](h, "/hold/go", fmt.Sprintf(`{"to": %q}`, at.Moment)); got.Digest != at.Digest {
				t.Fatalf("the moment is %+v, and was %+v", got, at)
			}
		}
		back()
		untouched[post[model.Held](h, "/hold/step", `{"unit": "end"}`).Digest.String()]++
		back()
		h.ask("POST", "/devnet/fault", `{"verb": "crash", "node": "v1"}`)
		end := post[model.Held](h, "/hold/step", `{"unit": "end"}`)
		if end.Changed == "" {
			t.Fatalf("nothing was changed: %+v", end)
		}
		crashed[end.Digest.String()]++
	}
	if untouched[report.Digest.String()] != runs {
		t.Errorf("untouched the branches end with %v, and the run without an interruption with %s", untouched, report.Digest)
	}
	if len(crashed) != 1 || crashed[report.Digest.String()] > 0 {
		t.Errorf("with a crash the branches end with %v, untouched with %s", crashed, report.Digest)
	}
}
