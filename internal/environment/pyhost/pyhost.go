// Package pyhost runs Python actors: it implements program.Host over a pool of
// CPython subprocesses.
//
// The host process is python-host/, carried inside the binary; its sources go
// over standard input to `python3 -c`, so that the host reads nothing from disk. It checks
// code (CIP-6's imports and determinism), rewrites it so that it counts its own
// steps by CIP-3's table, and runs each message in a fresh namespace.
//
// # Conversation
//
// Frames go both ways over pipes: u32 length (little endian), u8 type, then maps in
// CBOR (RFC 8949) of names to numbers and bytes. protocol.go defines the types, the
// maps and their names, and Python has them from that file.
//
//	C  →  a message: what it is about, handler and payload, and keys and values
//	      that the program is likely to read
//	Q  ←  effects, then one request; each says its op, and the steps before it
//	A  →  the cycles left and a value, or a refusal's code and message, or that
//	      the message is over
//	R  ←  effects, then the end, whose op is a status
//	L, X, P, I → load code, drop code, costs, inspect;  H, N, D ← hello, refusal, description
//	V          → advice about code;  V ← kinds, lines, words
//	F, E, T    → fork, end, try;  F, Z, T ← forked, ended, tried
//	M          ← the host's compiled modules, before H, unless it was given them
//
// Between Q and A the chain may send another C, for a call of another actor:
// the host runs it within.
//
// # Walls
//
// The interpreter is the first wall around an actor's code (check.py, sealed.py). Two
// more follow. The process can compute, read, answer and end, and nothing else that
// the operating system can refuse it (wall.py; Pool.Wall tries). And the process that
// runs programs is forked from one that never ran any, and ends with its session: a
// block, MaxReads reads (fork_server.py). A block without messages for Python takes
// none.
//
// # Charges
//
// Context charges for the work of the chain, the host for the program's steps.
// Effects without an answer are sent with the next request or the reply. Each
// carries the steps before it, so that Spend and the effects reach the Context in
// the program's own order. A value sent ahead or read twice is still read through
// Context.Get when the program reads it. So neither buffer sizes nor hints can be
// seen in an outcome.
//
// A refused effect (state, event) ends the message, since its program is past
// it; a refused request is a Python exception.
//
// # Failure
//
// A host, here and below, is a fork server and its child. A host that crashes,
// hangs beyond Config.CallTimeout or breaks the protocol is killed and answered as
// *program.HostError, and so is one that exceeds Session.Bound. The session is dead
// then, and the pool starts another host for the next one. The caller retries,
// since that needs a fresh Context.
package pyhost

import (
	"runtime"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
)

// Config says how many hosts run and what they may take.
type Config struct {
	Python       string           // a path or name; "" finds the first fitting one on PATH
	Hosts        int              // for blocks, and as many for reads; 0: one per core, or fewer if memory is short
	ReadsYield   bool             // hosts of reads wait for all other work of the machine once they are up, as those of a node do
	AddressSpace uint64           // bytes of each host's child; 0: DefaultAddressSpace
	CallTimeout  time.Duration    // wall time of one message and all it calls; 0: DefaultCallTimeout
	Blocks       int              // sessions for blocks that one child serves; 0: 1
	Slow         func(string)     // is told once, in words, of a Python that takes long to start; it may be nil
	Costs        params.StepCosts // zero: that of the default parameters
	Recall       bool             // takes what a Python answered at an earlier start, if its files are unchanged
	Rate         time.Duration    // CPU time of a thousand cycles of a plain loop (decision C18); 0: each child measures it
	// Notes is told at the end of each message what that took of the lines of its code;
	// nil: nothing of that is noted. Outcomes are the same.
	Notes func(*program.Probed)
}

// The defaults. The address space holds the stack (256 MiB), the interpreter,
// and what a block's cycles can allocate.
const (
	DefaultAddressSpace = 2 << 30
	DefaultCallTimeout  = 10 * time.Second
)

// MaxReads is how many read messages one child serves. Nothing of a read is part
// of consensus, so that they may share an interpreter for a while.
const MaxReads = 64

// waitDelay is how long Wait continues after a host's end while another process
// holds its standard error.
const waitDelay = time.Second

// Coster is a Context that says which table is in force; without it the pool's
// is.
type Coster interface{ StepCosts() params.StepCosts }

// Peeker is a Context that shows, without charging, what Get would answer at the
// start of the message. The pool then
// sends ahead what a handler read last time.
type Peeker interface {
	Peek(key []byte) (value []byte, found bool)
}

// Pool is the hosts. It is safe for concurrent use.
type Pool struct {
	config  Config
	python  interpreter
	sources archive
	proof   func() proofOf // of Prepare; nil without it
	later   *laterProof    // of FitLater; nil: no message waits for a proof
	hints   *hints
	// verdicts are what the inspections found, of this pool's Python
	verdicts *verdicts
	blocks   chan *host // free hosts; nil stands for one not started
	reads    chan *host
	mu       sync.Mutex
	closed   bool
	rates    rates

	compiled *compilations // of the process
}

var _ program.Host = (*Pool)(nil)

// New prepares a pool. It starts no process, and succeeds without a fitting Python:
// then every message fails with a *MissingError within.
func New(config Config) *Pool {
	if config.Blocks <= 0 {
		config.Blocks = 1
	}
	if config.AddressSpace == 0 {
		config.AddressSpace = DefaultAddressSpace
	}
	if config.Hosts <= 0 {
		config.Hosts = hostsFor(runtime.NumCPU(), AllowedMemory(), config.AddressSpace)
	}
	if config.CallTimeout <= 0 {
		config.CallTimeout = DefaultCallTimeout
		if config.Notes != nil {
			config.CallTimeout *= notesTake
		}
	}
	if config.Costs == (params.StepCosts{}) {
		defaults := params.Defaults()
		config.Costs = defaults.StepCosts()
	}
	if slow := config.Slow; slow != nil {
		var told sync.Once // a machine that is slow once is slow at every start
		config.Slow = func(words string) { told.Do(func() { slow(words) }) }
	}
	look := askInterpreter
	if config.Recall {
		look = recallAnswer
	}
	p := &Pool{
		python: interpreter{named: config.Python, slow: config.Slow, look: look}, config: config, sources: embedded, hints: newHints(),
		verdicts: newVerdicts(),
		blocks:   make(chan *host, config.Hosts), reads: make(chan *host, config.Hosts), rates: rates{stated: config.Rate}, compiled: &compiled,
	}
	for range config.Hosts {
		p.blocks <- nil
		p.reads <- nil
	}
	return p
}

// Probe returns the version of the Python in use, or a *MissingError.
func (p *Pool) Probe() (version string, err error) {
	found, err := p.python.findOnce()
	return found.version, err
}

// Open begins a conversation. Its host is taken, and started if it has to be,
// when the first message needs it.
func (p *Pool) Open(purpose program.Purpose) (program.Session, error) {
	free := p.blocks
	if purpose == program.ForRead {
		free = p.reads
	}
	return &session{pool: p, free: free}, nil
}

// Ahead starts a host for blocks, and its child, before a message needs them. A caller
// that needs a host meanwhile takes another, if the pool may have several, or waits for
// it. The first message reports why the host could not start. over is closed when the host
// is ready, or has failed to start.
func (p *Pool) Ahead() (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err := p.python.findOnce()
		if err != nil {
			return
		}
		h := <-p.blocks
		if h == nil && !p.isClosed() {
			h, _ = p.newReadyHost(found.path, p.blocks) // the first message starts another, and says why that cannot start
		}
		p.blocks <- h
	}()
	return done
}

// newReadyHost is a new host with its child, which belongs among those of free. Both belong to the start: a
// caller may have time for neither. A host that yields does so once it is up: a start beside a busy
// program would take twenty times as long.
func (p *Pool) newReadyHost(path string, free chan *host) (*host, error) {
	defer slowly(p.config.Slow).reportIfSlow(path, startTimeout)()
	h, err := p.startHost(path, p.config.Notes != nil, time.Now().Add(startTimeout))
	if err != nil {
		return nil, err
	}
	if err := h.forkChild(); err != nil {
		return nil, h.failDuring("start of the host", err)
	}
	if p.config.ReadsYield && free == p.reads {
		yieldTo(h.cmd.Process.Pid)
		yieldTo(h.child)
	}
	return h, nil
}

// takeHost waits for a free host, and starts it if necessary, while time is left. A
// message is not at fault for the time that others keep a host.
func (p *Pool) takeHost(during string, free chan *host, left func() time.Duration) (*host, error) {
	found, err := p.python.findOnce()
	if err != nil {
		return nil, &program.HostError{Failure: program.Missing, During: during, Err: err}
	}
	h, ok := takeFree(free, left)
	if !ok {
		return nil, newFailure(during, program.ErrNotBegun, true, 0, "")
	}
	if p.isClosed() {
		free <- nil
		return nil, newFailure(during, errClosed, false, 0, "")
	}
	if h != nil && h.hasEnded() {
		h.stopProcess()
		h = nil
	}
	if h == nil {
		return p.beginHost(during, found.path, free, left)
	}
	return h, nil
}

// beginHost starts a host. A host that is not up when its caller runs out of time
// continues to start, and serves the next caller. On a busy machine a start can
// take longer than any proposer has, and would never end if each call restarted it.
func (p *Pool) beginHost(during, path string, free chan *host, left func() time.Duration) (*host, error) {
	type started struct {
		host *host
		err  error
	}
	up := make(chan started, 1)
	go func() {
		h, err := p.newReadyHost(path, free)
		up <- started{h, err}
	}()
	patience, _ := lesserTime(startTimeout+time.Second, left) // the host's own limit comes first
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s := <-up:
		if s.err != nil {
			free <- nil
		}
		return s.host, s.err
	case <-timer.C:
		go func() { free <- (<-up).host }()
		return nil, newFailure(during, program.ErrNotBegun, true, 0, "")
	}
}

// takeFree takes what is free, as long as there is time left.
func takeFree(free chan *host, left func() time.Duration) (*host, bool) {
	if left == nil {
		return <-free, true
	}
	patience := time.NewTimer(left())
	defer patience.Stop()
	select {
	case h := <-free:
		return h, true
	case <-patience.C:
		return nil, false
	}
}

// giveBack ends a loan. A child that ran messages of a block ends with it, and one
// that ran reads after MaxReads; the next is made ready meanwhile.
func (p *Pool) giveBack(free chan *host, h *host) {
	if h.served > 0 {
		h.blocks++
	}
	fresh := h.blocks < p.config.Blocks
	if free == p.reads {
		fresh = h.served < MaxReads
	}
	if fresh && h.forked && !h.broken {
		free <- h
		return
	}
	go func() {
		if !h.broken {
			h.setDeadline(time.Now().Add(p.config.CallTimeout), false)
			renew := h.renewChild
			if !h.forked { // its child was ended
				renew = h.forkNext
			}
			if err := renew(); err != nil {
				h.stopProcess()
			}
		}
		if h.broken {
			h = nil
		}
		free <- h
	}()
}

// Close ends every host. It waits for open sessions to be closed.
func (p *Pool) Close() {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if was {
		return
	}
	for _, free := range []chan *host{p.blocks, p.reads} {
		for range p.config.Hosts {
			if h := <-free; h != nil {
				h.stopProcess()
			}
		}
		for range p.config.Hosts {
			free <- nil
		}
	}
}

func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
