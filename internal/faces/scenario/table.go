package scenario

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// builtins are the tables of all builtins: a signature, what it does, and its function. The
// reference in docs/SCENARIOS.md is printed from them.
type builtins struct {
	global, network, validator, runner, job []*verb

	networkFields []field // read without parentheses
}

// tables makes the tables when they are first asked for. The functions of builtins look
// into them, so that it is set when these exist.
var tables func() *builtins

// field is a value that is read without parentheses.
type field struct{ name, doc string }

func init() { tables = sync.OnceValue(makeTables) }

func makeTables() *builtins {
	t := new(builtins)
	t.global = []*verb{
		newVerb("network(*, validators: count = 4, runners: runners = 0, block_time: text = \"1s\", policy: text?, seed: count?, link: link?, "+
			"params: params?, supervision: text = \"restart\")",
			"Brings the script's network up, one at a time. block_time is a time or \"auto\"; policy is the parameter cip1.policy; --seed "+
				"overrides seed; link applies to every link. supervision decides after a panic of a role: \"restart\" makes the role or the node "+
				"again; \"stop\" leaves the node down.", doNetwork),
		newVerb("link(*, "+linkProperties+")",
			"A link for network(…): latency, up to jitter more, the chances of loss, of a copy and of being overtaken, and bytes a second.", doLink),
		newVerb("runner(*, "+termArguments+")",
			"A runner for network(runners = […]) that differs from the others: its stake, its rates in wei, the pools that it is in, its "+
				"capabilities in place of theirs, the models that it has besides, and how many jobs it takes at a time.", doRunner),
		newVerb("expect(condition: value, message: text = \"\")",
			"Fails the scenario unless the condition is true.", doExpect),
		newVerb("expect_eq(got: value, want: value, message: text = \"\")",
			"Fails the scenario unless both are equal, and shows both.", doExpectEq),
		newVerb("eventually(condition: function, within: count = 50, message: text = \"\")",
			"Runs the network until the condition is true; fails after within blocks, or early as net.run ends.", doEventually),
		newVerb("always(condition: function, blocks: count = 20, message: text = \"\")",
			"Runs the network for the given number of blocks; fails as soon as the condition is false after one.", doAlways),
		newVerb("sometimes(name: text, condition: value)",
			"Notes whether the condition was true. Over `--seeds N` the batch fails if it was true in no run.", doSometimes),
		newVerb("setting(name: text, default: value)",
			"A value from outside: that of `--set NAME=VALUE`, or else the default, which also says the type: a whole number, a number, a "+
				"string, or True or False.", doSetting),
		newVerb("measure(name: text, value: value, unit: text = \"\", at: height?)",
			"Adds a number, or each of a list, to the samples of a name. The run reports their mean, minimum, median, 95th percentile and "+
				"maximum. Over `--seeds N` the figures of all runs that passed are put together. With at it is a series: one number a height, "+
				"in rising order; a second one of a height takes the place of the first.", doMeasure),
		newVerb("check(oracles: names)",
			"Asks the named oracles, or all of them. The table of oracles lists those that judge all events so far. queues checks that no queue is "+
				"beyond its limit. liveness runs the network until every sound validator has finalized five more blocks, within 120 s of its clock. "+
				"An oracle "+
				"that is named fails if it had nothing to judge. Without names, liveness comes first, and such an oracle is left out.", doCheck),
		newVerb("random(below: count)",
			"A whole number from 0 to below - 1, drawn from the seed.", doRandom),
		newVerb("be8(number: count)",
			"The number as eight bytes, most significant first, as payloads of the Go samples have it.", doBE8),
		newVerb("hex(data: bytes)",
			"Bytes as 0x and hexadecimal digits.", doHex),
		newVerb("cby(amount: amount)",
			"An amount for people: \"1.5 CBY\".", doCBY),
	}
	t.networkFields = []field{
		{"height", "Height of the highest final block among running honest validators."},
		{"validators", "The validators by name: v0, v1, …; each has the fields and verbs below."},
		{"runners", "The runners in the order of the registry, deregistered ones too: r0, r1, … and those of others; each has the fields and " +
			"verbs below."},
		{"basefee", "The prices of the next block: height, basefee_cycle, basefee_cell, basefee_lane_timer."},
		{"params", "The parameters in force: a dict of strings."},
		{"time_ms", "The network's clock, in milliseconds. Simulated it begins at 3600000, which is an hour, and live it counts from 1970: " +
			"subtract what it was at a first moment."},
		{"seed", "The seed of the run."},
		{"backend", "sim, live, processes or docker."},
		{"digest", "Hash of the whole run so far; on live that of the final chain."},
	}
	t.network = slices.Concat([]*verb{
		newVerb("run(blocks: count?, *, until: function?, time: duration?, within: count = 50)",
			"Runs the network until net.height has grown by blocks, or until a function is true. The latter fails after within blocks. Both "+
				"end early without a block for as many block times, and at least four and three seconds. With blocks, within sets these block times "+
				"itself, and an early end is not a failure. With time it runs for that time of its clock, at most an hour, which may end between two "+
				"blocks. Returns the blocks made.", netRun),
		newVerb("advance(*, blocks: count?, to: height?, to_next_timer: bool?)",
			"Time travel: skips heights at which nothing is due. Returns since, to, skipped and fired [{id, actor, due, height, late}].",
			netAdvance),
		newVerb("close()", "Ends the network as the script's end would: the oracles judge it, each fault must have had an effect. Then "+
			"network(…) may bring up another, to compare them.", netClose),
		newVerb("pause()", "Stops the making of blocks.", netPause),
		newVerb("resume()", "Continues with it.", netResume),
		newVerb("deploy(file: text, *, name: text = \"\", fund: amount?, init: bytes?, args: args?, upgrade_by: party?, upgrade_delay: "+
			"count?, sender: sender = \"alice\", within: count = 50)",
			"Deploys an actor from a file of the script's folder, from a fixture like \"actors/heartbeat.py\", or a Go sample like "+
				"\"go:counter\". Returns it once final: address, name, receipt. Fails unless it ended ok. "+
				"upgrade_by is the account that may upgrade it, upgrade_delay the blocks from an announcement on.", netDeploy),
		newVerb("upgrade(actor: party, file: text, migrate: bytes?, *, args: args?, code_hash: hash?, end: texts?, "+
			"sender: sender = \"alice\", "+
			"within: count = 50)",
			"Gives an actor new code, or announces it if its terms have a delay. Returns the receipt, whatever its status. migrate is the "+
				"payload of the new code's migrate, args its arguments by name. code_hash is the hash that the code must have, by default "+
				"that of the latest. end names waiting continuations that end when it applies.", netUpgrade),
		newVerb("apply_upgrade(actor: party, *, sender: sender = \"alice\", within: count = 50)",
			"Applies the announced upgrade of an actor; returns the receipt, whatever its status.", netApplyUpgrade),
		newVerb("upgrade_terms(actor: party, *, by: party?, delay: count?, never: bool = False, sender: sender = \"alice\", within: count = 50)",
			"Hands the upgrades of an actor over, lengthens their delay, or ends them for good. Returns the receipt, whatever its status.",
			netUpgradeTerms),
		newVerb("actor(actor: party, *, node: node?)",
			"An actor: address, name, owner, code_hash, deployed_as, deployed_at, balance, timers, and upgrades with done, by, delay and "+
				"announced.", netActor),
		newVerb("call(actor: party, handler: text, payload: bytes?, *, args: args?, sender: sender = \"alice\", "+
			"value: amount?, sponsor: amount?, cycles: count?, cells: count?, within: count = 50)",
			"Calls a handler by a signed transaction and returns its receipt once final, whatever its status. args is for a typed handler, in "+
				"place of payload, and is checked before it is signed. Timers of the actor may cost the "+
				"sender at most sponsor.", netCall),
		newVerb("send(actor: party, handler: text, payload: bytes?, *, args: args?, sender: sender = \"alice\", "+
			"value: amount?, sponsor: amount?, cycles: count?, cells: count?)",
			"As call, and does not wait: returns the transaction's hash. It is handed in again until it is final.", netSend),
		newVerb("transfer(to: party, amount: amount, *, sender: sender = \"alice\", within: count = 50)",
			"Pays, and returns the receipt once final.", netTransfer),
		newVerb("read(actor: party, handler: text, payload: bytes?, *, args: args?, sender: party?, node: node?)",
			"Calls a handler read-only on the latest final state: height, status, output, text, cycles, cells, error, logs. Typed state is read "+
				"by its name where no handler has it: price, members[3], len(members), log[bob]; typed.value has it.", netRead),
		newVerb("receipt(hash: hash, *, node: node?)", "The receipt of a transaction, of a timer's fire by the timer's id, or of a message; "+
			"None while there is none.", netReceipt),
		newVerb("state(actor: party, key: bytes?, *, node: node?)",
			"An actor's state as a dict, or the value of one key, None if it has none.", netState),
		newVerb("balance(of: party, *, node: node?)", "A balance in wei.", netBalance),
		newVerb("account(of: party, *, node: node?)", "An account: address, nonce, balance.", netAccount),
		newVerb("timers(*, actor: party?, status: text?, due_by: height?, node: node?)",
			"Timers in every state, by due height; status is pending, fired, expired, insufficient_funds or cancelled.", netTimers),
		newVerb("timer(id: hash, *, node: node?)", "One timer, or None.", netTimer),
		newVerb("story(id: hash, *, node: node?)",
			"The events of a timer, oldest first: its moves between tiers, each row of blocks that deferred it alike, and the payments of its "+
				"fire. None if no block scheduled it.", netStory),
		newVerb("lane(last: count = 40, *, node: node?)",
			"The timer lane in each of the last blocks, at most 1000, newest last.", netLane),
		newVerb("block(height: height?, *, node: node?)", "A final block, the latest without a height; None if it does not exist.", netBlock),
		newVerb("blocks(first: height?, limit: count = 50, *, node: node?)", "Final blocks from a height on; without one the latest.", netBlocks),
		newVerb("events(*, type: text?, actor: party?, since: height?)",
			"Events, oldest first: each has type (block, tx, timer, log, job or presence), height, and data as in HTTP's /events.",
			netEvents),
		newVerb("validator(name: party)", "A validator by its name or address, the proposer of a block say.", netValidator),
		newVerb("leader()", "The validator that leads the present view, as the highest running one sees it.", netLeader),
		newVerb("set_param(key: text, value: value, *, at: height?)",
			"Sets a parameter by an instruction of the system key, at a height or as soon as its class allows.", netSetParam),
		newVerb("cancel_timer(id: hash)", "Cancels any actor's timer by an instruction of the system key.", netCancelTimer),
		newVerb("extend_timer(id: hash, expires_at: height)",
			"Moves any actor's timer's expires_at by an instruction of the system key. It only lengthens.", netExtendTimer),
		newVerb("set_balance(of: party, balance: amount)", "Gives an account or actor another balance by an instruction of the system key. The "+
			"difference counts as minted or removed.", netSetBalance),
		newVerb("set_state(actor: party, key: bytes, value: bytes?)", "Gives a key of an actor's state another value by an instruction of the "+
			"system key; without a value it removes the key.", netSetState),
		newVerb("mine(blocks: count = 1)",
			"Makes a number of blocks now and skips no height. It works while the network is paused. Returns what "+
				"advance does.", netMine),
		newVerb("automine(on: bool)", "False: blocks are made only by net.mine and net.advance, as after net.pause. True: as after net.resume.",
			netAutomine),
		newVerb("join_validator(name: text = \"\")", "Adds a validator by instruction: it starts from nothing, catches up, and votes from the "+
			"next epoch on. Of one that leaves at the epoch's end it takes the leave back.", netJoin),
		newVerb("leave_validator(node: node)", "Removes one at the epoch's end, by instruction.", netLeave),
	}, faultVerbs(0), []*verb{
		newVerb("faults()", "The effect of each fault so far: verb, detail, did, idle.", netFaults),
		newVerb("presence(height: height, *, node: node?)", "P(height): one bool per runner, by index; None before the block above it is final.",
			netPresence),
		newVerb("submit_job(*, "+jobArguments()+", sender: text = \"alice\", within: count = 50)",
			"Submits a job by a signed transaction, and returns it once that is final. The arguments are the flags of devnet job submit; "+
				"callback is \"ACTOR.HANDLER\".", netSubmitJob),
		newVerb("job(id: hash, *, node: node?)", "A job by its id, or None.", netJob),
		newVerb("jobs(*, status: text?, submitter: party?, runner: party?, node: node?)",
			"Jobs in the order they were submitted; status is Pending, Assigned, Executing, Completed or Failed; runner is or was in a committee.",
			netJobs),
		newVerb("runner(name: party)", "A runner by its name or address.", netRunner),
		newVerb("join_runner(name: text = \"\", *, "+termArguments+")", "Starts a runner, and returns it once it is registered. The other "+
			"arguments are those of runner(…).", netJoinRunner),
		newVerb("leave_runner(runner: party)", "Deregisters a runner of the devnet's own, which ends its jobs and stops.", netLeaveRunner),
		newVerb("snapshot(name: text)", "Keeps the network as it is, under a name, and replaces an earlier snapshot of that name. It has to "+
			"be at rest: all nodes run honestly, no transaction waits, no job is open, no fault is in force. Only in the simulator.", netSnapshot),
		newVerb("restore(name: text)", "Makes the network what it was at a snapshot, as often as wanted: each time the same run begins. Earlier "+
			"faults stay listed, and the oracles continue to judge.", netRestore),
	})
	t.validator = faultVerbs(fault.Validators)
	t.runner = slices.Concat(faultVerbs(fault.Runners), []*verb{
		newVerb("offer(*, "+offerArguments+")",
			"Changes what it registered, by a transaction of its owner; what is left out stays. The price of "+
				"a job was settled when it was drawn.", runnerOffer),
		newVerb("add_stake(amount: amount)", "Adds to its stake, by a transaction of its owner, to whom the system's account gives the amount.",
			runnerAddStake),
	})
	t.job = []*verb{
		newVerb("answer(result: bytes)", "Gives the result of a job of the executor manual, by hand, to the runners that have it.", jobAnswer),
		newVerb("progress(percent: count, detail: text = \"\")", "Reports the progress of a job of the executor manual, by hand, "+
			"through its runners: from 1 to 100, and more than before.", jobProgress),
		newVerb("cancel(*, sender: text?, within: count = 50)", "Cancels it by a transaction of its submitter, and returns the receipt.",
			jobCancel),
		newVerb("story()", "The changes of it by blocks, and the sightings of validators, oldest first: events like those of net.events(type = "+
			"\"job\").",
			jobStory),
		newVerb("draws()", "Its draws, oldest first, each with seed, candidates, weights and steps.", jobDraws),
	}
	return t
}

// globalNames are what a script can name without defining it, for those who
// mistype one.
func globalNames() (names []string) {
	for _, v := range tables().global {
		names = append(names, v.name)
	}
	return append(names, "print", "load", "True", "False", "None", "len", "range", "list", "dict", "bytes", "str", "int",
		"min", "max", "sorted", "any", "all", "enumerate", "zip", "tuple", "set", "bool", "type", "hash", "fail", "abs", "reversed", "repr",
		"float")
}

func findVerb(verbs []*verb, name string) *verb {
	for _, v := range verbs {
		if v.name == name {
			return v
		}
	}
	return nil
}

// attributeNames are the names of verbs and fields.
func attributeNames(verbs []*verb, fields []field) (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}
