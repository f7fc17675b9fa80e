package box

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// Fault is one fault of the network, from its verb on.
type Fault struct {
	verb, detail string
	counts       fault.Counts
	ended        atomic.Bool
}

func (f *Fault) end() { f.ended.Store(true) }

// Receipt says what the fault did so far.
func (f *Fault) Receipt() fault.Receipt {
	did := f.counts.String("packets")
	if f.verb == "freeze" {
		did = f.counts.String("frames")
	}
	return fault.Receipt{Verb: f.verb, Detail: f.detail, Did: did, Idle: did == "", Ended: f.ended.Load()}
}

// MaxFaults bounds the faults a network remembers; the oldest is forgotten
// first.
const MaxFaults = 4096

// faults is the faults of a network so far.
type faults struct {
	mu  sync.Mutex
	all []*Fault
}

func (fs *faults) add(verb, detail string) *Fault {
	f := &Fault{verb: verb, detail: detail}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.all) >= MaxFaults {
		fs.all = slices.Delete(fs.all, 0, 1)
	}
	fs.all = append(fs.all, f)
	return f
}

// FaultReceipts says what each fault did so far, in the order they were made.
func (n *Network) FaultReceipts() []fault.Receipt {
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	receipts := make([]fault.Receipt, 0, len(n.faults.all))
	for _, f := range n.faults.all {
		receipts = append(receipts, f.Receipt())
	}
	return receipts
}

// Faults implements api.Backend.
func (n *Network) Faults() api.Faults { return n }

// onNode runs do on a node, with all others standing as they are.
func (n *Network) onNode(name string, do func(*Node) error) error {
	if n.config.Strict {
		return strict("a fault")
	}
	return refused(n.change(name, do))
}

// refused turns why a fault was not made into an answer for a client.
func refused(err error) error {
	var answer *api.Error
	var unsupported *fault.Unsupported
	if err == nil || errors.As(err, &answer) || errors.As(err, &unsupported) {
		return err
	}
	return api.Refuse(http.StatusConflict, "fault_refused", "%v", err)
}

// Crash ends a node as kill -9 ends a process: its roles stop after the step
// they are in and are not told, nothing more is written or sent, and its peers
// hear no goodbye. Its files, or the memory that stands for them, stay as they
// are.
func (n *Network) Crash(name string) error {
	return n.onNode(name, func(node *Node) error {
		if !node.running.Load() {
			return fmt.Errorf("%s does not run", name)
		}
		cut := node.connections()
		n.links.kill(name)
		node.loops.kill()
		err := node.stop()
		node.death = n.faults.add("crash", name)
		node.death.counts.Ended.Add(1)
		node.death.counts.Cut.Add(int64(cut))
		return err
	})
}

// Restart starts a node that crashed, was stopped or stopped by itself. It goes
// on from its files, and is honest.
func (n *Network) Restart(name string) error {
	return n.onNode(name, func(node *Node) error {
		switch {
		case node.Running():
			return fmt.Errorf("%s runs", name)
		case node.running.Load(): // it stopped by itself: its roles are gone
			if err := node.stop(); err != nil {
				return err
			}
		}
		if err := node.start(); err != nil {
			return err
		}
		if node.death != nil {
			node.death.end()
			node.death = nil
		}
		return nil
	})
}

// Freeze stops a node's roles after the step they are in. Frames wait for it up
// to MaxHeld, and are lost beyond; its connections stay, since QUIC answers for
// it.
func (n *Network) Freeze(name string) error {
	return n.onNode(name, func(node *Node) error {
		switch {
		case !node.Running():
			return fmt.Errorf("%s does not run", name)
		case node.frozen.Load() != nil:
			return fmt.Errorf("%s is frozen already", name)
		}
		f := n.faults.add("freeze", name)
		node.frozen.Store(f)
		node.gate.freeze(&f.counts)
		for _, loop := range node.loops {
			loop.Freeze()
		}
		return nil
	})
}

// Thaw lets a frozen node go on: with what it was about to do, then with what
// came meanwhile.
func (n *Network) Thaw(name string) error {
	return n.onNode(name, func(node *Node) error {
		if node.frozen.Load() == nil {
			return fmt.Errorf("%s is not frozen", name)
		}
		node.thaw()
		return nil
	})
}

// thaw does nothing to a node that is not frozen.
func (node *Node) thaw() {
	f := node.frozen.Swap(nil)
	if f == nil {
		return
	}
	f.end()
	node.gate.thaw()
	for _, loop := range node.loops {
		loop.Thaw()
	}
}

// Wipe loses the files of a node that does not run: it begins from genesis when
// it starts again.
func (n *Network) Wipe(name string) error {
	return n.onNode(name, func(node *Node) error {
		if node.running.Load() {
			return fmt.Errorf("%s runs: crash it first", name)
		}
		if err := n.refuseBounded(name, "be wiped"); err != nil {
			return err
		}
		lost, err := node.wipe()
		if err != nil {
			return err
		}
		f := n.faults.add("wipe", name)
		f.counts.Lost.Add(lost)
		f.end()
		return nil
	})
}

// wipe returns how many bytes were lost.
func (node *Node) wipe() (lost int64, err error) {
	node.lost = true
	if node.network.home == nil {
		if node.log != nil {
			lost = node.log.Size()
		}
		node.log, node.store = nil, nil
		return lost, nil
	}
	files, err := node.network.home.Node(node.Name)
	if err != nil {
		return 0, err
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(files.State), "*"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			lost += info.Size()
		}
		if err := os.Remove(name); err != nil {
			return lost, fmt.Errorf("%s cannot be wiped: %w", node.Name, err)
		}
	}
	return lost, nil
}

// Misbehave makes a running node lie to the others, with its own key, until it
// restarts or is told to misbehave as "honest". The kinds are those of package
// byzantine.
func (n *Network) Misbehave(name, kind string) error {
	return n.onNode(name, func(node *Node) error {
		if kind != "honest" {
			var missing *fault.Unsupported
			if err := byzantine.Check(kind); errors.As(err, &missing) {
				return err
			} else if err != nil {
				return api.Refuse(http.StatusBadRequest, "unknown_kind", "%v", err).At("kind")
			}
		}
		if !node.Running() {
			return fmt.Errorf("%s does not run: restart it first", name)
		}
		node.unmask()
		if kind == "honest" {
			return nil
		}
		f := n.faults.add("misbehave", name+" "+kind)
		node.lie = f
		return node.mask.Behave(kind, &f.counts)
	})
}

// HostFail has a node's host of programs fail over an actor, by "crash" or "hang",
// until it is told that it "works"; a restart does not mend it.
func (n *Network) HostFail(name string, actor types.Address, how string) error {
	return n.onNode(name, func(node *Node) error {
		if err := fault.CheckHost(how); err != nil {
			return api.Refuse(http.StatusBadRequest, "unknown_kind", "%v", err).At("how")
		}
		if before := node.broken[actor]; before != nil {
			before.end()
			delete(node.broken, actor)
		}
		if how == fault.HostWorks {
			node.host().Fail(actor, how, nil)
			return nil
		}
		f := n.faults.add("host_fail", fmt.Sprint(name, " ", how, " over ", actor))
		if node.broken == nil {
			node.broken = map[types.Address]*Fault{}
		}
		node.broken[actor] = f
		node.host().Fail(actor, how, &f.counts)
		return nil
	})
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

// Frozen says whether a node is frozen.
func (node *Node) Frozen() bool { return node.frozen.Load() != nil }

// DiskFail is for the simulator alone.
func (n *Network) DiskFail(name string, on bool) error {
	return &fault.Unsupported{Verb: "disk_fail", Why: "a live node writes to this machine's disk, which does not fail on demand; it is there with --backend sim"}
}

// ClockSkew is for the simulator alone.
func (n *Network) ClockSkew(name string, d time.Duration) error {
	return &fault.Unsupported{Verb: "clock_skew", Why: "live nodes share this machine's clock; it is there with --backend sim"}
}

// Partition lets nodes reach those of their own group only. Nodes that are not
// named form one more group. It replaces the partition or bridge before.
func (n *Network) Partition(groups [][]string) error {
	if err := n.named(slices.Concat(groups...)...); err != nil {
		return err
	}
	side := fault.Sides(groups...)
	n.sever("partition", fault.Groups(groups...), func(a, b string) bool { return side(a) != side(b) })
	return nil
}

// Bridge cuts left from right; the node, and those that are not named, reach
// both. It replaces the partition or bridge before.
func (n *Network) Bridge(name string, left, right []string) error {
	if err := n.named(append(slices.Concat(left, right), name)...); err != nil {
		return err
	}
	side := fault.Sides(left, right)
	n.sever("bridge", name+" "+fault.Groups(left, right), func(a, b string) bool { return side(a)*side(b) == 2 })
	return nil
}

func (n *Network) sever(verb, detail string, apart func(a, b string) bool) {
	f := n.faults.add(verb, detail)
	names := map[types.Address]string{}
	for _, node := range n.List() {
		names[node.Address] = node.Name
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
}

// Link sets the link between two nodes, or with OneWay that from a to b.
func (n *Network) Link(a, b string, to fault.Link) error {
	if a == b {
		return api.Refuse(http.StatusBadRequest, "invalid_fault", "%s has no link to itself", a).At("b")
	}
	if err := n.named(a, b); err != nil {
		return err
	}
	if err := to.Check(); err != nil {
		return api.Refuse(http.StatusBadRequest, "invalid_fault", "link %s %s: %v", a, b, err)
	}
	n.links.set(n.faults.add("link", fmt.Sprintf("%s %s %s", a, b, to)), a, b, to)
	return nil
}

// Heal mends all links. Nodes that are down, frozen or lie stay so.
func (n *Network) Heal() error {
	if n.config.Strict {
		return strict("a fault")
	}
	n.links.heal()
	return nil
}

// named refuses names that are no nodes', and names given twice.
func (n *Network) named(names ...string) error {
	if n.config.Strict {
		return strict("a fault")
	}
	seen := map[string]bool{}
	for _, name := range names {
		if n.find(name) == nil {
			return n.unknown(name)
		}
		if seen[name] {
			return api.Refuse(http.StatusBadRequest, "invalid_fault", "%s is named twice", name)
		}
		seen[name] = true
	}
	return nil
}

// connections is how many peers a node is connected with.
func (node *Node) connections() int {
	if v := node.Validator(); v != nil {
		return len(v.Status().Connected)
	}
	return 0
}
