package system

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Answers reports whether the chain itself answers for an address: the three
// system actors of this package.
func Answers(a types.Address) bool {
	return a == types.RegistryAddress || a == types.DispatcherAddress || a == types.VerifierAddress
}

// handlers are what transactions and actors may call. The verifier has none: what
// it does comes in runner transactions.
var handlers = map[types.Address]map[string]func(*InBlock, program.Message) (Effect, *types.Fault){
	types.RegistryAddress: {
		"register":   decodePayload((*InBlock).registerRunner),
		"update":     decodePayload((*InBlock).updateOffer),
		"pause":      decodePayload((*InBlock).pauseRunner),
		"resume":     decodePayload((*InBlock).resumeRunner),
		"add_stake":  decodePayload((*InBlock).addStake),
		"deregister": decodePayload((*InBlock).deregisterRunner),
	},
	types.DispatcherAddress: {
		"submit": func(b *InBlock, m program.Message) (Effect, *types.Fault) { return b.submitJob(m.Sender, m.Payload) },
		"cancel": func(b *InBlock, m program.Message) (Effect, *types.Fault) { return b.cancelJob(m.Sender, m.Payload) },
	},
}

// maxPayloadBytes bounds what the registry reads: an offer, with room.
const maxPayloadBytes = 4 * maxOfferBytes

// decodePayload decodes a handler's payload, a canonical CBOR map.
func decodePayload[T any](do func(*InBlock, types.Address, *T) (Effect, *types.Fault)) func(*InBlock, program.Message) (Effect,
	*types.Fault) {
	return func(b *InBlock, m program.Message) (Effect, *types.Fault) {
		in := new(T)
		if err := codec.Unmarshal(m.Payload, maxPayloadBytes, in); err != nil {
			return Effect{}, newFault("malformed", "the payload of %s: %v", m.Handler, err)
		}
		return do(b, m.Sender, in)
	}
}

// recordBytes is the maximum that a handler stores besides its payload and a
// committee: keys, counters and the figures of a record.
const recordBytes = 512

// memberBytes is the size of one member of a job's committee in state.
const memberBytes = 320

// runnersPerRead is how many runners a draw looks at for the price of one read.
const runnersPerRead = 64

// Cost returns the price of a handler before it begins, whatever its outcome: cycles for
// reading its payload, writing its records and a signature, and a cell for each byte that it
// may store.
func Cost(p *params.Params, m program.Message) (types.Cycles, types.Cells) {
	n := len(m.Payload)
	cycles := types.Cycles(n)*p.CostStringChar + types.Cycles((n+31)/32)*p.CostKeccakWord + 4*p.CostStorageWrite
	if m.Self == types.RegistryAddress && m.Handler == "register" {
		cycles += p.CostVerify
	}
	return cycles, types.Cells(n + recordBytes)
}

// costOf returns the price of a job in addition to Cost: its draws, with retries,
// examine every runner, and each writes every member.
func (b *InBlock) costOf(j *Job) (types.Cycles, types.Cells) {
	draws := types.Cycles(1 + j.Terms.MaxRetries)
	reads := types.Cycles(divideUp(uint64(Registered(b.State).Count), runnersPerRead)) * b.Params.CostStorageRead
	writes := types.Cycles(j.Terms.Runners) * 2 * b.Params.CostStorageWrite
	return draws * (reads + writes), types.Cells(j.Terms.Runners * memberBytes)
}

// Handle runs a handler. A fault means that the caller must undo its writes.
func (b *InBlock) Handle(m program.Message) (Effect, *types.Fault) {
	handle := handlers[m.Self][m.Handler]
	if handle == nil {
		return Effect{}, newFault(CodeNoHandler, "%s has no handler %.80q", m.Self, m.Handler)
	}
	return handle(b, m)
}

// CodeNoHandler is the code of Handle for an unknown handler.
const CodeNoHandler = "no_handler"
