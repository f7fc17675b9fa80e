package box

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// Drive is the nodes of a network that run elsewhere and answer each for itself: what
// takes all of them is done from here, as a Network does it whose nodes are in its
// process. It follows no block, and knows no state. It is safe for concurrent use.
type Drive struct {
	network *Network
	// Later has a runner that was dropped come back so many blocks later; it is set before
	// the first order.
	Later func(name string, blocks types.Height, fresh bool)
	left  map[string]bool // who is not started with the others
}

// Keyed is a node and its key.
type Keyed struct {
	Name string
	Key  *crypto.Key
	Left bool // it has left, and Start leaves it alone
}

// NewDrive makes what drives the nodes that config.Elsewhere opens, none of which runs.
func NewDrive(config Config, validators, runners []Keyed) (*Drive, error) {
	config.setDefaults()
	o := &origin{config: config}
	if err := o.take(); err != nil {
		return nil, err
	}
	d := &Drive{network: compose(o), left: map[string]bool{}}
	for _, one := range slices.Concat(validators, runners) {
		d.left[one.Name] = one.Left
	}
	d.network.registration.later = func(name string, blocks types.Height, fresh bool) { d.Later(name, blocks, fresh) }
	for _, one := range validators {
		if _, err := d.add(one); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	for _, one := range runners {
		d.network.addRunner(newRunner(d.network, one.Name, one.Key))
	}
	return d, nil
}

func (d *Drive) add(one Keyed) (*Node, error) {
	node, err := remoteNode(d.network, one.Name, &Node{key: one.Key, broken: map[types.Address]*Fault{}})
	if err == nil {
		d.network.nodeList.add(node)
	}
	return node, err
}

// Start starts all nodes but those that have left, validators first, and returns when each
// can be driven.
func (d *Drive) Start(ctx context.Context) error {
	return d.network.alone(func() error {
		for _, node := range d.network.List() {
			if d.left[node.Name] {
				continue
			}
			if err := errors.Join(ctx.Err(), node.start()); err != nil {
				return err
			}
		}
		for _, r := range d.network.RunnerList() {
			if d.left[r.Name] {
				continue
			}
			if err := errors.Join(ctx.Err(), r.start()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close ends what stands between here and the nodes, and leaves them as they are.
func (d *Drive) Close() error {
	d.network.quit()
	return d.network.shut(func() error {
		d.network.presence.watch.Close()
		d.network.shared.close()
		d.network.finality.close()
		return nil
	})
}

var _ fault.World = (*Drive)(nil)

// Do implements fault.World.
func (d *Drive) Do(o fault.Order) (fault.Effect, error) { return d.network.Do(o) }

// Faults implements fault.World.
func (d *Drive) Faults() []fault.Effect { return d.network.Faults() }

// Pause has all validators make no blocks, or go on, also those that start later.
func (d *Drive) Pause(on bool) error { return d.network.setPaused(on) }

// SetClock begins with clocks that are ahead of the machine's.
func (d *Drive) SetClock(ahead time.Duration) { d.network.clock.SetOffset(ahead) }

// Travel tells the validators where to go, and then all nodes the time.
func (d *Drive) Travel(ctx context.Context, to types.Height, moved time.Duration) error {
	if !d.network.travelling.TryLock() {
		return errAdvancing()
	}
	defer d.network.travelling.Unlock()
	return d.network.depart(ctx, to, moved)
}

// AnswerJob gives what is said of a job by hand to the runners that wait for it, and
// returns them.
func (d *Drive) AnswerJob(job types.Hash, given execution.Given) ([]types.Address, error) {
	return operator{d.network}.AnswerJob(job, given)
}

// StartValidator starts a validator that is to join: one of a new name, "" for the next
// that is free, under a key that is given, or one that has left. standing tells how
// that of a name stands in the set, "" where there is none.
func (d *Drive) StartValidator(name string, standing func(string) string, key func() *crypto.Key) (j Joining, err error) {
	n := d.network
	err = n.alone(func() error {
		if name == "" {
			for i := 0; n.nodeList.find(wallet.ValidatorName(i)) != nil; i++ {
				name = wallet.ValidatorName(i + 1)
			}
		}
		node, stands := n.nodeList.find(name), ""
		if node != nil {
			stands = standing(name)
		}
		if err := api.CheckJoin(name, wallet.Accounts(), stands); err != nil {
			return err
		}
		if node, err = d.fresh(node, name, key); err != nil {
			return err
		}
		j = Joining{Name: name, Address: node.Address, PublicKey: node.key.PublicKey()}
		j.Endpoint, err = node.validator.Endpoint()
		return err
	})
	return j, closing(err)
}

// StopValidator stops a validator that has left.
func (d *Drive) StopValidator(name string) error { return closing(d.network.StopNode(name)) }

// fresh starts a validator anew: one that has left has stopped, in a process that goes on.
func (d *Drive) fresh(node *Node, name string, key func() *crypto.Key) (_ *Node, err error) {
	switch {
	case node != nil && node.Started():
		err = node.stop()
	case node == nil && d.network.findRunner(name) != nil:
		return nil, api.Refuse(http.StatusConflict, "name_taken", "%s is a runner's name", name).
			Hint("A name stands for one thing: choose another.").At("name")
	case node == nil && len(d.network.List()) >= MaxValidators:
		return nil, api.Refuse(http.StatusConflict, "too_many_validators", "a network on one machine has at most %d validators", MaxValidators)
	case node == nil:
		node, err = d.add(Keyed{Name: name, Key: key()})
	}
	if err != nil {
		return nil, err
	}
	return node, node.start()
}

func closing(err error) error {
	if errors.Is(err, errClosed) {
		return api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	return err
}

// NextRunner judges the name of a runner that is to be started, "" for the next: a new
// one, or one that has left, as left tells.
func (d *Drive) NextRunner(name string, left func(types.Address) bool) (string, error) {
	n := d.network
	next := wallet.RunnerName(len(n.RunnerList()))
	if name == "" {
		name = next
	}
	switch r := n.findRunner(name); {
	case r == nil && name != next:
		return "", unknownNext(name, next)
	case r == nil && len(n.RunnerList()) >= MaxRunners:
		return "", tooManyRunners()
	case r != nil && !left(r.Address):
		return "", alreadyRunner(name)
	}
	return name, nil
}

// StartRunner starts a runner under a key that is registered.
func (d *Drive) StartRunner(name string, key *crypto.Key) error {
	n := d.network
	return closing(n.alone(func() error {
		r := newRunner(n, name, key)
		former := n.findRunner(name)
		if former == nil {
			n.addRunner(r)
			return r.start()
		}
		if err := former.stop(); err != nil {
			return err
		}
		r.death = former.death
		n.replaceRunner(r)
		return r.start()
	}))
}

// RestartRunner starts a runner that was dropped, unless somebody did already.
func (d *Drive) RestartRunner(name string) error {
	return closing(d.network.changeRunner(name, func(r *Runner) error {
		if r.Started() {
			return nil
		}
		return r.restart()
	}))
}

// ReplaceRunner is RestartRunner under another key.
func (d *Drive) ReplaceRunner(name string, key *crypto.Key) error {
	return closing(d.network.changeRunner(name, func(former *Runner) error {
		if former.Started() {
			return nil
		}
		r := newRunner(d.network, name, key)
		r.death = former.death
		d.network.replaceRunner(r)
		return r.restart()
	}))
}

// ReloadRunner makes a runner read its settings again.
func (d *Drive) ReloadRunner(name string) error { return d.network.runnerList.reload(name) }

// EndRunner ends the process of a runner that has left the registry, and returns its
// name; it is empty where no runner of that address runs here.
func (d *Drive) EndRunner(a types.Address) (name string, err error) {
	for _, r := range d.network.RunnerList() {
		if r.Address == a && r.Started() {
			return r.Name, closing(d.network.StopRunner(r.Name))
		}
	}
	return "", nil
}

// Names are the names of all nodes, by address.
func (d *Drive) Names() map[types.Address]string {
	all := map[types.Address]string{}
	for _, node := range d.network.List() {
		all[node.Address] = node.Name
	}
	for _, r := range d.network.RunnerList() {
		all[r.Address] = r.Name
	}
	return all
}

// Has reports whether a node of either kind has a name.
func (d *Drive) Has(name string) bool {
	return d.network.nodeList.find(name) != nil || d.network.findRunner(name) != nil
}

// Letters are the dead letters of the runners that run or did, by name (api.Backend).
func (d *Drive) Letters() map[string]uint64 {
	all := map[string]uint64{}
	for _, r := range d.network.RunnerList() {
		all[r.Name] = r.Status().DeadLetters
	}
	return all
}

// Validators are the names of the validators that can be asked something now.
func (d *Drive) Validators() (names []string) {
	for _, node := range d.network.List() {
		if node.Running() && !node.Frozen() {
			names = append(names, node.Name)
		}
	}
	slices.Sort(names)
	return names
}

// The refusals of runners that are to be started, alike wherever that is.
func unknownNext(name, next string) error {
	return api.Refuse(http.StatusConflict, "invalid_name", "%q is no name of a runner to start: the next is %s", name, next).
		Hint("Leave the name out, or give that of a runner that has left.").At("name")
}

func tooManyRunners() error {
	return api.Refuse(http.StatusConflict, "too_many_runners", "a network in one process has at most %d runners", MaxRunners)
}

func alreadyRunner(name string) error {
	return api.Refuse(http.StatusConflict, "already_runner", "%s is a runner already", name).At("name")
}

func errAdvancing() error {
	return api.Refuse(http.StatusConflict, "advancing", "another advance is under way").Hint("Wait until it has ended.")
}
