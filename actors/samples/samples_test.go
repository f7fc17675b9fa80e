package samples

import (
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// other is a host that counts its sessions.
type other struct {
	opened, closed int
	err            error
	left           func() time.Duration
}

func (o *other) Open(p program.Purpose) (program.Session, error) {
	if p != program.ForRead {
		return nil, errors.New("another purpose")
	}
	o.opened++
	return &otherSession{o}, o.err
}

type otherSession struct{ of *other }

func (s *otherSession) Bound(by program.Bounds) { s.of.left = by.Left }

func (s *otherSession) Close() { s.of.closed++ }
func (s *otherSession) Inspect(program.Code) (program.Description, error) {
	return program.Description{Handlers: []program.Handler{{Name: "other"}}}, nil
}
func (s *otherSession) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return program.Outcome{Status: types.StatusReverted}, nil
}

// TestABoundKeepsASampleFromBeginning, and reaches the other host, whether it is
// open by then or not.
func TestABoundKeepsASampleFromBeginning(t *testing.T) {
	o := &other{}
	session, _ := Mux{Other: o}.Open(program.ForRead)
	defer session.Close()
	left := time.Duration(0)
	run := func() error {
		_, err := session.Handle(nil, program.Code{Source: Code("counter")}, program.Message{Handler: "nothing"})
		return err
	}
	session.Bound(program.Bounds{Left: func() time.Duration { return left }})
	var stopped *program.HostError
	if err := run(); !errors.As(err, &stopped) || stopped.Failure != program.Stopped {
		t.Errorf("got %v", err)
	}
	left = time.Minute
	if err := run(); err != nil {
		t.Error(err)
	}
	if _, err := session.Inspect(program.Code{Source: []byte("g")}); err != nil || o.left() != left {
		t.Errorf("%v: the other host was not told the bound as it opened", err)
	}
	session.Bound(program.Bounds{})
	left = 0
	if err := run(); err != nil || o.left != nil {
		t.Errorf("%v: a bound that was lifted", err)
	}
}

// TestMuxAsksTheOtherHostOnlyForItsCode, once, and closes what it opened.
func TestMuxAsksTheOtherHostOnlyForItsCode(t *testing.T) {
	o := &other{}
	session, err := Mux{Other: o}.Open(program.ForRead)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := session.Inspect(program.Code{Source: Code("heartbeat")}); err != nil || len(d.Handlers) != 4 ||
		d.Handlers[0].Name != "extend" {
		t.Errorf("%v %v", d, err)
	}
	outcome, err := session.Handle(nil, program.Code{Source: Code("counter")}, program.Message{Handler: "nothing"})
	if err != nil || outcome.Status != types.StatusNoHandler || o.opened != 0 {
		t.Errorf("%v %v", outcome, err)
	}
	for range 2 {
		if d, err := session.Inspect(program.Code{Source: []byte("import pvm_host")}); err != nil || d.Handlers[0].Name != "other" {
			t.Error(err)
		}
		if outcome, err := session.Handle(nil, program.Code{Source: []byte("g")}, program.Message{}); err != nil ||
			outcome.Status != types.StatusReverted {
			t.Error(err)
		}
	}
	session.Close()
	if o.opened != 1 || o.closed != 1 {
		t.Errorf("%d opened, %d closed", o.opened, o.closed)
	}

	o.err = errors.New("no python")
	session, _ = Mux{Other: o}.Open(program.ForRead)
	if _, err := session.Inspect(program.Code{Source: []byte("g")}); err != o.err {
		t.Error(err)
	}
	if _, err := session.Handle(nil, program.Code{Source: []byte("g")}, program.Message{}); err != o.err {
		t.Error(err)
	}
	var refusal *program.Refusal
	if _, err := session.Inspect(program.Code{Source: Code("nonsense")}); !errors.As(err, &refusal) {
		t.Error(err)
	}
}

// The storm's order is JSON; a mistake in it is the sender's fault, and the error
// names it.
func TestAStormIsOrderedInJSON(t *testing.T) {
	if _, err := readStorm([]byte("count=3")); err == nil {
		t.Error("no order, and no error")
	}
	if _, err := readStorm([]byte(`{"count": 3, "priorty": "7"}`)); err == nil {
		t.Error("a mistyped name, and no error")
	}
	order, err := readStorm([]byte(`{"count": 3, "in": 5, "priority": "7", "gas_limit": 2000, "use": 10}`))
	if err != nil || order.Count != 3 || order.In != 5 || *order.Priority != types.WeiOf(7) || *order.GasLimit != 2000 || order.MaxFee != nil {
		t.Errorf("%+v, %v", order, err)
	}
}
