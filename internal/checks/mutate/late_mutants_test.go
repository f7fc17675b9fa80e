package mutate

// Tests that judge mutants of decision C18.
var (
	lateTests   = []suite{{pkg: "./validators/ledger", run: "Late|Crash|Missing|Liars|Tried|Doubt|Share|Voter|Balance|Pools|List|Hangs"}}
	pageTests   = []suite{{pkg: "./internal/environment/pyhost", run: "Proof$|Allowance|TheRate|Inspection"}}
	oracleTests = []suite{{pkg: "./internal/faces/oracle", run: "Passings|LateTransaction"}}
)

// lateMutants are faults in who is late, who reports it, and who pays (decision C18).
var lateMutants = []mutant{
	{name: "late-free", what: "an attempt that is late is listed and never charged", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "\t\tr.late.ended[s] = false\n\t\tif r.includeLate(one.tx) != nil {",
			"\t\tr.late.ended[s] = false\n\t\tif true {"}}},
	{name: "late-absent", what: "a list that completes the count needs no transaction", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "\t\tif !there {\n", "\t\tif false && !there {\n"}}},
	{name: "late-remembered", what: "a list outlives another transaction of its nonce", tests: lateTests, edits: []edit{
		{"validators/ledger/transactions.go", "\tr.forgive(c.slot())\n", ""}}},
	{name: "late-for-ever", what: "lists are never taken out of state", tests: lateTests, edits: []edit{
		{"validators/ledger/late.go", "return len(old) < maxForgotten\n", "return false\n"},
		{"validators/ledger/late.go", "\t\tr.forgive(s)\n\t}\n\treturn nil\n}", "\t\t_ = s\n\t}\n\treturn nil\n}"}}},
	{name: "late-retried", what: "a proposer tries again what it listed", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "one.code, one.blamed = code, t.height+doubtBlocks", "one.code = code"}}},
	{name: "doubt-never", what: "code that was late is not doubted", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "return t != nil && t.codes.holds(code, t.height) }", "return false }"}}},
	{name: "doubt-deploys", what: "a deploy of doubted code is inspected at once", tests: lateTests, edits: []edit{
		{"actors/deploy.go", "if x.block.Doubted != nil && x.block.Doubted(", "if false && x.block.Doubted("}}},
	{name: "cut-unlent", what: "what was cut off is lent no longer share", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "\t\tone.lends++\n", ""}}},
	{name: "crash-once", what: "one witness lists a crash at once", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "one.crashes >= crashTries", "one.crashes >= 1"}}},
	{name: "crash-never", what: "one witness lists no crash", tests: lateTests, edits: []edit{
		{"validators/ledger/tries.go", "one.crashes >= crashTries", "one.crashes < 0"}}},
	{name: "crash-missing", what: "a machine without a host lists fires by name", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "if failureOf(err) == program.Missing {", "if false {"}}},
	{name: "crash-cpu", what: "one witness does not take CPU time as a proof", tests: lateTests, edits: []edit{
		{"validators/ledger/passing.go", "host.Failure == program.Late && host.CPU == 0", "host.Failure == program.Late"}}},
	{name: "voter-waits", what: "a voter has unlimited time for a proposal", tests: lateTests, edits: []edit{
		{"validators/ledger/blocks.go", "return x.apply(parent, block, true)", "return x.apply(parent, block, false)"}}},
	{name: "voter-silent", what: "a voter does not nullify over what is late",
		tests: []suite{{pkg: "./validators/simplex", run: "Late"}}, edits: []edit{
			{"validators/simplex/executor.go", "if e.Late && !n.notarized", "if e.Late && n.notarized"}}},
	{name: "page-base", what: "loading counts in a message's CPU time", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/page.go", "took -= time.Duration(h.word(pageBase))",
			"took -= 0 * time.Duration(h.word(pageBase))"}}},
	{name: "page-wall", what: "the wall clock is a proof", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/page.go", "wallTimes*allowed+wallFree, 0", "wallTimes*allowed+wallFree, now.Sub(h.watch.began)"}}},
	{name: "rate-slowest", what: "one child that lies sets the rate", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/rates.go", "sorted[len(sorted)/2]", "sorted[len(sorted)-1]"}}},
	{name: "rate-kept", what: "the rate does not follow a machine that slows down", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/rates.go", "len(r.loops) == keptRates", "len(r.loops) == 9*keptRates"}}},
	{name: "inspect-unbounded", what: "an inspection has no allowance", tests: pageTests, edits: []edit{
		{"internal/environment/pyhost/session.go", "h.strictly(program.InspectionCycles(len(code.Source), limit))",
			"_ = program.InspectionCycles"}}},
	{name: "inspect-unpaid", what: "an inspection may take what its limit cannot pay", tests: pageTests, edits: []edit{
		{"python-host/host/compiling.py", "return min(READ * (size + SHORTEST), size + UNIT * min(limit, MAX_UNITS))",
			"return READ * size"}}},
	{name: "oracle-absent", what: "the oracle accepts a full count without its transaction", tests: oracleTests, edits: []edit{
		{"internal/faces/oracle/late.go", "\t\tif !there {\n", "\t\tif false && !there {\n"}}},
	{name: "oracle-status", what: "the oracle accepts that what was late enough is executed", tests: oracleTests, edits: []edit{
		{"internal/faces/oracle/late.go", "receipt.Status != types.StatusHostFailed {", "receipt.Status == \"\" {"}}},
}
