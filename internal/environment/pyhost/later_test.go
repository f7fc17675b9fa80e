package pyhost

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// callOn has a program answer in a session of a pool.
func callOn(t *testing.T, p *Pool, left func() time.Duration) error {
	t.Helper()
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Bound(program.Bounds{Left: left})
	w := newWorld(s)
	_, _, err = w.handle(program.Message{Kind: program.Call, Self: w.deploy(1, "def f(p): pass"), Handler: "f"}, plenty)
	return err
}

// Decision C20: a proof that is left for later is made before the first program runs. A message without the time
// to wait for it is not begun.
func TestC20MessagesWaitForALaterProof(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := openPool(t, Config{})
	found, err := p.python.findOnce()
	if err != nil {
		t.Fatal(err)
	}
	known.Delete(p.proofMark(found.path))
	told := make(chan error, 1)
	if err := p.FitLater(func(err error) { told <- err }); err != nil || p.later == nil {
		t.Fatal(err, p.later)
	}
	begin, gate := p.later.begin, make(chan struct{})
	p.later.begin = func() {
		go func() {
			<-gate
			begin()
		}()
	}
	if err := callOn(t, p, func() time.Duration { return time.Millisecond }); !errors.Is(err, program.ErrNotBegun) {
		t.Errorf("a message ran before the proof: %v", err)
	}
	close(gate)
	if err := callOn(t, p, nil); err != nil {
		t.Error(err)
	}
	if err := <-told; err != nil {
		t.Error(err)
	}
	if !isProved(p.proofMark(found.path)) {
		t.Error("the proof is not remembered")
	}
}

// A Python that gives other receipts runs no program, whenever that is found out.
func TestC20AnUnfitPythonRunsNothingLater(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p, told := wrongly(t), make(chan error, 1)
	if err := p.FitLater(func(err error) { told <- err }); err != nil {
		t.Fatal(err)
	}
	var missing *program.HostError
	if err := callOn(t, p, nil); !errors.As(err, &missing) || missing.Failure != program.Missing {
		t.Errorf("a program ran: %v", err)
	}
	var unfit *UnfitError
	if err := <-told; !errors.As(err, &unfit) {
		t.Error(err)
	}
	if _, err := p.Probe(); !errors.As(err, &unfit) {
		t.Errorf("the pool still has the Python: %v", err)
	}
}

// A pool that is closed while its Python is proved ends with the message under way, not with the proof.
func TestAProofEndsWithItsPool(t *testing.T) {
	p := New(Config{Hosts: 1})
	s := &session{pool: p, free: p.blocks, proves: true}
	w := newWorld(s)
	call := program.Message{Kind: program.Call, Self: w.deploy(1, "def f(p): pass"), Handler: "f"}
	if _, _, err := w.handle(call, plenty); err != nil {
		s.Close()
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		p.Close()
		close(closed)
	}()
	for !p.isClosed() {
		runtime.Gosched()
	}
	if _, _, err := w.handle(call, plenty); !errors.Is(err, errClosed) {
		t.Errorf("the proof went on: %v", err)
	}
	s.Close()
	<-closed
}
