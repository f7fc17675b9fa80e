// Package both holds the backends of scripts side by side: what a verb does with good and
// with bad arguments is the same simulated, live, and in processes.
package both

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// preamble is how every script begins. Its deploy is not compared. It may take as many
// blocks as a busy machine needs to begin it: they have 50 ms. A runner has a job some blocks
// after its first ack.
const preamble = `net = network(validators = 4, block_time = "50ms", seed = 7, params = {"chain.epoch_blocks": 16, "chain.link_delay_ms": 50})
net.run(blocks = 2)
v0, v1, v2, v3 = [net.validator("v%d" % i) for i in range(4)]
heart = net.deploy("go:heartbeat", name = "heart", fund = "100 CBY", within = 1000)
def again(n): net.run(blocks = n)
def taken(j):
    eventually(lambda: "acked" in [e.what for e in j.story()], within = 60)
    again(4)
`

// onlySimulated are the verbs that a live world refuses, since its disks and clocks
// belong to this machine.
var onlySimulated = []string{"disk_fail", "disk_slow", "cpu_slow", "sync_lies", "crash_amid", "clock_skew", "snapshot"}

// withinAnEpoch are scripts that say another thing when an epoch ends amid them, as it
// may on a slow machine: their epochs are long.
var withinAnEpoch = []string{
	`net.leave_validator("v3"); net.leave_validator("v3")`,
	`[net.leave_validator("v%d" % i) for i in range(4)]`,
}

// scripts are one odd or plain use of a verb each; their output and outcome are
// compared, without figures.
var scripts = []string{
	// figures
	`measure("a", 3, unit = "blocks"); measure("a", [1.5, 2], unit = "blocks"); print("on")`, `measure("a", "3")`, `measure("a", True)`, `measure("", 1)`,
	`[measure("a", h, at = h) for h in range(3)]; measure("a", 9, at = 2); print("on")`, `measure("a", 1, at = 2); measure("a", 1, at = 1)`, `measure("a", 1); measure("a", 1, at = 1)`,
	`print(setting("gain", 8), setting("rule", "median"))`, `setting("gain", None)`, `setting("gain", 8); setting("gain", 9)`, `setting("seed", 8)`,
	`measure("a", 1); measure("a", 1, unit = "ms")`, `measure("a", [1, None])`, `measure("a", float("inf"))`, `measure("a", range(20000))`,
	`[measure("m%d" % i, i) for i in range(65)]`, `[measure("a", range(5001)) for i in range(2)]`,
	// running and time
	`print(net.run(blocks = 2) >= 2)`, `print(net.run(until = lambda: True))`, `net.run()`, `net.run(blocks = 1, until = lambda: True)`, `net.run(blocks = -1)`,
	`net.advance(blocks = 100); print(net.height > 100)`, `net.advance(to = 1)`, `net.advance(to_next_timer = True)`, `net.advance()`, `net.advance(blocks = 1, to = 9)`,
	`net.advance(blocks = 2000000000)`,
	`net.call(heart, "start", be8(3)); a = net.advance(to_next_timer = True); print(len(a.fired))`,
	`v3.crash(); print([net.run(blocks = 1) >= 1 for i in range(6)])`, `net.pause(); net.run(blocks = 1); print(net.run(blocks = 9, within = 1))`,
	`net.pause(); print(net.run(blocks = 4) <= 2)`, `net.pause(); net.pause(); net.resume(); again(2); print("on")`, `net.resume(); again(1); print("on")`,
	`net.pause(); net.set_param("cip3.min_basefee", 3)`, `net.pause(); net.join_validator()`, `net.pause(); net.leave_validator("v3")`,
	`net.mine(2); print(net.height > 3)`, `net.pause(); print(net.mine(2).skipped)`, `net.mine(20000)`, `net.automine(False); net.automine(True); again(1); print("on")`,
	`net.set_balance("bob", 5); print(net.balance("bob"))`, `net.set_balance("0x0000000000000000000000000000000000000002", 5)`, `net.set_balance("nobody", 5)`,
	`net.set_state(heart, "interval", be8(9)); print(net.state(heart, "interval"))`, `net.set_state("bob", "k", "v")`, `net.set_state(heart, "k")`,
	`print(net.transfer("bob", 5, sender = heart).status, net.balance(heart))`, `print(net.call(heart, "start", be8(3), sender = heart).sender == heart.address)`,
	`h = net.send(heart, "start", be8(3), sender = heart); again(4); print(net.receipt(h).status)`,
	`net.set_param("cip3.min_basefee", 3); h = net.send(heart, "start", be8(3), sender = heart); net.set_balance("bob", 1); net.set_param("cip3.min_basefee", 4); print("on")`,
	`net.restore("nothing")`, `net.close()`, `net.close(); net.run(blocks = 1)`,
	// actors and money
	`print(net.call(heart, "start", be8(3)).status)`, `print(net.call(heart, "nothing").status)`, `net.call(heart, "start", be8(3), sender = "nobody")`,
	`net.call(heart, "start", be8(3), sender = "system")`, `print(net.call(heart, "start", be8(3), cycles = 1).status)`, `net.call("nowhere", "start")`,
	`print(net.call(heart, "start", be8(3), sponsor = "1 CBY").status)`,
	`net.deploy("go:nothing")`, `net.deploy("nothing.py")`, `net.deploy("go:heartbeat", name = "heart")`, `net.deploy("go:heartbeat", name = "v0")`, `net.deploy("go:heartbeat", name = "alice")`,
	`print(net.send(heart, "start", be8(3)) != None); again(3); print(len(net.timers(actor = heart)))`, `net.send(heart, "start", sender = "v0")`,
	`print(net.transfer("bob", "1 CBY").status)`, `net.transfer("bob", "9999999999 CBY")`, `net.transfer("bob", "1 XYZ")`, `net.transfer("nobody", 1)`,
	`print(net.read(heart, "nothing").status)`, `print(net.state(heart))`, `print(net.balance("bob") > 0)`, `net.balance("nobody")`, `print(net.account("bob").nonce)`,
	`again(3); print(net.read(heart, "beats", node = v3).status)`, `v3.crash(); net.read(heart, "beats", node = v3)`,
	`print(net.timers(status = "odd"))`, `print(net.timer(bytes("12345678901234567890123456789012")))`, `print(net.story(bytes("12345678901234567890123456789012")))`,
	`print(net.receipt(bytes("12345678901234567890123456789012")))`, `print(len(net.lane(last = 2)) <= 2)`, `print(net.block(1).height)`, `print(net.block(100000))`,
	`print(len(net.blocks(1, 2)))`, `print(len(net.events(type = "odd")))`, `net.events(since = -1)`,
	// upgrades
	`c = net.deploy("go:counter", upgrade_by = "alice"); net.call(c, "increment"); print(net.upgrade(c, "go:tens").status, net.state(c, "n"), net.actor(c).upgrades.done)`,
	`print(net.upgrade(heart, "go:tens").error.code)`, `net.upgrade(heart, "nothing.py")`, `net.apply_upgrade(heart)`, `print(net.upgrade_terms(heart, never = True).error.code)`,
	`c = net.deploy("go:counter", upgrade_by = "bob", upgrade_delay = 2); net.upgrade(c, "go:tens", sender = "bob"); again(3); print(net.apply_upgrade(c, sender = "bob").status)`,
	`c = net.deploy("go:counter", upgrade_by = "bob"); print(net.upgrade_terms(c, by = "carol", delay = 3, sender = "bob").status, net.actor(c).upgrades.delay)`,
	`net.deploy("go:counter", upgrade_delay = 2)`, `net.upgrade_terms(heart, never = True, delay = 2)`,
	// the set
	`net.validator("v9")`, `print(net.leader().name in ["v0", "v1", "v2", "v3"])`, `print(net.join_validator().status in ["joining", "active"])`, `net.join_validator("a b")`, `net.join_validator("alice")`,
	`net.join_validator("v0")`, `net.join_validator("w"); net.join_validator("w")`, `net.join_validator("system")`,
	`net.leave_validator("v9")`, `net.leave_validator("v3"); print(v3.status in ["leaving", "left"])`,
	`[net.leave_validator("v%d" % i) for i in range(3)]; again(20); net.leave_validator("v3")`,
	`v = net.join_validator(); eventually(lambda: v.status == "active", within = 80); print(v.running)`,
	`v4 = net.join_validator(); net.leave_validator(v4); print("taken back, or leaving")`,
	`net.leave_validator("v3"); net.join_validator("v3"); again(36); eventually(lambda: v3.status == "active", within = 80); print(v3.running)`,
	`net.partition([["v0", "v1", "v2"], ["v3"]], may_be_idle = True); v = net.join_validator(); net.run(blocks = 36, within = 80); print(v.status)`,
	// parameters
	`net.set_param("cip3.min_basefee", 3); again(2); print(net.params()["cip3.min_basefee"])`, `net.set_param("cip1.policy", "fifoo")`, `net.set_param("cip3.nothing", 1)`,
	`net.set_param("chain.epoch_blocks", 9)`, `net.set_param("cip3.min_basefee", 3, at = 1)`, `net.set_param("cip3.min_basefee", "x")`,
	`net.set_param("cip3.min_basefee", 3, at = 10000); print("later")`, `net.set_param("cip3.min_basefee", 3, at = 99000000000)`, `net.set_param("cip1.lane_timer_cycles", 200000)`,
	// timers of any actor
	`net.call(heart, "start", be8(50)); t = net.timers(actor = heart)[0]; net.cancel_timer(t.id); print(net.timer(t.id).status)`,
	`net.call(heart, "start", be8(50)); t = net.timers(actor = heart)[0]; net.cancel_timer(t); net.cancel_timer(t)`,
	`net.call(heart, "start", be8(50)); t = net.timers(actor = heart)[0]; net.extend_timer(t, t.expires_at - 1)`,
	`net.call(heart, "start", be8(50), sponsor = 0); t = net.timers(actor = heart)[0]; net.advance(blocks = 9); net.extend_timer(t, t.expires_at + 5); print(net.timer(t).expires_at - t.expires_at == 5)`,
	`net.call(heart, "start", be8(50)); t = net.timers(actor = heart)[0]; net.extend_timer(t, t.expires_at + 99999999)`,
	`net.cancel_timer(bytes("12345678901234567890123456789012"))`, `net.extend_timer(bytes("12345678901234567890123456789012"), 9)`, `net.cancel_timer(7)`,
	`net.call(heart, "start", be8(50)); t = net.timers(actor = heart)[0]; net.pause(); net.cancel_timer(t)`,
	// links
	`net.partition([["v0", "v1"], ["v2", "v3"]]); print(net.run(blocks = 3, within = 4) <= 1); net.heal(); again(2)`, `net.partition([["v0"], ["v0"]])`, `net.partition([["v9"], []])`,
	`net.partition([["v0", "v1", "v2"], ["v3"]]); again(3); print([f.detail for f in net.faults()])`, `net.partition([["v0", "v1", "v2", "v3"], []])`, `net.partition([["v0", "v1"]])`, `net.partition([])`, `net.partition([["v0"], [], ["v1"]])`,
	`net.bridge("v0", ["v0", "v1"], ["v2"])`, `net.bridge("v0", ["v1"], ["v1"])`, `net.bridge("v0", ["v1"], ["v2", "v3"]); again(3); print([f.detail for f in net.faults()])`,
	`net.link("v0", "v0", loss = 0.5)`, `net.link("v0", "v1", loss = 2.0)`, `net.link("v0", "v1", latency = "5ms"); again(3); print([f.verb for f in net.faults()])`,
	`net.link("v0", "v9")`, `net.link("v0", "v1", latency = "-5ms")`, `net.heal(); again(2); print("healed")`,
	// faults of validators
	`v3.crash(); v3.crash()`, `v3.crash(); again(2); v3.restart(); again(2); print(v3.running)`, `v3.restart(); again(2); print(v3.running)`,
	`v3.freeze(); v3.freeze()`, `v3.thaw()`, `v3.freeze(may_be_idle = True); again(2); v3.thaw(); again(2); print("on")`, `v3.crash(); v3.freeze()`, `v3.crash(); v3.thaw()`,
	`v3.wipe()`, `v3.crash(); v3.wipe(); v3.restart(); again(4); print(v3.running)`, `v3.misbehave("nonsense")`, `v3.misbehave("fabricate_presence", may_be_idle = True); again(2); print("on")`,
	`v3.crash(); v3.misbehave("equivocate")`, `v3.misbehave("silent_leader", may_be_idle = True); again(4); v3.misbehave(""); print("honest")`,
	`v3.freeze(may_be_idle = True); v3.restart(); again(2); print(v3.running)`,
	`v3.host_fail(heart, "melts")`, `v3.host_fail("nobody", "crash")`, `v3.host_fail(heart, "crash", may_be_idle = True); again(2); v3.host_fail(heart, "works"); print([f.verb for f in net.faults()])`,
	`v3.misbehave("passes_over", may_be_idle = True); again(4); v3.misbehave(""); print("honest")`,
	`v3.twin(may_be_idle = True); again(4); v3.twin(False); print("one")`, `v3.crash(); v3.twin()`, `v3.twin(may_be_idle = True); v3.twin()`, `v3.twin(False)`,
	`[v.crash() for v in [v0, v1, v2, v3]]; print(net.height > 0, net.run(blocks = 1, within = 3))`,
	`[v.crash() for v in [v0, v1, v2, v3]]; net.call(heart, "start", be8(3))`, `[v.crash() for v in [v0, v1, v2, v3]]; net.set_param("cip3.min_basefee", 3)`,
	`v3.panic(role = "odd")`, `v3.hang("1s", role = "odd")`, `v3.panic()`, `v3.panic(role = "gateway", may_be_idle = True); again(4); print(v3.running)`,
	`v3.hang("200ms", role = "gateway", may_be_idle = True); again(4); print(v3.running)`,
	// jobs
	`j = net.submit_job(kind = "custom", executor = "echo", params = "hi", timeout_blocks = 2); again(4); print(j.status, j.error.code, j == net.job(j.id), j.committee)`,
	`j = net.submit_job(kind = "custom", executor = "echo", callback = "heart.start", sender = "bob"); print(j.kind, j.mode, j.runners, j.attempts, j.submitter == net.account("bob").address, j.callback.handler)`,
	`j = net.submit_job(kind = "custom", executor = "echo"); print(j.cancel().status, j.status, j.error.code, j.cancel().error.code)`,
	`j = net.submit_job(kind = "custom", executor = "echo"); print(j.cancel(sender = "bob").error.code, j.status); again(1); print([e.what for e in j.story()], j.draws())`,
	`j = net.submit_job(kind = "custom", executor = "echo"); print([e.data.what for e in net.events(type = "job")], net.jobs() == [j], net.jobs(status = "Failed"), net.jobs(submitter = "bob"))`,
	`net.submit_job(kind = "odd")`, `net.submit_job(kind = "custom")`, `net.submit_job(kind = "custom", executor = "echo", url = "x")`, `net.submit_job(executor = "echo")`,
	`net.submit_job(kind = "custom", executor = "echo", runners = 99)`, `net.submit_job(kind = "custom", executor = "echo", runners = 3)`, `net.submit_job(kind = "custom", executor = "echo", mode = "vote")`,
	`net.submit_job(kind = "custom", executor = "echo", callback = "nobody.start")`, `net.submit_job(kind = "custom", executor = "echo", callback = "heart")`, `net.submit_job(kind = "custom", executor = "echo", max_price = "9999999999 CBY")`,
	`net.submit_job(kind = "http", url = "nowhere")`, `net.submit_job(kind = "http", url = "https://a.b/c", header = "x")`, `net.submit_job(kind = "http", url = "https://a.b/c", header = ["x"])`, `net.submit_job(kind = "llm", model = "m", prompt = "p", temperature = -1)`,
	`print(net.submit_job(kind = "llm", model = "m", prompt = "p", temperature = 0.7, max_wall_time = "2m", expected_ms = 10).kind)`, `net.submit_job(kind = "llm", model = "m", prompt = "p", max_wall_time = "2ms")`,
	`print(net.submit_job(kind = "mcp", server = "s", tool = "t", arguments = {"a": [1, "b"]}).kind)`, `net.submit_job(kind = "mcp", server = "s", tool = "t", arguments = [1])`,
	`print(net.submit_job(kind = "ethsend", chain = 1, signed_transaction = b"\x01").kind)`, `net.submit_job(kind = "ethsend", chain = 1)`,
	`print(net.submit_job(kind = "custom", executor = "e", runners = 3, mode = "structured_match", check = [{"Equal": ["/a"]}, {"Range": {"pointer": "/n", "min": 1, "max": 2}}], data_format = "json").mode)`,
	`net.submit_job(kind = "custom", executor = "e", runners = 3, mode = "structured_match", check = [{"Odd": 1}])`,
	`print(net.job(bytes("12345678901234567890123456789012")))`, `net.job("x")`, `net.jobs(status = "odd")`, `j = net.submit_job(kind = "custom", executor = "echo"); j.drop()`, `net.pause(); net.run(blocks = 4); net.submit_job(kind = "custom", executor = "echo", within = 3)`,
	// runners and presence, without runners
	`print(net.runners, net.presence(1), net.presence(100000))`, `net.runner("r0")`, `net.runner("alice")`, `net.presence(-1)`, `check("jobs")`, `check("presence")`, `net.partition([["v0", "r0"], []])`, `r = net.join_runner(); eventually(lambda: r.present, within = 60); net.partition([["v0"], []]); again(3); print([f.detail for f in net.faults()], r.present)`,
	// runners that the script joins
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); print(r, r.index, r.health, net.runners == [r], net.runner("r0") == r); j = net.submit_job(kind = "custom", executor = "echo", params = "hi"); net.run(until = lambda: j.status == "Completed", within = 40); print(j.result, j.committee == [r], j.attempts)`,
	`r = net.join_runner("r0"); net.leave_runner(r); print(r.health, r.name, r.stake); net.leave_runner(r)`, `net.join_runner("r0"); net.join_runner("r0")`, `net.join_runner("r5")`, `net.leave_runner("r9")`, `net.leave_runner("alice")`,
	`r = net.join_runner("r0"); net.leave_runner(r); due = r.stake_returns; net.advance(to = due + 50); print(net.block(due).height == due, r.stake, r.dead_letters != None, len([e for e in net.block(due).events if e.name == "runner.stake_returned"]))`,
	`net.pause(); net.join_runner()`,
	`r = net.join_runner(stake = "50000 CBY", rate = {"compute_second": 5}, entitlements = ["gold", "gold"], capabilities = ["custom", "tee:sgx"], models = ["big"], max_concurrent = 2); ` +
		`print(r.stake == 50000000000000, r.rate_card.compute_second == 5, r.entitlements, r.capabilities, r.max_concurrent_jobs == 2)`,
	`r = net.join_runner(); r.offer(rate = {"memory_mb": "7 wei"}, max_concurrent = 3); r.offer(entitlements = ["gold"]); r.add_stake("5 CBY"); ` +
		`print(r.stake == 20005000000000, r.rate_card.memory_mb == 7, r.entitlements, r.max_concurrent_jobs == 3); r.offer(entitlements = []); print(r.entitlements)`,
	`net.close(); net = network(block_time = "50ms", seed = 7, runners = [runner(stake = "50000 CBY", entitlements = ["gold"]), runner()]); net.run(blocks = 2); ` +
		`print([(r.stake == 50000000000000, r.entitlements, r.max_concurrent_jobs == 16) for r in net.runners])`,
	`net.close(); network(runners = [runner(stake = 1)])`, `net.close(); network(runners = [runner(max_concurrent = 17)])`, `net.close(); network(runners = [1])`, `runner(stake = "x")`,
	`net.join_runner(stake = 1)`, `net.join_runner(max_concurrent = 17)`, `net.join_runner(max_concurrent = 0)`, `net.join_runner(rate = {"minute": 1})`, `net.join_runner(capabilities = ["dance"])`,
	`net.join_runner(rate = {"compute_second": "x"})`, `r = net.join_runner(); r.add_stake(0)`, `r = net.join_runner(); r.offer(capabilities = ["dance"])`,
	`r = net.join_runner(); net.leave_runner(r); r.offer(max_concurrent = 3)`, `r = net.join_runner(); net.leave_runner(r); r.add_stake("1 CBY")`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual"); taken(j); print(j.status); j.answer("by hand"); net.run(until = lambda: j.status == "Completed", within = 40); print(j.result)`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual", timeout_blocks = 200); ` +
		`told = lambda: [(e.fraction, e.detail) for e in j.story() if e.what == "progress"]; taken(j); j.progress(40, detail = "half\tof it"); eventually(lambda: len(told()) == 1, within = 20); ` +
		`again(2); j.progress(90); eventually(lambda: len(told()) == 2, within = 20); print(told()); j.answer("by hand"); net.run(until = lambda: j.status == "Completed", within = 150); print(j.result)`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual"); taken(j); j.progress(40); j.progress(40)`,
	`j = net.submit_job(kind = "custom", executor = "manual"); j.progress(0)`, `j = net.submit_job(kind = "custom", executor = "manual"); j.progress(101)`, `j = net.submit_job(kind = "custom", executor = "manual"); j.progress(40)`,
	`j = net.submit_job(kind = "custom", executor = "manual"); j.answer("x")`, `r = net.join_runner(); r.crash()`, `r = net.join_runner(); r.misbehave("equivocate")`, `r = net.join_runner(); r.misbehave("no_reveal", may_be_idle = True); again(2); r.misbehave(""); print("honest")`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); r.drop(); eventually(lambda: not r.present, within = 60); r.restart(); eventually(lambda: r.present, within = 90); print("back")`,
	`r = net.join_runner(); r.drop(may_be_idle = True); r.drop()`, `r = net.join_runner(); eventually(lambda: r.present, within = 60); r.freeze(); eventually(lambda: not r.present, within = 60); r.thaw(); eventually(lambda: r.present, within = 90); print("on")`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); r.saturate(); eventually(lambda: not r.present, within = 60); print(r.accepting, len(r.connected) > 0); r.saturate(False); eventually(lambda: r.present and r.accepting, within = 60)`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); r.blackhole(); j = net.submit_job(kind = "custom", executor = "echo", timeout_blocks = 4); net.run(until = lambda: j.attempts and j.status != "Assigned", within = 40); r.blackhole(False); print("over", r.reputation)`,
	`r = net.join_runner(); r.slow("-1s")`, `r = net.join_runner(); r.slow("10ms", may_be_idle = True); print([f.verb for f in net.faults()])`, `r = net.join_runner(); r.flap("0s", "1s", 1)`, `r = net.join_runner(); r.flap("1s", "1s", 0)`, `r = net.join_runner(); r.rejoin(99999999)`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); r.flap("200ms", "200ms", 2); again(10); print([f.verb for f in net.faults()])`, `r = net.join_runner(); eventually(lambda: r.present, within = 60); r.rejoin(2); eventually(lambda: r.present, within = 90); print([f.verb for f in net.faults()])`,
	`r = net.join_runner(); net.partition([["v0", "v1", "v2", "v3"], ["r0"]], may_be_idle = True); again(3); net.heal(); print([f.detail for f in net.faults()])`, `r = net.join_runner(); net.link("v0", "r0", latency = "5ms", may_be_idle = True); print([f.verb for f in net.faults()])`,
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); r.capability(add = ["model:small", "entitlement:eu"], remove = ["llm"]); eventually(lambda: r.changes != None, within = 30); print(r.changes.added_capabilities, r.changes.removed_capabilities, r.changes.added_entitlements, r.capabilities)`,
	`r = net.join_runner(); r.capability()`, `r = net.join_runner(); r.capability(add = ["a b"])`, `r = net.join_runner(); r.capability(add = ["llm"], remove = ["llm"])`,
	// the phases of push dispatch
	`r = net.join_runner(); j = [net.submit_job(kind = "custom", executor = "manual", timeout_blocks = 200)]; net.run(until = lambda: j[0].status == "Assigned", within = 60); work = lambda: net.submit_job(kind = "custom", executor = "echo", params = "hi", timeout_blocks = 60); ` +
		`[(net.set_param("cip11.push", phase), net.run(until = lambda: net.params["cip11.push"] == phase, within = 20), eventually(lambda: phase == "off" or r.present, within = 90), j.append(work()), net.run(until = lambda: j[-1].status == "Completed", within = 60), print(phase, j[-1].status, j[-1].attempts)) for phase in ["shadow", "off", "hot", "sunset", "hot", "off"]]; ` +
		`j[0].answer("by hand"); net.run(until = lambda: j[0].status == "Completed", within = 40); print(j[0].attempts, r.reputation > 75)`,
	// refusals: the reason, who is drawn next, and the reputation; pushed, and polled
	refusing("hot"), refusing("shadow"),
	// a runner that leaves finishes its open job
	`r = net.join_runner(); eventually(lambda: r.present, within = 60); j = net.submit_job(kind = "custom", executor = "manual", timeout_blocks = 200); net.run(until = lambda: j.status == "Assigned", within = 60); again(2); net.leave_runner(r); taken(j); print(r.health, j.status); ` +
		`j.answer("by hand"); net.run(until = lambda: j.status in ["Completed", "Failed"], within = 60); print(j.status, j.attempts == 1, r.reputation > 75); net.run(until = lambda: len(r.connected) == 0, within = 60); again(20); r.drop()`,
	// the script's own
	`check("agreement")`, `check("nonsense")`, `check("timers")`, `expect(net.height > 100000, "no")`, `expect_eq(1, 2)`, `eventually(lambda: False, within = 2)`,
	`always(lambda: net.height > 0, blocks = 2); print("always")`, `sometimes("odd", False)`, `print(net.queues if hasattr(net, "queues") else "none")`,
}

// refusing is a script in which both runners refuse a job, in a phase of push dispatch. On a busy
// machine a refusal takes more than the four blocks in which it is free (J21).
func refusing(phase string) string {
	return `net.set_param("cip11.ack_timeout_blocks", 30); rs = [net.join_runner(), net.join_runner()]; net.set_param("cip11.push", "` + phase + `"); net.run(until = lambda: net.params["cip11.push"] == "` + phase + `", within = 20); eventually(lambda: all([r.present for r in rs]), within = 90); ` +
		`j = net.submit_job(kind = "custom", executor = "sha265", timeout_blocks = 60); net.run(until = lambda: j.status in ["Completed", "Failed"], within = 200); story = j.story(); drawn = [e.committee[0] for e in story if e.what == "drawn"]; ` +
		`print(j.error.code, "Unsupported" in j.error.message, [e.error.code for e in story if e.what == "refused"], drawn == [e.runner for e in story if e.what == "refused"], sorted(drawn) == sorted([r.address for r in rs])); ` +
		`print([(r.reputation == 75, r.refusals == 1, r.active_jobs == 0) for r in rs])`
}

var (
	figures = regexp.MustCompile(`0x[0-9a-f]+|\d+(\.\d+)?(ms|s|µs|m)?`)
)

// slowness is the factor by which a live network may exceed the block time when a
// script asks for the next block: a busy machine is late with it. Only a network
// that makes no more blocks uses up the whole wait.
const slowness = 3

// unhurried opens worlds that count blocks rather than time.
func unhurried(open scenario.Open) scenario.Open {
	return func(config scenario.Config) (scenario.Backend, error) {
		backend, err := open(config)
		if err != nil {
			return nil, err
		}
		return patient{backend}, nil
	}
}

type patient struct{ scenario.Backend }

// Next implements scenario.Backend.
func (p patient) Next(above types.Height, patience time.Duration) (types.Height, error) {
	return p.Backend.Next(above, slowness*patience)
}

// played is how a script ended: its kind, and what it printed and said with all
// figures made equal.
func played(t *testing.T, open scenario.Open, script string) string {
	path, preamble := filepath.Join(t.TempDir(), "script.star"), preamble
	if slices.Contains(withinAnEpoch, script) {
		preamble = strings.Replace(preamble, `"chain.epoch_blocks": 16`, `"chain.epoch_blocks": 100000`, 1)
	}
	if err := os.WriteFile(path, []byte(preamble+strings.ReplaceAll(script, "; ", "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
	var out bytes.Buffer
	_, err := scenario.Run(path, scenario.Options{Open: open, Out: &out})
	kind := "ended"
	switch {
	case errors.As(err, new(*scenario.Mistake)) || errors.As(err, new(scenario.Mistakes)):
		kind = "mistake"
	case errors.As(err, new(*scenario.Failure)):
		kind = "failure"
	case err != nil:
		kind = "broken"
	}
	text := fmt.Sprintf("%s\n%s%v", kind, out.String(), err)
	return figures.ReplaceAllString(strings.ReplaceAll(text, path, "script"), "#")
}

// compare plays scripts in the simulator and on another backend.
func (b *backend) compare(t *testing.T, scripts []string) {
	open := b.open(t)
	var players sync.WaitGroup
	next := make(chan string)
	for range b.sideBySide {
		players.Go(func() {
			for script := range next {
				if sim, other := played(t, simulated.Open, script), played(t, open, script); other != sim {
					t.Errorf("%s\nsim: %s\n%s: %s", script, sim, b.name, other)
				}
			}
		})
	}
	for _, script := range scripts {
		next <- script
	}
	close(next)
	players.Wait()
}

// The view of a script on a verb does not depend on its backend.
func TestVerbsAreTheSameOnEveryBackend(t *testing.T) {
	for _, b := range others {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel() // it mostly waits for blocks
			b.compare(t, b.scripts(t))
		})
	}
}

// One seed is one set of keys on every backend, and so an address is the same on all.
func TestAddressesAreTheSameOnEveryBackend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "addresses.star")
	script := preamble + `
for name in ["alice", "judy", "system", "v0", "v3"]:
    print(name, hex(net.account(name).address))
print(net.join_validator("late").name, hex(net.account("late").address))
print(heart.name, hex(heart.address))
`
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for name, open := range map[string]scenario.Open{"sim": simulated.Open, "live": liveOpen(t)} {
		var out bytes.Buffer
		if _, err := scenario.Run(path, scenario.Options{Open: open, Out: &out}); err != nil {
			t.Fatal(name, err)
		}
		told[name] = out.String()
	}
	if told["sim"] != told["live"] || !strings.Contains(told["sim"], wallet.AccountKey(7, "alice").Address().String()) {
		t.Errorf("sim:\n%slive:\n%s", told["sim"], told["live"])
	}
}

// A verb without a comparison is found by the page of all verbs.
func TestEveryVerbIsCompared(t *testing.T) {
	page, err := os.ReadFile("../../../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	all := preamble + strings.Join(scripts, "\n")
	for _, match := range regexp.MustCompile("(?m)^- \\*\\*`(net|v|r|job)\\.(\\w+)\\(").FindAllStringSubmatch(string(page), -1) {
		if verb := match[2]; !strings.Contains(all, "."+verb+"(") && !slices.Contains(onlySimulated, verb) {
			t.Errorf("no script uses %s", verb)
		}
	}
}
