package actors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/compat"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxUpgradeTimers bounds the pending timers of an actor that is upgraded. An upgrade
// reads each of them; CIP-5 lets an actor have as many.
const MaxUpgradeTimers = 1024

// maxListed bounds the handlers and attributes that a refusal names.
const maxListed = 16

// oldArgument is the argument of a typed migrate that the chain fills.
const oldArgument = "old"

// Upgradable is the record of an actor that was deployed with terms of upgrades. It is
// apart from Actor, which every message reads.
type Upgradable struct {
	_          struct{}            `cbor:",toarray"`
	Terms      *types.UpgradeTerms // nil: upgrades ended for good
	DeployedAs types.Hash          // the hash of the code of the deploy
	Upgrades   uint64              // how many were applied
	Announced  *Announced          // nil: no upgrade waits
}

// Announced is an upgrade that waits. State has its code and its schema.
type Announced struct {
	_       struct{}     `cbor:",toarray"`
	To      types.Hash   // of the new code
	At      types.Height // from which on it may be applied
	Migrate []byte       // the payload of migrate
	End     []string     // the continuations that end
}

// An announced upgrade lapses once it could have been applied for as many blocks as it had
// to wait: at least leastLapse, at most mostLapse.
const (
	leastLapse = 256
	mostLapse  = 10_000
)

// Until is the last height at which an announced upgrade may be applied. Terms has the
// delay with which it was announced: other terms would have dropped it.
func (u *Upgradable) Until() types.Height {
	return u.Announced.At + types.Height(min(max(u.Terms.Delay, leastLapse), mostLapse))
}

// The events of upgrades. They come from the governance actor: a program can emit any
// event under its own address.
const (
	EventUpgradeAnnounced = "actor.upgrade_announced"
	EventUpgraded         = "actor.upgraded"
	EventUpgradeTerms     = "actor.upgrade_terms"
	EventContinuation     = "continuation.ended"
)

// UpgradeAnnounced is the data of EventUpgradeAnnounced.
type UpgradeAnnounced struct {
	Actor  types.Address `cbor:"actor"`
	From   types.Hash    `cbor:"from"`
	To     types.Hash    `cbor:"to"`
	Height types.Height  `cbor:"height"` // from which on it may be applied
	Until  types.Height  `cbor:"until"`  // the last one at which it may
}

// Upgraded is the data of EventUpgraded.
type Upgraded struct {
	Actor types.Address `cbor:"actor"`
	From  types.Hash    `cbor:"from"`
	To    types.Hash    `cbor:"to"`
}

// ContinuationEnded is the data of EventContinuation.
type ContinuationEnded struct {
	Actor types.Address `cbor:"actor"`
	Name  string        `cbor:"name"`
	Job   types.Hash    `cbor:"job"` // that it waited for, cancelled
}

// UpgradeTermsSet is the data of EventUpgradeTerms.
type UpgradeTermsSet struct {
	Actor types.Address       `cbor:"actor"`
	Terms *types.UpgradeTerms `cbor:"terms"` // null: upgrades ended for good
}

// UpgradableOf returns the record of an actor that was deployed with terms of upgrades,
// or nil.
func UpgradableOf(s Reader, at types.Address) *Upgradable {
	data := s.Get(addressKey(prefixUpgrade, at))
	if data == nil {
		return nil
	}
	record := new(Upgradable)
	mustDecode(data, record)
	return record
}

func (s *State) setUpgradable(at types.Address, record *Upgradable) {
	s.Set(addressKey(prefixUpgrade, at), codec.Marshal(record))
}

// Upgrade gives an actor new code, or announces it if the terms have a delay: all of it
// or nothing. It pays for the code as a deploy does. An error comes from the environment.
//
// Spec: decision C25. **Deviation**: no draft has an upgrade.
func (x *Execution) Upgrade(by, at types.Address, in *types.Upgrade) (program.Outcome, error) {
	mark := x.setMark()
	outcome, err := x.upgradeActor(by, at, in)
	if err == nil && outcome.Status != types.StatusOK {
		x.revertTo(mark)
	}
	return outcome, err
}

func (x *Execution) upgradeActor(by, at types.Address, in *types.Upgrade) (program.Outcome, error) {
	u, refused := x.findUpgradable(by, at, &in.From)
	if refused != nil {
		return *refused, nil
	}
	if refused := checkEnds(in.End); refused != nil {
		return *refused, nil
	}
	p := x.block.Params
	if fault := x.Spend(types.Cycles(len(in.Code))*p.CostDeployByte, 0); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message), nil
	}
	if refused, err := u.examineCode(types.Keccak(in.Code), in.Code); refused != nil || err != nil {
		return newEndedOutcome(refused), err
	}
	if fault := x.Spend(types.Cycles(len(u.found.Schema))*p.CostDeployByte, types.Cells(len(u.found.Schema))); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message), nil
	}
	x.keepCode(u.code, u.found)
	if refused := u.compareSchemas(in.Migrate); refused != nil {
		return *refused, nil
	}
	if u.record.Terms.Delay > 0 {
		return u.announceUpgrade(in), nil
	}
	return u.applyUpgrade(by, in.Migrate, in.End)
}

// ApplyUpgrade applies the upgrade of an actor that was announced, from its height on: all
// of it or nothing. An error comes from the environment.
//
// Spec: decision C25.
func (x *Execution) ApplyUpgrade(by, at types.Address, in *types.ApplyUpgrade) (program.Outcome, error) {
	mark := x.setMark()
	outcome, err := x.applyUpgrade(by, at, in)
	if err == nil && outcome.Status != types.StatusOK {
		x.revertTo(mark)
	}
	return outcome, err
}

func (x *Execution) applyUpgrade(by, at types.Address, in *types.ApplyUpgrade) (program.Outcome, error) {
	u, refused := x.findUpgradable(by, at, &in.From)
	if refused != nil {
		return *refused, nil
	}
	waits := u.record.Announced
	switch {
	case waits == nil:
		return *newRefusal("not_announced", "no upgrade of %s is announced", at), nil
	case waits.To != in.To:
		return *newRefusal("announced_other", "the announced upgrade of %s is to %s, not to %s", at, waits.To, in.To), nil
	case x.block.Height < waits.At:
		return *newRefusal("too_early", "the upgrade of %s applies from height %d on: this is height %d", at, waits.At, x.block.Height), nil
	case x.block.Height > u.record.Until():
		return *newRefusal("lapsed", "the upgrade of %s could be applied up to height %d: announce it again", at, u.record.Until()), nil
	}
	if refused, err := u.examineCode(in.To, CodeOf(x.state, in.To)); refused != nil || err != nil {
		return newEndedOutcome(refused), err
	}
	if refused := u.compareSchemas(waits.Migrate); refused != nil {
		return *refused, nil
	}
	return u.applyUpgrade(by, waits.Migrate, waits.End)
}

// SetUpgradeTerms gives an actor other terms, or ends its upgrades for good. An announced
// upgrade is dropped: those who read the old terms did not agree to the new ones.
//
// Spec: decision C25.
func (x *Execution) SetUpgradeTerms(by, at types.Address, terms *types.UpgradeTerms) program.Outcome {
	u, refused := x.findUpgradable(by, at, nil)
	switch {
	case refused != nil:
		return *refused
	case terms == nil:
	case terms.Delay < u.record.Terms.Delay:
		return *newRefusal("delay_shorter", "a delay of %d blocks, and the terms have %d: a delay never becomes shorter", terms.Delay,
			u.record.Terms.Delay)
	default:
		if refused := checkTerms(terms); refused != nil {
			return *refused
		}
	}
	if fault := x.Spend(x.block.Params.CostStorageWrite, 0); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message)
	}
	u.record.Terms, u.record.Announced = terms, nil
	x.state.setUpgradable(at, u.record)
	x.emitEvent(EventUpgradeTerms, UpgradeTermsSet{Actor: at, Terms: terms})
	return program.Outcome{Status: types.StatusOK}
}

func (x *Execution) emitEvent(name string, data any) {
	x.Events = append(x.Events, types.Event{Actor: types.GovernanceAddress, Name: name, Data: codec.Marshal(data)})
}

func noUpgrades() *program.Outcome {
	return newRefusal("no_upgrades", "this chain has no upgrades of actors (chain.upgrades is false)")
}

// checkTerms judges terms as such.
func checkTerms(terms *types.UpgradeTerms) *program.Outcome {
	switch {
	case terms.By.IsZero() || terms.By.InSystemBand():
		return newRefusal("bad_upgrade", "upgrades by %s: want an account that can sign", terms.By)
	case terms.Delay > types.MaxUpgradeDelay:
		return newRefusal("bad_upgrade", "a delay of %d blocks, at most %d", terms.Delay, uint64(types.MaxUpgradeDelay))
	}
	return nil
}

func newEndedOutcome(refused *program.Outcome) program.Outcome {
	if refused == nil {
		return program.Outcome{}
	}
	return *refused
}

// upgrading is one upgrade of an actor on its way.
type upgrading struct {
	x             *Execution
	at            types.Address
	actor         *Actor
	record        *Upgradable
	code          program.Code // the new one
	found         program.Description
	breaks        map[string]string // handler → what its timers would stumble over
	omits         []compat.Change   // that only timers stumble over which leave an argument out
	omission      map[string]string // the same as breaks, of those
	before, after *typed.Schema
}

// findUpgradable finds an actor that the signer may upgrade; from is the code that it must
// have, nil: any.
func (x *Execution) findUpgradable(by, at types.Address, from *types.Hash) (*upgrading, *program.Outcome) {
	if !x.block.Params.Upgrades {
		return nil, noUpgrades()
	}
	if fault := x.Spend(2*x.block.Params.CostStorageRead, 0); fault != nil {
		outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
		return nil, &outcome
	}
	u := &upgrading{x: x, at: at, actor: ActorOf(x.state, at), record: UpgradableOf(x.state, at), breaks: map[string]string{},
		omission: map[string]string{}}
	switch {
	case u.actor == nil:
		outcome := newFailedOutcome(types.StatusNoActor, "no_actor", fmt.Sprintf("there is no actor at %s", at))
		return nil, &outcome
	case u.record == nil:
		return nil, newRefusal("not_upgradable", "the actor %s was deployed without upgrades", at)
	case u.record.Terms == nil:
		return nil, newRefusal("not_upgradable", "the upgrades of %s were ended for good", at)
	case u.record.Terms.By != by:
		return nil, newRefusal("not_upgrader", "%s may not upgrade %s: only %s may", by, at, u.record.Terms.By)
	case from != nil && *from != u.actor.CodeHash:
		return nil, newRefusal("code_changed", "the actor %s has the code %s, not %s: read it again", at, u.actor.CodeHash, from)
	}
	return u, nil
}

// examineCode judges the new code as a deploy does.
func (u *upgrading) examineCode(hash types.Hash, source []byte) (refused *program.Outcome, err error) {
	if hash == u.actor.CodeHash {
		return newRefusal("same_code", "the actor %s has the code %s already", u.at, hash), nil
	}
	u.code = program.Code{Hash: hash, Source: source, Units: u.x.unitsLeft()}
	u.found, refused, err = u.x.inspectCode(u.code, program.MigrateHandler)
	return refused, err
}

// compareSchemas judges the schemas: without migrate no state may be lost, and migrate must take
// what it is given. A byte of each schema costs a byte of code.
func (u *upgrading) compareSchemas(migrate []byte) *program.Outcome {
	before := SchemaOf(u.x.state, u.actor.CodeHash)
	if fault := u.x.Spend(types.Cycles(len(before)+len(u.found.Schema))*u.x.block.Params.CostDeployByte, 0); fault != nil {
		outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
		return &outcome
	}
	changes, err := compat.Compare(before, u.found.Schema)
	if err != nil {
		return newRefusal("bad_schema", "the schemas cannot be compared: %v", err)
	}
	if u.before, err = schemaOf(before); err == nil {
		u.after, err = schemaOf(u.found.Schema)
	}
	if err != nil {
		return newRefusal("bad_schema", "%v", err)
	}
	var lost list
	for _, c := range changes {
		if c.Verdict == compat.NeedsMigrate {
			lost.addLine("%s %s", c.Where, c.What)
		}
		if c.Verdict == compat.Callers && u.breaks[c.Handler] == "" {
			u.breaks[c.Handler] = c.Where + " " + c.What
		}
		if c.Verdict == compat.Timers {
			u.omits = append(u.omits, c)
		}
	}
	if !u.hasMigrate() {
		if fault := u.addStateOfNewAttributes(&lost); fault != nil {
			outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
			return &outcome
		}
		switch {
		case len(migrate) > 0:
			return newRefusal("no_migrate", "the upgrade has arguments of migrate, and the new code has no such handler")
		case lost.count > 0:
			return newRefusal("state_lost", "the new code would lose state, and has no migrate: %s", &lost)
		}
	}
	return nil
}

// schemaOf reads a schema; code without one declares nothing.
func schemaOf(schema []byte) (*typed.Schema, error) {
	if len(schema) == 0 {
		return new(typed.Schema), nil
	}
	return typed.Parse(schema)
}

// addStateOfNewAttributes adds what new attributes would read that other code wrote, at the cost of a read
// each. The entries of a Map have no common key: over code that declares no state a new
// Map wants empty state.
func (u *upgrading) addStateOfNewAttributes(lost *list) *program.Fault {
	s, raw := u.x.state, len(u.before.State) == 0
	for i := range u.after.State {
		a := &u.after.State[i]
		if slices.ContainsFunc(u.before.State, func(b typed.Attribute) bool { return b.Name == a.Name }) {
			continue
		}
		if fault := u.x.Spend(u.x.block.Params.CostStorageRead, 0); fault != nil {
			return fault
		}
		there := false
		if key := a.LeadingKey(); key != nil {
			_, there = StorageOf(s, u.at, key)
		} else if raw {
			ScanStorage(s, u.at, func(e Entry) bool {
				there = true
				return false
			})
		}
		if there {
			lost.addLine("state %s is new, and other code wrote what it would read", a.Name)
		}
	}
	return nil
}

// listUnreadable names what migrate left that the new code cannot read, at the cost of a read
// for each attribute.
func (u *upgrading) listUnreadable() *program.Outcome {
	var wrong list
	for i := range u.after.State {
		a := &u.after.State[i]
		key := a.LeadingKey()
		if key == nil {
			continue
		}
		value, there := StorageOf(u.x.state, u.at, key)
		if fault := u.x.Spend(u.x.block.Params.CostStorageRead+types.Cycles(len(value)), 0); fault != nil {
			outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
			return &outcome
		}
		if there {
			if _, fits := u.after.Unpack(a.LeadingType(), value); !fits {
				wrong.addLine("state %s", a.Name)
			}
		}
	}
	if wrong.count == 0 {
		return nil
	}
	return newRefusal("state_unreadable", "after migrate the new code cannot read %s: other code wrote it", &wrong)
}

func (u *upgrading) hasMigrate() bool { return hasHandler(u.found, program.MigrateHandler) }

// announceUpgrade keeps the upgrade until its height.
func (u *upgrading) announceUpgrade(in *types.Upgrade) program.Outcome {
	x := u.x
	if fault := x.Spend(x.block.Params.CostStorageWrite, 0); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message)
	}
	at := x.block.Height + types.Height(u.record.Terms.Delay)
	u.record.Announced = &Announced{To: u.code.Hash, At: at, Migrate: append([]byte{}, in.Migrate...), End: slices.Clone(in.End)}
	x.state.setUpgradable(u.at, u.record)
	x.emitEvent(EventUpgradeAnnounced, UpgradeAnnounced{Actor: u.at, From: u.actor.CodeHash, To: u.code.Hash, Height: at,
		Until: u.record.Until()})
	return program.Outcome{Status: types.StatusOK}
}

// applyUpgrade gives the actor its code, runs migrate, and sees then that no timer and no
// continuation is left without its handler. The caller reverts where it fails.
func (u *upgrading) applyUpgrade(by types.Address, migrate []byte, end []string) (program.Outcome, error) {
	x, from := u.x, u.actor.CodeHash
	if fault := x.Spend(2*x.block.Params.CostStorageWrite, 0); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message), nil
	}
	if refused, err := u.endContinuations(end); refused != nil || err != nil {
		return newEndedOutcome(refused), err
	}
	before, refused := u.listPendingTimers()
	if refused != nil {
		return *refused, nil
	}
	u.actor.CodeHash = u.code.Hash
	x.state.setActor(u.at, u.actor)
	u.record.Announced = nil
	u.record.Upgrades++
	x.state.setUpgradable(u.at, u.record)
	outcome := program.Outcome{Status: types.StatusOK}
	if u.hasMigrate() {
		payload, refused := u.migrateArguments(from, migrate)
		if refused != nil {
			return *refused, nil
		}
		var err error
		outcome, err = x.Deliver(program.Message{Kind: program.Migrate, Sender: by, Self: u.at, Handler: program.MigrateHandler,
			Payload: payload}, types.Wei{})
		if err != nil || outcome.Status != types.StatusOK {
			return outcome, err
		}
		if refused := u.listUnreadable(); refused != nil {
			return *refused, nil
		}
	}
	if refused := u.refuseOrphans(before); refused != nil {
		return *refused, nil
	}
	x.emitEvent(EventUpgraded, Upgraded{Actor: u.at, From: from, To: u.code.Hash})
	return outcome, nil
}

// migrateArguments is the payload of migrate. A typed one is given the hash of the former code
// as old. A raw one gets the bytes of the transaction.
func (u *upgrading) migrateArguments(from types.Hash, given []byte) ([]byte, *program.Outcome) {
	if len(u.found.Schema) == 0 {
		return given, nil
	}
	schema, err := typed.Parse(u.found.Schema)
	if err != nil {
		return nil, newRefusal("bad_schema", "%v", err)
	}
	h := schema.Handler(program.MigrateHandler)
	if h == nil || h.Raw {
		return given, nil
	}
	if !slices.ContainsFunc(h.Arguments, func(f typed.Field) bool { return f.Name == oldArgument && f.Type.Name == "Hash" }) {
		return nil, newRefusal("bad_migrate", "a typed migrate takes old: Hash, the hash of the former code")
	}
	return withOld(given, from), nil
}

// withOld puts old before the members of a JSON object. Other bytes stay as they are, and
// the program's decoder refuses them.
func withOld(given []byte, from types.Hash) []byte {
	const spaces = " \t\r\n"
	old := fmt.Sprintf(`{"%s":"%s"`, oldArgument, from)
	rest := bytes.TrimLeft(given, spaces)
	if len(rest) == 0 {
		return []byte(old + "}")
	}
	if rest[0] != '{' {
		return given
	}
	if rest = bytes.TrimLeft(rest[1:], spaces); len(rest) == 0 || rest[0] != '}' {
		old += ","
	}
	return append([]byte(old), rest...)
}

// listPendingTimers lists the pending timers of the actor, each at the cost of a read.
func (u *upgrading) listPendingTimers() ([]PendingTimer, *program.Outcome) {
	if u.x.block.Timers == nil {
		return nil, nil
	}
	pending := u.x.block.Timers.Pending(u.x.state, u.at, MaxUpgradeTimers+1)
	if fault := u.x.Spend(types.Cycles(len(pending))*u.x.block.Params.CostStorageRead, 0); fault != nil {
		outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
		return nil, &outcome
	}
	if len(pending) > MaxUpgradeTimers {
		return nil, newRefusal("too_many_timers", "the actor %s has more than %d pending timers: cancel some", u.at, MaxUpgradeTimers)
	}
	return pending, nil
}

// refuseOrphans refuses an upgrade after which a timer would find no handler for it, or a
// continuation no code to resume. A timer that migrate scheduled was checked against
// the new code's arguments.
func (u *upgrading) refuseOrphans(before []PendingTimer) *program.Outcome {
	after, refused := u.listPendingTimers()
	if refused != nil {
		return refused
	}
	known := map[types.TimerID]bool{}
	for _, t := range before {
		known[t.ID] = true
	}
	timers, orphans := map[string]int{}, 0
	for _, t := range after {
		broken := !hasHandler(u.found, t.Handler) || known[t.ID] && u.breaks[t.Handler] != ""
		if !broken && known[t.ID] {
			var fault *program.Fault
			if broken, fault = u.omitsChangedDefault(&t); fault != nil {
				outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
				return &outcome
			}
		}
		if broken {
			timers[t.Handler]++
			orphans++
		}
	}
	waiting := u.countContinuations()
	if fault := u.x.Spend(types.Cycles(1+waiting.read)*u.x.block.Params.CostStorageRead, 0); fault != nil {
		outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
		return &outcome
	}
	if orphans == 0 && waiting.live == 0 {
		return nil
	}
	var found list
	names := make([]string, 0, len(timers))
	for name := range timers { // order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		why := "the new code has no handler " + name
		if hasHandler(u.found, name) {
			why = cmp.Or(u.breaks[name], u.omission[name])
		}
		found.addLine("%s of %s: %s", plural.Of(timers[name], "timer"), name, why)
	}
	if waiting.live > 0 {
		found.addLine("%s waiting for a job", plural.Of(waiting.live, "continuation"))
	}
	return newRefusal("orphans", "the upgrade would orphan %s; wait for them, or cancel the timers in migrate", &found)
}

// omitsChangedDefault reports whether a timer leaves out an argument whose default changes, and notes
// what it would stumble over. Only payloads of such handlers are read, at the cost of a read.
func (u *upgrading) omitsChangedDefault(t *PendingTimer) (bool, *program.Fault) {
	if !slices.ContainsFunc(u.omits, func(c compat.Change) bool { return c.Handler == t.Handler }) {
		return false, nil
	}
	payload := u.x.block.Timers.Payload(u.x.state, t.ID)
	if fault := u.x.Spend(u.x.block.Params.CostStorageRead+types.Cycles(len(payload)), 0); fault != nil {
		return false, fault
	}
	names, is := typed.Names(payload)
	for _, c := range u.omits {
		if is && c.Handler == t.Handler && !slices.Contains(names, c.Argument) {
			u.omission[t.Handler] = c.Where + " " + c.What + ", and they leave it out"
			return true, nil
		}
	}
	return false, nil
}

// checkEnds judges the names of continuations as such.
func checkEnds(names []string) *program.Outcome {
	if len(names) > types.MaxUpgradeEnds {
		return newRefusal("bad_upgrade", "%d names of continuations to end, at most %d", len(names), types.MaxUpgradeEnds)
	}
	for _, name := range names {
		if len(name) == 0 || len(name) > types.MaxContinuationName {
			return newRefusal("bad_upgrade", "the name of a continuation has 1 to %d bytes, not %d", types.MaxContinuationName, len(name))
		}
	}
	return nil
}

// waiting is what the host keeps of a continuation that waits, by its place.
type waiting struct {
	_      struct{} `cbor:",toarray"`
	Name   string
	At     uint64
	Awaits uint64
	Job    []byte
	Timer  []byte
	Format codec.RawMessage
}

// endContinuations ends those of the given names: a stranger who keeps one waiting does not
// keep the actor from its upgrade. Place, watchdog and job go, and the job's escrow returns
// to the actor. It costs a read and two writes each, and what the cancellations cost.
func (u *upgrading) endContinuations(names []string) (*program.Outcome, error) {
	if len(names) == 0 {
		return nil, nil
	}
	x, taken := u.x, []byte(nil)
	if places, found := StorageOf(x.state, u.at, []byte(program.ContinuationPlaces)); found {
		taken = bytes.Clone(places)
	}
	for i := range min(8*len(taken), 256) {
		bits := &taken[len(taken)-1-i/8]
		if *bits>>(i%8)&1 == 0 {
			continue
		}
		p := x.block.Params
		if fault := x.Spend(p.CostStorageRead, 0); fault != nil {
			outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
			return &outcome, nil
		}
		key := append([]byte(program.ContinuationPlace), byte(i))
		record, _ := StorageOf(x.state, u.at, key)
		w, is := readWaiting(record)
		if !is || !slices.Contains(names, w.Name) {
			continue
		}
		if fault := x.Spend(2*p.CostStorageWrite+p.CostCancelTimer, 0); fault != nil {
			outcome := newFailedOutcome(fault.Status, fault.Code, fault.Message)
			return &outcome, nil
		}
		x.state.DeleteStorage(u.at, key)
		*bits &^= 1 << (i % 8)
		x.state.SetStorage(u.at, []byte(program.ContinuationPlaces), bytes.TrimLeft(taken, "\x00"))
		if refused, err := u.releaseContinuation(&w); refused != nil || err != nil {
			return refused, err
		}
	}
	return nil, nil
}

// readWaiting reads the record of a place: its watchdog's height, and what waits there.
func readWaiting(record []byte) (w waiting, ok bool) {
	if len(record) < 8 {
		return w, false
	}
	err := codec.UnmarshalFirst(record[8:], maxWaiting, &w)
	return w, err == nil && len(w.Job) == len(types.Hash{}) && len(w.Timer) == len(types.TimerID{})
}

// maxWaiting bounds the record of a continuation: its state and its captured values.
const maxWaiting = 2*(64<<10) + 64

// releaseContinuation cancels the watchdog and the job of a continuation. One of them may have ended.
func (u *upgrading) releaseContinuation(w *waiting) (*program.Outcome, error) {
	x := u.x
	if effect, fault := x.block.Timers.Cancel(x.state, TimerCaller{Actor: u.at}, types.TimerID(w.Timer)); fault == nil {
		x.Timers, x.Events = append(x.Timers, effect.Changes...), append(x.Events, effect.Events...)
	}
	cancelled, err := x.Deliver(program.Message{Kind: program.Call, Sender: u.at, Self: types.DispatcherAddress, Handler: "cancel",
		Payload: w.Job}, types.Wei{})
	if err != nil {
		return nil, err
	}
	if cancelled.Status == types.StatusOutOfCycles {
		return &cancelled, nil
	}
	x.emitEvent(EventContinuation, ContinuationEnded{Actor: u.at, Name: w.Name, Job: types.Hash(w.Job)})
	return nil, nil
}

// waits is how many continuations wait, and how many records that took.
type waits struct{ live, read int }

// countContinuations counts the continuations of the actor that something will still wake.
func (u *upgrading) countContinuations() (found waits) {
	taken, _ := StorageOf(u.x.state, u.at, []byte(program.ContinuationPlaces))
	for i := range min(8*len(taken), 256) {
		if taken[len(taken)-1-i/8]>>(i%8)&1 == 0 {
			continue
		}
		found.read++
		record, _ := StorageOf(u.x.state, u.at, append([]byte(program.ContinuationPlace), byte(i)))
		if len(record) < 8 {
			continue
		}
		due := types.Height(binary.BigEndian.Uint64(record))
		if due+program.ContinuationGrace >= u.x.block.Height || due+program.ContinuationGrace < due {
			found.live++
		}
	}
	return found
}

// list is the items that a refusal names, at most maxListed.
type list struct {
	items []string
	count int
}

func (l *list) addLine(format string, args ...any) {
	if l.count++; l.count <= maxListed {
		l.items = append(l.items, fmt.Sprintf(format, args...))
	}
}

func (l *list) String() string {
	if more := l.count - len(l.items); more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(l.items, "; "), more)
	}
	return strings.Join(l.items, "; ")
}
