package box

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Fault is one fault of the network, from its verb on.
type Fault struct {
	verb, detail string
	order        *fault.Order // that made it; nil where none did
	counts       fault.Counts
	ended        atomic.Bool
	told         *fault.Effect // of a cheat, which is over; nil of a fault
}

func (f *Fault) end() { f.ended.Store(true) }

// Effect says what the fault did so far.
func (f *Fault) Effect() fault.Effect {
	if f.told != nil {
		return *f.told
	}
	did := f.counts.String(fault.Passing(f.verb, "packet"))
	return fault.Effect{Verb: f.verb, Detail: f.detail, Did: did, Idle: did == "", Ended: f.ended.Load(), Order: f.order}
}

// MaxFaults bounds the faults a network remembers; the oldest is forgotten
// first.
const MaxFaults = 4096

// faults is the faults of a network so far.
type faults struct {
	mu  sync.Mutex
	all []*Fault
}

// add enters the fault that an order makes.
func (fs *faults) add(o *fault.Order) *Fault {
	made := *o
	f := &Fault{verb: o.Verb, detail: o.Detail(), order: &made}
	fs.enter(f)
	return f
}

// enter remembers a fault.
func (fs *faults) enter(f *Fault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.all) >= MaxFaults {
		fs.all = slices.Delete(fs.all, 0, 1)
	}
	fs.all = append(fs.all, f)
}

// effects says what each did so far.
func (fs *faults) effects() []fault.Effect {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	effects := make([]fault.Effect, 0, len(fs.all))
	for _, f := range fs.all {
		effects = append(effects, f.Effect())
	}
	return effects
}

// unmask ends what a node does wrong.
func (node *Node) unmask() {
	if node.lie != nil {
		node.mask.Honest()
		node.lie.end()
		node.lie = nil
	}
}

// Honest says whether a node does what the protocol wants, as far as it runs.
func (node *Node) Honest() bool {
	mask := node.mask
	return mask == nil || !mask.Misbehaves()
}

// connections is how many peers a node is connected with.
func (node *Node) connections() int {
	if v := node.Validator(); v != nil {
		return len(v.Status().Connected)
	}
	return 0
}
