package live

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/validators"
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

// lateReports delays each report of final blocks until the script asks for another block.
type lateReports struct {
	scenario.Backend
	mu    sync.Mutex
	moved sync.Cond
	asked int
	ended bool
}

// report waits until the script asks or ends, and then reports.
func (l *lateReports) report(to func(validators.FinalBlocks), f validators.FinalBlocks) {
	l.mu.Lock()
	for before := l.asked; before == l.asked && !l.ended; {
		l.moved.Wait()
	}
	l.mu.Unlock()
	to(f)
}

// release ends the delay of all reports.
func (l *lateReports) release(end bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.ended = l.asked+1, l.ended || end
	l.moved.Broadcast()
}

// Next implements scenario.Backend.
func (l *lateReports) Next(above types.Height, patience time.Duration) (types.Height, error) {
	l.release(false)
	return l.Backend.Next(above, patience)
}

// Close implements scenario.Backend.
func (l *lateReports) Close() error {
	l.release(true)
	return l.Backend.Close()
}

// A call returns once the oracles and the timeline have its block, which the state shows before.
func TestACallReturnsOnceItsBlockIsJudged(t *testing.T) {
	late := &lateReports{}
	late.moved.L = &late.mu
	open := OpenerOn(t.Context(), "live", func(_ context.Context, c *box.Config) error {
		judged := c.Observe
		c.Observe = func(f validators.FinalBlocks) { late.report(judged, f) }
		return nil
	})
	path := filepath.Join(t.TempDir(), "script.star")
	if err := os.WriteFile(path, []byte(`
net = network(validators = 1, block_time = "50ms")
heart = net.deploy("go:heartbeat")
expect_eq(net.call(heart, "nothing").status, "ok")
`), 0o644); err != nil {
		t.Fatal(err)
	}
	report, err := scenario.Run(path, scenario.Options{Open: func(c scenario.Config) (backend scenario.Backend, err error) {
		late.Backend, err = open(c)
		return late, err
	}})
	if err == nil || len(report.Trace) == 0 {
		t.Errorf("the failed call has no trace: %v, %+v", err, report)
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
	_, _, err = play(t, "net = network(block_time = \"100ms\")\nnet.snapshot(\"x\")\n", nil)
	const want = "net.snapshot: a snapshot is not possible here: a live network"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--backend sim") {
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

// hangingFiles are a program that others meet, and one that meets it: by a message, as
// the agent of its timer, or waiting for a key of it.
var hangingFiles = map[string]string{
	"target.py": `
import pvm_host
from cowboy_sdk import TxFeeParams

def handle_message(payload):
    pvm_host.set_state(b"got", (pvm_host.get_state(b"got") or b"") + payload)

def get_gas_bid(context):
    return TxFeeParams(max_fee_per_cycle=10**9, max_priority_fee_per_cycle=77)

def poke(payload):
    pvm_host.set_state(b"key", payload)
`,
	"client.py": `
import pvm_host
from cowboy_sdk import send

def tell(payload):
    send(payload[:20], payload[20:])

def ask(payload):
    pvm_host.schedule_timer(pvm_host.block_height() + 1, b"", gba=payload)

def handle_timer(payload):
    pvm_host.set_state(b"fired", b"yes")

def watch(payload):
    pvm_host.schedule_timer(pvm_host.block_height() + 1, b"", handler="on_change", watch=(payload, b"key"))

def on_change(payload):
    pvm_host.set_state(b"changed", (pvm_host.get_state(b"changed") or b"") + payload)
`,
	"common.star": `
def begin(seed):
    net = network(validators = 4, block_time = "100ms", seed = seed)
    target = net.deploy("target.py", name = "target", fund = "100 CBY", within = 400)
    client = net.deploy("client.py", name = "client", fund = "100 CBY", within = 400)
    return net, target, client

def done(receipt):
    expect_eq(receipt.status, "ok")

def hosts(net, actor, how):
    for v in net.validators:
        v.host_fail(actor, how, may_be_idle = True)

def ended(net, actor):
    found = [t for t in net.timers(actor = actor) if t.ended_at != None]
    return found[0] if found else None

def finish(net):
    expect([v for v in net.validators if v.running] == net.validators, "every validator runs")
    check("agreement", "certificates", "roots", "supply", "fees")
`}

// Programs in Python over which the hosts of all validators hang. A validator restarts
// while they wait. Each ends, the chain goes on, and so do the programs once the hosts
// work.
func TestPythonThatHangsEndsAcrossARestart(t *testing.T) {
	for name, script := range map[string]string{
		"a message": `
load("common.star", "begin", "done", "hosts", "finish")
net, target, client = begin(1)
hosts(net, target, "hang")
done(net.call(client, "tell", target.address + b"a", within = 400))
net.validator("v2").restart()
passed = lambda: {b.proposer: True for b in net.blocks(1, limit = 500) if b.passed.messages}
eventually(lambda: len(passed()) == 2, within = 400, message = "two validators pass the message over")
expect_eq(net.state(target, b"got"), None)
hosts(net, target, "works")
done(net.call(client, "tell", target.address + b"b", within = 400))
eventually(lambda: net.state(target, b"got") == b"b", within = 400)
finish(net)
`,
		"an agent": `
load("common.star", "begin", "done", "hosts", "ended", "finish")
net, target, client = begin(2)
hosts(net, target, "hang")
done(net.call(client, "ask", target.address, within = 400))
net.validator("v2").restart()
eventually(lambda: ended(net, client), within = 400, message = "the timer fires without its agent")
expect_eq((ended(net, client).status, ended(net, client).result), ("fired", "ok"))
expect([b for b in net.blocks(1, limit = 500) if b.passed.agents], "the agent was passed over")
finish(net)
`,
		"a watch": `
load("common.star", "begin", "done", "hosts", "ended", "finish")
net, target, client = begin(3)
done(net.call(client, "watch", target.address, within = 400))
hosts(net, client, "hang")
done(net.call(target, "poke", b"1", within = 400))
net.validator("v2").restart()
eventually(lambda: ended(net, client), within = 400, message = "what waited for the key ends")
expect_eq((ended(net, client).status, ended(net, client).result), ("fired", "host_failed"))
expect([e for e in net.story(ended(net, client).id) if e.reason == "host_failed" and e.proposer_name], "whose hosts failed is told")
hosts(net, client, "works")
done(net.call(client, "watch", target.address, within = 400))
done(net.call(target, "poke", b"2", within = 400))
eventually(lambda: net.state(client, b"changed") != None, within = 400)
finish(net)
`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range hangingFiles {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, "script.star")
			if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := scenario.Run(path, scenario.Options{Open: Opener(context.Background()), Out: &out}); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
		})
	}
}

// Who joins has links as network(…) had them, and ends no fault of others.
func TestJoiningEndsNoFaultOfLinks(t *testing.T) {
	b, err := Opener(t.Context())(scenario.Config{Seed: 7, Validators: 4, BlockTime: 100 * time.Millisecond,
		Link: fault.Link{Latency: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Do(fault.Order{Verb: fault.SetLink, A: "v0", B: "v1", Link: fault.Link{Latency: 2 * time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	if err := b.JoinRunner(model.RunnerRequest{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	if all := b.Faults(); len(all) != 1 || all[0].Ended {
		t.Errorf("the faults are %+v", all)
	}
}

// A script's network is connected when it begins, whatever time that takes a busy machine.
func TestANetworkBeginsConnected(t *testing.T) {
	out, _, err := play(t, `
net = network(validators = 13, block_time = "1s")
few = [v.name for v in net.validators if v.connections < 8]
expect_eq(few, [], "a validator begins without a quorum")
`, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
