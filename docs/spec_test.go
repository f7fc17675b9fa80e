package docs

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// required is every section that has to have a row; so has every decision C and T
// of DECISIONS.md.
var required = strings.Split(strings.TrimSpace(`
CIP-5 §1
CIP-5 §2
CIP-5 §3.1
CIP-5 §3.2
CIP-5 §3.3
CIP-5 §4.1
CIP-5 §4.2
CIP-5 §4.3
CIP-5 §5.1
CIP-5 §5.2
CIP-5 §5.3
CIP-5 §6.1
CIP-5 §6.2
CIP-5 §6.3
CIP-5 §7
CIP-5 §8
CIP-5 §9
CIP-5 Appendix A
CIP-5 Appendix B
CIP-5 new
CIP-1 §2.1
CIP-1 §2.2
CIP-1 §2.3
CIP-1 §3 step 1
CIP-1 §3 step 2
CIP-1 §3 step 3
CIP-1 §3 step 4
CIP-1 §3 step 5
CIP-1 §3 step 6
CIP-1 §3 step 7
CIP-1 §3 step 8
CIP-1 §3 step 9
CIP-1 §3 step 10
CIP-1 §3 step 11
CIP-1 §4
CIP-1 §5
CIP-1 §6
CIP-1 §7
CIP-1 §8
CIP-1 §9
CIP-1 §10
CIP-1 §11
CIP-1 §12
CIP-1 §13.1
CIP-1 §13.2
CIP-1 §14
CIP-1 §15
CIP-1 §16
CIP-1 first revision
DoS protection
CIP-2
CIP-11
CIP-11 §3
CIP-11 §4.2
CIP-11 §5.1
CIP-11 §5.2
CIP-11 §5.3
CIP-11 §6.1
CIP-11 §6.2
CIP-11 §6.3
CIP-11 §6.4
CIP-11 §6.5
CIP-11 §7.1
CIP-11 §7.2
CIP-11 §7.3
CIP-11 §8.1
CIP-11 §8.2
CIP-11 §8.3
CIP-11 §8.4
CIP-11 §9.1
CIP-11 §9.2
CIP-11 §9.3
CIP-11 §9.4
CIP-11 §9.5
CIP-11 §10.1
CIP-11 §10.2
CIP-11 §10.3
CIP-11 §10.4
CIP-11 §10.5
CIP-11 §10.6
CIP-11 §11.1
CIP-11 §11.2
CIP-11 §11.3
CIP-11 §11.4
CIP-11 §11.5
CIP-11 §12.1
CIP-11 §12.2
CIP-11 §12.3
CIP-11 §12.4
CIP-11 §13
CIP-11 §14
CIP-11 §15.1
CIP-11 §15.2
CIP-11 §15.3
CIP-11 §15.4
CIP-11 §15.5
CIP-11 §15.6
CIP-11 §15.7
CIP-11 §16
CIP-11 §17
CIP-3 cycles
CIP-3 cells
CIP-3 base fees
CIP-3 tip
CIP-3 limits
CIP-3 lanes
CIP-6 bare functions
CIP-6 class style
CIP-6 pvm_host
CIP-6 runtime
CIP-6 init
CIP-6 handlers
CIP-6 call
CIP-6 send
CIP-6 continuations
CIP-6 determinism
CIP-6 address
CIP-6 reads
RPC
J1
J2
J3
J4
J5
J6
J7
J8
J9
J10
J11
J12
J13
J14
J15
J16
J17
J18
J19
J20`), "\n")

// words are the MUSTs of these specs, and Appendix B's lines, as written there: a
// row of the section quotes each.
var words = map[string][]string{
	"CIP-5 §4.2": {
		"height MUST be strictly greater than the current block height",
		"Each timer fires exactly once and is immediately removed",
		"1,048,576 bytes",
	},
	"CIP-5 §4.3":  {"On transaction rollback, all timer side effects are discarded"},
	"CIP-5 §5.3":  {"Timers created within the current block’s transactions MUST NOT fire in the same block"},
	"CIP-5 §9.3":  {"the following invariant MUST hold"},
	"CIP-1 §4":    {"Timers created within the current block’s transactions MUST NOT execute in the same block"},
	"CIP-1 §8":    {"Phase-5 simulation MUST size the attack magnitude before this spec ships"},
	"CIP-1 §13.2": {"MUST drop the bid field in the same activation batch"},
	"CIP-1 §13.1": {
		"Each scheduling actor MUST fund either itself or a designated fee_payer",
	},
	"CIP-11 §5.2": {"A validator MUST reject connections from a runner not in the runner’s expected Sub(R, t)"},
	"CIP-11 §6.2": {
		"The runner’s party_pubkey MUST resolve to a RunnerRegistration",
		"MUST verify that its own identity is in Sub(runner.pubkey, current_subset_epoch)",
		"MUST rate-limit Hello attempts per peer IP",
	},
	"CIP-11 §6.3":  {"nonce MUST be strictly monotonic"},
	"CIP-11 §6.4":  {"validators MUST clear the corresponding bit"},
	"CIP-11 §7.1":  {"The vote signature MUST cover this field"},
	"CIP-11 §7.2":  {"A validator MUST emit exactly one vote per block"},
	"CIP-11 §7.3":  {"MUST NOT be consulted for any consensus-relevant decision"},
	"CIP-11 §12.3": {"The vote signature MUST cover this field"},
	"CIP-11 §12.4": {
		"Future CIPs that change the wire format MUST bump the major version",
		"Validators MUST close connections from runners advertising an unsupported major version",
	},
	"CIP-1 first revision §3 step 6": {"MUST include the address of the GBA"},
	"CIP-1 first revision §4.2":      {"Every actor that schedules a timer MUST specify a GBA contract"},
	"DoS protection":                 {"Any scheme MUST be deterministic, governance-defined, and clamped within bounds"},
	"CIP-11 §10.1":                   {"The runner MUST deduplicate by job_id"},
	"CIP-11 §11.1":                   {"MUST close the job stream and clear the runner's presence bit"},
	"CIP-1 §12":                      {"SYS_CANCEL_TIMER 48", "SYS_UPDATE_TIMER_CONFIG 49", "SYS_EXTEND_TIMER 50"},
	"CIP-5 Appendix B": {
		"class HeartbeatActor:", "INTERVAL = 10  # fire every 10 blocks", "def deploy(self):", "# Schedule first heartbeat",
		`pvm_host.schedule_timer(pvm_host.block_height() + self.INTERVAL, b"")`, "def handle_timer(self, payload):",
		"self.check_positions()", "self.rebalance()", "# Re-schedule for next interval",
	},
}

func readSpec(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSpecNamesWhatThereIsAndLeavesNothingOut(t *testing.T) {
	text := readSpec(t)
	r, err := newRules(checkout())
	if err != nil {
		t.Fatal(err)
	}
	required := slices.Concat(required, ofLetter(r.decisions, "C"), ofLetter(r.decisions, "T"))
	for _, wrong := range check(text, newSources(checkout()), required, words) {
		t.Error("SPEC.md: " + wrong)
	}
	if rows := len(parse(text).rows); rows < 150 {
		t.Errorf("SPEC.md has %d rows: the parser misses some", rows)
	}
}

// planted is a small module with every kind of thing a row may name.
var planted = fstest.MapFS{
	"core/core.go": {Data: []byte("package core\n\ntype Machine struct{ Height int }\n\nfunc (m *Machine) Step() {}\n\nconst " +
		"Limit = 1\n")},
	"core/core_test.go":         {Data: []byte("package core\n\nimport \"testing\"\n\nfunc TestStep(t *testing.T) {}\n\nfunc helper() {}\n")},
	"core/testdata/steps":       {Data: []byte("step\n")},
	"host/run.py":               {Data: []byte("WORDS = 1\n\nclass Actor:\n    def tick(self):\n        return other\n")},
	"other/deep.pkg/nothing.md": {Data: []byte("text\n")},
}

const right = "## A\n\n| section | what | code | test | status |\n|---|---|---|---|---|\n" +
	"| T1 | it MUST step | `core.Machine.Step` `core.Machine.Height` `core.Limit` `host/run.py:tick` `host/run.py:WORDS` | `core.TestStep` " +
	"`core/testdata/steps` | deviation (decision T1, C2); finding (F1) |\n" +
	"| T2 | later | — | — | not built (issue 5) |\n" +
	"## Builder's choices\n\n| choice | what | code | test |\n|---|---|---|---|\n| name | because | `core/core.go` | — |\n" +
	"## Findings\n\n### F1 · it is wrong\n\nSo it is.\nShown by `core.TestStep`.\n"

// TestPlantedErrorsAreFound breaks a right table in each way and sees it found.
func TestPlantedErrorsAreFound(t *testing.T) {
	required := []string{"T1", "T2"}
	words := map[string][]string{"T1": {"MUST step"}}
	judge := func(text string) []string { return check(text, newSources(planted), required, words) }
	if wrong := judge(right); len(wrong) > 0 {
		t.Fatalf("the right table is accused: %q", wrong)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown function", "`core.Machine.Step`", "`core.Machine.Leap`", "declares no Machine.Leap"},
		{"unknown field", "`core.Machine.Height`", "`core.Machine.Depth`", "declares no Machine.Depth"},
		{"unknown constant", "`core.Limit`", "`core.Limits`", "declares no Limits"},
		{"method without its type", "`core.Machine.Step`", "`core.Step`", "declares no Step"},
		{"a test is not code", "`core.Limit`", "`core.TestStep`", "declares no TestStep"},
		{"unknown package", "`core.Limit`", "`cores.Limit`", "no package cores"},
		{"unknown Python name", "run.py:tick", "run.py:tock", "defines no tock"},
		{"a Python name only used", "run.py:tick", "run.py:other", "defines no other"},
		{"unknown file", "host/run.py:tick", "host/ran.py:tick", "no file host/ran.py"},
		{"unknown test", "| `core.TestStep`", "| `core.TestStop`", "has no test TestStop"},
		{"a helper is not a test", "| `core.TestStep`", "| `core.helper`", "has no test helper"},
		{"unknown transcript", "core/testdata/steps", "core/testdata/leaps", "no path core/testdata/leaps"},
		{"a file is not a test", "core/testdata/steps", "core/core.go", "neither a test nor test data"},
		{"unknown status", "not built (issue 5)", "soon", `unknown status "soon"`},
		{"status in other words", "not built (issue 5)", "not built (later)", "unknown status"},
		{"deviation without a decision", "decision T1, C2", "decision of ours", "names no decision"},
		{"unknown finding", "finding (F1)", "finding (F2)", `no finding "F2"`},
		{"missing decision", "| T2 |", "| T3 |", "T2 is missing"},
		{"missing MUST", "it MUST step", "it steps", `no row quotes "MUST step"`},
		{"built without a test", "`core.TestStep` `core/testdata/steps` |", "— |", "the test cell is"},
		{"built without code", "| later | — |", "| later | `core.Limit` |", "the code cell is"},
		{"missing cell", "| T2 | later |", "| T2 |", "5 cells"},
		{"choice without code", "`core/core.go`", "none", "the code cell is"},
		{"choice of unknown code", "`core/core.go`", "`core/gone.go`", "no path core/gone.go"},
		{"finding without a test", "Shown by `core.TestStep`.", "It is known.", "says by no test"},
		{"finding with an unknown test", "Shown by `core.TestStep`.", "Shown by `core.TestStop`.", "F1: package core has no test TestStop"},
		{"finding out of order", "So it is.\nShown by", "So it is.\nShown by `core.TestStep`.\n\n### F1 · again\n\nShown by", "is where one above F1 belongs"},
		{"finding nothing refers to", "; finding (F1)", "", "no row of the table has it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := strings.Replace(right, c.old, c.new, 1)
			if broken == right {
				t.Fatal("nothing was broken")
			}
			wrong := judge(broken)
			if !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, c.want) }) {
				t.Errorf("found %q, want %q", wrong, c.want)
			}
		})
	}
}
