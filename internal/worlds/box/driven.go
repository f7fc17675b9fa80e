package box

import (
	"net/netip"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators"
)

// Driven is the one validator of this process (Here) as whoever drives the network from
// another process has it do things.
type Driven struct {
	network *Network
	node    *Node
}

// Driven is the validator of a network that was brought up with Here.Driven.
func (n *Network) Driven() Driven { return Driven{n, n.List()[0]} }

// Name is the name of the validator.
func (d Driven) Name() string { return d.node.Name }

// Shell is the running validator, or the one that ran last.
func (d Driven) Shell() *validators.Validator {
	return d.node.ValidatorNode.(*localValidator).Validator.Shell()
}

// Failure is why it stopped by itself, or nil.
func (d Driven) Failure() error { return d.node.Failure() }

// Socket is the address of its socket: the one in its settings, unless rules of links need another.
func (d Driven) Socket() netip.AddrPort {
	if socket := d.network.links.socketOf(d.node.Name); socket != nil {
		return socket.at
	}
	at, _ := netip.ParseAddrPort(d.network.config.Here.Listen)
	return at
}

// SetRules replaces what happens to the packets that it sends.
func (d Driven) SetRules(rules map[netip.AddrPort]lossy.Rule) {
	d.network.links.driveRules(d.node.Name, rules)
}

// Mute ends all its sending.
func (d Driven) Mute() { d.network.links.silenceNode(d.node.Name) }

// Do begins or ends a fault in its process, by the contract of network.Node.
func (d Driven) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return d.node.Do(o, counts, over)
}

// Pause stops or resumes its making of blocks, as the operator of the whole network decides.
func (d Driven) Pause(on bool) { d.network.Hold(on) }

// Call names another node, and Belongs the URL of the whole network's API.
func (d Driven) Call(a types.Address, name string) { d.network.others.setName(a, name) }
func (d Driven) Belongs(url string)                { d.network.setWholeURL(url) }

// Travelled is how far time travel came, as it is on disk.
func (d Driven) Travelled() network.Travel { return d.network.keeper.travelRecord() }

// SetTravel moves its clock by time travel, and keeps that with the goal for its next start.
func (d Driven) SetTravel(t network.Travel) error {
	if err := d.network.keeper.keepRecord(t); err != nil {
		return err
	}
	d.network.clock.SetOffset(t.Clock)
	return nil
}
