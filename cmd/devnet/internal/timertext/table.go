package timertext

import (
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Fate returns the status of a timer; a fire whose handler failed is not a success.
func Fate(status, result string) string {
	if status == string(types.TimerFired) && result != string(types.StatusOK) {
		return status + ", " + result
	}
	return status
}

// Due is the height at which a timer is due; one that watches a key is due at that
// height at the earliest.
func Due(t *model.Timer) string {
	if t.Watch != nil {
		return "≥" + terminal.Height(t.Height)
	}
	return terminal.Height(t.Height)
}

// End is the height at which a timer ended; "-" for a pending one.
func End(t *model.Timer) string {
	if t.EndedAt == nil {
		return "-"
	}
	return terminal.Height(*t.EndedAt)
}
