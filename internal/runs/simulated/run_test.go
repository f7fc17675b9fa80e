package simulated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runsByBlocks loses views to a leader that is down, and then stops the network.
const runsByBlocks = `
net = network(validators = 4, block_time = "200ms", link = link(latency = "20ms", jitter = "5ms"))
net.run(blocks = 3)
net.validator("v1").crash()
for i in range(16):
    before = net.height
    expect_eq(net.run(blocks = 1), 1, "a lost view ends no run")
    expect_eq(net.height, before + 1)
net.pause()
net.run(blocks = 1)  # what was under way
for blocks, within, quiet in [(1, None, 3800), (19, None, 3800), (20, None, 4000), (20, 2, 400), (1, 30, 6000)]:
    before, began = net.height, net.time_ms
    made = net.run(blocks = blocks, within = within) if within else net.run(blocks = blocks)
    expect_eq((made, net.height - before, net.time_ms - began), (0, 0, quiet), "%d blocks" % blocks)
net.resume()
expect_eq(net.run(blocks = 3), 3)
`

// SCENARIOS.md, net.run: it ends when the height has grown by as many blocks, or
// after its patience without a block, and returns the blocks made.
func TestARunMakesItsBlocksOrSaysHowMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.star")
	if err := os.WriteFile(path, []byte(runsByBlocks), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(8) {
		if _, out, err := play(path, seed); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, out)
		}
	}
}

// runsForTimes ends amid blocks, and where no block comes.
const runsForTimes = `
net = network(validators = 4, block_time = "1s", link = link(latency = "20ms", jitter = "5ms"))
net.run(blocks = 2)
for span in [1, 130, 999, 2500, 3600000]:
    before, began = net.height, net.time_ms
    if span == 3600000:
        net.pause()
        net.run(blocks = 1)  # what was under way
        before, began = net.height, net.time_ms
    made = net.run(time = "%dms" % span)
    expect_eq((net.time_ms - began, net.height - before), (span, made), "%d ms" % span)
    expect(made <= 1 + span // 1000, "%d blocks in %d ms" % (made, span))
`

// SCENARIOS.md, net.run: with time it runs for that time of its clock, and returns the blocks made.
func TestARunForATimeEndsAtIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times.star")
	if err := os.WriteFile(path, []byte(runsForTimes), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		if _, out, err := play(path, seed); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, out)
		}
	}
	for _, wrong := range []string{`time = "0s"`, `time = "61m"`, `time = "1s", blocks = 3`, ``} {
		text := "net = network(validators = 1)\nnet.run(" + wrong + ")\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := play(path, 1); err == nil || !strings.Contains(err.Error(), "net.run") {
			t.Errorf("net.run(%s): %v", wrong, err)
		}
	}
}

// crashesAmid has a validator end at each instant of its process.
const crashesAmid = `
net = network(validators = 4, block_time = "500ms", link = link(latency = "20ms", jitter = "5ms"))
net.run(blocks = 2)
v = net.validator("v1")
for instant in ["before append", "torn append", "after append", "before send", "after send", "before commit", "after commit"]:
    v.crash_amid(instant, nth = 2)
    expect(v.running, "it ended before " + instant)
    net.run(blocks = 3)
    expect(not v.running, "it did not end " + instant)
    planned, made = net.faults()[-2:]
    expect_eq((planned.verb, planned.detail, planned.did, planned.idle), ("crash_amid", "v1 " + instant + " 2", "1 process ended", False))
    expect_eq((made.verb, made.detail), ("crash", "v1"))
    v.restart()
    net.run(blocks = 2)
v.crash_amid("after send", nth = 100000, may_be_idle = True)
net.run(blocks = 2)
expect(v.running, "it ended too early")
v.crash()  # a plan ends with its process
v.restart()
expect_eq([f.verb for f in net.faults() if f.idle], ["crash_amid"])
check()
`

// SCENARIOS.md, v.crash_amid: the process ends at the nth such instant from now, and starts again from what is on its disk.
func TestACrashComesAtItsInstant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "amid.star")
	if err := os.WriteFile(path, []byte(crashesAmid), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		if _, out, err := play(path, seed); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, out)
		}
	}
	for wrong, want := range map[string]string{`"noon"`: "net.validator(\"v1\")", `"after send", nth = 0`: "times 0 is not within 1 and 100000"} {
		text := "net = network(validators = 4)\nnet.validator(\"v1\").crash_amid(" + wrong + ")\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := play(path, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("crash_amid(%s): %v", wrong, err)
		}
	}
}

// callsOutlast has links that are slower than the former patience of a call, and then no quorum.
const callsOutlast = `
net = network(validators = 4, block_time = "200ms", link = link(latency = "3s", jitter = "5ms"))
net.transfer("bob", "1 wei")
net.validator("v0").crash()
net.validator("v1").crash()
net.transfer("bob", "1 wei")
`

// SCENARIOS.md, net.call: it waits half a minute for the next block, and says when none came.
func TestACallOutlastsAStallAndSaysWhyItEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.star")
	if err := os.WriteFile(path, []byte(callsOutlast), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, err := play(path, 1)
	want := "calls.star:6:13: net.transfer: the transaction was not final after 0 of 50 blocks: none came in 150 block times"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q\n%s", err, want, out)
	}
}

// SCENARIOS.md, args: a wrong argument is refused before anything is signed, with its place.
func TestArgumentsAreCheckedByTheSchema(t *testing.T) {
	const begin = "net = network(validators = 1)\ntoken = net.deploy(\"actors/token_typed.py\", args = {\"supply\": 10})\n"
	for line, want := range map[string]string{
		`net.call(token, "transfer", args = {"to": "bob", "amount": True})`:               "net.call: amount is an amount in wei: this is true",
		`net.call(token, "transfer", args = {"to": "bob", "amount": 1, "x": 1})`:          "net.call: x is unknown: transfer has to, amount",
		`net.send(token, "transfer", args = {"to": "nemo", "amount": 1})`:                 `net.send: args.to names "nemo", and`,
		`net.call(token, "transfer", b"x", args = {"to": "bob", "amount": 1})`:            "net.call: args and payload are two forms of one thing",
		`net.call(token, "transfer", args = {"to": 1.5, "amount": 1})`:                    "net.call: args is a dict of arguments by name",
		`net.call(token, "transfer", args = {"to": token, "amount": {1: 2}})`:             "net.call: args is a dict of arguments by name",
		`net.read(token, "blance", args = {"of": "bob"})`:                                 "net.read: the actor has no handler blance",
		`net.deploy("actors/token_typed.py", args = {"supply": -1})`:                      "net.deploy: supply is an amount in wei: this is -1",
		`net.deploy("actors/token_typed.py", args = {"supply": 1}, init = b"{}")`:         "net.deploy: args and init are two forms of one thing",
		`net.deploy("go:counter", args = {"supply": 1})`:                                  "net.deploy: the code has no schema",
		`fail(str(net.call(token, "transfer", args = {"to": "bob", "amount": 1}).typed))`: "fail: None", // the last line is reached
	} {
		path := filepath.Join(t.TempDir(), "arguments.star")
		if err := os.WriteFile(path, []byte(begin+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, out, err := play(path, 1)
		if err == nil || !strings.Contains(err.Error(), "arguments.star:3:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q\n%s", line, err, want, out)
		}
	}
}

// SCENARIOS.md, check: without names it needs no block and no timer, a named oracle does.
func TestACheckOfEverythingNeedsNothingDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checks.star")
	nothing := func(oracle string) string { return "the oracle of " + oracle + " had nothing to judge yet" }
	for script, want := range map[string]string{ // order: each is judged alone
		"net = network()\ncheck()\nexpect(net.height >= 5)\n":                                      "",
		"net = network(runners = 1)\nnet.run(blocks = 1)\ncheck()\n":                               "",
		"net = network()\ncheck(\"agreement\")\n":                                                  nothing("agreement"),
		"net = network()\nnet.run(blocks = 9)\ncheck(\"timers\")\n":                                nothing("timers"),
		"net = network()\nnet.validator(\"v0\").crash()\nnet.validator(\"v1\").crash()\ncheck()\n": "check: liveness: ",
	} {
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		_, out, err := play(path, 1)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s%v, want %q\n%s", script, err, want, out)
		}
	}
}
