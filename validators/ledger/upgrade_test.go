package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The actor that is upgraded: a total, a map of balances, and a timer that pays interest.
const bank1 = `
from cowboy_sdk import Address, Hash, Map, actor, later, public, runtime, u8, u32
@actor
class Bank:
    total: int = 0
    held: Map[Address, int]
    @public
    def put(self, who: Address, amount: int) -> int:
        self.total += amount
        self.held[who] = self.held.get(who, 0) + amount
        return self.total
    @public
    def plan(self, after: u32, rate: int):
        later(self.interest, rate=rate).after(after)
    def interest(self, rate: int):
        self.total += rate
`

// bank2 doubles the total in its migrate, and keeps all else.
const bank2 = `
from cowboy_sdk import Address, Hash, Map, actor, later, public, runtime, u8, u32
@actor
class Bank:
    total: int = 0
    held: Map[Address, int]
    former: Hash | None = None
    @public
    def put(self, who: Address, amount: int) -> int:
        self.total += 2 * amount
        self.held[who] = self.held.get(who, 0) + amount
        return self.total
    @public
    def plan(self, after: u32, rate: int):
        later(self.interest, rate=rate).after(after)
    def interest(self, rate: int):
        self.total += 10 * rate
    def migrate(self, old: Hash, times: int = 2, fail: bool = False):
        self.total *= times
        self.former = old
        if fail:
            raise ValueError("on purpose")
`

// bankOf is bank1 with a change.
func bankOf(old, new string) string {
	code := strings.Replace(bank1, old, new, 1)
	if code == bank1 {
		panic("the bank has no " + old)
	}
	return code
}

func hashOf(code string) types.Hash { return types.Keccak([]byte(code)) }

// bank deploys bank1 with terms of upgrades, and puts 6 into it.
func (w *world) bank(terms *types.UpgradeTerms) {
	w.t.Helper()
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(bank1), Manifest: types.Manifest{Name: "bank", Upgrade: terms}}
	w.named("bank", actors.ActorAddress(w.key("alice").Address(), d.Salt, d.Code))
	tx := w.tx("alice", nil, d)
	tx.Value = types.WeiOf(100 * types.CBY)
	w.block(w.checked("alice", tx))
	w.ok()
	w.put(6)
	w.ok()
}

func (w *world) put(amount int) {
	w.t.Helper()
	w.block(w.call("carol", "bank", "put", fmt.Appendf(nil, `{"who":"%s","amount":"%d"}`, w.address("carol"), amount)))
}

// by is terms that let an account upgrade.
func (w *world) by(name string, delay uint64) *types.UpgradeTerms {
	return &types.UpgradeTerms{By: w.address(name), Delay: delay}
}

func (w *world) toBank(from string, payload any) *Checked {
	at := w.address("bank")
	tx := w.tx(from, &at, payload)
	tx.CyclesLimit = 1_000_000
	return w.checked(from, tx)
}

func (w *world) upgrade(from, old, code, migrate string) *Checked {
	return w.toBank(from, &types.Upgrade{Kind: types.KindUpgrade, From: hashOf(old), Code: []byte(code), Migrate: []byte(migrate)})
}

func (w *world) applyUpgrade(from, old, code string) *Checked {
	return w.toBank(from, &types.ApplyUpgrade{Kind: types.KindApply, From: hashOf(old), To: hashOf(code)})
}

func (w *world) terms(from string, terms *types.UpgradeTerms) *Checked {
	return w.toBank(from, &types.SetUpgradeTerms{Kind: types.KindTerms, Terms: terms})
}

// runs fails the test unless the bank's code is the given one.
func (w *world) runs(code string) {
	w.t.Helper()
	if record := w.head.Actor(w.address("bank")); record.CodeHash != hashOf(code) {
		w.t.Fatalf("the bank has code %s, want %s", record.CodeHash, hashOf(code))
	}
}

// total is the bank's total by its state.
func (w *world) total() (n int64) {
	w.t.Helper()
	value, found := w.head.Storage(w.address("bank"), []byte("total"))
	if !found {
		return 0
	}
	if err := codec.Unmarshal(value, 64, &n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) record() *actors.Upgradable { return w.head.Upgradable(w.address("bank")) }

// C25, 1: terms are declared at deploy, and name the only account that upgrades. Without
// them no account ever does. It hands over, lengthens the delay or ends upgrades for good.
func TestC25TermsAreDeclaredAtDeployAndNeverLoosened(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.bank(nil)
	if got := w.refused(w.upgrade("alice", bank1, bank2, "")); got != "not_upgradable" {
		t.Errorf("without terms: %s", got)
	}
	if got := w.refused(w.terms("alice", w.by("alice", 0))); got != "not_upgradable" {
		t.Errorf("terms after the deploy: %s", got)
	}

	w = newPythonWorld(t, nil)
	w.bank(w.by("bob", 3))
	if got := w.refused(w.upgrade("alice", bank1, bank2, "")); got != "not_upgrader" {
		t.Errorf("by the deployer, without being named in the terms: %s", got)
	}
	if got := w.refused(w.terms("alice", nil)); got != "not_upgrader" {
		t.Errorf("an end by the deployer: %s", got)
	}
	for _, c := range []struct {
		terms *types.UpgradeTerms
		want  string
	}{
		{w.by("bob", 2), "delay_shorter"},
		{&types.UpgradeTerms{Delay: 3}, "bad_upgrade"},
		{&types.UpgradeTerms{By: types.GovernanceAddress, Delay: 3}, "bad_upgrade"},
		{w.by("bob", types.MaxUpgradeDelay+1), "bad_upgrade"},
	} {
		if got := w.refused(w.terms("bob", c.terms)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.terms, got, c.want)
		}
	}
	w.block(w.upgrade("bob", bank1, bank2, ""))
	w.ok()
	w.block(w.terms("bob", w.by("carol", 4)))
	w.ok()
	if r := w.record(); *r.Terms != *w.by("carol", 4) || r.Announced != nil {
		t.Errorf("handed over: %+v; want the new terms, and nothing announced", r)
	}
	if got := w.refused(w.terms("bob", w.by("bob", 4))); got != "not_upgrader" {
		t.Errorf("by the former: %s", got)
	}
	w.block(w.terms("carol", nil))
	w.ok()
	if got := w.refused(w.upgrade("carol", bank1, bank2, "")); got != "not_upgradable" {
		t.Errorf("after the end: %s", got)
	}
	if got := w.refused(w.terms("carol", w.by("carol", 9))); got != "not_upgradable" {
		t.Errorf("terms after the end: %s", got)
	}
	w.runs(bank1)
}

// C25, 2: with a delay an upgrade is announced with both hashes and its height, and applied
// from there on by a second instruction. The hash of the old code guards against a race.
func TestC25AnUpgradeIsAnnouncedAndAppliedAfterItsDelay(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.bank(w.by("bob", 3))
	if got := w.refused(w.applyUpgrade("bob", bank1, bank2)); got != "not_announced" {
		t.Errorf("unannounced: %s", got)
	}
	if got := w.refused(w.upgrade("bob", bank2, bank1, "")); got != "code_changed" {
		t.Errorf("from another code: %s", got)
	}
	w.block(w.upgrade("bob", bank1, bank2, `{"times":"3"}`))
	w.ok()
	announced := w.head.header.Height
	var told actors.UpgradeAnnounced
	if e := w.last.Receipts[0].Events; len(e) != 1 || e[0].Name != actors.EventUpgradeAnnounced || e[0].Actor != types.GovernanceAddress ||
		codec.Unmarshal(e[0].Data, 1000, &told) != nil ||
		told != (actors.UpgradeAnnounced{Actor: w.address("bank"), From: hashOf(bank1), To: hashOf(bank2), Height: announced + 3,
			Until: announced + 3 + 256}) {
		t.Errorf("events %+v, %+v", e, told)
	}
	if string(w.head.Code(hashOf(bank2))) != bank2 {
		t.Error("the announced code cannot be read")
	}
	w.runs(bank1)
	if got := w.refused(w.applyUpgrade("bob", bank1, bank2)); got != "too_early" { // announced + 1
		t.Errorf("early: %s", got)
	}
	if got := w.refused(w.applyUpgrade("bob", bank1, bank1)); got != "announced_other" { // announced + 2
		t.Errorf("other code: %s", got)
	}
	w.block(w.applyUpgrade("bob", bank1, bank2), w.applyUpgrade("bob", bank1, bank2)) // announced + 3
	if a, b := w.last.Receipts[0], w.last.Receipts[1]; a.Status != types.StatusOK || b.Error == nil || b.Error.Code != "code_changed" {
		t.Fatalf("at its height: %+v %v; a second time: %+v %v", a, a.Error, b, b.Error)
	}
	var done actors.Upgraded
	if e := w.last.Receipts[0].Events; len(e) != 1 || e[0].Name != actors.EventUpgraded || codec.Unmarshal(e[0].Data, 1000, &done) != nil ||
		done != (actors.Upgraded{Actor: w.address("bank"), From: hashOf(bank1), To: hashOf(bank2)}) {
		t.Errorf("events %+v, %+v", e, done)
	}
	w.runs(bank2)
	if w.total() != 18 {
		t.Errorf("total %d; want 6 times the announced 3", w.total())
	}

	// Two upgrades in a race: the second was made for the code that the first replaced.
	w = newPythonWorld(t, nil)
	w.bank(w.by("bob", 0))
	third := bankOf("total += rate", "total -= rate")
	w.block(w.upgrade("bob", bank1, bank2, ""), w.upgrade("bob", bank1, third, ""))
	if b := w.last.Receipts[1]; w.last.Receipts[0].Status != types.StatusOK || b.Error == nil || b.Error.Code != "code_changed" {
		t.Errorf("the second of two: %+v %v", b, b.Error)
	}
	w.runs(bank2)
}

// C25, 3: all or nothing. The state is kept without loss, or migrate of the new code
// changes it, as its own kind and on the signer's gas. Where it fails the old code stays.
func TestC25AnUpgradeIsAllOrNothing(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.bank(w.by("bob", 0))
	lost := bankOf("    total: int = 0\n", "    sum: int = 0\n")
	lost = strings.ReplaceAll(lost, "self.total", "self.sum")
	for _, c := range []struct{ name, code, migrate, want, says string }{
		{"a lost attribute", lost, "", "state_lost", "state total is removed"},
		{"a narrower type", bankOf("total: int", "total: u8"), "", "state_lost", "state total has fewer values"},
		{"arguments without migrate", bankOf("+= rate", "+= 2 * rate"), `{}`, "no_migrate", "no such handler"},
		{"the same code", bank1, "", "same_code", "has the code"},
		{"a syntax error", bankOf("def put", "def def"), "", "syntax", "syntax"},
		{"a migrate that fails", bank2, `{"fail":true}`, "value_error", "on purpose"},
		{"a wrong argument", bank2, `{"times":true}`, "bad_argument", "times"},
		{"an unknown argument", bank2, `{"time":"2"}`, "bad_argument", "time"},
		{"old from the signer", bank2, `{"old":"0x` + strings.Repeat("00", 32) + `"}`, "bad_argument", "old"},
		{"bytes instead of an object", bank2, "2", "bad_argument", ""},
		{"a typed migrate without old", bank2 + "\n", "", "", ""},
	} {
		if c.want == "" {
			c.code = strings.Replace(bank2, "old: Hash, ", "", 1)
			c.code = strings.Replace(c.code, "self.former = old", "pass", 1)
			c.want, c.says = "bad_migrate", "old: Hash"
		}
		before := w.head
		if got := w.refused(w.upgrade("bob", bank1, c.code, c.migrate)); got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, got, c.want, w.last.Receipts[0].Error)
		}
		if says := w.last.Receipts[0].Error.Message; !strings.Contains(says, c.says) {
			t.Errorf("%s: %q does not say %q", c.name, says, c.says)
		}
		w.runs(bank1)
		if w.total() != 6 || before.Code(hashOf(c.code)) == nil && w.head.Code(hashOf(c.code)) != nil {
			t.Errorf("%s: something stayed: total %d", c.name, w.total())
		}
	}
	owner := w.head.Account(w.key("bob").Address()).Balance
	w.block(w.upgrade("bob", bank1, bank2, `{"times":"2"}`))
	w.ok()
	r := w.last.Receipts[0]
	if r.Handler != "migrate" || r.To != w.address("bank") || owner.Sub(w.head.Account(w.key("bob").Address()).Balance) != r.Fee {
		t.Errorf("receipt %+v; want migrate of the bank, paid by the signer", r)
	}
	if w.runs(bank2); w.total() != 12 {
		t.Errorf("total %d, want 6 doubled", w.total())
	}
	if former, _ := w.head.Storage(w.address("bank"), []byte("former")); !strings.Contains(string(former), string(hashBytes(bank1))) {
		t.Errorf("migrate was given %x", former)
	}
	if got := w.refused(w.call("bob", "bank", "migrate", nil)); got != "no_handler" {
		t.Errorf("migrate, called: %s", got)
	}
	if got := w.refused(w.call("bob", "bank", "plan", []byte(`{"after":0,"rate":"1"}`))); got == "" {
		t.Error("the new code takes anything")
	}
}

func hashBytes(code string) []byte {
	h := hashOf(code)
	return h[:]
}

// C25, 4: address, state, balance, nonce, name and timers stay. An upgrade that would
// leave a timer without its handler is refused with the list, unless migrate cancels it.
func TestC25NoTimerIsOrphaned(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.bank(w.by("bob", 0))
	w.block(w.call("carol", "bank", "plan", []byte(`{"after":30,"rate":"5"}`)), w.call("carol", "bank", "plan", []byte(`{"after":40,"rate":"5"}`)))
	w.ok()
	gone := strings.Replace(bankOf("def interest(self", "def gain(self"), "self.interest", "self.gain", 1)
	breaking := bankOf("def interest(self, rate: int)", "def interest(self, rate: u8)")
	for code, says := range map[string]string{gone: "2 timers of interest: the new code has no handler interest",
		breaking: "2 timers of interest: argument rate of interest has fewer values"} {
		if got := w.refused(w.upgrade("bob", bank1, code, "")); got != "orphans" || !strings.Contains(w.last.Receipts[0].Error.Message, says) {
			t.Errorf("%s: %v, want %s", got, w.last.Receipts[0].Error, says)
		}
		w.runs(bank1)
	}
	// migrate cancels one of them by its id: the other still refuses the upgrade.
	cancels := gone + `
    def migrate(self, old: Hash, timers: list[Hash]):
        for t in timers:
            runtime.cancel_timer(t)
`
	pending := w.head.Timers(w.address("bank"))
	if got := w.refused(w.upgrade("bob", bank1, cancels, fmt.Sprintf(`{"timers":["%s"]}`, pending[0].ID))); got != "orphans" ||
		!strings.Contains(w.last.Receipts[0].Error.Message, "1 timer of interest") {
		t.Errorf("one of two cancelled: %v", w.last.Receipts[0].Error)
	}
	if len(w.head.Timers(w.address("bank"))) != 2 {
		t.Error("a refused upgrade cancelled a timer")
	}
	w.block(w.upgrade("bob", bank1, cancels, fmt.Sprintf(`{"timers":["%s","%s"]}`, pending[0].ID, pending[1].ID)))
	w.ok()
	if w.runs(cancels); len(w.head.Timers(w.address("bank"))) != 0 {
		t.Error("timers are left")
	}

	// All else stays.
	w = newPythonWorld(t, nil)
	w.bank(w.by("bob", 0))
	w.block(w.call("carol", "bank", "plan", []byte(`{"after":3,"rate":"5"}`)))
	w.ok()
	before, money := *w.head.Actor(w.address("bank")), w.balance("bank")
	w.block(w.upgrade("bob", bank1, bank2, ""))
	w.ok()
	after := *w.head.Actor(w.address("bank"))
	if before.CodeHash = after.CodeHash; before != after || w.balance("bank") != money || w.total() != 12 {
		t.Errorf("%+v, want %+v; balance %s, want %s; total %d", after, before, w.balance("bank"), money, w.total())
	}
	if r := w.record(); r.DeployedAs != hashOf(bank1) || r.Upgrades != 1 {
		t.Errorf("%+v", r)
	}
	for range 3 {
		w.block()
	}
	if w.total() != 62 {
		t.Errorf("total %d; want 12 and ten times the interest of 5, by the new code", w.total())
	}
}

// C25, 5: an upgrade pays a cycle for each byte of code, as a deploy does, and for migrate.
// A signer whose limit does not reach keeps the old code and pays for the attempt.
func TestC25AnUpgradePaysForItsCodeAndForMigrate(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.bank(w.by("bob", 0))
	loops := bank2 + "        for i in range(1000):\n            pass\n"
	short := func(code, migrate string, cycles types.Cycles) string {
		at := w.address("bank")
		tx := w.tx("bob", &at, &types.Upgrade{Kind: types.KindUpgrade, From: hashOf(bank1), Code: []byte(code), Migrate: []byte(migrate)})
		tx.CyclesLimit = cycles
		return w.refused(w.checked("bob", tx))
	}
	if got := short(bank2, "", types.Cycles(len(bank2))+900); got != "out_of_cycles" {
		t.Errorf("a limit of the code alone: %s", got)
	}
	if r := w.last.Receipts[0]; r.Cycles != types.Cycles(len(bank2))+900 {
		t.Errorf("it paid %d cycles, want all of its limit", r.Cycles)
	}
	w.runs(bank1)
	w.block(w.upgrade("bob", bank1, bank2, ""))
	w.ok()
	plain := w.last.Receipts[0].Cycles
	w.block(w.upgrade("bob", bank2, loops, ""))
	w.ok()
	if more := w.last.Receipts[0].Cycles - plain; more < 1000 {
		t.Errorf("a migrate with a loop of 1,000 took %d cycles more", more)
	}
}

// C25, 6: a chain without upgrades refuses all of it, terms at a deploy included. A contract
// that was tested with upgrades is not open there by its migrate.
func TestC25AChainWithoutUpgradesRefusesThem(t *testing.T) {
	w := newPythonWorld(t, params.Overrides{"chain.upgrades": "false"})
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(bank1), Manifest: types.Manifest{Upgrade: w.by("alice", 0)}}
	if got := w.refused(w.checked("alice", w.tx("alice", nil, d))); got != "no_upgrades" {
		t.Errorf("a deploy with terms: %s", got)
	}
	w.bank(nil)
	for name, c := range map[string]*Checked{"upgrade": w.upgrade("alice", bank1, bank2, "")} {
		if got := w.refused(c); got != "no_upgrades" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := w.refused(w.applyUpgrade("alice", bank1, bank2)); got != "no_upgrades" {
		t.Errorf("apply: %s", got)
	}
	if got := w.refused(w.terms("alice", nil)); got != "no_upgrades" {
		t.Errorf("terms: %s", got)
	}
	w.block(w.python("alice", "mover", "def migrate(payload):\n    return payload\n", 0))
	w.ok()
	w.block(w.call("bob", "mover", "migrate", []byte("x")))
	if r := w.last.Receipts[0]; r.Status != types.StatusNoHandler {
		t.Errorf("a stranger calls migrate: %+v", r)
	}
}

// C25, 2: an announced upgrade lapses: later users need not look for it.
func TestC25AnAnnouncementLapses(t *testing.T) {
	for delay, span := range map[uint64]types.Height{3: 256, 300: 300, 20_000: 10_000} {
		w := newPythonWorld(t, params.Overrides{"chain.cheats": "true"})
		w.bank(w.by("bob", delay))
		w.block(w.upgrade("bob", bank1, bank2, ""))
		w.ok()
		if got, want := w.record().Until(), w.head.header.Height+types.Height(delay)+span; got != want {
			t.Errorf("with a delay of %d it may be applied until %d, want %d", delay, got, want)
		}
	}
	w := newPythonWorld(t, nil)
	w.bank(w.by("bob", 3))
	w.block(w.upgrade("bob", bank1, bank2, ""))
	w.ok()
	for until := w.record().Until(); w.head.header.Height < until; {
		w.block()
	}
	if got := w.refused(w.applyUpgrade("bob", bank1, bank2)); got != "lapsed" {
		t.Errorf("a block too late: %s", got)
	}
	w.block(w.upgrade("bob", bank1, bank2, ""))
	w.ok()
	for range 3 {
		w.block()
	}
	w.block(w.applyUpgrade("bob", bank1, bank2))
	w.ok()
	w.runs(bank2)
}

// C25, 4: a continuation that waits has a place in its code, which other code has not.
func TestC25NoContinuationIsOrphaned(t *testing.T) {
	w := newContinuationWorld(t, nil)
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(waiter + "\n"), Manifest: types.Manifest{Upgrade: w.by("bob", 0)}}
	w.named("bank", actors.ActorAddress(w.key("alice").Address(), d.Salt, d.Code))
	tx := w.tx("alice", nil, d)
	tx.Value = types.WeiOf(100 * types.CBY)
	w.step(w.checked("alice", tx))
	w.ok()
	w.step(w.call("alice", "bank", "ask", []byte("hello")))
	w.ok()
	code := waiter + "\n# other\n"
	upgrade := func() {
		w.step(w.toBank("bob", &types.Upgrade{Kind: types.KindUpgrade, From: hashOf(waiter + "\n"), Code: []byte(code)}))
	}
	upgrade()
	if e := w.last.Receipts[0].Error; e == nil || e.Code != "orphans" || !strings.Contains(e.Message, "1 continuation") {
		t.Fatalf("while it waits: %v", e)
	}
	for range 3 { // the watchdog ends it after two blocks
		w.step()
	}
	upgrade()
	w.ok()
	w.runs(code)
}

// C25, 4: the signer ends continuations by name. A stranger who keeps one waiting, with the
// actor's money, does not keep the actor from its upgrade. The escrow returns to the actor.
func TestC25TheSignerEndsContinuationsByName(t *testing.T) {
	w := newContinuationWorld(t, nil)
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(waiter + "\n"), Manifest: types.Manifest{Upgrade: w.by("bob", 0)}}
	w.named("bank", actors.ActorAddress(w.key("alice").Address(), d.Salt, d.Code))
	tx := w.tx("alice", nil, d)
	tx.Value = types.WeiOf(100 * types.CBY)
	w.step(w.checked("alice", tx))
	w.ok()
	before := w.balance("bank")
	w.step(w.call("alice", "bank", "ask", []byte("hello")))
	w.ok()
	if w.balance("bank").Cmp(before) >= 0 {
		t.Fatal("the job holds nothing in escrow")
	}
	code := waiter + "\n# other\n"
	upgrade := func(end ...string) *Checked {
		return w.toBank("bob", &types.Upgrade{Kind: types.KindUpgrade, From: hashOf(waiter + "\n"), Code: []byte(code), End: end})
	}
	w.step(upgrade("other"))
	if e := w.last.Receipts[0].Error; e == nil || e.Code != "orphans" {
		t.Fatalf("another name: %v", e)
	}
	w.step(upgrade("ask"))
	w.ok()
	w.runs(code)
	var told actors.ContinuationEnded
	for _, e := range w.last.Receipts[0].Events {
		if e.Name == actors.EventContinuation && e.Actor == types.GovernanceAddress {
			if err := codec.Unmarshal(e.Data, 1000, &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	if told.Actor != w.address("bank") || told.Name != "ask" || told.Job == (types.Hash{}) {
		t.Errorf("events %+v", w.last.Receipts[0].Events)
	}
	if got := w.balance("bank"); got != before {
		t.Errorf("the bank has %v, want the escrow back: %v", got, before)
	}
	if left := len(w.head.Timers(w.address("bank"))); left != 0 {
		t.Errorf("%d watchdogs wait", left)
	}
	w.step(w.call("alice", "bank", "ask", []byte("again")))
	w.ok()
	w.step(w.toBank("bob", &types.Upgrade{Kind: types.KindUpgrade, From: hashOf(code), Code: []byte(waiter), End: []string{""}}))
	if e := w.last.Receipts[0].Error; e == nil || e.Code != "bad_upgrade" {
		t.Errorf("no name: %v", e)
	}
}

// at deploys code in the place of the bank, with upgrades by bob.
func (w *world) at(code string) {
	w.t.Helper()
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(code), Manifest: types.Manifest{Upgrade: w.by("bob", 0)}}
	w.named("bank", actors.ActorAddress(w.key("alice").Address(), d.Salt, d.Code))
	tx := w.tx("alice", nil, d)
	tx.Value = types.WeiOf(100 * types.CBY)
	w.block(w.checked("alice", tx))
	w.ok()
}

// C25, 3: state that raw code wrote is not read as typed state in silence. Migrate may
// write it again, and what it leaves has to be readable.
func TestC25TypedStateOverRawStateNeedsMigrate(t *testing.T) {
	const raw = "from cowboy_sdk import runtime\ndef put(payload):\n    runtime.set_state(b\"total\", payload)\n"
	const head = "from cowboy_sdk import Hash, Map, List, actor, public, runtime\n@actor\nclass A:\n"
	const put = "    @public\n    def show(self) -> int:\n        return 1\n"
	for name, c := range map[string]struct{ code, want string }{
		"a value":         {head + "    total: int = 0\n" + put, "state_lost"},
		"another value":   {head + "    other: int = 0\n" + put, ""},
		"a Map":           {head + "    held: Map[str, int]\n" + put, "state_lost"},
		"a List":          {head + "    held: List[int]\n" + put, ""},
		"text, migrated":  {head + "    total: str = \"\"\n" + put + "    def migrate(self, old: Hash):\n        pass\n", "state_unreadable"},
		"left, migrated":  {head + "    total: int = 0\n" + put + "    def migrate(self, old: Hash):\n        pass\n", ""},
		"again, migrated": {head + "    total: str = \"\"\n" + put + "    def migrate(self, old: Hash):\n        self.total = \"5\"\n", ""},
	} {
		w := newPythonWorld(t, nil)
		w.at(raw)
		w.block(w.call("alice", "bank", "put", []byte("5")))
		w.ok()
		w.block(w.upgrade("bob", raw, c.code, ""))
		got := ""
		if e := w.last.Receipts[0].Error; e != nil {
			got = e.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, c.want, w.last.Receipts[0].Error)
		}
	}
}

// C25, 3 and 4: what was never written would read otherwise, and what a timer left out.
func TestC25AChangedDefaultNeedsMigrateOrOrphans(t *testing.T) {
	const code = `
from cowboy_sdk import Map, actor, later, public, u8
@actor
class A:
    fee: int = 5
    held: Map[str, int] = Map(default=5)
    @public
    def plan(self):
        later(self.tick).after(50)
    @public
    def written(self):
        later(self.tick, by=1).after(50)
    def tick(self, by: int = 1):
        self.fee += by
`
	for name, c := range map[string]struct{ plan, old, new, want string }{
		"a value":       {"", "fee: int = 5", "fee: int = 7", "state_lost"},
		"a Map":         {"", "default=5", "default=7", "state_lost"},
		"no timer":      {"", "by: int = 1", "by: int = 1000", ""},
		"a timer":       {"plan", "by: int = 1", "by: int = 1000", "orphans"},
		"a timer of it": {"written", "by: int = 1", "by: int = 1000", ""},
	} {
		w := newPythonWorld(t, nil)
		w.at(code)
		if c.plan != "" {
			w.block(w.call("carol", "bank", c.plan, []byte("{}")))
			w.ok()
		}
		w.block(w.upgrade("bob", code, strings.Replace(code, c.old, c.new, 1), ""))
		got := ""
		if e := w.last.Receipts[0].Error; e != nil {
			got = e.Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, c.want, w.last.Receipts[0].Error)
		}
	}
}

// C25: a function that a program puts under a handler's name at run time is not called by
// that name. So the callers of a handler are those of the schema.
func TestC25AHandlerIsCalledByItsOwnNameOnly(t *testing.T) {
	const head = "from cowboy_sdk import actor, public, callable_by, OWNER\n@actor\nclass A:\n    @public\n    def drain(self, payload):\n" +
		"        return b\"mine\"\n    @callable_by(OWNER)\n    def shown(self, payload):\n        return b\"owner\"\n"
	for _, more := range []string{
		"setattr(A, \"shown\", A.drain)\n",
		"B = A\nB.shown = B.drain\n",
		"    def __init__(self):\n        me = self\n        me.shown = me.drain\n",
	} {
		w := newPythonWorld(t, nil)
		w.at(head + more)
		w.block(w.call("bob", "bank", "shown", []byte("x")))
		if r := w.last.Receipts[0]; r.Error == nil || r.Error.Code != "not_callable" {
			t.Errorf("%q: %+v %v", more, r, r.Error)
		}
		w.block(w.call("bob", "bank", "drain", []byte("x")))
		w.ok()
	}
}
