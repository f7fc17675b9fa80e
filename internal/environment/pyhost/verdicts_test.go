package pyhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// An inspection leaves its verdict to every session of the pool, and asks no host for one that is there.
func TestAnInspectionIsMadeOnceInAPool(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	inspect := func(code program.Code) (program.Description, error) {
		s, err := p.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Inspect(code)
	}
	fine, faulty := codeOf("def f(p):\n    'Adds.'\n"), codeOf("def f(p):\n    import os\n")
	found, err := inspect(fine)
	if err != nil || len(found.Handlers) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	var refusal, again *program.Refusal
	if _, err = inspect(faulty); !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	for _, code := range []program.Code{fine, faulty} {
		if p.verdicts.findVerdict(code.Hash, 1<<40) == nil {
			t.Errorf("%q left no verdict", code.Source)
		}
	}
	if _, err = inspect(faulty); !errors.As(err, &again) || *again != *refusal || again == refusal {
		t.Errorf("the second inspection refuses with %+v, %v", again, err)
	}
	planted := codeOf("def other(p): pass\n")
	p.verdicts.keepVerdict(planted.Hash, 1<<40, program.Description{Units: 7, Handlers: []program.Handler{{Name: "planted"}}}, nil)
	if found, err = inspect(planted); err != nil || len(found.Handlers) != 1 || found.Handlers[0].Name != "planted" {
		t.Errorf("a host was asked for a verdict that is there: %+v, %v", found, err)
	}
}

// A limit that pays for less than a code takes has a verdict of its own, which is nobody else's.
func TestAVerdictIsOfALimitThatPaysForIt(t *testing.T) {
	w := openWorld(t)
	code := codeOf(strings.Repeat("def f(p):0\n", 100))
	code.Units = 10
	var refusal *program.Refusal
	if _, err := w.session.Inspect(code); !errors.As(err, &refusal) || refusal.Units <= 10 {
		t.Fatalf("%+v, %v", refusal, err)
	}
	code.Units = refusal.Units
	if _, err := w.session.Inspect(code); err != nil {
		t.Fatalf("refused for the limit of another: %v", err)
	}
	code.Units--
	if _, err := w.session.Inspect(code); !errors.As(err, &refusal) {
		t.Fatalf("accepted by the limit of another: %v", err)
	}
}

// What stopped an inspection says nothing of the code.
func TestAnInspectionWithoutAnEndLeavesNoVerdict(t *testing.T) {
	v := newVerdicts()
	for _, err := range []error{
		&program.HostError{Failure: program.Late, Err: errors.New("late")},
		&program.HostError{Failure: program.Stopped, Err: program.ErrNotBegun},
		context.DeadlineExceeded,
	} {
		v.keepVerdict(types.Keccak([]byte("a")), 1<<40, program.Description{}, err)
	}
	if len(v.byCode) != 0 || v.bytes != 0 {
		t.Errorf("%d verdicts of %d bytes", len(v.byCode), v.bytes)
	}
}

// A session without time takes no verdict either: an item that finds the share spent is not begun.
func TestAVerdictIsNotTakenWithoutTime(t *testing.T) {
	w := openWorld(t)
	code := codeOf("def f(p): pass\n")
	if _, err := w.session.Inspect(code); err != nil {
		t.Fatal(err)
	}
	w.session.Bound(program.Bounds{Left: func() time.Duration { return 0 }})
	_, err := w.session.Inspect(code)
	failed(t, err, program.Stopped, "no time")
}

// Strangers deploy without end: what is remembered is bounded, and what was asked for last stays.
func TestVerdictsAreBounded(t *testing.T) {
	v := newVerdicts()
	hash := func(i int) types.Hash { return types.Keccak(fmt.Append(nil, i)) }
	asked := hash(0)
	for i := range 600 {
		v.keepVerdict(hash(i), 1<<40, program.Description{Units: 1, Schema: make([]byte, 64<<10)}, nil)
		v.keepVerdict(hash(i), 1<<40, program.Description{Units: 1, Schema: make([]byte, 64<<10)}, nil)
		if v.findVerdict(asked, 1<<40) == nil {
			t.Fatalf("the verdict that was asked for last is gone after %d others", i)
		}
	}
	bytes := 0
	for e := v.recent.Front(); e != nil; e = e.Next() {
		bytes += e.Value.(*verdict).approximateSize()
	}
	if bytes != v.bytes || bytes > maxVerdictBytes || bytes < maxVerdictBytes/2 || v.recent.Len() != len(v.byCode) {
		t.Errorf("%d bytes counted, %d kept, at most %d", v.bytes, bytes, maxVerdictBytes)
	}
}
