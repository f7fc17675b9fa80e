package pyhost

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// A host that is started ahead is ready, with its child, before a message needs it, and
// the first message runs on it.
func TestAHostThatIsStartedAheadIsTheFirstMessages(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	<-p.Ahead()
	h := <-p.blocks
	if h == nil || !h.forked {
		t.Fatalf("%+v is not ready ahead", h)
	}
	p.blocks <- h
	w := worldOn(t, p)
	m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(1, "def f(p): return b'1'\n"), Handler: "f", Owner: owner}
	if out, _, err := w.handle(m, plenty); err != nil || string(out.Output) != "1" {
		t.Fatal(out, err)
	}
	if used := w.session.(*session).host; used != h {
		t.Error("the message began another host")
	}
}

// If no host can be started ahead, the message that needs one reports why.
func TestWhatKeepsAHostFromStartingAheadIsToldByTheFirstMessage(t *testing.T) {
	p := New(Config{Hosts: 1, Python: t.TempDir()})
	defer p.Close()
	<-p.Ahead()
	w := worldOn(t, p)
	_, err := w.session.Inspect(codeOf("def f(p): pass\n"))
	var failed *program.HostError
	if !errors.As(err, &failed) || failed.Failure != program.Missing {
		t.Errorf("%v is not a missing Python", err)
	}
}

// A pool that is closed meanwhile keeps no host.
func TestAPoolThatIsClosedStartsNothingAhead(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	p.Close()
	<-p.Ahead()
	if h := <-p.blocks; h != nil {
		t.Errorf("%+v runs in a closed pool", h)
	} else {
		p.blocks <- nil
	}
}
