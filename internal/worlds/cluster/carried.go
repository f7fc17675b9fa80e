package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// CarriedNode is a node as its carrier orders it, one order at a time. Carrier says what each order does.
type CarriedNode interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Kill(ctx context.Context) error
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	Wipe(ctx context.Context) error
	Control() string // "" where it has no API
}

// CarriedNodes is the common part of all carriers: their nodes by name, whose orders follow
// one another, and unordered ends. A carrier embeds one.
type CarriedNodes[N CarriedNode] struct {
	dir     string
	over    error // error of every call after Shut
	ended   chan Ended
	closing chan struct{} // closed when Shut begins

	mu     sync.Mutex // guards the fields below
	slots  map[string]slot[N]
	closed bool
}

// slot is a node and its turn, which holds an entry while an order is being done.
type slot[N CarriedNode] struct {
	carried N
	turn    chan struct{}
}

// endedBuffer is how many ends of nodes wait for their reader.
const endedBuffer = 64

// NewCarriedNodes has no nodes yet; dir is the folder that theirs are in, and over what is said
// once they were stopped for good.
func NewCarriedNodes[N CarriedNode](dir string, over error) *CarriedNodes[N] {
	return &CarriedNodes[N]{dir: dir, over: over, ended: make(chan Ended, endedBuffer), closing: make(chan struct{}),
		slots: map[string]slot[N]{}}
}

// Put makes a node known.
func (f *CarriedNodes[N]) Put(name string, node N) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.over
	}
	if _, there := f.slots[name]; there {
		return fmt.Errorf("there is a node %s already: give the new one another name", name)
	}
	f.slots[name] = slot[N]{node, make(chan struct{}, 1)}
	return nil
}

// Find is the node of a name.
func (f *CarriedNodes[N]) Find(name string) (N, error) {
	found, err := f.findSlot(name)
	return found.carried, err
}

func (f *CarriedNodes[N]) findSlot(name string) (slot[N], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return slot[N]{}, f.over
	}
	found, there := f.slots[name]
	if !there {
		return found, fmt.Errorf("no settings of a node %.40q in %s", name, f.dir)
	}
	return found, nil
}

// Start implements Carrier.
func (f *CarriedNodes[N]) Start(ctx context.Context, name string) error {
	return f.Order(ctx, name, N.Start)
}

// Stop implements Carrier.
func (f *CarriedNodes[N]) Stop(ctx context.Context, name string) error {
	return f.Order(ctx, name, N.Stop)
}

// Kill implements Carrier.
func (f *CarriedNodes[N]) Kill(ctx context.Context, name string) error {
	return f.Order(ctx, name, N.Kill)
}

// Freeze implements Carrier.
func (f *CarriedNodes[N]) Freeze(name string) error {
	return f.Order(context.Background(), name, N.Freeze)
}

// Thaw implements Carrier.
func (f *CarriedNodes[N]) Thaw(name string) error {
	return f.Order(context.Background(), name, N.Thaw)
}

// Wipe implements Carrier.
func (f *CarriedNodes[N]) Wipe(ctx context.Context, name string) error {
	return f.Order(ctx, name, N.Wipe)
}

// Control implements Carrier.
func (f *CarriedNodes[N]) Control(name string) string {
	n, err := f.Find(name)
	if err != nil {
		return ""
	}
	return n.Control()
}

// Order applies an order to a node, after the orders that are being applied to it.
func (f *CarriedNodes[N]) Order(ctx context.Context, name string, do func(N, context.Context) error) error {
	found, err := f.findSlot(name)
	if err != nil {
		return err
	}
	select {
	case found.turn <- struct{}{}:
		defer func() { <-found.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s was busy with another order: %w", name, ctx.Err())
	}
	return do(found.carried, ctx)
}

// Ended implements Carrier.
func (f *CarriedNodes[N]) Ended() <-chan Ended { return f.ended }

// Tell reports a node that ended on its own. The function passed to Shut must wait for
// all callers of Tell.
func (f *CarriedNodes[N]) Tell(e Ended) {
	select {
	case f.ended <- e:
	case <-f.closing:
	}
}

// Over returns the error of calls after Shut, nil before it.
func (f *CarriedNodes[N]) Over() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.over
	}
	return nil
}

// List is all of them, sorted by name.
func (f *CarriedNodes[N]) List() (all []N) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.slots)) {
		all = append(all, f.slots[name].carried)
	}
	return all
}

// Shut refuses orders from now on and waits for those that are being applied. Then it
// calls end with all nodes, once. After it Tell is not called.
func (f *CarriedNodes[N]) Shut(end func(all []N) error) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.mu.Unlock()
	close(f.closing)
	for _, b := range f.slots { // no order changes it any more
		b.turn <- struct{}{}
		defer func() { <-b.turn }()
	}
	err := end(f.List())
	close(f.ended)
	return err
}
