package pyhost

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// interpreter is the Python of a pool. It is found once, and again if another minor version
// is required later.
type interpreter struct {
	named    string
	slow     slowly
	look     func(string, slowly) (python, error) // ask, or recall
	mu       sync.Mutex
	required string // "": any
	looked   bool
	found    python
	err      error
}

func (i *interpreter) findOnce() (python, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.looked {
		i.looked = true
		i.found, i.err = findPython(i.named, i.required, i.slow, i.look)
	}
	return i.found, i.err
}

// requireMinor has no other minor version fit; "" lets any.
func (i *interpreter) requireMinor(minor string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.required = minor
	if minor != "" && (i.err != nil || i.looked && Minor(i.found.version) != minor) {
		i.looked, i.found, i.err = false, python{}, nil
	}
}

// makeUnfit makes every further message fail, for the reason given.
func (i *interpreter) makeUnfit(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.looked, i.found, i.err = true, python{}, why
}

// UnfitError says that an interpreter gives other receipts than its minor version does.
type UnfitError struct {
	Version, Path string
	Cause         error // a *receipts.Difference, or receipts.ErrMinor
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("Python %s at %s gives other receipts than Python %s: %v; "+
		"install an unchanged CPython %s on the PATH or set python in the settings",
		e.Version, e.Path, Minor(e.Version), e.Cause, Minor(e.Version))
}

func (e *UnfitError) Unwrap() error { return e.Cause }

// Require restricts the pool to a minor version, as genesis names it; "" allows any. It is called before the first message.
func (p *Pool) Require(minor string) { p.python.requireMinor(minor) }

// proofOf is an interpreter, and the mark of its proof.
type proofOf struct{ path, mark string }

// Prepare begins to look at the interpreter and its library, and returns at once. Fit waits
// for the result. It is called once, before the first message.
func (p *Pool) Prepare() {
	p.proof = sync.OnceValue(func() proofOf {
		found, err := p.python.findOnce()
		if err != nil {
			return proofOf{}
		}
		return proofOf{found.path, interpreterMark(found.path, p.sources.digest())}
	})
	go p.proof()
}

// proofMark is the mark of an interpreter's proof: the prepared one, unless another is required now.
func (p *Pool) proofMark(path string) string {
	if p.proof != nil {
		if prepared := p.proof(); prepared.path == path {
			return prepared.mark
		}
	}
	return interpreterMark(path, p.sources.digest())
}

// Fit reports whether the pool's Python gives the receipts of its minor version
// (decision C20). Where it does not, every message fails. Its error is a *MissingError, an
// *UnfitError, or that of a host that does not start, which proves nothing.
//
// A proof is kept in this process and in the user's cache folder, until the interpreter,
// its library, these sources or the corpus change.
func (p *Pool) Fit() error {
	found, err := p.python.findOnce()
	if err != nil {
		return err
	}
	mark := p.proofMark(found.path)
	if isProved(mark) {
		return nil
	}
	return p.judgePython(found, mark)
}

// WasProved reports whether the pool's Python was proved before, at an earlier start or where its image was made.
func (p *Pool) WasProved() bool {
	found, err := p.python.findOnce()
	return err == nil && isProved(p.proofMark(found.path))
}

// FitLater is Fit where a proof from before decides, and reports at once what needs no program. Otherwise
// the proof is made later: by BeginProof, or when the first message needs it, which waits for it. told is
// then called with what Fit would have returned, on another goroutine. It is called before the first message.
func (p *Pool) FitLater(told func(error)) error {
	found, err := p.python.findOnce()
	if err != nil {
		return err
	}
	mark := p.proofMark(found.path)
	if isProved(mark) {
		return nil
	}
	if minor := Minor(found.version); !receipts.Knows(minor) {
		return p.judgePython(found, mark)
	}
	l := &laterProof{over: make(chan struct{})}
	l.begin = func() {
		go func() {
			err := p.judgePython(found, mark)
			if err != nil {
				p.python.makeUnfit(err) // a host that does not start proves nothing, and nothing runs unproved
			}
			close(l.over)
			told(err)
		}()
	}
	p.later = l
	return nil
}

// BeginProof begins the proof that FitLater left for later, if there is one.
func (p *Pool) BeginProof() {
	if p.later != nil {
		p.later.once.Do(p.later.begin)
	}
}

// laterProof is a proof for which messages wait.
type laterProof struct {
	once  sync.Once
	begin func()
	over  chan struct{} // closed once messages may run, or fail
}

// awaitProof begins the proof that is left to make, and waits for it while time is left.
func (p *Pool) awaitProof(left func() time.Duration) (isOver bool) {
	if p.later == nil {
		return true
	}
	p.BeginProof()
	if left == nil {
		<-p.later.over
		return true
	}
	patience := time.NewTimer(left())
	defer patience.Stop()
	select {
	case <-p.later.over:
		return true
	case <-patience.C:
		return false
	}
}

// judgePython proves an interpreter, and has every message fail if it gives other receipts.
func (p *Pool) judgePython(found python, mark string) error {
	err := p.provePython(found)
	var different *receipts.Difference
	switch {
	case err == nil:
		rememberProof(mark)
		return nil
	case errors.As(err, &different) || errors.Is(err, receipts.ErrMinor):
		err = &UnfitError{found.version, found.path, err}
		p.python.makeUnfit(err)
	}
	return err
}

// provePython runs the corpus on a host of the pool.
func (p *Pool) provePython(found python) error {
	s := &session{pool: p, free: p.blocks, proves: true}
	defer s.Close()
	return receipts.Prove(s, Minor(found.version))
}
