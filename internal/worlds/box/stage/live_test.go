package stage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// play runs a script on a live network and returns what it printed.
func play(t *testing.T, script string, trace *bytes.Buffer) (string, *scenario.Report, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.star")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	options := scenario.Options{Open: Opener(context.Background()), Out: &out}
	if trace != nil {
		options.Trace = trace
	}
	report, err := scenario.Run(path, options)
	return out.String(), report, err
}

// Four real validators over QUIC, blocks of 100 ms, an actor with timers, and
// the oracles' word on it.
func TestAScriptRunsOnARealNetwork(t *testing.T) {
	var trace bytes.Buffer
	out, report, err := play(t, `
net = network(validators = 4, block_time = "100ms", seed = 7)
heart = net.deploy("go:heartbeat", fund = "100 CBY")
receipt = net.call(heart, "start", be8(2))
expect_eq(receipt.status, "ok")
net.run(until = lambda: len(net.timers(actor = heart, status = "fired")) >= 3, within = 40)
net.run(until = lambda: net.height > 17, within = 40)
check("agreement", "certificates", "roots", "supply", "fees", "timers")
print(net.backend, net.height > 17)
`, &trace)
	if err != nil {
		t.Fatal(err)
	}
	if out != "live True\n" || report.Backend != "live" || report.Height < 18 || report.Digest.IsZero() {
		t.Errorf("it printed %q; %+v", out, report)
	}
	if text := trace.String(); !strings.Contains(text, `"kind":"final","node":"v3"`) || !strings.Contains(text, `"height":18`) {
		t.Errorf("the trace lacks blocks: %.300s", text)
	}
}

// Waiting ends after the blocks' time where no block comes.
func TestWaitingEndsWithoutBlocks(t *testing.T) {
	_, _, err := play(t, `
net = network(validators = 4, block_time = "auto")
made = net.run(blocks = 3)
expect_eq(made, 0)
`, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// An expectation that fails says where.
func TestAFailureHasItsPlace(t *testing.T) {
	_, _, err := play(t, "net = network(block_time = \"100ms\")\nexpect(False, \"no\")\n", nil)
	if err == nil || !strings.Contains(err.Error(), "script.star:2") {
		t.Fatal(err)
	}
}

// Faults, governance and time travel act on real validators and real packets,
// and say what they did.
func TestVerbsActOnARealNetwork(t *testing.T) {
	out, _, err := play(t, `
net = network(validators = 4, block_time = "100ms", link = link(latency = "5ms"))
net.run(blocks = 2)
net.partition([["v0", "v1"], ["v2", "v3"]])
net.run(blocks = 5)
net.heal()
net.validator("v3").crash()
net.run(blocks = 3)
net.validator("v3").restart()
net.set_param("cip3.min_basefee", 7)
heart = net.deploy("go:heartbeat", fund = "100 CBY")
net.call(heart, "start", be8(40))
done = net.advance(to_next_timer = True)
expect(len(done.fired) >= 1, "a timer fires on the way")
net.run(blocks = 2)
for f in net.faults():
    print(f.verb, f.idle)
check("agreement", "certificates", "fees", "timers")
`, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out != "partition False\ncrash False\n" {
		t.Errorf("the faults were:\n%s", out)
	}
}

// What only the simulator can do says so by name.
func TestAVerbThatIsNotThereSaysSo(t *testing.T) {
	_, _, err := play(t, "net = network(block_time = \"100ms\")\nnet.validator(\"v1\").clock_skew(\"1s\")\n", nil)
	if err == nil || !strings.Contains(err.Error(), "clock_skew") || !strings.Contains(err.Error(), "--backend sim") {
		t.Fatal(err)
	}
}

// The command line's block time goes before the script's.
func TestThePaceIsTheCommandLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.star")
	if err := os.WriteFile(path, []byte("net = network(block_time = \"1h\")\neventually(lambda: net.height >= 6)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pace, err := scenario.ParsePace("50ms")
	if err != nil {
		t.Fatal(err)
	}
	report, err := scenario.Run(path, scenario.Options{Open: Opener(context.Background()), Pace: &pace})
	if err != nil || report.Height < 6 {
		t.Errorf("height %d: %v", report.Height, err)
	}
}
