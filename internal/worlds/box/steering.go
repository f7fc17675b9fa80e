package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators"
)

// steering is what the operator of a network has decided beside its genesis.
type steering struct {
	governing  sync.Mutex // one instruction of the system key at a time
	travelling sync.Mutex // held by the advance that is under way

	decided sync.Mutex // of what follows
	paused  bool
	goal    types.Height // of the latest advance

	wake    chan struct{} // has room for one: there are new blocks
	ended   chan struct{} // closed when the reaper is
	dismiss func()        // ends the reaper; nil before it began
}

// offset is the file by which a restart finds the clock where it was.
type offset struct {
	Nanoseconds time.Duration `json:"offset_ns"`
}

// resumeSteering goes on with what a home holds beside genesis: the clock, and
// the validators that joined.
func (n *Network) resumeSteering() error {
	if n.home == nil || n.config.Here != nil {
		return nil
	}
	data, err := os.ReadFile(n.home.Clock())
	var moved offset
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &moved); err != nil {
			return fmt.Errorf("%s cannot be read: %w", n.home.Clock(), err)
		}
		n.clock.SetOffset(moved.Nanoseconds)
	}
	names, err := n.home.Nodes()
	if err != nil {
		return err
	}
	for _, name := range names {
		if n.find(name) != nil {
			continue
		}
		node, err := n.newNode(name)
		if err != nil {
			return err
		}
		n.add(node)
	}
	return nil
}

// steer tells a validator that has just started what the operator decided.
func (n *Network) steer(v *validators.Validator) {
	n.decided.Lock()
	defer n.decided.Unlock()
	if n.paused {
		v.Pause(true)
	}
	if n.goal > 0 {
		v.SkipTo(n.goal, nil)
	}
}

// Pause stops the making of blocks; what is under way still becomes final. It
// ends with Resume, or with the process.
func (n *Network) Pause() error { return n.setPaused(true) }

// Resume lets it go on.
func (n *Network) Resume() error { return n.setPaused(false) }

// Paused says whether the network is paused.
func (n *Network) Paused() bool {
	n.decided.Lock()
	defer n.decided.Unlock()
	return n.paused
}

func (n *Network) setPaused(on bool) error {
	if n.config.Strict {
		return strict("pausing")
	}
	if err := n.elsewhere("a pause"); err != nil {
		return err
	}
	n.decided.Lock()
	defer n.decided.Unlock()
	n.paused = on
	for _, node := range n.List() {
		if node.Started() {
			node.Validator().Pause(on)
		}
	}
	return nil
}

func strict(what string) error { return api.StrictRefusal(what) }
