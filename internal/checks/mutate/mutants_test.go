package mutate

// Packages and tests that judge a mutant, in the order they are asked.
var (
	consensusCore = []suite{{pkg: "./validators/simplex"}}
	paceTests     = []suite{{pkg: "./validators/simplex", run: "C4|C7|CaughtUpWith"}}
	catchupCore   = []suite{{pkg: "./validators/catchup"}}
	ledgerTests   = []suite{{pkg: "./validators/ledger"}}
	schedulerCore = []suite{{pkg: "./scheduler/calendar"}, {pkg: "./scheduler"}}
	calendarCore  = []suite{{pkg: "./scheduler/calendar"}}
	poolCore      = []suite{{pkg: "./validators/mempool"}}
	rationsCore   = []suite{{pkg: "./validators/rations"}}
	logTests      = []suite{{pkg: "./internal/environment/store/log"}}
	boltTests     = []suite{{pkg: "./internal/environment/store/bolt"}}
	homeTests     = []suite{{pkg: "./internal/environment/home"}}
	shellTests    = []suite{{pkg: "./validators"}}
	forgedTests   = []suite{{pkg: "./validators/catchup"}, {pkg: "./validators", run: "TestForgedBatches|TestABatchFrom"}}
	lostTests     = []suite{{pkg: "./internal/worlds/sim", run: "TestALostSubmission"}}
	laggingTests  = []suite{{pkg: "./internal/worlds/sim", run: "TestALogIsNotRewrittenBeyondTheStore"}}
	typesTests    = []suite{{pkg: "./internal/base/types"}}
	hostTests     = []suite{{pkg: "./internal/environment/pyhost"}}
	waitingTests  = []suite{
		{pkg: "./internal/environment/pyhost", run: "WouldDoAtOnce|LimitsOfContinuations|NoLocalName|ToldOnce|Uncaught"},
		{pkg: "./validators/ledger", run: "Continuation|Watchdog|LateCallback|OnRunnerResult"},
	}
	pickTests   = []suite{{pkg: "./runners/selection"}}
	pushTests   = []suite{{pkg: "./internal/base/wire/push"}}
	gatewayCore = []suite{{pkg: "./validators/gateway"}}
	runnerCores = []suite{{pkg: "./runners/session"}, {pkg: "./runners/worker"}}
	quicTests   = []suite{{pkg: "./internal/environment/transport/quic"}}
	traceTests  = []suite{{pkg: "./validators/ledger", run: "Trace"}}
	toldTests   = []suite{{pkg: "./internal/answers/readmodel", run: "Trace"}}
	notesTests  = []suite{{pkg: "./internal/environment/pyhost", run: "Noted|Notes|Lines|Coverage|Profile"}}
	valueTests  = []suite{{pkg: "./actors", run: "Value"}}

	// worldTests see what only a whole network shows; killTests a whole process.
	worldTests = []suite{
		{pkg: "./internal/worlds/sim", run: "Campaign$|OneLiar|JoinAndLeave|AllOfGenesis|WasDown|Tampered", args: []string{"-seeds", "20"}},
		{pkg: "./internal/runs/simulated", run: "TestSeedsOfTheLibrary"},
	}
	killTests = []suite{{pkg: "./internal/worlds/box", run: "TestKillMinus9"}}
)

// mutants are small faults, one each. Names that begin with a letter and a number
// come from the first review of the chain, where they were planted by hand. If its
// words did not name the line, the fault is the nearest.
var mutants = []mutant{
	// Messages that are signed, counted and voted for.
	{name: "S01", what: "duplicate votes add to the tally", tests: consensusCore, edits: []edit{
		{"validators/simplex/round.go", "if b.votes[index] != nil {\n\t\treturn 0, b.votes[index]",
			"if b.votes[index] != nil && !sameVote(b.votes[index], v) {\n\t\treturn 0, b.votes[index]"}}},
	{name: "S02", what: "n - f - 1 votes are a certificate", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "\t}\n\treturn set.Quorum()\n}", "\t}\n\treturn set.Quorum() - 1\n}"}}},
	{name: "S03", what: "the view after the parent's need not be nullified", tests: consensusCore, edits: []edit{
		{"validators/simplex/voter.go", "v >= first; v-- {", "v > first; v-- {"}}},
	{name: "SlowLinks", what: "a notarization resets the timeouts", tests: paceTests, edits: []edit{
		{"validators/simplex/synchronizer.go", "r != nil && r.finalization != nil {", "r != nil && r.notarization != nil {"}}},
	{name: "SlowView", what: "a view that was nullified and notarized late does not count as fruitless", tests: paceTests, edits: []edit{
		{"validators/simplex/synchronizer.go", "r.notarization != nil && r.ownVote(types.Nullify) == nil {", "r.notarization != nil {"}}},
	{name: "Deep", what: "blocks are built on however many wait for finality", tests: paceTests, edits: []edit{
		{"validators/simplex/proposer.go", "m.bodies.depthAbove(n, m.root.Hash) >= MaxOpenDepth || ", ""}}},
	{name: "Spin", what: "fruitless views pass as fast as links are", tests: paceTests, edits: []edit{
		{"validators/simplex/pacemaker.go", "if p.surplus == 0 {", "if p.surplus >= 0 {"}}},
	{name: "Gone", what: "views that made room are forgotten", tests: paceTests, edits: []edit{
		{"validators/simplex/views.go", "r.nullification != nil || m.gone.hasView(v)", "r.nullification != nil"}}},
	{name: "FirstAnswer", what: "certificates are asked for from the first view on, again and again", tests: paceTests, edits: []edit{
		{"validators/simplex/views.go", "return max(from, v-v%certificateStep)", "return from"}}},
	{name: "AgainLost", what: "a restart forgets that its root was proposed again", tests: paceTests, edits: []edit{
		{"validators/simplex/recovery.go", "if c.Epoch != m.set.Epoch || c.View <= m.root.Block.Header.View {",
			"if true {"}}},
	{name: "Hurried", what: "a child may be stamped a millisecond after its parent", tests: paceTests, edits: []edit{
		{"validators/simplex/voter.go", "Add(m.gapAfter(n.block.Header.Parent)).Millis()", "Add(1).Millis()"}}},
	{name: "OneClock", what: "one liar says that a clock is off", tests: paceTests, edits: []edit{
		{"validators/simplex/clocks.go", "return c.heard[faulty]", "return c.heard[len(c.heard)-1]"}}},
	{name: "SetBack", what: "timeouts stand still where a clock is set back", tests: paceTests, edits: []edit{
		{"validators/simplex/machine.go", "m.clock, m.now = now, now.Add(m.back)", "m.clock, m.now, m.back = now, max(now, m.now), 0"}}},
	{name: "S04", what: "no notarization of the parent", tests: consensusCore, edits: []edit{
		{"validators/simplex/headers.go", "if !doesCertify(b.Parent, types.Notarize, b.Header.Parent, parent) {",
			"if b.Parent == nil && parent.Height > 1<<60 {"}}},
	{name: "S05", what: "finalize after nullify", tests: consensusCore, edits: []edit{
		{"validators/simplex/collector.go", "m.isFreeOf(c.View) && r.ownVote(types.Nullify) == nil && r.ownVote(types.Finalize) == nil",
			"m.isFreeOf(c.View) && r.ownVote(types.Finalize) == nil"}}},
	{name: "S06", what: "nullify after finalize", tests: consensusCore, edits: []edit{
		{"validators/simplex/synchronizer.go", "m.me < 0 || r.ownVote(types.Nullify) != nil || r.ownVote(types.Finalize) != nil {",
			"m.me < 0 || r.ownVote(types.Nullify) != nil {"}}},
	{name: "unchecked-votes", what: "votes that a certificate adds to known ones are not taken", tests: consensusCore, edits: []edit{
		{"validators/simplex/unchecked.go", "if b.votes == nil || b.votes[next] == nil {", "if b.votes == nil {"}}},
	{name: "unchecked-block", what: "a certificate of another block passes as known", tests: consensusCore, edits: []edit{
		{"validators/simplex/unchecked.go", "held == nil || held.Block != c.Block || held.Height != c.Height {", "held == nil {"}}},
	{name: "S07", what: "any member signs any view's proposal", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "!ok || signer != set.Leader(p.View) {", "!ok || set.Index(signer) < 0 {"}}},
	{name: "S08", what: "nothing is sent again", tests: consensusCore, edits: []edit{
		{"validators/simplex/synchronizer.go", "\tm.fetcher.last = certRequest{}\n\tm.resendRound(m.rounds[m.view])",
			"\tm.fetcher.last = certRequest{}\n\treturn\n\tm.resendRound(m.rounds[m.view])"}}},
	{name: "S09", what: "finalize votes of past views are not sent again", tests: consensusCore, edits: []edit{
		{"validators/simplex/synchronizer.go", "m.resendFinalize(m.rounds[v])", "_ = m.rounds[v]"}}},
	{name: "S10", what: "an epoch's views begin after the finalization's", tests: consensusCore, edits: []edit{
		{"validators/simplex/epoch.go", "m.enterView(m.resumeView(), m.root.Finalization)",
			"m.enterView(max(m.resumeView(), m.root.Finalization.View+1), m.root.Finalization)"}}},
	{name: "S11", what: "a set takes over without a border", tests: consensusCore, edits: []edit{
		{"validators/simplex/executor.go", "e.Next != nil && n.block.Header.Border() && checkSet(e.Next, &n.block.Header) == nil",
			"e.Next != nil"}}},
	{name: "S12", what: "timeouts do not double", tests: consensusCore, edits: []edit{
		{"validators/simplex/pacemaker.go", " << p.doublings", ""}}},
	{name: "S13", what: "the own proposal is not kept", tests: consensusCore, edits: []edit{
		{"validators/simplex/proposer.go", "\tm.persistRecord(proposalRecord(p, n.hash))\n", ""}}},
	{name: "S14", what: "the own nullify vote is not kept", tests: consensusCore, edits: []edit{
		{"validators/simplex/collector.go", "\tm.persistRecord(voteRecord(v))\n",
			"\tif v.Kind != types.Nullify {\n\t\tm.persistRecord(voteRecord(v))\n\t}\n"}}},
	{name: "S15", what: "frames leave before the log is written", tests: shellTests, edits: []edit{
		{"validators/consensus.go", "if plant.Planted == plant.SendsBeforeLog {", "if plant.Planted == plant.None {"}}},
	{name: "S16", what: "who enters a view forwards no certificate", tests: consensusCore, edits: []edit{
		{"validators/simplex/synchronizer.go", "\tif by != nil {\n\t\tm.broadcastMessage(by)\n\t}\n", ""}}},
	{name: "S18", what: "a vote's digest is without its view", tests: append(typesTests, consensusCore...), edits: []edit{
		{"internal/base/types/consensus.go", "\tbinary.BigEndian.PutUint64(content[9:], uint64(v.View))\n", ""}}},
	{name: "S19", what: "certificates that a block carries are not checked", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "if _, err := CheckCertificate(chainID, rec, sets, c); err != nil {",
			"if _, err := CheckCertificate(chainID, rec, sets, c); err != nil && c == nil {"}}},
	{name: "S20", what: "of the own votes only the first view's is restored", tests: consensusCore, edits: []edit{
		{"validators/simplex/recovery.go", "if r == nil || me < 0 || plant.Planted",
			"if r == nil || me < 0 || v.View > m.rootView()+1 || plant.Planted"}}},
	{name: "S22", what: "the view of an unheard leader does not end early", tests: consensusCore, edits: []edit{
		{"validators/simplex/cause.go", "r.view > m.heard[leader]+unheardViews:", "r.view > m.heard[leader]+unheardViews+1<<40:"}}},
	{name: "S23", what: "stamps may lie far ahead", tests: consensusCore, edits: []edit{
		{"validators/simplex/voter.go", "m.clock.Add(m.pace.Drift()).Millis()", "m.clock.Add(1000 * m.pace.Drift()).Millis()"}}},
	{name: "S25", what: "doubled timeouts are not taken back", tests: consensusCore, edits: []edit{
		{"validators/simplex/synchronizer.go", "for ; u > m.rootView() && count < limit; u-- {", "for ; u > 0 && count < limit; u-- {"},
		{"validators/simplex/synchronizer.go", "if r := m.rounds[u]; r != nil && r.finalization != nil {", "if u == 0 {"}}},
	{name: "S27", what: "proposals are taken from anybody", tests: consensusCore, edits: []edit{
		{"validators/simplex/voter.go", "if from != m.set.Leader(view) || view < m.view", "if view < m.view"}}},
	{name: "S31", what: "a member's signature is good for a vote of any other", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "if !ok || signer != v.Validator {", "if !ok || set.Index(signer) < 0 {"}}},
	{name: "S32", what: "the present quorum judges the epoch before", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "if len(c.Votes) < quorumOf(set) ||", "if len(c.Votes) < quorumOf(&sets[0]) ||"}}},
	{name: "S33", what: "anybody proposes in anybody's view (S07 and S27)", tests: consensusCore, edits: []edit{
		{"validators/simplex/verify.go", "!ok || signer != set.Leader(p.View) {", "!ok || set.Index(signer) < 0 {"},
		{"validators/simplex/voter.go", "if from != m.set.Leader(view) || view < m.view", "if view < m.view"}}},

	// Catch-up and mempool.
	{name: "C01", what: "a batch's finalization is not checked", tests: catchupCore, edits: []edit{
		{"validators/catchup/batch.go", "\treturn certificate(f)\n", "\treturn nil\n"}}},
	{name: "C02", what: "liars are asked again at once", tests: catchupCore, edits: []edit{
		{"validators/catchup/machine.go", "m.leaveOutFor(a, lyingTimeouts)", "m.leaveOutFor(a, 0)"}}},
	{name: "C03", what: "a batch's transactions are not checked", tests: catchupCore, edits: []edit{
		{"validators/catchup/batch.go", "if err := b.CheckBody(); err != nil {", "if err := b.CheckBody(); err != nil && h == nil {"}}},
	{name: "M01", what: "a replacement for the same fee", tests: poolCore, edits: []edit{
		{"validators/mempool/admit.go", "if sum, ok := fee.AddOk(step); ok {\n\t\treturn sum",
			"if _, ok := fee.AddOk(step); ok {\n\t\treturn fee"}}},
	{name: "M02", what: "one nonce too many", tests: poolCore, edits: []edit{
		{"validators/mempool/admit.go", "> p.limits.NonceAhead {", "> p.limits.NonceAhead+1 {"}}},
	{name: "M03", what: "what came in and was lost is not sent on again", tests: lostTests, edits: []edit{
		{"validators/pooling.go", "\tif len(again) > 0 {", "\tif len(again) > 0 && height == 0 {"}}},

	// Payments.
	{name: "L01", what: "a second refund where a message's limit was clamped", tests: ledgerTests, edits: []edit{
		{"validators/ledger/messages.go", "\tusedCycles, usedCells := x.Used()\n",
			"\tusedCycles, usedCells := x.Used()\n\tif cycles < m.Cycles {\n\t\tr.state.Credit(m.From, " +
				"m.PriceCycle.Mul(uint64(m.Cycles-cycles)))\n\t}\n"}}},
	{name: "L02", what: "tips go to the proposer of the block before", tests: ledgerTests, edits: []edit{
		{"validators/ledger/phases.go", "if plant.Planted == plant.TipsBefore && ", "if plant.Planted == plant.None && "}}},
	{name: "L04", what: "a delivery pays today's price, not the prepaid one", tests: ledgerTests, edits: []edit{
		{"validators/ledger/messages.go", "if plant.Planted == plant.PriceOfToday {", "if plant.Planted == plant.None {"}}},
	{name: "L05", what: "deliveries beyond the system lane are not counted", tests: ledgerTests, edits: []edit{
		{"validators/ledger/messages.go", "\tr.spendCycles(laneUser, cycles-fromSystem)\n", ""}}},
	{name: "L06", what: "a fire's refund goes to the actor", tests: ledgerTests, edits: []edit{
		{"validators/ledger/firing.go", "r.state.Credit(order.Timer.FeePayer, refund)", "r.state.Credit(order.Timer.Actor, refund)"}}},
	{name: "L07", what: "one due height may be skipped", tests: ledgerTests, edits: []edit{
		{"validators/ledger/state.go", "last = min(last, due)", "last = min(last, due+1)"}}},

	// Timers.
	{name: "T01", what: "the tier's border is one epoch early", tests: calendarCore, edits: []edit{
		{"scheduler/calendar/calendar.go", "case epoch-running <= c.sizes.QueueEpochs:", "case epoch-running < c.sizes.QueueEpochs:"}}},
	{name: "T02", what: "an actor's weight is ignored where the budget is parted", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/gba.go", "uint64(g.lane.Params.LaneTimerCycles), d.weight.Num)",
			"uint64(g.lane.Params.LaneTimerCycles), min(d.weight.Num, 1))"}}},
	{name: "T03", what: "the cleanup lane has no end", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/verdict.go", "> r.Params.GCCyclesPerBlock.Sub(r.out.GCCycles) {", "> r.Params.GCCyclesPerBlock {"}}},
	{name: "T04", what: "the fairness window is one block too long", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/fairness.go", "types.Height(w.params.FairnessWindowBlocks))", "types.Height(w.params.FairnessWindowBlocks+1))"}}},
	{name: "T05", what: "a timer that was cancelled in its block fires", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/turns.go", "\tif !r.ran {\n\t\treturn true", "\tif r != nil {\n\t\treturn true"}}},
	{name: "T06", what: "the ring is swept a block late", tests: calendarCore, edits: []edit{
		{"scheduler/calendar/maintain.go", "u.sweepRing(min(height-1, held))", "u.sweepRing(min(max(height, 2)-2, held))"}}},

	{name: "T16a", what: "a timer that cannot pay is not put into the arrears", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/arrears.go", "ReasonBelowCycleFee:\n\t\tstays = true", "ReasonBelowCycleFee:"}}},
	{name: "T16b", what: "a timer that can pay again stays in arrears", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/arrears.go", "default: // it could pay, and found no room\n\t\tstays = false", "default:"}}},
	{name: "T16c", what: "an examination in arrears takes no turn", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/arrears.go", "case d.Examined > 0 && !r.more:", "case d.Examined > 0:"}}},
	{name: "T16d", what: "a block that left out a timer settles the arrears", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/lane.go", "if !r.more {", "if r != nil {"}}},
	{name: "T16e", what: "a skipped timer leaves the arrears", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/arrears.go", "case ReasonNotBegun, ReasonHostFailed:", "case ReasonNotBegun:"}}},
	{name: "T16f", what: "an expired timer enters the arrears", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/arrears.go", "stays = stays || !d.hasExpired(r.Height)", "stays = true"}}},
	{name: "T16g", what: "the arrears have no bound", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/calendar/due.go", "min(arrears, limit-uint64(others))", "limit-uint64(others)"}}},
	{name: "T16h", what: "a bound that left out arrears settles them", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/lane.go", "inArrears == r.Params.MaxArrears", "inArrears > r.Params.MaxArrears"}}},
	{name: "T16i", what: "arrears of one examination go by sequence", tests: calendarCore, edits: []edit{
		{"scheduler/calendar/due.go", "cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Seq, b.Seq))", "cmp.Compare(a.Seq, b.Seq)"}}},
	{name: "T16j", what: "what the last full block examined is forgotten", tests: calendarCore, edits: []edit{
		{"scheduler/calendar/calendar.go", "at.settled = now", "at.settled = now - 1"}}},
	{name: "T16k", what: "the observer ignores arrears", tests: []suite{{pkg: "./internal/oracle"}}, edits: []edit{
		{"internal/oracle/examined.go", "cmp.Or(cmp.Compare(l.unpaid, m.unpaid), m.rank", "cmp.Or(m.rank"}}},
	{name: "T16l", what: "the observer takes an expired timer for the last examined", tests: []suite{{pkg: "./internal/oracle"}},
		edits: []edit{{"internal/oracle/examined.go", "last, n = &e.expired, &expired", "last, n = &e.live, &expired"}}},

	{name: "T16m", what: "fires of a deployer's actors count by actor, and are weighed by deployer", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/eip1559.go", "Actor: e.lane.fairnessParty(d.Actor)", "Actor: d.Actor"}}},

	{name: "T07", what: "an agent is told its own balance for the owner's", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/asking.go", "OwnerBalance: r.Books.Balance(q.actor)", "OwnerBalance: r.Books.Balance(q.bidder)"}}},
	{name: "T08", what: "an agent is told the use of a block that is long gone", tests: ledgerTests, edits: []edit{
		{"validators/ledger/firing.go", "\tif r.header.Skipped > 0 {\n\t\treturn 0", "\tif r.header.Skipped > 1<<40 {\n\t\treturn 0"}}},
	{name: "T09", what: "a fire may use half of its cycles", tests: ledgerTests, edits: []edit{
		{"validators/ledger/firing.go", "cause, order.Cycles, order.Cells,\n\t\tr.deliverUnsent(msg))",
			"cause, order.Cycles/2, order.Cells,\n\t\tr.deliverUnsent(msg))"}}},
	{name: "T10", what: "a watcher misses the change at its scheduling height", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/watch.go", "binary.BigEndian.Uint64(key[keyBytes:])) <= now {", "binary.BigEndian.Uint64(key[keyBytes:])) < now {"}}},
	{name: "T11", what: "PriorityTier.FAST is urgent", tests: hostTests, edits: []edit{
		{"python-host/host/bids.py", "Tier(n, n.lower())", "Tier(n, n.lower().replace('fast', 'urgent'))"}}},
	{name: "T12", what: "scheduling takes a wei into the escrow", tests: append(schedulerCore[1:], ledgerTests...), edits: []edit{
		{"scheduler/schedule.go", "\ttimer.Seq = readSequence(b.KV)\n",
			"\tb.Books.Move(actor, types.TimerEscrow, types.WeiOf(1))\n\ttimer.Seq = readSequence(b.KV)\n"}}},
	{name: "T13", what: "a timer that the lane deferred is not counted after it", tests: ledgerTests, edits: []edit{
		{"scheduler/block.go", "\tif b.LaneOver {", "\tif b.LaneOver && b.Height == 0 {"}}},
	{name: "T14", what: "what a lane did not come to is counted without what was written", tests: ledgerTests, edits: []edit{
		{"scheduler/store.go", "n += written.Balance(keys[0], keys[1],", "n += 0 * written.Balance(keys[0], keys[1],"}}},
	{name: "T15", what: "the keys of a timer's record cost no cells", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/cells.go", "types.Cells(len(key) + len(value))", "types.Cells(len(value))"}}},

	// Persisted and committed data.
	{name: "D01", what: "a record's checksum is not compared", tests: logTests, edits: []edit{
		{"internal/environment/store/log/format.go", "sum == binary.BigEndian.Uint32(data[4:])", "sum|1 != 0"}}},
	{name: "D02", what: "a torn tail is not cut off", tests: logTests, edits: []edit{
		{"internal/environment/store/log/read.go", "if err := l.file.Truncate(offset); err != nil {", "if err := error(nil); err != nil {"}}},
	{name: "D03", what: "appends are not synced", tests: logTests, edits: []edit{
		{"internal/environment/store/log/write.go", "\tif err := l.syncFile(l.file, l.path, false); err != nil {",
			"\tif err := error(nil); err != nil {"}}},
	{name: "D04", what: "the store never syncs, not for disk either", tests: boltTests, edits: []edit{
		{"internal/environment/store/bolt/bolt.go", "NoSync:          durability == store.Process,", "NoSync:          true,"}}},
	{name: "D05", what: "the name of a log is not synced", tests: logTests, edits: []edit{
		{"internal/environment/store/log/log.go", "\tif !naming {", "\tif naming || true {"}}},
	{name: "D06", what: "a log that takes another's name is not synced under it", tests: logTests, edits: []edit{
		{"internal/environment/store/log/write.go", "\tif err := l.syncFile(l.file, l.path, true); err != nil {",
			"\tif err := error(nil); err != nil {"}}},
	{name: "D07", what: "the name of a store is not synced", tests: boltTests, edits: []edit{
		{"internal/environment/store/bolt/bolt.go", "if made && durability == store.Disk {", "if made && durability != store.Disk {"}}},
	{name: "D08", what: "the name of a home's file is not synced", tests: homeTests, edits: []edit{
		{"internal/environment/store/replace.go", "return SyncDir(filepath.Dir(to))", "return nil"}}},
	{name: "D09", what: "the name of a home's directory is not synced", tests: homeTests, edits: []edit{
		{"internal/environment/home/layout.go", "return store.SyncDir(filepath.Dir(dir))", "return nil"}}},
	{name: "D10", what: "a new log takes its name before its content is synced", tests: logTests, edits: []edit{
		{"internal/environment/store/log/write.go", "l.syncFile(f, f.Name(), false)", "nil"}}},
	{name: "D11", what: "a load removes nodes before the loss of home.json is synced", tests: homeTests, edits: []edit{
		{"internal/environment/home/snapshot.go", "err = store.SyncDir(dir) // before anything else goes", "err = nil"}}},
	{name: "D12", what: "the name of the folder of snapshots is not synced", tests: homeTests, edits: []edit{
		{"internal/environment/home/snapshot.go", "errors.Join(makeDir(filepath.Dir(to), store.Disk), os.RemoveAll(fresh))",
			"os.RemoveAll(fresh)"}}},
	{name: "X01", what: "the tip is committed before the block it names", tests: shellTests, further: killTests, edits: []edit{
		{"validators/archiving.go", "if plant.Planted == plant.TipBeforeState {", "if plant.Planted == plant.None {"}}},
	{name: "X04", what: "the log is compacted to the head, not to what is stored", tests: laggingTests, further: killTests, edits: []edit{
		{"validators/consensus.go", "simplex.Compact(records, stored.asRoot())", "simplex.Compact(records, c.v.head.Load().asRoot())"}}},
	{name: "X06", what: "state with another root is taken", tests: ledgerTests, edits: []edit{
		{"validators/ledger/state.go", "root != block.Header.StateRoot {", "root != block.Header.StateRoot && block == nil {"}}},

	// Python.
	{name: "P01", what: "the keys of list.sort(key=) are not charged", tests: hostTests, edits: []edit{
		{"python-host/host/methods.py", "    weigh_times(keys, logarithm(n) + 1)\n", ""}}},
	{name: "P03", what: "slices are not charged by their size", tests: hostTests, edits: []edit{
		{"python-host/host/ops.py", "charge(made // (MOVED if isinstance(value, (bytes, bytearray)) else HELD) + SLICED)",
			"charge(0 * made + SLICED)"}}},

	// Waits of Python actors.
	{name: "K01", what: "a stranger's job wakes a continuation", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", " or found[2] != outcome.job", ""}}},
	{name: "K02", what: "any caller may deliver the outcome of a job", tests: waitingTests, edits: []edit{
		{"python-host/host/program.py", "if kind != \"call\" or chain.now.about.sender != DISPATCHER:", "if kind != \"call\":"}}},
	{name: "K03", what: "the watchdog does not cancel the job", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", "    stop_other(chain.CANCEL_JOB, job)\n", ""}}},
	{name: "K04", what: "a continuation that ended keeps its place", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", "PLACE + run.place)\n        give_place(run.place)\n", "PLACE + run.place)\n"}}},
	{name: "K05", what: "an actor writes the keys of the SDK", tests: hostTests, edits: []edit{
		{"python-host/host/chain.py", "if key[:len(RESERVED)] == RESERVED:", "if key == RESERVED:"}}},
	{name: "K06", what: "a name that an await forgets is read", tests: waitingTests, edits: []edit{
		{"python-host/host/liveness.py", "            lost.update(self.forgotten_by(value))\n", ""}}},
	{name: "K07", what: "an uncaught error of an await undoes its message", tests: waitingTests, edits: []edit{
		{"python-host/host/program.py", "if not continuations.is_untouched(run, e):", "if True:"}}},
	{name: "K08", what: "nine awaits in a row", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", "if run.awaits == MAX_AWAITS:", "if run.awaits > MAX_AWAITS:"}}},
	{name: "K09", what: "an outcome is told twice", tests: waitingTests, edits: []edit{
		{"python-host/host/jobs.py", "  # another handler waits for it\n    chain.forget_state(key_of(told.job))\n", "\n"}}},
	{name: "K10", what: "the watchdog stays when the outcome came", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", "    stop_other(chain.CANCEL, timer)\n", ""}}},
	{name: "K11", what: "a run that did something ends without its error", tests: waitingTests, edits: []edit{
		{"python-host/host/continuations.py", " and run.error[1] == chain.now.changes", ""}}},
	{name: "K12", what: "the way to an await is taken whatever the condition says", tests: waitingTests, edits: []edit{
		{"python-host/host/awaits.py", "return ast.BoolOp(ast.Or(), [self.begins_at(*within), fresh]) if within else fresh",
			"return ast.BoolOp(ast.Or(), [self.at(0, *within), fresh]) if within else fresh"}}},

	// Parts that came later than the review.
	{name: "passed-list", what: "the skipped items of a block are not compared (C18)", tests: ledgerTests, edits: []edit{
		{"validators/ledger/passing.go", "if types.PassedHash(p.claimed) != types.PassedHash(made) {",
			"if p.claimed == nil && made != nil {"}}},
	{name: "passed-header", what: "the header's hash of skipped items is not judged at first (C18)", tests: ledgerTests, edits: []edit{
		{"validators/ledger/blocks.go", "case claimed.Passed != own:", "case claimed.Passed != own && own.IsZero():"}}},
	{name: "blame-early", what: "f validators end a timer or message, not f + 1 (C18)", tests: append(typesTests, ledgerTests...),
		edits: []edit{
			{"internal/base/types/passed.go", "len(after) > s.MaxFaulty()", "len(after) >= s.MaxFaulty()"}}},
	{name: "sponsor-undrawn", what: "fires draw nothing from the signed amount (T28)", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/sponsor.go", "a.Left = a.Left.Sub(amount) })", "a.Left = a.Left.Sub(types.Wei{}) })"}}},
	{name: "sponsor-unbounded", what: "a fire is judged only by the payer's balance (T28)", tests: schedulerCore[1:], edits: []edit{
		{"scheduler/sponsor.go", "return holds.Min(a.Left)", "return holds.Min(holds.Add(a.Left))"}}},
	{name: "sponsor-foreign", what: "any address can be made to pay (T2, T28)", tests: append(schedulerCore[1:], ledgerTests...),
		edits: []edit{
			{"scheduler/schedule.go", "case signed == nil || t.FeePayer != signed.Signer:", "case signed == nil:"}}},
	{name: "lost-returns", what: "who lost its log votes again at the first final block (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "if m.root.Block.Header.Timestamp > m.sitsOut {", "if m.root.Block.Header.Timestamp > 0 {"}}},
	{name: "lost-forgets", what: "a crash ends the sitting out (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "beginRecord(m.sitsOut, m.root.Hash)", "beginRecord(0*m.sitsOut, m.root.Hash)"}}},
	{name: "lost-unseen", what: "a log that is gone is not noticed (C5)", tests: shellTests,
		further: []suite{{pkg: "./internal/worlds/box", run: "TestAHomeWithoutALog"}}, edits: []edit{
			{"validators/simplex/reach.go", "return r == Short || r == Empty && ran", "return r == Short"}}},
	{name: "cut-unseen", what: "a log that lost its end is not noticed (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/reach.go", "reach = Short", "reach = Whole"}}},
	{name: "cut-notarized", what: "a notarization of the tip passes for its finalization in a log (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/reach.go", "return err == nil && c.Kind == types.Finalize, err", "return err == nil, err"}}},
	{name: "caught-up-unsaid", what: "the log does not say what catch-up brought (C5)",
		tests: []suite{{pkg: "./internal/worlds/sim", run: "TestCampaign$"}}, edits: []edit{
			{"validators/consensus.go", "c.v.node.Log.Append(simplex.CaughtUpRecord(ask.Batch.Proof()))", "error(nil)"}}},
	{name: "begins-in-vain", what: "a log that was lost twice reports only the first time (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "\tcase m.cfg.Lost:\n\t\tm.beginLog(true)\n", "\tcase m.cfg.Lost && !m.begun:\n\t\tm.beginLog(true)\n"}}},
	{name: "vouch-span", what: "a wiped validator votes a view too early (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "const vouchSpan = 2", "const vouchSpan = 1"}}},
	{name: "vouch-replayed", what: "answers to another life vouch (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "if a.Nonce != v.nonce || v.answers == nil ||", "if v.answers == nil ||"}}},
	{name: "vouch-late", what: "a late notarization up to the floor gets a finalize vote (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/collector.go", "m.me >= 0 && m.isFreeOf(c.View) &&", "m.me >= 0 &&"}}},
	{name: "vouch-few", what: "a quorum less one vouches (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "if len(v.answers) < m.set.Quorum() {", "if len(v.answers) < m.set.Quorum()-1 {"}}},
	{name: "vouch-epoch", what: "a floor of one epoch holds in the next (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/membership.go", "m.floor.known && m.floor.epoch == m.set.Epoch && v", "m.floor.known && v"}}},
	{name: "vouch-unsaid", what: "a crash forgets the floor (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "\tm.persistRecord(vouchRecord(f))\n", ""}}},
	{name: "vouch-lost", what: "the floor of a life whose log is lost holds (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/lost.go", "m.stranger, m.floor, m.vouchers = stranger{}, floor{}, vouchers{}",
			"m.stranger, m.vouchers = stranger{}, vouchers{}"}}},
	{name: "vouch-sitting", what: "a validator that sits out vouches (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/responder.go", "if m.sitsOut != 0 || m.me < 0 ||", "if"}}},
	{name: "finality-unasked", what: "no validator asks for a finalization that does not arrive (C4)", tests: consensusCore, edits: []edit{
		{"validators/simplex/machine.go", "	m.seekFinality()\n", ""}}},
	{name: "ration-shared", what: "rubbish uses up the rations of the consensus", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "frames, bytes = BulkFrames, BulkBytes", "frames, bytes = Frames, Bytes"}}},
	{name: "muted-unheard", what: "of a muted peer nothing is taken", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "class == Bulk && a.muted.isOn(now) ||", "a.muted.isOn(now) ||"}}},
	{name: "muted-wide", what: "a muted peer spends as any other", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "		of = heard\n", ""}}},
	{name: "pressure-none", what: "a peer that sends more than is taken is never shut out", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "	if l.left > 0 {\n		return false\n	}\n	a.shut", "	if true {\n		return false\n	}\n	a.shut"}}},
	{name: "border-votes", what: "a crash forgets own votes of the epoch after a border (C5, C6)", tests: consensusCore, edits: []edit{
		{"validators/simplex/recovery.go", "} else if later[i].Epoch == m.set.Epoch {",
			"} else if later[i].Epoch == m.set.Epoch && later[i].Kind != voteKind {"}}},
	{name: "former-until", what: "a former log that is adopted forgets its sitting out (C5)", tests: consensusCore, edits: []edit{
		{"validators/simplex/reach.go", "adopted[0] = beginRecord(until, root.Hash)", "adopted[0] = beginRecord(0*until, root.Hash)"}}},
	{name: "store-page-twice", what: "a page that is used twice is not noticed", tests: boltTests, edits: []edit{
		{"internal/environment/store/bolt/verify.go", "before = w.seen[id/64]&(1<<(id%64)) != 0",
			"before = w.seen[id/64]&(1<<(id%64)) != 0 && w.page == 0"}}},
	{name: "store-value", what: "a value's checksum is not compared", tests: boltTests, edits: []edit{
		{"internal/environment/store/bolt/bolt.go", "if len(stored) < sumBytes || binary.LittleEndian.Uint32(stored) != sumOf(bucket, " +
			"key, stored[sumBytes:]) {", "if len(stored) < sumBytes {"}}},
	{name: "ration-free", what: "what a peer spends is not taken from its ration", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "\tl.left -= int64(n)\n\treturn true, false", "\treturn true, false"}}},
	{name: "ration-turns", what: "peers do not take turns", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "r.turn[class], r.passed[class] = at+1, 0", "r.turn[class], r.passed[class] = 0, 0"}}},
	{name: "ration-answers", what: "one request may be answered without end", tests: rationsCore, edits: []edit{
		{"validators/rations/rations.go", "\ta.expected[what]--\n", ""}}},
	{name: "set-epoch", what: "a batch's blocks may be of an older set (C6)", tests: forgedTests, edits: []edit{
		{"validators/catchup/batch.go", "case h.SetEpoch != c.epoch:", "case h.SetEpoch > c.epoch:"}}},
	{name: "next-set", what: "the set after a border is not the header's (C6)", tests: append(typesTests, consensusCore...), edits: []edit{
		{"internal/base/types/consensus.go", "return set.Epoch > h.SetEpoch && set.Hash() == h.NextSet", "return set.Epoch > h.SetEpoch"}}},

	// Connections between runners and validators.
	{name: "hard-failure", what: "a runner that answers no job stays present (CIP-11 §10.6)", tests: gatewayCore, edits: []edit{
		{"validators/gateway/delivery.go", "\tp.present = false\n", ""}}},
	{name: "fast-blocks", what: "pings age only by blocks (J13)", tests: gatewayCore, edits: []edit{
		{"validators/gateway/chain.go", " || now < c.timeAfter(since, blocks)", ""}}},
	{name: "push-again", what: "open assignments are not pushed after the next Hello (J13)", tests: gatewayCore, edits: []edit{
		{"validators/gateway/greeting.go", "\tm.deliverOpen(p)\n", ""}}},
	{name: "overlap-left", what: "a runner leaves its former subset at once (CIP-11 §5.3)", tests: runnerCores, edits: []edit{
		{"runners/selection/rotation.go", "if r.Overlaps(height, p) {", "if false {"}}},
	{name: "executed-twice", what: "each delivery of an assignment is executed (CIP-11 §10.1)", tests: runnerCores, edits: []edit{
		{"runners/worker/assignment.go", "if j := m.jobs[id]; j != nil {", "if j := m.jobs[id]; j != nil && false {"}}},
	{name: "guest-streams", what: "a peer of the mesh may open streams both ways", tests: quicTests, edits: []edit{
		{"internal/environment/transport/quic/session.go", "\ts.wg.Go(s.refuseStreams)\n", ""}}},

	// Runners: their draw, and reads of their records.
	{name: "subset-overlap", what: "former subsets hold a block too long (J10)", tests: pickTests, edits: []edit{
		{"runners/selection/rotation.go", "< p.OverlapBlocks", "<= p.OverlapBlocks"}}},
	{name: "subset-last", what: "a nearer validator does not take the place of the last (§5.1)", tests: pickTests, edits: []edit{
		{"runners/selection/subset.go", "places[len(places)-1].key[:]) >= 0 {", "places[len(places)-1].key[:]) != 0 {"}}},
	{name: "bitmap-beyond", what: "a bitmap may have a bit beyond its length (C3, J12)", tests: pickTests, edits: []edit{
		{"runners/selection/bitmap.go", "body[len(body)-1]>>(length%8) != 0", "body[len(body)-1]>>(length%8) > 1"}}},
	{name: "presence-carry", what: "a carry of three votes is lost", tests: pickTests, edits: []edit{
		{"runners/selection/presence.go", "half ^ c, a&b | half&c", "half ^ c, a&b | a&c"}}},
	{name: "favour-moved", what: "a favoured runner that is swapped away is not followed (§9.3)", tests: pickTests, edits: []edit{
		{"runners/selection/draw.go", "\tcase i:\n\t\tu.favoured = found\n", ""}}},
	{name: "stake-rounded", what: "the cover of a price is rounded down (§9.1)", tests: pickTests, edits: []edit{
		{"runners/selection/filter.go", "big.NewInt(999)", "big.NewInt(0)"}}},
	{name: "push-keys", what: "a key may be in a frame twice (J14)", tests: pushTests, edits: []edit{
		{"internal/base/wire/push/item.go", "if bytes.Equal(keys[i], keys[i-1]) {", "if i > 99 && bytes.Equal(keys[i], keys[i-1]) {"}}},
	{name: "push-depth", what: "frames nest one deeper (J14)", tests: pushTests, edits: []edit{
		{"internal/base/wire/push/item.go", "skipItem(data, MaxDepth)\n\tif err == nil", "skipItem(data, MaxDepth+1)\n\tif err == nil"}}},
	{name: "push-missing", what: "a field may be missing", tests: pushTests, edits: []edit{
		{"internal/base/wire/push/form.go", "if !seen[each.index] {", "if !seen[each.index] && each.name != \"nonce\" {"}}},
	{name: "push-amount", what: "an amount below 2^64 may have a tag", tests: pushTests, edits: []edit{
		{"internal/base/wire/push/form.go", "h.argument <= short ||", "h.argument < short ||"}}},
	{name: "push-deadline", what: "an assignment's deadline is not signed", tests: pushTests, edits: []edit{
		{"internal/base/wire/push/sign.go", "f.JobSpec.Hash(), be8(f.DeadlineBlock)", "f.JobSpec.Hash(), be8(f.BlockHeight)"}}},

	// Reports for authors: traces, notes of lines, and the value of a call.
	{name: "trace-cycles", what: "a step of a trace has the cycles that were left before it", tests: traceTests, edits: []edit{
		{"actors/trace.go", "noted.Cycles, noted.Cells = cycles-t.frame.left, cells-t.frame.x.cellsLeft",
			"noted.Cycles, noted.Cells = cycles, cells-t.frame.x.cellsLeft"}}},
	{name: "trace-old", what: "a trace has no value from before a write", tests: traceTests, edits: []edit{
		{"actors/trace.go", "Key: key, Old: t.r.keepValue(old), HadOld: had}, func(s *TracedStep) error {\n\t\ts.Value, s.Found = value, true",
			"Key: key, Old: t.r.keepValue(old[:0]), HadOld: had}, func(s *TracedStep) error {\n\t\ts.Value, s.Found = value, true"}}},
	{name: "trace-bound", what: "a trace holds any number of values", tests: traceTests, edits: []edit{
		{"actors/trace.go", "if r.bytes+len(b) > MaxTraceBytes {", "if len(b) > MaxTraceBytes {"}}},
	{name: "trace-undone", what: "a trace reports undone writes as changed", tests: toldTests, edits: []edit{
		{"internal/answers/readmodel/traced.go", "\tif c.Undone {\n\t\treturn\n\t}\n\tfor i", "\tfor i"}}},
	{name: "notes-line", what: "what a line took is noted of the next", tests: notesTests, edits: []edit{
		{"python-host/host/probe.py", "n.last - now\n    n.last = now\n", "n.last - now\n    n.last = now - 1\n"}}},
	{name: "value-inherited", what: "a callee sees what came with its caller's call (F38)", tests: valueTests, edits: []edit{
		{"actors/calls.go", "Payload: append([]byte{}, payload...)}", "Payload: append([]byte{}, payload...), Value: f.msg.Value}"}}},
	{name: "value-hidden", what: "a handler does not see the value of its call (F38)", tests: valueTests, edits: []edit{
		{"actors/execution.go", "\tmsg.Value = value\n", ""}}},
}
