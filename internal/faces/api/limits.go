package api

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The limits of the API, each with its reason.
const (
	// ListDefault and ListMax bound every list (the chain's own RPC has the
	// same two).
	ListDefault = 50
	ListMax     = 1000

	// MaxBodyBytes bounds a request: a transaction in hexadecimal, and its JSON.
	MaxBodyBytes = 2*types.MaxTransactionBytes + 4096

	// MaxHeaderBytes bounds a request's header, which holds nothing of ours but
	// Last-Event-ID.
	MaxHeaderBytes = 16 << 10

	// HeaderTimeout is how long a client may take over its header, and
	// BodyTimeout over its body: a slow one holds a connection.
	HeaderTimeout = 5 * time.Second
	BodyTimeout   = 15 * time.Second

	// IdleTimeout closes unused connections.
	IdleTimeout = 2 * time.Minute

	// ClosePatience is how long requests may take to end when the server does.
	ClosePatience = 2 * time.Second

	// MaxConnections bounds what is open at once.
	MaxConnections = 2048

	// MaxOriginConnections bounds the connections of one address: all that may wait and
	// follow at once, and some more. A quarter of all is left to other addresses.
	MaxOriginConnections = 1536

	// MaxBodies is how many bodies are read at once. Each takes up to MaxBodyBytes of
	// memory, and one that is not slow arrives within milliseconds.
	MaxBodies = 256

	// MaxAnswerBytes bounds the answers that are being written, in bytes, but for those of
	// at most freeAnswer. AnswerTimeout is how long a client may take to read one.
	MaxAnswerBytes = 64 << 20
	AnswerTimeout  = 30 * time.Second
	freeAnswer     = 64 << 10

	// PollsPerSecond and PollBytesPerSecond are what an address may poll for one runner
	// (GET /runner/{address}/jobs), and pollBurst how much time's worth of it at once. A
	// runner polls once per block, and at most 20 times a second on a chain that does not
	// need it. Beyond that a caller waits for PollWait at most.
	PollsPerSecond     = 64
	PollBytesPerSecond = 4 << 20
	pollBurst          = 2 * time.Second
	PollWait           = 2 * time.Second

	// WaitTimeout is how long a request waits for its transaction to be final;
	// MaxWaiters is how many do at once.
	WaitTimeout = 60 * time.Second
	MaxWaiters  = 1024

	// MaxColumns bounds the blocks of GET /blocks/columns, MaxPresence the heights of
	// GET /presence and MaxPresenceBytes the bitmaps of an answer: what is not told is asked
	// for with next. MaxTallied is how many timers GET /timers/calendar reads, and
	// CalendarHeights how many heights it tells unasked.
	MaxColumns       = 4096
	MaxPresence      = 256
	MaxPresenceBytes = 4 << 20
	MaxTallied       = 1 << 17
	CalendarHeights  = 4096

	// MaxRanges is how many of these run at once: each reads thousands of records.
	MaxRanges = 8

	// MaxLogRead is how many bytes of a node's log are read for an answer, MaxLogLine of
	// a line are shown.
	MaxLogRead = 1 << 20
	MaxLogLine = 4096

	// MaxReads is how many read-only calls and dry runs run or wait at once:
	// each takes a Python host of the read pool.
	MaxReads = 64

	// ReadBudget is the cycles that the reads of a client may take in ReadWindow: about a second of CPU
	// time. A read counts LeastReadCycles at least, for what it takes besides. What is late counts
	// LateReadTimes its limit. The operator's own programs have OperatorBudgets of them.
	// MaxReadClients is how many clients have a budget of their own, and the others share one. A client
	// is forgotten once its budget is whole, so that no machine is quick enough to fill these.
	ReadBudget      = 37_000_000
	ReadWindow      = 10 * time.Second
	LeastReadCycles = 10_000
	LateReadTimes   = program.LateTimesInAll
	OperatorBudgets = 10
	MaxReadClients  = 4096

	// ClientReads is how many reads of a client run or wait, one at a time: all others find a host of
	// programs free. The operator's own programs have OperatorReads, as many at a time as budgets.
	ClientReads   = 16
	OperatorReads = 48

	// MaxTraces is how many executions are executed again at once, and TraceTimeout
	// how long one may look for the state it began with: the blocks before it are
	// executed again for that.
	MaxTraces    = 2
	TraceTimeout = 20 * time.Second

	// MaxEventReaders is how many may follow /events at once. EventRing is how
	// many final blocks, and EventRingBytes how many bytes of events, are kept
	// for all of them: a reader that was up to date and falls further behind is
	// dropped.
	MaxEventReaders = 128
	EventRing       = 1024
	EventRingBytes  = 32 << 20

	// EventWrites bounds how many streams of events are woken in a second, all together. A
	// single stream gets each block at once. A hundred streams get the blocks of 400 ms
	// together, since a write to a socket costs more than the event. EventWriteBytes ends
	// the blocks of one write.
	EventWrites     = 250
	EventWriteBytes = 64 << 10

	// EventWriteTimeout drops a reader that takes nothing for so long;
	// EventKeepAlive is how often an idle stream shows that it lives.
	EventWriteTimeout = 10 * time.Second
	EventKeepAlive    = 15 * time.Second
)
