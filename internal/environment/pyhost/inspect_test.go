package pyhost

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/base/program"
)

// dense are sources whose bytes take the longest to parse, or to measure.
func dense() map[string]string {
	const size = 1 << 15
	of := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{"names": of("a;"), "lines": of("a\n"), "lists": "x=[" + of("[],") + "]",
		"signs": of("x=" + strings.Repeat("-", 90) + "1\n"), "a letter": "a\n", "nothing": "",
		"functions": of("def f():a\n"), "faulty": of("a;") + "("}
}

// inspects inspects a source strictly, with units left to pay with.
func inspects(t *testing.T, p *Pool, source string, units uint64) (server int, err error) {
	t.Helper()
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Bound(program.Bounds{Strict: true})
	code := codeOf(source)
	code.Units = units
	_, err = s.Inspect(code)
	if h := s.(*session).host; h != nil {
		server = h.cmd.Process.Pid
	}
	return server, err
}

// Decision C18, 1: an inspection that takes more CPU time than its deployer can pay for is
// late and ends there and then; its fork server lives on.
func TestAnInspectionBeyondWhatItPaysIsLate(t *testing.T) {
	p := New(Config{Hosts: 1, Rate: 100 * time.Nanosecond}) // no machine is that quick
	defer p.Close()
	_, before, _ := strictly(t, p, nil, "quick", 1_000_000) // it has a server, and may be late by this rate
	server, late := inspects(t, p, strings.Repeat("a\n", 1<<18), 1)
	var host *program.HostError
	if !errors.As(late, &host) || host.Failure != program.Late || host.CPU <= program.LateLeast {
		t.Fatalf("%v", late)
	}
	t.Logf("late after %v", host.CPU)
	if after, _ := inspects(t, p, "def f(p): pass\n", 1<<16); after != before || server != before {
		t.Errorf("by the fork server %d, then %d, then %d", before, server, after)
	}
}

// Decision C18, promise (ii): an inspection that can be paid for is never late, of whatever
// source, and says what it says without a bound.
func TestAnInspectionThatIsPaidIsNeverLate(t *testing.T) {
	p := New(Config{Hosts: 1})
	defer p.Close()
	sources := dense()
	files, err := fixtures.Actors.ReadDir("actors")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := fixtures.Actors.ReadFile("actors/" + f.Name()); err == nil {
			sources[f.Name()] = string(text)
		}
	}
	for name, source := range sources {
		began := time.Now()
		_, err := inspects(t, p, source, 1<<16)
		if errors.Is(err, program.ErrLate) {
			t.Errorf("%s: %v", name, err)
		}
		var refused *program.Refusal
		if dense := !strings.HasSuffix(name, ".py"); !dense && err != nil || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes in %v: %.60v", name, len(source), time.Since(began), err)
	}
}
