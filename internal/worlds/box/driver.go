package box

import (
	"context"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Driver is whoever drives a network whose validators are alone in their processes
// (Here.Driver). A validator judges what it is asked for and signs for it, and has the
// driver do what takes all nodes. Its errors are *api.Error where they are for people.
type Driver interface {
	// Listens reports whether there is one now.
	Listens() bool
	// Pace has all validators make no blocks, or go on.
	Pace(paused bool) error
	// Travel tells all nodes where to go, and moves their clocks.
	Travel(ctx context.Context, to types.Height, moved time.Duration) error
	// StartValidator starts a validator that is to join, "" for the next free name.
	StartValidator(ctx context.Context, name string) (Joining, error)
	// PrepareRunner names a runner, "" for the next, which StartRunner starts under the key
	// that is drawn here, which signs its registration for an owner.
	PrepareRunner(name string, owner types.Address) (Joining, error)
	StartRunner(name string) error
	// ReloadRunner makes a runner read its settings again.
	ReloadRunner(name string) error
	// AnswerJob gives what is said of a job by hand to the runners that wait for it, and
	// returns them.
	AnswerJob(job types.Hash, given execution.Given) ([]types.Address, error)
}

// Joining is a node that a driver has ready.
type Joining struct {
	Name      string          `json:"name"`
	Address   types.Address   `json:"address"`
	PublicKey types.PublicKey `json:"public_key"`
	Endpoint  string          `json:"endpoint,omitempty"` // of a validator: where the others reach it
	Signed    types.Signature `json:"signed"`             // of a runner: its registration
}

// driver is who drives the network of the one validator here; nil where all nodes are
// here, or nobody does.
func (o *origin) driver() Driver {
	if here := o.config.Here; here != nil && here.Driver != nil && here.Driver.Listens() {
		return here.Driver
	}
	return nil
}

// joinElsewhere has a driver start a validator, and the system key ask for its
// membership.
func (h operator) joinElsewhere(ctx context.Context, d Driver, name string) (m model.Move, err error) {
	n := h.network
	if err := n.strict("joining by the devnet's keys"); err != nil {
		return m, err
	}
	if n.Paused() {
		return m, api.ErrPausedOrder()
	}
	if err := n.files.refuseBounded("a validator", "join"); err != nil {
		return m, err
	}
	joining, err := d.StartValidator(ctx, name)
	if err != nil {
		return m, err
	}
	if _, err := n.authority.govern(ctx, governance.OpJoinValidator,
		governance.JoinValidator{PublicKey: joining.PublicKey, Endpoint: joining.Endpoint}); err != nil {
		return m, err
	}
	return h.moveOf(joining.Name, joining.Address, history.StatusJoining), nil
}

// prepareElsewhere has a driver name a runner.
func prepareElsewhere(d Driver, name string, owner types.Address) (p api.PreparedRunner, err error) {
	joining, err := d.PrepareRunner(name, owner)
	if err != nil {
		return p, err
	}
	return api.PreparedRunner{Name: joining.Name, PublicKey: joining.PublicKey, Offer: OwnOffer(), Signed: joining.Signed}, nil
}
