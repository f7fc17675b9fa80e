package answers

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// NotKept refuses a height whose block was dropped.
func NotKept(k history.Kept, h types.Height) *refusal.Error {
	return refusal.New(CodeNotKept, "height %d is no longer kept: this network keeps %d blocks (--history)", h, k.Blocks).
		Hint("The first block that is kept has height %d.", k.From).At("id")
}

// PrunedHint adds to the hint of a refusal of something unknown that it may be pruned: a hash
// does not show that.
func PrunedHint(v Reader, hint string) (string, error) {
	kept, err := v.Kept()
	if err != nil || kept.From <= 1 {
		return hint, err
	}
	if hint != "" {
		hint += " "
	}
	return fmt.Sprintf("%sBlocks before height %d are no longer kept (--history %d), nor what was in them.", hint, kept.From, kept.Blocks), nil
}

// UnknownTimer refuses a timer that no final block scheduled.
func UnknownTimer(v Reader, id types.TimerID) error {
	hint, err := PrunedHint(v, "GET /timers lists those that are known.")
	if err != nil {
		return err
	}
	return refusal.New("unknown_timer", "no final block scheduled a timer %s", id).Hint("%s", hint).At("id")
}

// PendingTimer returns the timer that an order changes, judged by the final state: it was
// scheduled, and is pending. The chain judges it again in the instruction's block.
func PendingTimer(v Reader, id types.TimerID) (*Timer, error) {
	t, err := v.Timer(id)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, UnknownTimer(v, id)
	}
	if t.Status != types.TimerPending {
		return nil, refusal.New("timer_ended", "the timer %s has ended: it is %s", id, t.Status).
			Hint("GET /timer/%s/story tells how.", id).At("id")
	}
	return t, nil
}

// NoState refuses to read the state of a runner.
func NoState(runner string) *refusal.Error {
	return refusal.New("no_state", "%s is a runner, which keeps no state: name a validator", runner).
		Hint("GET /runner/%s shows it, and GET /validators lists the values of node.", runner).At("node")
}

// NoSettings refuses to read the settings of a runner again that has no file of them.
func NoSettings(name string) *refusal.Error {
	return refusal.New("no_settings", "runner %s runs in the network's process and has no settings file", name).
		Hint("To change its offer type devnet fault capability, or start the nodes as processes: devnet up --processes.").At("runner")
}
