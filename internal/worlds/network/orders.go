package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

var _ fault.World = (*Orders)(nil)

// Orders does what orders of faults say, and keeps the faults that it made.
type Orders struct {
	backend Backend
	units   fault.Units
	nodes   *Turn // of the caller that starts, stops and faults nodes
	linking *Turn // of the caller that sets the rules of links
	rules   *LinkRules
	record  guardedValue[record]
	heights heights
	renew   func(name string) error // gives a runner that is down its next key, and registers it
}

// NewOrders makes a network of which no fault was ordered. nodes is the turn of all that
// starts and stops its nodes.
func NewOrders(b Backend, nodes *Turn, units fault.Units) *Orders {
	return &Orders{backend: b, units: units, nodes: nodes, linking: NewTurn(b), rules: &LinkRules{}}
}

// Do implements fault.World.
func (w *Orders) Do(o fault.Order) (fault.Effect, error) {
	f, err := w.Order(&o)
	w.backend.Count()
	switch {
	case err != nil:
		return fault.Effect{}, err
	case f == nil:
		done := o.Done()
		done.Begun = w.backend.Now()
		done.Until = done.Begun
		return done, nil
	}
	return f.effectSoFar(w.backend.Now(), w.units), nil
}

// Faults implements fault.World.
func (w *Orders) Faults() (all []fault.Effect) {
	w.backend.Count()
	var made []*Fault
	w.record.withValue(func(r *record) { made = slices.Clone(r.all) })
	now := w.backend.Now()
	for _, f := range made {
		all = append(all, f.effectSoFar(now, w.units))
	}
	return all
}

// InForce is a fault that still lasts, or nil.
func (w *Orders) InForce() *Fault {
	if all := w.Standing(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Order judges an order and does it. The fault is the one that it made or ended, and nil
// where the verb has none.
func (w *Orders) Order(o *fault.Order) (f *Fault, err error) {
	if err := w.validateOrder(o); err != nil {
		return nil, err
	}
	if !o.Verb.OfNode() {
		return w.onLinks(o)
	}
	err = w.nodes.Do(context.Background(), func() error {
		n := w.backend.Node(o.Node)
		if n == nil {
			return w.backend.Unknown(o.Node)
		}
		f, err = w.onNode(n, o)
		return err
	})
	return f, err
}

// validateOrder says what is wrong with an order, or nil.
func (w *Orders) validateOrder(o *fault.Order) error {
	if err := w.Need(NeededBy(o.Verb)); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	kind := fault.Validators
	for _, name := range o.Nodes() {
		n := w.backend.Node(name)
		switch {
		case n == nil:
			return w.backend.Unknown(name)
		case name == o.Node:
			kind = n.Who().Kind
		}
	}
	return o.CheckOf(kind)
}

// onNode does an order of a node, which has the verb.
func (w *Orders) onNode(n Node, o *fault.Order) (*Fault, error) {
	switch o.Verb {
	case fault.Crash, fault.Drop:
		return w.Kill(n, o)
	case fault.Rejoin:
		f, err := w.Kill(n, o)
		if err == nil {
			w.rejoinRunner(o)
		}
		return f, err
	case fault.Restart:
		return nil, w.restartProcess(n)
	case fault.Freeze:
		return w.freezeNode(n, o)
	case fault.Thaw:
		return nil, w.thawNode(n)
	case fault.Wipe:
		return w.wipeNode(n, o)
	}
	if lasts := o.Verb.Lasts; lasts != fault.Machine && !n.Phase().Up() {
		return nil, fmt.Errorf("%s does not run: restart it first", o.Node)
	}
	if o.Mends() {
		return w.endOwnFault(n, o)
	}
	return w.beginOwnFault(n, o)
}

// beginOwnFault begins a fault in a node's process.
func (w *Orders) beginOwnFault(n Node, o *fault.Order) (*Fault, error) {
	f := newFault(o, w.backend.Now())
	if err := n.Do(&f.Order, &f.Counts, func(after time.Duration) { w.endAfter(f, after) }); err != nil {
		return nil, err
	}
	w.noteFault(f)
	return f, nil
}

// Noted is the fault of an order that a node did by itself.
func (w *Orders) Noted(o *fault.Order) *Fault {
	f := newFault(o, w.backend.Now())
	w.noteFault(f)
	return f
}

// Cheated lists a cheat among the faults. It is over: its effect is in the blocks.
func (w *Orders) Cheated(e fault.Effect) {
	now := w.backend.Now()
	e.Begun, e.Until = now, now
	f := &Fault{told: &e, begun: now}
	f.endAt(now)
	w.record.withValue(func(r *record) { r.addFault(f) })
}

// noteFault notes a fault that was made, in force in place of the one before it where it lasts.
func (w *Orders) noteFault(f *Fault) {
	now := w.backend.Now()
	w.record.withValue(func(r *record) {
		r.addFault(f)
		if lasts := f.Order.Verb.Lasts; lasts != fault.AtOnce && !f.Ended(now) {
			r.putInForce(f, now)
		}
	})
}

// endOwnFault ends a fault in a node's process, and returns it; nil if the node had no such fault.
func (w *Orders) endOwnFault(n Node, o *fault.Order) (before *Fault, err error) {
	if err := n.Do(o, nil, nil); err != nil {
		return nil, err
	}
	w.record.withValue(func(r *record) {
		before = r.findInForce(keyOf(o))
		r.endInForce(before, w.backend.Now())
	})
	return before, nil
}

// Kill ends the process of a node by an order. Its connections end with it.
func (w *Orders) Kill(n Node, o *fault.Order) (*Fault, error) {
	if n.Phase() == Stopped {
		return nil, fmt.Errorf("%s does not run", o.Node)
	}
	f := newFault(o, w.backend.Now())
	f.Counts.Cut.Add(int64(len(n.Peers())))
	f.Counts.Ended.Add(1)
	err := n.Kill(&f.Counts)
	w.ProcessEnded(o.Node)
	w.noteFault(f)
	return f, err
}

// ProcessEnded notes that the process of a node has ended, and what it did wrong with it.
func (w *Orders) ProcessEnded(name string) {
	w.record.withValue(func(r *record) { r.finishAll(name, w.backend.Now()) })
}

// restartProcess starts the process of a node that runs no more.
func (w *Orders) restartProcess(n Node) error {
	name := n.Who().Name
	switch {
	case n.Phase().Up():
		return fmt.Errorf("%s runs already", name)
	case n.Phase() == Failed:
		if err := w.stopProcess(n); err != nil {
			return err
		}
	}
	if err := n.Start(); err != nil {
		return err
	}
	var kept []*Fault
	w.record.withValue(func(r *record) {
		r.endInForce(r.findInForce(key{node: name, verb: fault.Crash}), w.backend.Now())
		for _, f := range r.force {
			if f.Order.Node == name && f.Order.Verb == fault.HostFail {
				kept = append(kept, f)
			}
		}
	})
	for _, f := range kept { // a host outlives no process everywhere
		if err := n.Do(&f.Order, &f.Counts, nil); err != nil {
			return err
		}
	}
	return nil
}

// stopProcess ends a process in good order. A runner says Goodbye.
func (w *Orders) stopProcess(n Node) error {
	if n.Phase() == Frozen {
		if err := w.thawNode(n); err != nil {
			return err
		}
	}
	if n.Who().Kind == fault.Runners && n.Phase() == Running {
		gone := new(Signal)
		n.Leave(false, gone.Fire)
		_ = w.backend.Wait(context.Background(), gone, Goodbye) // it is stopped without a Goodbye as well
	}
	err := n.Stop()
	w.ProcessEnded(n.Who().Name)
	return err
}

// Stop ends the process of a node in good order.
func (w *Orders) Stop(name string) error {
	return w.nodes.Do(context.Background(), func() error {
		if n := w.backend.Node(name); n != nil {
			return w.stopProcess(n)
		}
		return w.backend.Unknown(name)
	})
}

// stopLeftNode stops a node that has left, if it still runs. left finds it, or is nil if it no
// longer has to stop.
func (w *Orders) stopLeftNode(left func() Node, network Operated) error {
	err := w.nodes.Do(context.Background(), func() error {
		n := left()
		if n == nil || n.Phase() == Stopped {
			return nil
		}
		err := w.stopProcess(n)
		network.Left(n.Who().Name)
		return err
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

func (w *Orders) freezeNode(n Node, o *fault.Order) (*Fault, error) {
	switch {
	case !n.Phase().Up():
		return nil, fmt.Errorf("%s does not run", o.Node)
	case n.Phase() == Frozen:
		return nil, fmt.Errorf("%s is frozen already", o.Node)
	}
	f := newFault(o, w.backend.Now())
	if err := n.Freeze(&f.Counts); err != nil {
		return nil, err
	}
	w.noteFault(f)
	return f, nil
}

func (w *Orders) thawNode(n Node) error {
	if n.Phase() != Frozen {
		return fmt.Errorf("%s is not frozen", n.Who().Name)
	}
	err := n.Thaw()
	w.record.withValue(func(r *record) {
		r.endInForce(r.findInForce(key{node: n.Who().Name, verb: fault.Freeze}), w.backend.Now())
	})
	return err
}

func (w *Orders) wipeNode(n Node, o *fault.Order) (*Fault, error) {
	if n.Phase() != Stopped {
		return nil, fmt.Errorf("%s runs: crash it first", o.Node)
	}
	f := newFault(o, w.backend.Now())
	if err := n.Wipe(&f.Counts); err != nil {
		return nil, err
	}
	f.endAt(w.backend.Now())
	w.noteFault(f)
	return f, nil
}

// rejoinRunner starts a runner some blocks after its process was ended, under another key if the order says so.
func (w *Orders) rejoinRunner(o *fault.Order) {
	name, fresh, at := o.Node, o.NewIdentity, w.backend.Height()+types.Height(o.AfterBlocks)
	w.backend.Go(name+" comes back", func() error {
		err := w.heights.waitUntil(context.Background(), w.backend, Forever, func() bool { return w.backend.Height() >= at })
		if err == nil {
			err = w.comeBack(name, fresh)
		}
		if errors.Is(err, ErrClosed) {
			return nil
		}
		return err
	})
}

// comeBack starts a runner, unless another order started it meanwhile.
func (w *Orders) comeBack(name string, fresh bool) error {
	runs := func() bool { return w.backend.Node(name).Phase().Up() }
	if fresh && !runs() {
		if err := w.renew(name); err != nil {
			return err
		}
	}
	return w.nodes.Do(context.Background(), func() error {
		if runs() {
			return nil
		}
		return w.restartProcess(w.backend.Node(name))
	})
}

// noteHigherBlock notes that a higher block has become final.
func (w *Orders) noteHigherBlock() { w.heights.wakeWaiting() }

// OrderOf is the order of the remembered fault that counts there, or nil.
func (w *Orders) OrderOf(counts *fault.Counts) (o *fault.Order) {
	w.record.withValue(func(r *record) {
		for _, f := range r.all {
			if &f.Counts == counts {
				o = &f.Order
			}
		}
	})
	return o
}
