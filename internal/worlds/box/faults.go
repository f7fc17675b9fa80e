package box

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Fault is one fault of the network, from its verb on.
type Fault struct {
	verb, detail string
	counts       fault.Counts
	ended        atomic.Bool
}

func (f *Fault) end() { f.ended.Store(true) }

// Effect says what the fault did so far.
func (f *Fault) Effect() fault.Effect {
	did := f.counts.String("packets")
	if f.verb == "freeze" {
		did = f.counts.String("frames")
	}
	return fault.Effect{Verb: f.verb, Detail: f.detail, Did: did, Idle: did == "", Ended: f.ended.Load()}
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
	f := &Fault{verb: o.Verb, detail: o.Detail()}
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

// Faults implements fault.World.
func (n *Network) Faults() []fault.Effect {
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	effects := make([]fault.Effect, 0, len(n.faults.all))
	for _, f := range n.faults.all {
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

// sever cuts the links between the pairs that apart names, in place of those that
// were cut before.
func (n *Network) sever(f *Fault, apart func(a, b string) bool) *Fault {
	names := map[types.Address]string{}
	for _, node := range n.List() {
		names[node.Address] = node.Name
	}
	for _, r := range n.RunnerList() {
		for _, peer := range r.Status().Connected {
			if apart(r.Name, names[peer]) {
				f.counts.Cut.Add(1)
			}
		}
	}
	for _, node := range n.List() {
		if !node.Running() {
			continue
		}
		for _, peer := range node.Validator().Status().Connected {
			if other := names[peer]; node.Name < other && apart(node.Name, other) {
				f.counts.Cut.Add(1)
			}
		}
	}
	n.links.sever(f, apart)
	return f
}

// connections is how many peers a node is connected with.
func (node *Node) connections() int {
	if v := node.Validator(); v != nil {
		return len(v.Status().Connected)
	}
	return 0
}
