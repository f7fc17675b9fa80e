package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// Live is a live connection, as others see it.
type Live struct {
	Runner    types.Address
	Remote    connection.Address
	Since     types.Time // when the exchange of Hellos was done
	Pinged    types.Time // when the last ping came; 0: none yet
	Accepting bool       // the runner takes new jobs, as far as it said
	Streams   int        // for jobs, that are open
	Changes   *Changes   // nil: no announcement about its offer
}

// Load is what a runner said last of its load (CIP-11 §6.4).
type Load struct {
	Active    uint32 `json:"active"` // jobs
	Most      uint32 `json:"most"`   // that it does at once
	Accepting bool   `json:"accepting"`
	Reason    string `json:"reason"` // as it is kept; "" for none
}

// Changes holds a runner's announcements about its offer since its connection is live:
// all of them together, each list sorted. It changes no bit and nothing on chain (CIP-11
// §6.5).
type Changes struct {
	AddedCapabilities   []string `json:"added_capabilities"`
	RemovedCapabilities []string `json:"removed_capabilities"`
	AddedEntitlements   []string `json:"added_entitlements"`
	RemovedEntitlements []string `json:"removed_entitlements"`
}

// Live lists the live connections, in the order they came up.
func (m *Machine) Live() []Live {
	shown := make([]Live, 0, len(m.connections.live))
	for _, p := range m.connections.order {
		if p.stage == live {
			shown = append(shown, Live{Runner: p.address, Remote: p.remote, Since: p.since, Pinged: p.ping.at, Accepting: p.accepting,
				Streams: p.openStreams(), Changes: p.changed.asChanges()})
		}
	}
	return shown
}
