package ledger

import (
	"errors"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Executor executes blocks. It holds no state of the chain, and is safe for
// concurrent use where its parts are.
type Executor struct {
	Programs  program.Host // nil: this node can run none
	Verifier  Verifier
	Deliverer actors.Deliverer // nil: actors.Direct
	// Worked is told the cycles of each execution once it is over, so that its time
	// may pass before the next. It may be nil.
	Worked func(types.Cycles)
	// Recorder notes what one execution does, and runs its programs; nil notes nothing.
	Recorder *actors.Recorder
	// OmitRoots makes Build leave the roots of state and receipts out of its blocks: they are
	// zero, Apply refuses such a block, and Result.Changes is nil. It is for a chain that keeps
	// no blocks. State.Root hashes the whole state once it is asked.
	OmitRoots bool

	purpose program.Purpose // of blocks' sessions; 0: program.ForBlock
}

// Verifier judges signatures; it may remember what it judged.
type Verifier interface {
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// maxAttempts is how often an execution is tried whose environment fails: a
// fresh host gets a second chance.
const maxAttempts = 2

var errNoHost = errors.New("this node has no host of programs")

// sessions opens one conversation with the programs' host when it is first
// needed.
type sessions struct {
	host    program.Host
	purpose program.Purpose
	pace    *pacer // bounds them
	strict  bool   // what is late ends there and then
	open    program.Session
}

// Session implements actors.Sessions.
func (s *sessions) Session() (program.Session, error) {
	if s.open != nil {
		return s.open, nil
	}
	if s.host == nil {
		return nil, errNoHost
	}
	session, err := s.host.Open(s.purpose)
	if err != nil {
		return nil, err
	}
	session.Bound(program.Bounds{Left: s.pace.sessionBound(), Strict: s.strict})
	s.open = session
	return session, nil
}

// closeSession ends the conversation; the next Session opens another.
func (s *sessions) closeSession() {
	if s.open != nil {
		s.open.Close()
		s.open = nil
	}
}

func (x *Executor) newDeliverer() actors.Deliverer {
	switch {
	case x.Recorder != nil:
		return x.Recorder
	case x.Deliverer == nil:
		return actors.Direct{}
	}
	return x.Deliverer
}

// recordBegin names the execution that begins to the recorder, if there is one.
func (x *Executor) recordBegin(cause actors.Cause) {
	if x.Recorder != nil {
		x.Recorder.Begin(cause)
	}
}

// forBlocks is what sessions that execute blocks are opened for.
func (x *Executor) forBlocks() program.Purpose {
	if x.purpose == 0 {
		return program.ForBlock
	}
	return x.purpose
}

func (x *Executor) reportWork(done *actors.Execution) {
	if x.Worked != nil {
		cycles, _ := done.Used()
		x.Worked(cycles)
	}
}
