package actors

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// SamplePrefix begins the code of a Go sample (package samples). Such code may
// be deployed only where genesis allows cheats: it is not metered.
const SamplePrefix = "go:"

// Deploy creates an actor, moves value to it and runs its init once: all of
// these or none. The state keeps the schema of the code too, at the cycles of code and
// the cells of a write. An error comes from the environment.
//
// Spec: CIP-6 (docs/DRAFTS.md), decision C22.
func (x *Execution) Deploy(deployer types.Address, d *types.Deploy, value types.Wei) (types.Address, program.Outcome, error) {
	at := ActorAddress(deployer, d.Salt, d.Code)
	p := x.block.Params
	if fault := x.Spend(types.Cycles(len(d.Code))*p.CostDeployByte, 0); fault != nil {
		return at, newFailedOutcome(fault.Status, fault.Code, fault.Message), nil
	}
	if refusal := x.judgeDeploy(at, &d.Manifest); refusal != nil {
		return at, *refusal, nil
	}
	code := program.Code{Hash: types.Keccak(d.Code), Source: d.Code, Units: x.unitsLeft()}
	found, refusal, err := x.inspectCode(code, initHandler)
	if err != nil {
		return at, program.Outcome{}, err
	}
	if refusal != nil {
		return at, *refusal, nil
	}
	if fault := x.Spend(types.Cycles(len(found.Schema))*p.CostDeployByte, types.Cells(len(found.Schema))); fault != nil {
		return at, newFailedOutcome(fault.Status, fault.Code, fault.Message), nil
	}
	mark := x.setMark()
	x.keepCode(code, found)
	if terms := d.Manifest.Upgrade; terms != nil {
		x.state.setUpgradable(at, &Upgradable{Terms: terms, DeployedAs: code.Hash})
	}
	x.state.setActor(at, &Actor{CodeHash: code.Hash, Owner: deployer, Name: d.Manifest.Name, DeployedAt: x.block.Height})
	if hasHandler(found, program.BidHandler) {
		x.becomeBidder(at)
	}
	outcome, err := x.Deliver(program.Message{Kind: program.Init, Sender: deployer, Self: at, Handler: initHandler, Payload: d.Init}, value)
	if err == nil && outcome.Status != types.StatusOK {
		x.revertTo(mark)
	}
	return at, outcome, err
}

// keepCode writes code and its schema, if it has one.
func (x *Execution) keepCode(code program.Code, found program.Description) {
	x.state.Set(hashKey(prefixCode, code.Hash), append([]byte{}, code.Source...))
	if len(found.Schema) > 0 {
		x.state.Set(hashKey(prefixSchema, code.Hash), found.Schema)
	}
}

// unitsLeft is how much compiling the cycles left pay for, at least one unit.
func (x *Execution) unitsLeft() uint64 {
	if x.block.Params.CostDeployByte == 0 {
		return 0
	}
	return 1 + uint64(x.cyclesLeft/x.block.Params.CostDeployByte)/program.UnitCycles
}

// chargeCompiling charges for the compiling that was done, or would have been.
func (x *Execution) chargeCompiling(units uint64) *program.Outcome {
	if units == 0 {
		return nil
	}
	price := x.block.Params.CostDeployByte
	if price > 0 && units > math.MaxUint64/program.UnitCycles/uint64(price) {
		units = math.MaxUint64 / program.UnitCycles / uint64(price)
	}
	fault := x.Spend(types.Cycles(units)*program.UnitCycles*price, 0)
	if fault == nil {
		return nil
	}
	outcome := newFailedOutcome(fault.Status, fault.Code, fmt.Sprintf("%s: compiling the code takes %d units of %d cycles", fault.Message,
		units,
		program.UnitCycles*price))
	return &outcome
}

// becomeBidder makes a new actor the one that prices its own timers; its init
// may name another (decision T14).
func (x *Execution) becomeBidder(at types.Address) {
	effect, fault := x.block.Timers.SetGasBidder(x.state, TimerCaller{Actor: at}, &at)
	if fault != nil {
		panic(fmt.Sprintf("actors: %s cannot price its own timers: %v", at, fault))
	}
	x.Events = append(x.Events, effect.Events...)
}

func hasHandler(d program.Description, name string) bool {
	return slices.ContainsFunc(d.Handlers, func(h program.Handler) bool { return h.Name == name })
}

// judgeDeploy judges all of a deploy but its code; nil means that it may proceed.
func (x *Execution) judgeDeploy(at types.Address, m *types.Manifest) *program.Outcome {
	switch {
	case len(m.Name) > types.MaxNameBytes || !utf8.ValidString(m.Name):
		return newRefusal("bad_name", "an actor's name must be UTF-8 of at most %d bytes", types.MaxNameBytes)
	case m.Upgrade != nil && !x.block.Params.Upgrades:
		return noUpgrades()
	case ActorOf(x.state, at) != nil:
		return newRefusal("address_taken", "there is an actor at %s: choose another salt", at)
	case m.Upgrade != nil:
		return checkTerms(m.Upgrade)
	}
	return nil
}

// newRefusal ends a deploy or an upgrade before it did anything.
func newRefusal(code, format string, args ...any) *program.Outcome {
	outcome := newFailedOutcome(types.StatusFailed, code, fmt.Sprintf(format, args...))
	return &outcome
}

// inspectCode judges code before anything is done with it; handler is the one that it would
// run first. A nil refusal means that it may proceed.
func (x *Execution) inspectCode(code program.Code, handler string) (found program.Description, refusal *program.Outcome, err error) {
	p := x.block.Params
	refuse := func(code, format string, args ...any) (program.Description, *program.Outcome, error) {
		outcome := newFailedOutcome(types.StatusInvalidCode, code, fmt.Sprintf(format, args...))
		return program.Description{}, &outcome, nil
	}
	switch {
	case uint64(len(code.Source)) > p.MaxCodeBytes:
		return refuse("code_too_long", "code of %d bytes, at most %d", len(code.Source), p.MaxCodeBytes)
	case !p.Cheats && bytes.HasPrefix(code.Source, []byte(SamplePrefix)):
		return refuse("invalid_code", "Go samples need a chain with cheats")
	}
	session, err := x.block.Sessions.Session()
	if err != nil {
		return program.Description{}, nil, err
	}
	found, err = inspectBySession(session, code)
	if refused := (*program.Refusal)(nil); errors.As(err, &refused) {
		if unpaid := x.chargeCompiling(refused.Units); unpaid != nil {
			return found, unpaid, nil
		}
		return refuse(cmp.Or(refused.Code, "invalid_code"), "%s", refused.Error())
	}
	if err != nil {
		return found, nil, &ProgramError{code.Hash, handler, err}
	}
	return found, x.chargeCompiling(found.Units), nil
}

// inspectBySession is the host's judgement of code. A panic of this machine's conversation with
// the host is its failure (decision C21).
func inspectBySession(session program.Session, code program.Code) (found program.Description, err error) {
	defer func() {
		if v := recover(); v != nil {
			_, err = Panicked(program.Code{}, v)
		}
	}()
	return session.Inspect(code)
}
