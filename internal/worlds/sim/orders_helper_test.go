package sim

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// Effect is a fault of a world as its tests read it.
type Effect struct {
	*network.Fault
	w *World
}

func (r *Effect) count(name string) int {
	if r == nil {
		return 0
	}
	c := &r.Counts
	return int(map[string]interface{ Load() int64 }{"Cut": &c.Cut, "Ended": &c.Ended, "Dropped": &c.Dropped, "Held": &c.Held,
		"Delayed":    &c.Delayed,
		"Duplicated": &c.Duplicated, "Reordered": &c.Reordered, "Lost": &c.Lost, "Refused": &c.Refused, "Flipped": &c.Flipped,
		"Slowed": &c.Slowed}[name].Load())
}

func (r *Effect) Cut() int        { return r.count("Cut") }
func (r *Effect) Ended() int      { return r.count("Ended") }
func (r *Effect) Dropped() int    { return r.count("Dropped") }
func (r *Effect) Held() int       { return r.count("Held") }
func (r *Effect) Delayed() int    { return r.count("Delayed") }
func (r *Effect) Duplicated() int { return r.count("Duplicated") }
func (r *Effect) Reordered() int  { return r.count("Reordered") }
func (r *Effect) Lost() int       { return r.count("Lost") }
func (r *Effect) Refused() int    { return r.count("Refused") }
func (r *Effect) Flipped() int    { return r.count("Flipped") }
func (r *Effect) Slowed() int     { return r.count("Slowed") }
func (r *Effect) Idle() bool      { return r.Did(fault.Simulated) == "" }
func (r *Effect) Over() bool      { return r.Fault.Ended(r.w.now) }

func (r *Effect) String() string {
	did := r.Did(fault.Simulated)
	if did == "" {
		did = "no effect"
	}
	return r.Order.String() + ": " + did
}

// ordered does an order.
func (w *World) ordered(o fault.Order) (*Effect, error) {
	f, err := w.orders.Order(&o)
	if f == nil || err != nil {
		return nil, err
	}
	return &Effect{f, w}, nil
}

// must is an order that is never refused.
func (w *World) must(o fault.Order) *Effect {
	r, err := w.ordered(o)
	if err != nil {
		panic(err)
	}
	return r
}

// Crash is nil where no process runs.
func (w *World) Crash(name string) *Effect {
	r, _ := w.ordered(fault.Order{Verb: fault.Crash, Node: name})
	return r
}

func (w *World) Drop(name string) (*Effect, error) {
	return w.ordered(fault.Order{Verb: fault.Drop, Node: name})
}

func (w *World) Restart(name string) error {
	_, err := w.ordered(fault.Order{Verb: fault.Restart, Node: name})
	return err
}

func (w *World) Freeze(name string) (*Effect, error) {
	return w.ordered(fault.Order{Verb: fault.Freeze, Node: name})
}

func (w *World) Thaw(name string) error {
	_, err := w.ordered(fault.Order{Verb: fault.Thaw, Node: name})
	return err
}

func (w *World) Wipe(name string) (*Effect, error) {
	return w.ordered(fault.Order{Verb: fault.Wipe, Node: name})
}

func (w *World) Misbehave(name, kind string) (*Effect, error) {
	return w.ordered(fault.Order{Verb: fault.Misbehave, Node: name, Kind: kind})
}

func (w *World) HostFail(name string, actor types.Address, how string) (*Effect, error) {
	return w.ordered(fault.Order{Verb: fault.HostFail, Node: name, Actor: actor, How: how})
}

func (w *World) DiskFail(name string, on bool) *Effect {
	return w.must(fault.Order{Verb: fault.DiskFail, Node: name, On: on})
}

func (w *World) DiskSlow(name string, d time.Duration) *Effect {
	return w.must(fault.Order{Verb: fault.DiskSlow, Node: name, Delay: d})
}

func (w *World) CPUSlow(name string, d time.Duration) *Effect {
	return w.must(fault.Order{Verb: fault.CPUSlow, Node: name, Delay: d})
}

func (w *World) SyncLies(name string, on bool) *Effect {
	return w.must(fault.Order{Verb: fault.SyncLies, Node: name, On: on})
}

func (w *World) ClockSkew(name string, d time.Duration) *Effect {
	return w.must(fault.Order{Verb: fault.ClockSkew, Node: name, Skew: d})
}

// Partition parts one group from the rest.
func (w *World) Partition(groups ...[]string) *Effect {
	if len(groups) == 1 {
		groups = append(groups, nil)
	}
	return w.must(fault.Order{Verb: fault.Partition, Groups: groups})
}

func (w *World) Bridge(name string, left, right []string) *Effect {
	return w.must(fault.Order{Verb: fault.Bridge, Node: name, Left: left, Right: right})
}

func (w *World) Link(a, b string, to Link) *Effect {
	return w.must(fault.Order{Verb: fault.SetLink, A: a, B: b, Link: to})
}

func (w *World) Heal() { w.must(fault.Order{Verb: fault.Heal}) }

// LinkAll sets all links that no order has set.
func (w *World) LinkAll(to Link) {
	if err := w.orders.SetUsualLink(to); err != nil {
		panic(err)
	}
}

// configured counts what the links as configured did.
func (w *World) configured() *Effect {
	f := &network.Fault{}
	for _, link := range w.made {
		f.Counts.Grow([fault.Effects]int64{}, link.counts.Figures())
		break // they count together
	}
	return &Effect{f, w}
}

// MendHost has a node's host of programs work again.
func (w *World) MendHost(name string) {
	for _, f := range w.orders.Faults() {
		if f.Verb == "host_fail" && f.Order.Node == name && !f.Ended {
			w.must(fault.Order{Verb: fault.HostFail, Node: name, Actor: f.Order.Actor, How: fault.HostWorks})
		}
	}
}

// DiskFailAt makes the uses-th use of a node's disk from now on fail, 1 being the next, and
// all after it, until DiskFail is called with false: in the midst of a boot, say.
func (w *World) DiskFailAt(name string, uses int) { w.findNode(name).disk.fails = uses }

// down is a node that does not run.
func (w *World) down(name string) (*node, error) {
	n := w.findNode(name)
	if n.process != nil {
		return nil, fmt.Errorf("%s runs: crash it first", name)
	}
	return n, nil
}

// Flip flips a bit on the disk of a node that does not run: in a record of the
// log, or in a value of the store.
func (w *World) Flip(name string) (*Effect, error) {
	n, err := w.down(name)
	if err != nil {
		return nil, err
	}
	w.trace.traceFault(w.now, "disk_flip "+name)
	r := &Effect{&network.Fault{Order: fault.Order{Verb: &fault.Verb{Name: "disk_flip"}}}, w}
	n.disk.flip(&r.Counts)
	return r, nil
}

// CutLog takes the youngest records from the log of a node that does not run: n, or all
// if it has fewer.
func (w *World) CutLog(name string, n int) (*Effect, error) {
	one, err := w.down(name)
	if err != nil {
		return nil, err
	}
	w.trace.traceFault(w.now, "cut_log "+name)
	r := &Effect{&network.Fault{Order: fault.Order{Verb: &fault.Verb{Name: "cut_log"}}}, w}
	r.Counts.Lost.Add(int64(min(n, len(one.disk.records))))
	one.disk.cutLog(r.Lost())
	return r, nil
}

// CutLog takes the youngest records from the log of votes of a validator that does not run.
// If the log then ends before the store's tip, the validator sits out (decision C5).
// Otherwise it is one of the f that may contradict themselves (finding F63).
func (n *Network) CutLog(name string, records int) (*Effect, error) {
	r, err := n.World.CutLog(name, records)
	if err == nil {
		n.noteHarm(name, fault.SyncLies)
	}
	return r, err
}

// Flip flips a bit on the disk of a validator that does not run. A log that is
// damaged in its midst is refused, and lost with that. One that is damaged at its
// end looks as if a crash had torn it: it is cut, a vote that was sent may be gone
// unseen, and its validator is one of the f that may contradict themselves (F17).
func (n *Network) Flip(name string) (*Effect, error) {
	r, err := n.World.Flip(name)
	if err != nil {
		return r, err
	}
	n.tellDiskLoss(name)
	if n.World.findNode(name).disk.looksTorn() {
		n.excuseValidator(name)
	}
	return r, nil
}

// cutLog drops the youngest records of the log.
func (d *disk) cutLog(n int) {
	for _, record := range d.records[len(d.records)-n:] {
		d.size -= int64(len(record)) + recordFrame
	}
	d.records = d.records[: len(d.records)-n : len(d.records)-n]
	d.damaged = nil
}

// flip flips a bit: of a record of the log, or of a value of the store.
func (d *disk) flip(counts *fault.Counts) {
	chance := d.node.world.links.rand
	var full []int
	for i := range d.buckets {
		if d.buckets[i].tree.Len() > 0 {
			full = append(full, i)
		}
	}
	if len(d.records) > 0 && (len(full) == 0 || chance.IntN(2) == 0) {
		i := chance.IntN(len(d.records))
		flipped := bytes.Clone(d.records[i])
		flipped[chance.IntN(len(flipped))] ^= 1 << chance.IntN(8)
		d.records[i] = flipped
		if d.damaged == nil {
			d.damaged = map[int]bool{}
		}
		d.damaged[i] = true
		counts.Flipped.Add(1)
		return
	}
	if len(full) == 0 {
		return
	}
	d.buckets = slices.Clone(d.buckets)
	b := &d.buckets[full[chance.IntN(len(full))]]
	nth := chance.IntN(b.tree.Len())
	var key, value []byte
	b.tree.Scan(nil, nil, func(k, v []byte) bool {
		key, value = bytes.Clone(k), bytes.Clone(v)
		nth--
		return nth >= 0
	})
	if len(value) == 0 {
		return
	}
	value[chance.IntN(len(value))] ^= 1 << chance.IntN(8)
	b.tree = b.tree.Put([]trie.Change{{Key: key, Value: value}})
	counts.Flipped.Add(1)
}

// looksTorn says that the log's last record is damaged, as by a crash in the midst
// of its writing.
func (d *disk) looksTorn() bool { return len(d.records) > 0 && d.damaged[len(d.records)-1] }
