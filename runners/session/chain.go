package session

import (
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Head is the newest final block known to the runner's view of the chain (decision
// J13).
type Head struct{ *chainview.Head }

// standing is the part of the chain's state whose change makes a refused connection
// worth another try.
type standing struct {
	phase              selection.Phase
	registered, staked bool
	epoch              uint64
	overlaps           bool
}

func standingOf(h *chainview.Head) standing {
	return standing{selection.PhaseOf(h.Params), h.Registered, h.Staked, h.Epoch, h.Overlaps}
}

// wantedValidators lists the validators to be connected with.
//
// Spec: decision J11.
func wantedValidators(h *chainview.Head) []types.Validator {
	if !selection.PhaseOf(h.Params).Connects() {
		return nil
	}
	return h.Validators
}

// hasPlace reports whether the chain, as this runner sees it, has a place for it at the
// validators that it belongs to. One of them that says otherwise is some blocks behind,
// as most are when a runner has just registered.
func hasPlace(h *chainview.Head) bool { return h.Registered && h.Staked }
