package box

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// startReaper stops validators once they have left.
func (n *Network) startReaper() {
	ctx, cancel := context.WithCancel(context.Background())
	n.wake, n.ended = make(chan struct{}, 1), make(chan struct{})
	unsubscribe := n.Subscribe(func(types.Height) {
		select {
		case n.wake <- struct{}{}:
		default:
		}
	})
	n.dismiss = func() {
		unsubscribe()
		cancel()
	}
	go func() {
		defer close(n.ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.wake:
				n.retire()
			}
		}
	}()
}

func (n *Network) stopReaper() {
	if n.dismiss != nil {
		n.dismiss()
		<-n.ended
	}
}

// retire stops who is no validator any more, once a block of the set without it
// is final: until then it may have to help the others to the last one.
func (n *Network) retire() {
	best := n.Best().Validator().Head()
	if best.Block.Header.Border() {
		return
	}
	for _, node := range n.List() {
		switch status := history.Membership(best.State, node.Address); {
		case status != history.StatusLeft:
			node.joining.Store(false)
		case node.Started() && !node.joining.Load():
			if err := n.StopNode(node.Name); err != nil {
				n.log.Error("a validator that has left does not stop", "node", node.Name, "error", err)
			}
		}
	}
}

// status is a node's status.
func (node *Node) status(best *ledger.State) string {
	if status := history.Membership(best, node.Address); status != history.StatusLeft || !node.joining.Load() {
		return status
	}
	return history.StatusJoining
}

// bootstrap are the members that a node may connect with before it knows of
// them.
func (n *Network) bootstrap() []types.Validator {
	if v := n.Best().Validator(); v != nil {
		return v.Head().State.Validators().Members
	}
	return nil
}
