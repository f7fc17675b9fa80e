// Package program is the contract between the code of an actor and the chain:
// Handle(context, message) → outcome.
//
// A Host runs programs; the Python host and the Go samples implement it. The
// chain opens a Session for a block or for a read, and hands it one message at
// a time; while a program runs it talks to the chain through the Context, which
// may lead back into the same session for a call of another actor.
//
// An error of Handle comes from the environment and is never an outcome: the
// execution of the block then has no result. A *HostError says whether the host was
// stopped, late, crashed or missing. Whatever a program does wrong is in the
// Outcome.
package program

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Kind is why a message is handled.
type Kind uint8

// The kinds of messages.
const (
	Init    Kind = 1 + iota // once, at deploy: handler init, or deploy; neither need exist
	Call                    // from a transaction or another actor, or a delivered send
	Timer                   // a fire
	Read                    // read-only: every side effect is refused
	Migrate                 // once, at an upgrade: handler migrate of the new code (decision C25)
)

// MigrateHandler is the handler of an upgrade. On a chain with upgrades nothing else
// calls it.
const MigrateHandler = "migrate"

// The keys of an actor's storage under which a host keeps continuations that wait for a
// job. The first has a bit for each place that is taken. The record of a place begins with
// the height of its watchdog in eight bytes. A watchdog may be late: a place counts as taken
// for ContinuationGrace blocks after that height.
const (
	ContinuationPlaces = "\x00runner/waiting"
	ContinuationPlace  = "\x00runner/at/" // ‖ the number of the place, a byte
	ContinuationGrace  = 1024
)

// BidHandler is the handler of a gas bidding agent: the chain calls it, as a Read
// by the governance actor, with a GBAContext, and reads TxFeeParams from its output
// (CIP-1 §7; its name by decision T14).
const BidHandler = "get_gas_bid"

// Message is what a handler receives.
type Message struct {
	Kind    Kind
	Sender  types.Address
	Self    types.Address
	Handler string
	Payload []byte
	Owner   types.Address // who deployed the actor: the SDK's OWNER
	// Value is the wei that a transaction moved to the actor for this message; 0 in
	// every other (finding F38).
	Value types.Wei
}

// Code is the code of an actor and its keccak256.
type Code struct {
	Hash   types.Hash
	Source []byte
	Units  uint64 // of compiling that an inspection may do; 0: what the host allows any code
}

// Outcome is the end of a message: a status and, unless it is StatusOK, a
// fault. The program's changes of state are kept only with StatusOK.
type Outcome struct {
	Status types.Status
	Output []byte
	Fault  *types.Fault
	// Told is what a calling program reads instead of the fault's message, which may have
	// words of this machine's Python. Nil: the message (decision C20).
	Told *string
	// Where is the place in the author's code where the limit of cycles or cells was
	// used up, in words; "" if unknown.
	Where string
}

// BlockInfo is the part of the current block that a program may read.
type BlockInfo struct {
	ChainID     uint64
	Height      types.Height
	TimestampMS types.Millis
	TxHash      types.Hash // zero in a fire (CIP-5 §5.2)
}

// TimerRequest holds the arguments of schedule_timer and schedule_timer_ex;
// nil means that the argument was not given.
type TimerRequest struct {
	Height                 types.Height
	Payload                []byte
	Handler                string // "" for the default, handle_timer
	FeePayer               *types.Address
	GasLimit               *types.Cycles
	ExpiresAt              *types.Height
	MaxFeePerCycle         *types.Wei
	MaxPriorityFeePerCycle *types.Wei
	Bid                    *types.Wei
	GBA                    *types.Address
	PriorityTier           string // a hint of CIP-1 §7.3, "" for none
	Watch                  *types.Watch
}

// Context is the chain as a running program sees it. Every method charges what
// CIP-3's table asks for; the host charges only for the program's own steps, by
// Spend. A method's error is a *Fault: Abort reports whether the program may catch
// it.
type Context interface {
	Block() BlockInfo
	Message() Message

	// Remaining is what is left of the limits.
	Remaining() (types.Cycles, types.Cells)
	// Spend charges the program's own steps. Its error is out_of_cycles or
	// out_of_cells, and final.
	Spend(types.Cycles, types.Cells) error

	Get(key []byte) (value []byte, found bool, err error)
	Set(key, value []byte) error
	Delete(key []byte) error
	Balance(of types.Address) (types.Wei, error)
	Transfer(to types.Address, amount types.Wei) error
	Emit(name string, data []byte) error
	// Send delivers payload to a handler of target in the next block, with the
	// limits prepaid at today's base fees (decision C16).
	Send(target types.Address, handler string, payload []byte, cycles types.Cycles, cells types.Cells) error
	// Call runs a handler of target now, with at most limit cycles (0: all that
	// remain). A failed call is a *Fault with the callee's code.
	Call(target types.Address, handler string, payload []byte, limit types.Cycles) ([]byte, error)
	ScheduleTimer(TimerRequest) (types.TimerID, error)
	CancelTimer(types.TimerID) error
	ExtendTimer(id types.TimerID, expiresAt types.Height) error
	// SubmitJob submits a job, whose outcome comes as a message from 0x02, and returns
	// its id. spec is a canonical JobSpec without submitter and submitted_at. The
	// actor pays max_price, tip and the callback's limits into escrow (decision J7).
	SubmitJob(spec []byte) (types.Hash, error)
	// SetGasBidder names the actor that prices this actor's timers from now on;
	// nil is the protocol's own bidder (CIP-1 §7).
	SetGasBidder(bidder *types.Address) error
	Keccak(data []byte) (types.Hash, error)
	// Randomness is keccak256(R(height) ‖ actor ‖ domain) (decision C9).
	Randomness(domain []byte) (types.Hash, error)
	// Log keeps a line of the actor's print. It is part of no consensus.
	Log(line string)
}

// Fault is a refusal of the chain as a program meets it.
type Fault struct {
	Status  types.Status // what the message ends with when the program does not catch it
	Code    string
	Message string
	Abort   bool // out of cycles or cells: the program cannot catch it
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Message) }

// Description is what a host found in code that may be deployed.
type Description struct {
	Units    uint64 // that compiling it takes, which its deployer pays
	Handlers []Handler
	Schema   []byte // its annotations, as JSON (decision C22); nil if none are known
}

// Handler is one handler of an actor, as people and tools see it.
type Handler struct {
	Name string
	Doc  string // first line of its documentation
}

// Refusal is why code may not be deployed: a forbidden import or construct, or
// a syntax error. Line counts from 1; 0 means no line.
type Refusal struct {
	Units  uint64 // that were measured before it was refused
	Line   int
	Reason string // for people: it may have words of this machine's Python
	Code   string // of the receipt; "": invalid_code
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Reason
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Reason)
}

// Host runs programs. It is safe for concurrent use.
type Host interface {
	// Open starts a conversation with a host of the pool that the purpose
	// names. It waits for a free one. Its error is a *HostError.
	Open(Purpose) (Session, error)
}

// Purpose separates reads from blocks, so that reads do not wait for blocks.
type Purpose uint8

// The purposes.
const (
	ForBlock Purpose = 1 + iota
	ForRead
)

// Session runs one message at a time. Handle may be called again from within,
// by a Context's Call.
type Session interface {
	// Bound has the session keep to bounds from the next message on. As at Open, there are
	// none.
	Bound(Bounds)
	// Inspect checks code before a deploy. A *Refusal is the deployer's fault;
	// every other error is a *HostError.
	Inspect(Code) (Description, error)
	// Handle runs one message. Its error is a *HostError, or what the Context
	// returned that was no *Fault. After an error the session runs nothing more,
	// unless the message did not begin because time was short.
	Handle(Context, Code, Message) (Outcome, error)
	Close()
}
