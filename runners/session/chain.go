package session

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Params are the parameters this machine reads, as the head has them.
type Params struct {
	Push                   selection.Phase
	BlockTime              time.Duration // 0 where blocks are made on demand
	HeartbeatBlocks        uint64
	HelloTimeout           time.Duration
	WriteTimeout           time.Duration
	GoodbyeGrace           time.Duration
	ControlFramesPerSecond int
}

// Head is the newest final block that the runner's view of the chain knows of, and
// what the view says there (decision J13).
type Head struct {
	Height     types.Height
	Params     Params
	Registered bool // this runner is in the registry, and not deregistered
	Staked     bool // with the stake that is asked for
	Rotation   *selection.Rotation
	Pace       selection.Pace
	// Endpoints are where validators listen, where that is not what they had at the
	// rotation.
	Endpoints map[types.Address]string
}

// standing is what makes a refusal worth another try when it changes.
type standing struct {
	phase              selection.Phase
	registered, staked bool
	epoch              uint64
	overlaps           bool
}

func (h *Head) standing() standing {
	return standing{h.Params.Push, h.Registered, h.Staked, h.Rotation.Epoch, h.Rotation.Overlaps(h.Height, h.Pace)}
}

// wanted lists the validators that a runner belongs to: its subset, and during the
// overlap behind it those of the former one that are in it alone.
//
// Spec: CIP-11 §5.3.
func (h *Head) wanted(runner types.PublicKey) []types.Validator {
	if h.Params.Push == selection.Off {
		return nil
	}
	assignments := []*selection.Assignment{&h.Rotation.Current}
	if h.Rotation.Overlaps(h.Height, h.Pace) {
		assignments = append(assignments, h.Rotation.Former)
	}
	var wanted []types.Validator
	known := map[types.Address]bool{}
	for _, a := range assignments {
		for _, i := range a.Subset(runner) {
			v := a.Members[i]
			if known[v.Address] {
				continue
			}
			known[v.Address] = true
			if endpoint, moved := h.Endpoints[v.Address]; moved {
				v.Endpoint = endpoint
			}
			wanted = append(wanted, v)
		}
	}
	return wanted
}
