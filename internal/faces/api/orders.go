package api

import (
	"net/http"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// CheckTimer judges an order to change a timer by the final state: it was
// scheduled, and is pending. The chain judges it again in the instruction's block.
func CheckTimer(v Reader, id types.TimerID) (*Timer, error) {
	t, err := v.Timer(id)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, unknownTimer(v, id)
	}
	if t.Status != types.TimerPending {
		return nil, Refuse(http.StatusConflict, "timer_ended", "the timer %s has ended: it is %s", id, t.Status).
			Hint("GET /timer/%s/story tells how.", id).At("id")
	}
	return t, nil
}
