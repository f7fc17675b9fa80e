package box

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// tap is a transport whose frames somebody overhears, as they leave the node.
type tap struct {
	env.Transport
	from types.Address
	hear func(from types.Address, frame []byte)
}

// Send implements env.Transport.
func (t tap) Send(to types.Address, frame []byte) {
	t.hear(t.from, frame)
	t.Transport.Send(to, frame)
}

// tapped lets Config.Overhear hear what a node sends through t.
func (node *Node) tapped(t env.Transport) env.Transport {
	if hear := node.network.config.Overhear; hear != nil {
		return tap{t, node.Address, hear}
	}
	return t
}
