package pyhost

import (
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// This file is the one place for the names and numbers that both sides of the pipe
// need. python-host/host/protocol.py is written from it
// (TestProtocolIsWhatPythonReads -rewrite), so that each is written once.

// The types of frames.
const (
	frameLoad    = 'L' // code that is kept until it is dropped
	frameDrop    = 'X'
	frameCosts   = 'P' // the table of costs
	frameInspect = 'I'
	frameCall    = 'C' // a message
	frameAnswer  = 'A' // to a request
	frameHello   = 'H' // of the fork server, with the parts of its wall
	frameRequest = 'Q' // effects, and what waits for an answer
	frameReply   = 'R' // effects, and how the message ended
	frameNo      = 'N' // why code is refused
	frameFine    = 'D' // what code offers
	frameFork    = 'F' // to the fork server; and from its child, which has the pipes now
	frameTry     = 'T' // to the fork server; from it, attempts and how they ended
	frameEnd     = 'E' // to the child
	frameAdvice  = 'V' // source; from the host, what its author is told
	framePoints  = 'K' // source; from the host, where its lines and branches are
	frameEnded   = 'Z' // from the fork server, which has the pipes again

	frameCompiled = 'M' // before hello: the host's modules, for the next hosts (bootstrap.py)
)

var frames = []struct {
	name string
	kind byte
}{
	{"LOAD", frameLoad}, {"DROP", frameDrop}, {"COSTS", frameCosts}, {"INSPECT", frameInspect}, {"CALL", frameCall},
	{"ANSWER", frameAnswer}, {"HELLO", frameHello}, {"REQUEST", frameRequest}, {"REPLY", frameReply}, {"NO", frameNo},
	{"FINE", frameFine}, {"FORK", frameFork}, {"TRY", frameTry}, {"END", frameEnd}, {"ADVICE", frameAdvice}, {"POINTS", framePoints},
	{"ENDED", frameEnded},
}

// Limits of the data that a host may send. A host is trusted no more than the actor
// in it.
const (
	MaxFrameBytes   = 64 << 20
	MaxEffects      = 64 // in one frame
	maxHandlers     = 4096
	maxSchema       = 64 << 10 // bytes of all annotations
	maxParts        = 16       // of a wall
	maxAttempts     = 64       // to get through it
	maxPoints       = 100_000  // lines and ways of branches of one file
	maxNotes        = 20_000   // lines and ways that a message came to
	maxAdvice       = 100      // in the advice about one file
	maxStderrBytes  = 4096
	frameHeadBytes  = 4
	bufferedReading = 64 << 10
	exitSignalled   = 64 // and the signal that ended the child: the exit code of its fork server
)

var limits = []struct {
	name  string
	value int
}{
	{"MAX_FRAME", MaxFrameBytes}, {"MAX_EFFECTS", MaxEffects}, {"MAX_ADVICE", maxAdvice}, {"MAX_MESSAGE", types.MaxFaultBytes},
	{"SIGNALLED", exitSignalled}, {"MAX_SCHEMA", maxSchema}, {"MAX_POINTS", maxPoints}, {"MAX_NOTES", maxNotes},
}

// form is a map that crosses the pipe: what it is called, and what is in it.
type form struct {
	name   string
	fields []formField
}

type formField struct {
	name   string
	needed bool
}

// newForm takes the names of fields as words; one that ends in ? may be missing.
func newForm(name, fields string) *form {
	f := &form{name: name}
	for _, word := range strings.Fields(fields) {
		field, optional := strings.CutSuffix(word, "?")
		f.fields = append(f.fields, formField{field, !optional})
	}
	return f
}

// requests wait for an answer. They and the effects have the names of pvm_host.
var requests = []*form{
	newForm(opGet, "key"),
	newForm(opBalance, "address"),
	newForm(opCall, "target method payload cycles_limit"),
	newForm(opKeccak, "data"),
	newForm(opRandomness, "domain"),
	newForm(opSchedule, "height payload handler fee_payer? gas_limit? expires_at? max_fee_per_cycle? max_priority_fee_per_cycle? bid? gba? "+
		"priority_tier_hint? watched? key?"),
	newForm(opCancel, "timer_id"),
	newForm(opExtend, "timer_id new_expires_at"),
	newForm(opTransfer, "to amount"),
	newForm(opSend, "target handler payload cycles_limit cells_limit"),
	newForm(opFlush, ""),
	newForm(opBidder, "bidder?"),
	newForm(opSubmit, "payload"),
}

const (
	opGet        = "get_state"
	opBalance    = "get_balance"
	opCall       = "call_actor"
	opKeccak     = "keccak256"
	opRandomness = "randomness"
	opSchedule   = "schedule_timer"
	opCancel     = "cancel_timer"
	opExtend     = "extend_timer"
	opTransfer   = "transfer"
	opSend       = "send_message"
	opFlush      = "flush" // asks only that the effects be performed
	opBidder     = "set_gas_bidder"
	opSubmit     = "submit_job"
)

// effects wait for none.
var effects = []*form{
	newForm(effectSet, "key value"), newForm(effectDelete, "key"), newForm(effectEmit, "name payload"), newForm(effectLog, "line"),
	newForm(effectRead, "key"), newForm(effectNotes, "rows"),
}

const (
	effectSet    = "set_state"
	effectDelete = "delete_state"
	effectEmit   = "emit_event"
	effectLog    = "print"
	effectNotes  = "notes" // of a host that was asked for them: what a message took of its lines
	effectRead   = "read"  // of a value the host already has: charged, not answered
)

// ends are how a message ends: by a status of its receipt, or by the host's own end.
var ends = []*form{
	newForm(endOK, "output"), newForm(endReverted, "code message words"), newForm(endOver, "where"), newForm(endNoHandler, "code message"),
	newForm(endRefused, "code message"),
	newForm(endCrashed, "message"),
}

const (
	endOK        = string(types.StatusOK)
	endReverted  = string(types.StatusReverted)
	endOver      = string(types.StatusOutOfCycles)
	endNoHandler = string(types.StatusNoHandler)
	endRefused   = string(types.StatusInvalidCode)
	endCrashed   = "crashed"
)

// The maps other than those of a conversation: from the host, and to it.
var (
	helloForm = newForm("hello", "version")
	// the child, and its CPU time in nanoseconds: of a thousand cycles, and of the first write to a page
	forkForm        = newForm("fork", "pid rate page")
	partForm        = newForm("part", "name missing")
	refusalForm     = newForm("refusal", "units line reason code")
	descriptionForm = newForm("description", "units schema")
	handlerForm     = newForm("handler", "name doc")
	attemptForm     = newForm("attempt", "name exit? signal?")
	adviceForm      = newForm("advice", "kind line words")
	pointForm       = newForm("point", "line way? label?")

	fromHost = []*form{helloForm, forkForm, partForm, refusalForm, descriptionForm, handlerForm, attemptForm, adviceForm, pointForm}
)

// fixedPart is what begins every map of a kind, always the same names in the same
// order and of the same sizes, so that Python reads all of it at once.
type fixedPart struct {
	name string
	size int // of bytes; 0 is a number
}

// The beginnings of a call and of an answer. After its beginning, a call has its handler,
// payload and the values it is likely to read, in this order. An answer has a value, a
// refusal's code and message, or the mark of its end.
var (
	callFixed = []fixedPart{
		{"kind", 0}, {"code", 32}, {"cycles", 0}, {"sender", 20}, {"me", 20}, {"owner", 20}, {"tx_hash", 32}, {"height", 0}, {"timestamp", 0},
		{"chain_id", 0}, {"value", 32},
	}
	answerFixed = []fixedPart{{"cycles", 0}}
)

// kindNames are the words of context() for why a message is handled, by their
// numbers.
var kindNames = [...]string{program.Init: "init", program.Call: "call", program.Timer: "timer", program.Read: "read",
	program.Migrate: "migrate"}

// costNames are the names of params.StepCosts, in its order.
var costNames = strings.Fields("arithmetic call dict list char len reduce sort str list_base set_base dict_base import_first " +
	"import_again " +
	"serialise keccak_word")

// operations are the operations that a request or a reply may contain, by name.
var operations = byName(requests, effects, ends)

func byName(groups ...[]*form) map[string]*form {
	found := map[string]*form{}
	for _, forms := range groups {
		for _, f := range forms {
			found[f.name] = f
		}
	}
	return found
}

// fieldNames are all names of fields that a host may send. A map with another name
// is refused, and known names need no new strings.
var fieldNames = sync.OnceValue(func() map[string]string {
	found := map[string]string{fieldOperation: fieldOperation, fieldSteps: fieldSteps}
	for _, forms := range [][]*form{requests, effects, ends, fromHost} {
		for _, f := range forms {
			for _, field := range f.fields {
				found[field.name] = field.name
			}
		}
	}
	return found
})

// Fields that every map of a conversation has in addition to its own.
const (
	fieldOperation = "op"
	fieldSteps     = "steps" // of the program since the operation before
)
