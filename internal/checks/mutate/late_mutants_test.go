package mutate

// Tests that judge mutants of decision C18.
var (
	lateTests = []suite{{pkg: "./validators/ledger",
		run: "Late|Crash|Missing|Liars|Tried|Large|Item|Starved|Share|Voter|Balance|Pools|List|Hangs"}}
	pageTests   = []suite{{pkg: "./internal/environment/pyhost", run: "Proof$|Credit|TheRate|SlowMoment|Inspection"}}
	oracleTests = []suite{{pkg: "./internal/oracle", run: "Passings|LateTransaction"}}
)

// lateMutants are faults in who is late, who reports it, and who pays (decision C18).
var lateMutants = []mutant{
	{name: "late-free", what: "an attempt that is late is listed and never charged", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "\t\tr.late.ended[s] = false\n\t\tif r.includeLate(one.tx) != nil {",
			"\t\tr.late.ended[s] = false\n\t\tif true {"}}},
	{name: "late-absent", what: "a list that completes the count needs no transaction", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "\t\tif !there {\n", "\t\tif false && !there {\n"}}},
	{name: "late-remembered", what: "a list outlives another transaction of its nonce", tests: lateTests, edits: []edit{
		{"validators/ledger/transactions.go", "\tr.forgetListers(c.slotOf())\n", ""}}},
	{name: "late-for-ever", what: "lists are never taken out of state", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "return len(old) < maxForgotten\n", "return false\n"},
		{"validators/ledger/late.go", "\t\tr.forgetListers(s)\n\t}\n\treturn nil\n}", "\t\t_ = s\n\t}\n\treturn nil\n}"}}},
	{name: "late-retried", what: "a proposer tries again what it listed", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "one.blamed = t.height + largeBlocks\n", ""}}},
	{name: "late-once", what: "one late attempt is enough to list an item", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "lateTries = 2", "lateTries = 1"}}},
	{name: "party-never", what: "what a late party sends next is not large", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "\t\tt.parties.putKey(party, t.height+largeBlocks)\n", "\t\t_ = party\n"}}},
	{name: "large-restless", what: "large items have turns without a rest", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "t.rests = now + took*", "t.rests = now + 0*took*"}}},
	{name: "first-whole", what: "each first attempt has a whole share", tests: lateTests, edits: []edit{
		{"validators/ledger/pace.go", "return p.Share / firstParts\n", "return p.Share\n"}}},
	{name: "starved-late", what: "a share without CPU time is late", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "case !whole || isStarved:", "case !whole:"}}},
	{name: "starved-large", what: "a first attempt without CPU time makes an item large", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "case !whole && isStarved:", "case !whole && isStarved && item == (types.Hash{}):"}}},
	{name: "item-unbounded", what: "a transaction may have a whole lane", tests: lateTests, edits: []edit{
		{"validators/ledger/check.go", "return min(limit, item)", "return limit"}}},
	{name: "credit-saved", what: "credit of CPU time is saved without end", edits: []edit{
		{"internal/base/program/lateness.go", "c.left = min(c.left-max(cpu-c.spent, 0), max(LateCredit, c.last))",
			"c.left = c.left - max(cpu-c.spent, 0)"}},
		tests: []suite{{pkg: "./internal/base/program", run: "C18"}}},
	{name: "slow-moment", what: "a machine that is slow judges programs", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/rates.go", "thousand <= calmTimes*r.medianRate()", "true"}}},
	{name: "crash-once", what: "one witness lists a crash at once", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "crashTries = 3", "crashTries = 1"}}},
	{name: "crash-never", what: "one witness lists no crash", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "crashTries = 3", "crashTries = 1 << 30"}}},
	{name: "crash-missing", what: "a machine without a host lists fires by name", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "if failureOf(err) == program.Missing {", "if false {"}}},
	{name: "crash-cpu", what: "one witness does not take CPU time as a proof", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "host.Failure == program.Late && host.CPU == 0", "host.Failure == program.Late"}}},
	{name: "voter-waits", what: "a voter has unlimited time for a proposal", tests: lateTests, edits: []edit{
		{"validators/ledger/blocks.go", "return x.applyBlock(parent, block, true)", "return x.applyBlock(parent, block, false)"}}},
	{name: "voter-silent", what: "a voter does not nullify over what is late",
		tests: []suite{{pkg: "./validators/simplex", run: "Late"}}, edits: []edit{
			{"validators/simplex/executor.go", "if e.Late && !n.notarized", "if e.Late && n.notarized"}}},
	{name: "page-base", what: "loading counts in a message's CPU time", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/page.go", "took -= time.Duration(h.pageWord(pageBase))",
			"took -= 0 * time.Duration(h.pageWord(pageBase))"}}},
	{name: "page-wall", what: "the wall clock is a proof", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/page.go", "took, h.watch.took = max(now.Sub(h.watch.began)-wallFree, 0)/wallTimes, 0",
			"took, h.watch.took = max(now.Sub(h.watch.began)-wallFree, 0)/wallTimes, now.Sub(h.watch.began)"}}},
	{name: "rate-slowest", what: "one child of a busy machine sets the rate", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/rates.go", "return slices.Min(r.loops)", "return slices.Max(r.loops)"}}},
	{name: "rate-kept", what: "the rate does not follow a machine that slows down", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/rates.go", "len(r.loops) == keptRates", "len(r.loops) == 9*keptRates"}}},
	{name: "inspect-unbounded", what: "an inspection has no allowance", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/session.go", "h.limitStrictly(program.InspectionCycles(len(source), limit), program.LateInspectionPages)",
			"_ = program.InspectionCycles"}}},
	{name: "inspect-unpaid", what: "an inspection may take what its limit cannot pay", tests: pageTests, edits: []edit{
		{"python-host/host/compiling.py", "return min(READ * (size + SHORTEST), size + UNIT * min(limit, MAX_UNITS))",
			"return READ * size"}}},
	{name: "oracle-absent", what: "the oracle accepts a full count without its transaction", tests: oracleTests, edits: []edit{
		{"internal/oracle/late.go", "\t\tif !there {\n", "\t\tif false && !there {\n"}}},
	{name: "oracle-status", what: "the oracle accepts that what was late enough is executed", tests: oracleTests, edits: []edit{
		{"internal/oracle/late.go", "receipt.Status != types.StatusHostFailed {", "receipt.Status == \"\" {"}}},
}
