package types

import "strconv"

// Status is how a transaction, a timer's fire or a deferred message ended.
type Status string

// A receipt has one of these. Invalid transactions have no receipt: they are
// not included.
const (
	StatusOK          Status = "ok"
	StatusReverted    Status = "reverted" // the handler raised, or refused the caller
	StatusOutOfCycles Status = "out_of_cycles"
	StatusOutOfCells  Status = "out_of_cells"
	StatusInvalidCode Status = "invalid_code" // a deploy whose code is refused
	StatusNoActor     Status = "no_actor"     // no actor at the address
	StatusNoHandler   Status = "no_handler"
	StatusHostFailed  Status = "host_failed" // the hosts of f + 1 validators failed on it (decision C18)
	StatusFailed      Status = "failed"      // anything else, named by the fault's code
)

// Fault says why something failed.
type Fault struct {
	_       struct{} `cbor:",toarray" json:"-"`
	Code    string   `json:"code"`    // snake_case, or the spec's own name
	Message string   `json:"message"` // for people: at most MaxFaultBytes
}

// MaxFaultBytes bounds a fault's message, which is kept with its receipt.
const MaxFaultBytes = 4096

// Event is what an actor emitted, or what the chain did to it.
type Event struct {
	_     struct{} `cbor:",toarray" json:"-"`
	Actor Address  `json:"actor"` // the emitter, a system address for the chain's own
	Name  string   `json:"name"`
	Data  Bytes    `json:"data"` // of system events: a CBOR map
}

// Origin is what caused an execution.
type Origin string

// The three origins.
const (
	OriginTransaction Origin = "transaction"
	OriginTimer       Origin = "timer"
	OriginMessage     Origin = "message" // a deferred transaction that delivers a send
)

// Receipt is the result of one execution in a block.
type Receipt struct {
	_       struct{} `cbor:",toarray" json:"-"`
	Hash    Hash     `json:"hash"` // of the transaction; of a fire the timer's id; of a message its own
	Origin  Origin   `json:"origin"`
	Height  Height   `json:"height"`
	Index   uint32   `json:"index"` // position among the block's receipts
	Sender  Address  `json:"sender"`
	To      Address  `json:"to"` // the new actor of a deploy
	Handler string   `json:"handler"`
	Status  Status   `json:"status"`
	Cycles  Cycles   `json:"cycles"`
	Cells   Cells    `json:"cells"`
	Fee     Wei      `json:"fee"` // all that was paid, tip included
	Tip     Wei      `json:"tip"`
	Events  []Event  `json:"events"`
	Error   *Fault   `json:"error"`
	Output  Bytes    `json:"output"`
}

// WithoutMessage is the receipt as the receipts' root has it. The message of its error is
// empty, since its words may come from one machine's Python (decision C20).
func (r *Receipt) WithoutMessage() *Receipt {
	if r.Error == nil || r.Error.Message == "" {
		return r
	}
	hashed := *r
	hashed.Error = &Fault{Code: r.Error.Code}
	return &hashed
}

// Timer is a pending timer in state (CIP-5 §3.1, decision T5).
type Timer struct {
	_                      struct{} `cbor:",toarray"`
	ID                     TimerID
	Actor                  Address
	Height                 Height // at which it is due first
	Payload                []byte
	Handler                string
	FeePayer               Address
	GasLimit               Cycles // DefaultGasLimit: the cap at the fire
	ExpiresAt              Height
	MaxFeePerCycle         *Wei // nil: the bidder's at fire time (decision T14)
	MaxPriorityFeePerCycle *Wei
	Bid                    Wei
	GBA                    *Address
	Watch                  *Watch // nil: due at its height
	Seq                    Seq    // chain-wide, the insertion order
	ScheduledAt            Height
	Deferrals              uint64 // blocks it was due in and did not end
	Sponsor                *Hash  // the transaction whose signer pays, within what it stated (decision T28); nil: the actor pays
}

// DefaultGasLimit is the limit of a timer that states none: the cap, whatever it is when the
// timer fires. A stated limit is never 0 (decision T5).
const DefaultGasLimit Cycles = 0

// FireLimit returns the cycles of a fire by the timer's limit, under a cap.
func FireLimit(limit, most Cycles) Cycles {
	if limit == DefaultGasLimit {
		return most
	}
	return min(limit, most)
}

// Watch is the key of an actor's state that makes a timer due when its value
// changes, at the timer's height at the earliest (decision T26).
type Watch struct {
	_     struct{} `cbor:",toarray" json:"-"`
	Actor Address  `json:"actor"`
	Key   Bytes    `json:"key"`
}

// TimerMove is a timer's move from one tier of the calendar to another (CIP-1
// §2): ring, epoch, overflow or carry.
type TimerMove struct {
	_        struct{} `cbor:",toarray"`
	Seq      Seq
	From, To string
}

// Weight is a fraction that multiplies a timer's priority: CIP-1 §8's W(actor),
// or the first revision's weight in thousandths. Den is 0 where a policy has no
// weights.
type Weight struct {
	_   struct{} `cbor:",toarray" json:"-"`
	Num uint64
	Den uint64
}

// String is "n/d", or "" for a zero denominator.
func (w Weight) String() string {
	if w.Den == 0 {
		return ""
	}
	return strconv.FormatUint(w.Num, 10) + "/" + strconv.FormatUint(w.Den, 10)
}

// TimerStatus is the status of a timer; all but Pending are ends, and each timer
// has one (decision T20).
type TimerStatus string

// The states of a timer.
const (
	TimerPending           TimerStatus = "pending"
	TimerFired             TimerStatus = "fired"
	TimerExpired           TimerStatus = "expired"
	TimerInsufficientFunds TimerStatus = "insufficient_funds"
	TimerCancelled         TimerStatus = "cancelled"
)

// ChangeKind is what a block did to a timer.
type ChangeKind uint8

// The kinds of change. The maker of a change sets it; the zero value is invalid.
const (
	ChangeScheduled ChangeKind = iota + 1
	ChangeExtended             // its expires_at was moved
	ChangeTriggered            // what it watches changed (decision T26)
	ChangeDeferred             // it was due, and was left for a later block
	ChangeEnded                // its status says how
)

// TimerChange is what a block did to one timer. Block results list them in the
// order they happened. It is not encoded anywhere: stores and faces define their
// own records.
type TimerChange struct {
	Kind       ChangeKind
	Timer      Timer // after the change
	Status     TimerStatus
	At         Height
	Reason     string // of a deferral, a trigger, an extension or an end; "" when scheduled or fired
	Priority   Wei    // a cycle, to the proposer, when the block examined it; an auction's bid
	Weight     Weight // that the block gave its actor
	CyclesUsed Cycles // of a fire
	CellsUsed  Cells
	FeePaid    Wei // all of it, tip included
	TipPaid    Wei
	Result     Status // of a fire's handler
}
