package pyhost

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// appendixB is the actor of CIP-5 Appendix B, letter for letter.
const appendixB = `class HeartbeatActor:
    INTERVAL = 10  # fire every 10 blocks

    def deploy(self):
        # Schedule first heartbeat
        pvm_host.schedule_timer(
            pvm_host.block_height() + self.INTERVAL,
            b""
        )

    def handle_timer(self, payload):
        # Do periodic work
        self.check_positions()
        self.rebalance()

        # Re-schedule for next interval
        pvm_host.schedule_timer(
            pvm_host.block_height() + self.INTERVAL,
            b""
        )
`

// The example imports nothing, so its deploy fails; with the import it calls
// what it does not define, and so beats never. Nothing after a failure is kept.
func TestFindingAppendixBDoesNotRunAsWritten(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, appendixB)
	init := program.Message{Kind: program.Init, Sender: owner, Self: at, Owner: owner}
	out, _, err := w.handle(init, fire)
	if err != nil || out.Status == types.StatusOK || !strings.Contains(out.Fault.Message, "pvm_host") {
		t.Fatalf("deploy without an import: %v %v %v", out.Status, out.Fault, err)
	}
	at = w.deploy(2, "import pvm_host\n"+appendixB)
	init.Self = at
	if out, _, err = w.handle(init, fire); err != nil || out.Status != types.StatusOK || len(w.timers) != 1 || w.timers[0].Height != 110 {
		t.Fatalf("deploy with its import: %v %v %v %v", out.Status, out.Fault, err, w.timers)
	}
	out, _, err = w.handle(program.Message{Kind: program.Timer, Sender: at, Self: at, Handler: "handle_timer", Owner: owner}, fire)
	if err != nil || out.Status == types.StatusOK || !strings.Contains(out.Fault.Message, "check_positions") {
		t.Fatalf("the first beat: %v %v %v", out.Status, out.Fault, err)
	}
}
