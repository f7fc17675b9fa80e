package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Rest is a network at rest: its validators' disks, the clock, and the operator's decisions that the chain does not hold. It never changes:
// any number of networks begin from it, one after the other, and each repeats its seed.
type Rest struct {
	genesis *ledger.Genesis
	scheme  crypto.Scheme
	memo    *validators.Memo
	rules   oracle.Rules
	keys    map[string]*crypto.Key // looked up only
	now     types.Time
	offset  time.Duration
	disks   []restedDisk // in the order of the validators
	runners []string     // that keep only their keys
	heads   map[string]*validators.Head
	nonces  map[string]types.Nonce
	sets    sets
	joining []string     // validators whose membership was asked for
	goal    simplex.Goal // of the latest advance
	tip     types.Height
	tipAt   types.Time
	told    []word // what the oracles were told so far
}

// restedDisk is what a validator's disk holds. Its tables are persistent trees,
// and its records never change.
type restedDisk struct {
	name    string
	records [][]byte
	size    int64
	buckets []bucket
}

// UnrestError says why a network cannot be kept as it is now.
type UnrestError struct{ Why, Remedy string }

func (e *UnrestError) Error() string { return e.Why + ". " + e.Remedy }

// Rest keeps the network as it is now, for networks to begin from
// (NetworkConfig.From). Every validator's next life begins as after a power cut:
// what its disk holds is kept, and nothing that was under way. Validators whose
// pools hold what is final elsewhere catch up first, within settleTime. The error
// is an *UnrestError where a fault is in force, a validator is down, or a
// transaction waits.
func (n *Network) Rest() (*Rest, error) {
	if err := n.Err(); err != nil {
		return nil, err
	}
	if err := n.whyNotAtRest(); err != nil {
		return nil, err
	}
	if err := n.runUntilPoolsEmpty(); err != nil {
		return nil, err
	}
	r := &Rest{genesis: n.Genesis, scheme: n.scheme, memo: n.memo, rules: n.rules, keys: maps.Clone(n.keys), now: n.now, offset: n.offset,
		nonces: maps.Clone(n.nonces), sets: n.sets, joining: n.Joining(), goal: n.Goal(), tip: n.tip, tipAt: n.tipAt,
		heads: map[string]*validators.Head{}}
	r.told = slices.Clip(n.told)
	r.runners = slices.Clone(n.runners)
	for _, name := range n.names {
		d := n.findNode(name).disk
		r.disks = append(r.disks, restedDisk{name, slices.Clip(d.records), d.size, d.buckets})
		r.heads[name] = n.running[name].Head()
	}
	return r, nil
}

// whyNotAtRest says what keeps the network from being kept, or nil.
func (n *Network) whyNotAtRest() error {
	for _, name := range n.names {
		switch v := n.Validator(name); {
		case v == nil:
			return &UnrestError{name + " does not run", "Restart it first."}
		case !n.Honest(name):
			return &UnrestError{name + " misbehaves", "Make it honest first."}
		}
	}
	for _, name := range n.runners {
		if !n.Running(name) {
			return &UnrestError{name + " does not run", "Restart it first."}
		}
	}
	if n.bestValidator().Head().State.OpenJobs() > 0 {
		return &UnrestError{"a job is open", "Let it end first: advance by some blocks, or deliver its result."}
	}
	if n.config.Keeps && !n.keeps {
		return &UnrestError{"the run is too long for its oracles to know all of it again", "Take the snapshot earlier."}
	}
	if n.Paused() {
		return &UnrestError{"the network is paused", "Resume it first."}
	}
	if f := n.orders.InForce(); f != nil {
		return &UnrestError{fmt.Sprintf("the fault %s is in force", f.Order.String()), "End it first: heal, thaw, or give the disk back."}
	}
	if len(n.tasks.open) > 0 {
		return &UnrestError{n.tasks.open[0].name + " later", "Advance some blocks until it has happened, then take the snapshot."}
	}
	return nil
}

// settleTime bounds the virtual time for which Rest waits for pools to empty. A
// certificate takes a link's latency, milliseconds unless a fault is in force.
const settleTime = 2 * time.Second

// runUntilPoolsEmpty runs the network until every pool has dropped what is final, or says that a
// transaction waits. A network whose pools are empty does not move.
func (n *Network) runUntilPoolsEmpty() error {
	err := n.RunUntil(func() bool { return n.Err() != nil || !n.hasPooled() }, n.Now().Add(settleTime))
	switch {
	case errors.Is(err, ErrDeadline), errors.Is(err, ErrAsleep):
		return &UnrestError{"transactions wait to be in a block", "Let them become final first: advance by some blocks."}
	case err != nil:
		return err
	}
	return n.Err()
}

// hasPooled says whether any validator's pool holds a transaction.
func (n *Network) hasPooled() bool {
	return slices.ContainsFunc(n.names, func(name string) bool { v := n.Validator(name); return v != nil && v.Status().Pool > 0 })
}

// resumeFrom makes a new network that one at rest.
func (n *Network) resumeFrom(r *Rest) {
	n.Genesis, n.keys, n.nonces = r.genesis, maps.Clone(r.keys), maps.Clone(r.nonces)
	n.scheme, n.memo, n.rules, n.tip, n.tipAt = r.scheme, r.memo, r.rules, r.tip, r.tipAt
	n.now, n.offset = r.now, r.offset
	n.sets = r.sets
	n.runners = slices.Clone(r.runners)
	for _, d := range r.disks {
		n.names = append(n.names, d.name)
	}
}

// holdRestedDisk has a disk hold what one held at rest.
func (d *disk) holdRestedDisk(r *restedDisk) {
	d.records, d.size, d.buckets = r.records, r.size, r.buckets
}

// headAtRest is the head that a validator had at rest, if it boots from that for the first time; otherwise nil.
func (n *Network) headAtRest(name string) *validators.Head {
	if n.config.From == nil || n.findNode(name).started > 1 {
		return nil
	}
	return n.config.From.heads[name]
}
