package pyhost

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// wrongly is a Python that counts otherwise: this machine's, with a host whose sources are
// not those that the receipts were pinned with.
func wrongly(t *testing.T) *Pool {
	t.Helper()
	p := openPool(t, Config{})
	changed := strings.Replace(string(p.sources.text()), "ELEMENT = 4  #", "ELEMENT = 5  #", 1)
	if changed == string(p.sources.text()) {
		t.Fatal("nothing was changed")
	}
	p.sources = newArchive(func() []byte { return []byte(changed) })
	return p
}

// A Python that gives another receipt runs no program. The error names the program, both
// receipts, the interpreter and the remedy.
func TestAnUnfitPythonRunsNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := wrongly(t)
	err := p.Fit()
	var unfit *UnfitError
	var different *receipts.Difference
	if !errors.As(err, &unfit) || !errors.As(err, &different) || different.Got == different.Want {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{different.Program, unfit.Path, "got ", "want ", "install an unchanged CPython"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := newWorld(s)
	_, _, err = w.handle(program.Message{Kind: program.Call, Self: w.deploy(1, "def f(p): pass"), Handler: "f"}, plenty)
	var missing *program.HostError
	if !errors.As(err, &missing) || missing.Failure != program.Missing {
		t.Errorf("a program ran: %v", err)
	}
}

// A proof is remembered in a file of its user, and only for these sources.
func TestAProofIsRememberedForWhatWasProved(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	p := openPool(t, Config{})
	if err := p.Fit(); err != nil {
		t.Fatal(err)
	}
	found, err := p.python.findOnce()
	needed.Python(t, err)
	mark := interpreterMark(found.path, p.sources.digest())
	if mark == "" {
		t.Skipf("no library found for %s", found.path)
	}
	kept, err := os.ReadFile(filepath.Join(cache, "devnet", "pythons"))
	if _, again := known.Load(mark); !again && (err != nil || !strings.Contains(string(kept), mark)) {
		t.Errorf("%q, %v", kept, err)
	}
	if !isProved(mark) || isProved(interpreterMark(found.path, wrongly(t).sources.digest())) || isProved("") {
		t.Error("the proof of one stands for another")
	}
}

// A pool that is required to have a minor version takes no other.
func TestARequiredMinorIsFoundOrNamed(t *testing.T) {
	version, err := shared.Probe()
	needed.Python(t, err)
	p := New(Config{})
	defer p.Close()
	p.Require(Minor(version))
	if got, err := p.Probe(); err != nil || got != version {
		t.Errorf("%s, %v", got, err)
	}
	p.Require("3.99")
	var missing *MissingError
	err = p.Fit()
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "names Python 3.99") || !strings.Contains(err.Error(), version) {
		t.Errorf("%v", err)
	}
}
