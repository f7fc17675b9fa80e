package system

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// InBlock is a block in the making, as the state transition lends it. Its methods
// are what can be done to runners and jobs in a block.
type InBlock struct {
	Params *params.Params
	State  *actors.State
	Height types.Height
	// Recover returns the signer of a digest. Only register reads it.
	Recover func(types.Hash, types.Signature) (types.Address, bool)
	Parent  types.Hash // of the parent: what first draws take their seed from (decision J2)
	// Presence is P(parent) (decision C3). Only Advance reads it.
	Presence *selection.Bitmap
	// Roster belongs to the parent's state; if nil it is read again. Only Advance
	// reads it.
	Roster       *Roster
	BaseFeeCycle types.Wei // what callbacks are prepaid at
	BaseFeeCell  types.Wei
	// Within has another contract act, by a message of its actor; nil has it act at once.
	Within func(contract types.Address, step string, do func())
}

// collectForTreasury gives the treasury an amount that 0x02 holds.
func (b *InBlock) collectForTreasury(amount types.Wei) {
	take := func() { b.moveMoney(types.DispatcherAddress, types.TreasuryAddress, amount) }
	if b.Within == nil {
		take()
		return
	}
	b.Within(types.TreasuryAddress, "collect", take)
}

// Effect is the effect of an operation besides its writes.
type Effect struct {
	Output []byte
	Events []types.Event
	Jobs   []types.JobChange
	Cycles types.Cycles // that it takes in addition to Cost
	Cells  types.Cells
}

// addEvent adds an event of a system actor.
func (e *Effect) addEvent(of types.Address, name string, data any) {
	e.Events = append(e.Events, types.Event{Actor: of, Name: name, Data: codec.Marshal(data)})
}

// addJobChange adds a job's change, and its event.
func (e *Effect) addJobChange(of types.Address, c types.JobChange, data JobEvent) {
	e.Jobs = append(e.Jobs, c)
	e.addEvent(of, "job."+string(c.Kind), data)
}

// moveMoney moves an amount that the sender is known to have.
func (b *InBlock) moveMoney(from, to types.Address, amount types.Wei) {
	if !b.State.Move(from, to, amount) {
		panic("system: " + from.String() + " does not hold what its books say, " + amount.String() + " wei")
	}
}
