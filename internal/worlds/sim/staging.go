package sim

import "github.com/cowboyinc/devnet/internal/environment/fault"

// What the oracles of a network have to know of orders.

// noteHarm notes what an order did to a validator. A validator that lost its votes abstains for a while after its return (finding F17). A
// disk
// that lies about its syncs may lose votes that were sent: such a validator is one of the f that may contradict themselves.
func (n *Network) noteHarm(name string, verb *fault.Verb) {
	if verb == fault.Wipe || verb == fault.SyncLies {
		n.tellDiskLoss(name)
	}
	if verb == fault.Misbehave || verb == fault.SyncLies {
		n.excuseValidator(name)
	}
}

// Honest says whether a validator does what the protocol wants, as far as it runs.
func (f *validatorNodes) Honest(name string) bool {
	process := f.findNode(name).process
	return process == nil || process.mask == nil || !process.mask.Misbehaves()
}
