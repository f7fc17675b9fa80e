package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// stage is the progress of a connection.
type stage uint8

const (
	silent   stage = iota // no good Hello was heard
	greeting              // the runner's Hello was good, ours and our HelloAck are sent
	live                  // its HelloAck was good too
	leaving               // we said Goodbye and wait for the runner to close
	over
)

// peer is one connection, and its runner.
type peer struct {
	id      connection.ID
	key     types.PublicKey // the key that the certificate proved
	address types.Address   // of the key
	remote  connection.Address

	stage     stage
	since     types.Time  // when it became live
	opened    bool        // there is a control stream to write on
	challenge types.Hash  // of our Hello
	reason    push.Reason // of our Goodbye

	// The runner, at the last head.
	membership membership
	registry   registry
	turn       int           // this validator's place in its subset
	member     bool          // this validator is in its subset, or in the former one that still holds
	misses     push.Reason   // why it does not belong here; empty where it does
	index      int           // the index of its bit
	enlisted   types.Height  // of its registration
	mostJobs   uint64        // how many jobs it does at once
	registered *Registration // nil if it is not registered

	// Its pulse.
	frames    recent
	nonce     uint64
	pinged    bool       // nonce is one that came
	ping      mark       // of the last ping
	present   bool       // there was a ping, and no hard failure since
	accepting bool       // the runner takes new jobs, as far as it said
	attested  types.Time // until when its bit is attested, as was told last
	beat      types.Height
	beaten    bool   // a heartbeat was submitted, at the head of height beat
	ponged    []byte // the frame of our pong
	pongedAt  types.Height
	unheard   bool  // the head was not announced to it yet
	load      *Load // nil: it said nothing of it
	changed   runtimeChanges

	opens      uint64      // streams opened so far
	deliveries []*delivery // in the order they were opened
}

// runtimeChanges holds a runner's announcements since its connection is live. It
// changes no bit and nothing on chain (CIP-11 §6.5).
type runtimeChanges struct {
	capabilities map[string]bool // false: removed
	entitlements map[string]bool
}

func (r *runtimeChanges) applyDelta(d *push.CapabilityDelta) {
	noteNames(&r.capabilities, d.AddedCapabilities, true)
	noteNames(&r.capabilities, d.RemovedCapabilities, false)
	noteNames(&r.entitlements, d.AddedEntitlements, true)
	noteNames(&r.entitlements, d.RemovedEntitlements, false)
}

// asChanges returns all of it, nil if it is empty.
func (r *runtimeChanges) asChanges() *Changes {
	if len(r.capabilities)+len(r.entitlements) == 0 {
		return nil
	}
	return &Changes{AddedCapabilities: namesBy(r.capabilities, true), RemovedCapabilities: namesBy(r.capabilities, false),
		AddedEntitlements: namesBy(r.entitlements, true), RemovedEntitlements: namesBy(r.entitlements, false)}
}

// namesBy returns the present names, or the absent ones.
func namesBy(all map[string]bool, there bool) []string {
	names := []string{}
	for name, is := range all { // order: they are sorted below
		if is == there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func noteNames(to *map[string]bool, names []string, there bool) {
	if *to == nil {
		*to = map[string]bool{}
	}
	for _, name := range names {
		if _, known := (*to)[name]; known || len(*to) < MaxRuntimeChanges {
			(*to)[name] = there
		}
	}
}
