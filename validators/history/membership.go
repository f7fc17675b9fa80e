package history

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Membership is a validator's status by a final state.
func Membership(state *ledger.State, a types.Address) (status string) {
	for _, move := range state.Moves() {
		switch {
		case move.Address == a && move.Join != nil:
			return StatusJoining
		case move.Address == a:
			return StatusLeaving
		}
	}
	if state.Validators().Index(a) >= 0 {
		return StatusActive
	}
	return StatusLeft
}

// Statuses of a validator, as the API shows them.
const (
	StatusJoining = "joining"
	StatusActive  = "active"
	StatusLeaving = "leaving"
	StatusLeft    = "left"
)
