package mutate

// Tests that judge mutants of decision C25.
var upgradeTests = []suite{{pkg: "./validators/ledger", run: "C25"}, {pkg: "./actors", run: "Upgrade|Continuations|Old"}}

// upgradeMutants are faults in who upgrades an actor, when, and what an upgrade leaves.
var upgradeMutants = []mutant{
	{name: "upgrade-by-all", what: "any account upgrades an actor", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "case u.record.Terms.By != by:", "case false:"}}},
	{name: "upgrade-race", what: "an upgrade replaces code that it was not made for", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "case from != nil && *from != u.actor.CodeHash:", "case false:"}}},
	{name: "upgrade-early", what: "an announced upgrade is applied before its height", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "case x.block.Height < waits.At:", "case false:"}}},
	{name: "upgrade-shorter", what: "a delay becomes shorter", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "case terms.Delay < u.record.Terms.Delay:", "case false:"}}},
	{name: "upgrade-announced", what: "new terms keep an announced upgrade", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "u.record.Terms, u.record.Announced = terms, nil", "u.record.Terms = terms"}}},
	{name: "upgrade-half", what: "a failed upgrade keeps its writes", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "\toutcome, err := x.upgradeActor(by, at, in)\n\tif err == nil && outcome.Status != types.StatusOK {",
			"\toutcome, err := x.upgradeActor(by, at, in)\n\tif mark.state < 0 {"}}},
	{name: "upgrade-loses", what: "new code loses state without migrate", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "case lost.count > 0:", "case false:"}}},
	{name: "upgrade-orphans", what: "timers are left without a handler", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "broken := !hasHandler(u.found, t.Handler) || known", "broken := known"}}},
	{name: "upgrade-arguments", what: "timers are left with arguments that the handler refuses", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", " || known[t.ID] && u.breaks[t.Handler] != \"\"", " || known[t.ID] && false"}}},
	{name: "upgrade-waiting", what: "continuations are left without their code", tests: upgradeTests, edits: []edit{
		{"actors/upgrade.go", "\t\t\tfound.live++\n", ""}}},
	{name: "migrate-open", what: "a transaction calls migrate", tests: upgradeTests, edits: []edit{
		{"actors/execution.go", "msg.Handler == program.MigrateHandler && msg.Kind != program.Migrate", "false"}}},
}
