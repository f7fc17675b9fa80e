package box

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// hereName returns the one node of this process, "" if it has them all.
func (o *origin) hereName() string {
	if here := o.config.Here; here != nil {
		return here.Name
	}
	return ""
}

// hasLeft reports whether a node elsewhere has left and does not start with the others.
func (o *origin) hasLeft(name string) bool {
	other := o.config.Elsewhere
	return other != nil && other.Left(name)
}

// noteLeft notes that a node has left, where nodes run elsewhere.
func (o *origin) noteLeft(name string) {
	if other := o.config.Elsewhere; other != nil {
		other.SetLeft(name)
	}
}

// others is the record that the one node of this process has of nodes in other
// processes; empty if it has them all.
type others struct {
	origin   *origin
	nodes    *nodeList
	presence *presence
	book     *node.AddressBook

	mu    sync.Mutex
	names map[types.Address]string // replaced, never changed
}

// setWholeURL notes the URL of the whole network's API.
func (o *origin) setWholeURL(url string) { o.whole.Store(&url) }

func newOthers(o *origin, n *Network) *others {
	others := &others{origin: o, nodes: n.nodeList, presence: n.presence, book: n.book}
	if here := o.config.Here; here != nil {
		others.names = here.Names
	}
	return others
}

// namesByAddress are the names of the nodes that run elsewhere, by address.
func (o *others) namesByAddress() map[types.Address]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.names
}

// setName names a node: who had the name before, under another key, has it no more.
func (o *others) setName(a types.Address, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := map[types.Address]string{}
	for address, is := range o.names {
		if is != name {
			names[address] = is
		}
	}
	names[a] = name
	o.names = names
}

// addressOf returns the address of a name, zero if no other node has it.
func (o *others) addressOf(name string) (a types.Address) {
	for address, is := range o.namesByAddress() {
		if is == name {
			return address
		}
	}
	return a
}

// nameOf is what a node that runs elsewhere is called: by its address, where its name is
// not known.
func (o *others) nameOf(a types.Address) string {
	if name := o.namesByAddress()[a]; name != "" {
		return name
	}
	return a.String()
}

// listValidators are those that run elsewhere, as the one here knows them: from its
// final state, and by their connections with it.
func (o *others) listValidators(best *ledger.State) (all []answers.Node) {
	here := o.origin.config.Here
	if here == nil {
		return nil
	}
	self := o.nodes.List()[0]
	var connected []types.Address
	if self.Phase() == network.Running {
		connected = self.Validator().Status().Connected
	}
	members := slices.Clone(best.Validators().Members)
	for _, move := range best.Moves() {
		if move.Join != nil {
			members = append(members, *move.Join)
		}
	}
	for _, member := range members {
		if member.Address == self.Address {
			continue
		}
		one := answers.Node{Name: o.nameOf(member.Address), Elsewhere: true, Validator: member,
			Status: history.Membership(best, member.Address), Running: slices.Contains(connected, member.Address)}
		one.Validator.Endpoint = o.book.Endpoint(member)
		if !one.Running && one.Status != history.StatusJoining {
			one.Missing = append(one.Missing, "no connection with "+here.Name)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b answers.Node) int { return compareNames(a.Name, b.Name) })
	return all
}

// compareNames has v2 before v10.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return slices.Compare([]byte(a), []byte(b))
}

// listRunners are the named runners that run elsewhere and are registered.
func (o *others) listRunners() (all []answers.NamedAccount) {
	if o.origin.config.Here == nil {
		return nil
	}
	state := o.nodes.bestState()
	for address, name := range o.namesByAddress() {
		if state.Runner(address) != nil {
			all = append(all, answers.NamedAccount{Name: name, Address: address})
		}
	}
	slices.SortFunc(all, func(a, b answers.NamedAccount) int { return compareNames(a.Name, b.Name) })
	return all
}

// runnerNodes are the same as nodes: what votes attest of them, and whether they are
// connected with the validator here.
func (o *others) runnerNodes(state *ledger.State) (all []answers.RunnerNode) {
	if o.origin.config.Here == nil {
		return nil
	}
	connected := map[types.Address]bool{}
	if self := o.nodes.List()[0]; self.Running() {
		for _, c := range self.Validator().Connections() {
			connected[c.Runner] = true
		}
	}
	unseen := selection.PhaseOf(state.Params()) == selection.Off // no runner is connected
	for _, known := range o.listRunners() {
		r := state.Runner(known.Address)
		out := answers.RunnerNode{Name: known.Name, Address: known.Address, Height: state.Height(), Accepting: true,
			Running: unseen || connected[known.Address] || !r.Stake.IsZero() && o.presence.hasRunner(int(r.Index)),
			Left:    r.Health == selection.Deregistered}
		if connected[known.Address] {
			out.Connected = []types.Address{o.nodes.List()[0].Address}
		}
		// With auto no block may have shown yet who is present.
		if !out.Running && !out.Left && r.Health != selection.Paused && !o.origin.config.Auto {
			out.Missing = append(out.Missing, "it is not present in the votes")
		}
		all = append(all, out)
	}
	return all
}

// openElsewhere makes a validator elsewhere.
func (n *Network) openElsewhere(name string, key *crypto.Key) (remote.ValidatorNode, error) {
	tell := remote.Receivers{Executor: ledger.Executor{Programs: n.programs, Verifier: n.verifier}, Final: n.reports.handOnFinal,
		Booted:    n.reports.reportBoot,
		Consensus: n.reports.handOnReport, Runners: n.reports.gatewayReporter(key.Address()), Sent: n.reports.handOnVote,
		Dropped: n.reports.handOnDrop, Socket: n.links.remoteSockets(name)}
	validator, err := n.config.Elsewhere.Validator(name, key, tell)
	if err != nil {
		return nil, err
	}
	endpoint, err := validator.Endpoint()
	if err != nil {
		return nil, err
	}
	n.book.Enter(key.Address(), endpoint)
	return validator, nil
}
