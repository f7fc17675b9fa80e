package pyhost

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// interpreter is the Python of a pool. It is found once, and again if another minor version
// is required later.
type interpreter struct {
	named    string
	slow     slowly
	look     func(string, slowly) (python, bool) // ask, or recall
	mu       sync.Mutex
	required string // "": any
	looked   bool
	found    python
	err      error
}

func (i *interpreter) find() (python, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.looked {
		i.looked = true
		i.found, i.err = find(i.named, i.required, i.slow, i.look)
	}
	return i.found, i.err
}

// require has no other minor version fit; "" lets any.
func (i *interpreter) require(minor string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.required = minor
	if minor != "" && (i.err != nil || i.looked && Minor(i.found.version) != minor) {
		i.looked, i.found, i.err = false, python{}, nil
	}
}

// unfit makes every further message fail, for the reason given.
func (i *interpreter) unfit(why error) {
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
func (p *Pool) Require(minor string) { p.python.require(minor) }

// proofOf is an interpreter, and the mark of its proof.
type proofOf struct{ path, mark string }

// Prepare begins to look at the interpreter and its library, and returns at once. Fit waits
// for the result. It is called once, before the first message.
func (p *Pool) Prepare() {
	p.proof = sync.OnceValue(func() proofOf {
		found, err := p.python.find()
		if err != nil {
			return proofOf{}
		}
		return proofOf{found.path, identity(found.path, p.sources.digest())}
	})
	go p.proof()
}

// mark is the mark of an interpreter's proof: the prepared one, unless another is required now.
func (p *Pool) mark(path string) string {
	if p.proof != nil {
		if prepared := p.proof(); prepared.path == path {
			return prepared.mark
		}
	}
	return identity(path, p.sources.digest())
}

// Fit reports whether the pool's Python gives the receipts of its minor version
// (decision C20). Where it does not, every message fails. Its error is a *MissingError, an
// *UnfitError, or that of a host that does not start, which proves nothing.
//
// A proof is kept in this process and in the user's cache folder, until the interpreter,
// its library, these sources or the corpus change.
func (p *Pool) Fit() error {
	found, err := p.python.find()
	if err != nil {
		return err
	}
	mark := p.mark(found.path)
	if proved(mark) {
		return nil
	}
	err = p.prove(found)
	var different *receipts.Difference
	switch {
	case err == nil:
		remember(mark)
		return nil
	case errors.As(err, &different) || errors.Is(err, receipts.ErrMinor):
		err = &UnfitError{found.version, found.path, err}
		p.python.unfit(err)
	}
	return err
}

// prove runs the corpus on a host of the pool.
func (p *Pool) prove(found python) error {
	s, err := p.Open(program.ForBlock)
	if err != nil {
		return err
	}
	defer s.Close()
	return receipts.Prove(s, Minor(found.version))
}
