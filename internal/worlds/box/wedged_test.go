package box

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// hanging is a host of one program: start schedules a timer, whose fire never
// answers: it takes all the time it is given, on every validator.
type hanging struct{}

func (hanging) Open(program.Purpose) (program.Session, error) { return &hangingSession{}, nil }

type hangingSession struct{ left func() time.Duration }

func (s *hangingSession) Bound(by program.Bounds) { s.left = by.Left }

func (*hangingSession) Inspect(program.Code) (program.Description, error) {
	return program.Description{Handlers: []program.Handler{{Name: "start"}}}, nil
}

func (*hangingSession) Close() {}

// hostLimit is what the host allows any message, however much time is left.
const hostLimit = 500 * time.Millisecond

func (s *hangingSession) Handle(ctx program.Context, _ program.Code, msg program.Message) (program.Outcome, error) {
	if msg.Handler == "start" {
		_, err := ctx.ScheduleTimer(program.TimerRequest{Height: ctx.Block().Height + 1})
		return program.Outcome{Status: types.StatusOK}, err
	}
	if msg.Kind == program.Init {
		return program.Outcome{Status: types.StatusOK}, nil
	}
	limit := hostLimit
	if s.left != nil {
		limit = min(limit, max(0, s.left()))
	}
	<-time.After(limit)
	return program.Outcome{}, &program.HostError{Failure: program.Late, During: "a fire", Err: errors.New("it did not answer")}
}

// Hardening A2, timers D2: a timer whose fire never ends is passed over, and ends
// once f + 1 validators failed over it; blocks, calls and the process go on, and a
// restart has nothing to trip over.
func TestATimerThatHangsDoesNotHaltTheChain(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond}, Ephemeral: true, Programs: hanging{}})
	ctx, w := context.Background(), newPayer(n, "alice")
	run := func(tx *types.Transaction) types.Address {
		t.Helper()
		hash, err := n.Submit(ctx, tx.Encode())
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := n.Wait(ctx, hash)
		if err != nil || receipt.Status != types.StatusOK {
			t.Fatal(receipt, err)
		}
		return receipt.To
	}
	heart := run(w.deploy([]byte("hangs"), "hb", 10*types.CBY))
	run(w.execute(heart, "start", nil))
	timers := n.Best().Validator().Head().State.Timers(heart)
	if len(timers) == 0 {
		t.Fatal("the timer has ended before anybody could have failed over it twice")
	}
	id := timers[0].ID
	deadline, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	receipt, err := n.Wait(deadline, id)
	if err != nil || receipt.Status != types.StatusHostFailed || receipt.Fee.IsZero() {
		t.Fatalf("%+v %v", receipt, err)
	}
	if l := n.Liveness(); len(l.Troubles) == 0 {
		t.Error("nobody says what the hosts failed over")
	}
	run(w.transfer(n.addressOf("bob"), 1))
}
