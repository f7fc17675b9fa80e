package scenario

import (
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// faultArgument is an argument of a fault in scripts: its signature, by place or,
// for properties, only by name, and its reader.
type faultArgument struct {
	signature string
	named     bool
	read      func(*call, *fault.Verb, *fault.Order) error
}

// faultArguments lists the arguments of verbs of links, and those of validators'
// verbs besides the validator.
var faultArguments = map[fault.Argument]faultArgument{
	fault.Node: {signature: "node: node", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Node = get[string](c, "node")
		return nil
	}},
	fault.Kind: {signature: "kind: text", read: readKind},
	fault.Over: {signature: "actor: party, how: text", read: func(c *call, v *fault.Verb, o *fault.Order) error {
		o.Actor, o.How = get[types.Address](c, "actor"), get[string](c, "how")
		return oneOf(c.title+": how", o.How, v.Words)
	}},
	fault.On: {signature: "on: bool = True", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.On = !c.has("on") || get[bool](c, "on")
		return nil
	}},
	fault.Skew: {signature: "by: duration", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Skew = get[time.Duration](c, "by")
		return nil
	}},
	fault.Groups: {signature: "groups: groups", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Groups = get[[][]string](c, "groups")
		return nil
	}},
	fault.Sides: {signature: "left: nodes, right: nodes", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Left, o.Right = get[[]string](c, "left"), get[[]string](c, "right")
		return nil
	}},
	fault.Ends: {signature: "a: node, b: node", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.A, o.B = get[string](c, "a"), get[string](c, "b")
		return nil
	}},
	fault.Delay: {signature: "delay: duration", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Delay = get[time.Duration](c, "delay")
		return nil
	}},
	fault.Flapping: {signature: "up: duration, down: duration, times: count", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Up, o.Down, o.Times = get[time.Duration](c, "up"), get[time.Duration](c, "down"), int(min(get[uint64](c, "times"), 1<<30))
		return nil
	}},
	fault.Rejoining: {signature: "after_blocks: count, new_identity: bool = False", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.AfterBlocks, o.NewIdentity = get[uint64](c, "after_blocks"), get[bool](c, "new_identity")
		return nil
	}},
	fault.Offers: {named: true, signature: "add: texts?, remove: texts?", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		if c.has("add") {
			o.Add = get[[]string](c, "add")
		}
		if c.has("remove") {
			o.Remove = get[[]string](c, "remove")
		}
		return nil
	}},
	fault.Victim: {named: true, signature: "role: text?, contract: text?", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Role, o.Contract = get[string](c, "role"), get[string](c, "contract")
		return nil
	}},
	fault.Properties: {named: true, signature: linkProperties, read: func(c *call, _ *fault.Verb, o *fault.Order) (err error) {
		if o.A != o.B { // otherwise Check refuses it
			o.Link, err = linkOf(c)
		}
		return err
	}},
}

// linkProperties are the arguments that linkOf reads.
const linkProperties = "latency: duration?, jitter: duration?, loss: chance?, duplicate: chance?, reorder: chance?, bandwidth: count?, " +
	"one_way: bool?"

// readKind reads how a node is to misbehave; "" ends it.
func readKind(c *call, v *fault.Verb, o *fault.Order) error {
	if o.Kind = get[string](c, "kind"); o.Kind == "" {
		o.Kind = fault.Honest
		return nil
	}
	words := v.Words
	if _, runner := c.on.(*runnerValue); runner {
		words = fault.KindsOf(fault.Runners)
	}
	return oneOf(c.title+": kind", o.Kind, words)
}

// nodeOf is a node whose verbs are faults.
type nodeOf interface {
	name() string
	// ready sees that it is as a verb needs it.
	ready(*call, *fault.Verb) error
}

// faultVerbs returns the verbs in the table of faults for a kind of node, or
// without one, for links.
func faultVerbs(of fault.Whose) (verbs []*verb) {
	for i := range fault.Verbs() {
		v := &fault.Verbs()[i]
		if v.OfNode() != (of != 0) || v.OfNode() && !v.Of.Has(of) {
			continue
		}
		verbs = append(verbs, parse(signatureOf(v), v.ScriptOf(of), func(c *call) (starlark.Value, error) { return c.fault(v) }))
	}
	return verbs
}

// signatureOf is a fault's verb as scripts call it: on its validator, or on the
// network.
func signatureOf(v *fault.Verb) string {
	var placed, named []string
	for _, a := range v.Takes {
		switch argument := faultArguments[a]; {
		case v.OfNode() && a == fault.Node:
		case argument.named:
			named = append(named, argument.signature)
		default:
			placed = append(placed, argument.signature)
		}
	}
	if !v.Mends {
		named = append(named, "may_be_idle: bool = False")
	}
	if len(named) > 0 {
		placed = append(append(placed, "*"), named...)
	}
	return v.Name + "(" + strings.Join(placed, ", ") + ")"
}

// fault orders a fault and notes where the script did, for the end, when each
// must have had an effect.
func (c *call) fault(v *fault.Verb) (starlark.Value, error) {
	o, err := c.order(v)
	if err != nil {
		return nil, err
	}
	n := c.ofNetwork()
	before := len(n.backend.Faults())
	if _, err := n.backend.Do(o); err != nil {
		return nil, faultRefused(c.title, err)
	}
	at := c.r.sources.innermost(c.thread.CallStack())
	for i := before; i < len(n.backend.Faults()); i++ {
		for len(c.r.places) <= i {
			c.r.places = append(c.r.places, Position{})
		}
		c.r.places[i] = at
		c.r.allowed[i] = get[bool](c, "may_be_idle")
	}
	return starlark.None, nil
}

// order is what a call of a fault's verb orders, of a validator that is as the
// verb needs it.
func (c *call) order(v *fault.Verb) (fault.Order, error) {
	o := fault.Order{Verb: v.Name}
	of, isNode := c.on.(nodeOf)
	for _, a := range v.Takes {
		if isNode && a == fault.Node {
			o.Node = of.name()
			continue
		}
		if err := faultArguments[a].read(c, v, &o); err != nil {
			return o, err
		}
	}
	if err := o.Check(); err != nil {
		return o, faultRefused(c.title, err)
	}
	if !isNode {
		return o, nil
	}
	if err := of.ready(c, v); err != nil {
		return o, err
	}
	if of, validator := of.(*validatorValue); validator && v.Unsound != nil {
		of.mark(v.Unsound(&o))
	}
	return o, nil
}

// ready sees that a validator is as a verb needs it. A running one that is to be
// restarted is crashed first.
func (v *validatorValue) ready(c *call, verb *fault.Verb) error {
	switch {
	case verb.Needs == fault.Running && !v.running():
		return failure("%s: %s does not run", c.title, v.called)
	case verb.Needs == fault.Down && v.running():
		return mistake("%s: %s runs: crash it first", c.title, v.called)
	case verb.Name == "restart" && v.running():
		_, err := v.n.backend.Do(fault.Order{Verb: "crash", Node: v.called})
		return faultRefused(c.title, err)
	}
	return nil
}

// faultRefused makes why a fault was not made the script's to read.
func faultRefused(title string, err error) error {
	if err == nil || asRefused(err) != nil {
		return err
	}
	return mistake("%s: %v", title, err)
}

// linkOf reads the properties of a link.
func linkOf(c *call) (fault.Link, error) {
	l := fault.Link{Latency: get[time.Duration](c, "latency"), Jitter: get[time.Duration](c, "jitter"), Loss: get[float64](c, "loss"),
		Duplicate: get[float64](c, "duplicate"), Reorder: get[float64](c, "reorder"),
		Bandwidth: int64(min(get[uint64](c, "bandwidth"), 1<<62)), OneWay: get[bool](c, "one_way")}
	if err := l.Check(); err != nil {
		return l, mistake("%s: %v", c.title, err)
	}
	return l, nil
}

func doLink(c *call) (starlark.Value, error) {
	l, err := linkOf(c)
	return &linkValue{l}, err
}

func netFaults(c *call) (starlark.Value, error) {
	var list []starlark.Value
	for _, f := range netOf(c).backend.Faults() {
		list = append(list, recordOf("fault", shownFault{f.Verb, f.Detail, f.Did, f.Idle, f.Ended}))
	}
	return frozen(list), nil
}

type shownFault struct {
	Verb   string `json:"verb"`
	Detail string `json:"detail"`
	Did    string `json:"did"`
	Idle   bool   `json:"idle"`
	Ended  bool   `json:"ended"`
}

// mark notes whether a validator can be expected to keep up.
func (v *validatorValue) mark(unsound bool) {
	if unsound {
		v.n.unsound[v.called] = true
	} else {
		delete(v.n.unsound, v.called)
	}
}

func (v *validatorValue) running() bool {
	node, _ := v.node()
	return node.Running
}

func netValidator(c *call) (starlark.Value, error) {
	n, who := netOf(c), get[types.Address](c, "name")
	for _, node := range n.backend.Nodes() {
		if node.Validator.Address == who {
			return &validatorValue{n, node.Name}, nil
		}
	}
	return nil, mistake("net.validator: no validator has the address %s", who)
}

// netLeader finds who leads the view that the highest running validator is in:
// in the set sorted by address, the view's number modulo its size (decision C4).
func netLeader(c *call) (starlark.Value, error) {
	n := netOf(c)
	nodes := n.backend.Nodes()
	best := -1
	var set []string
	for i, node := range nodes {
		if node.Running && !n.unsound[node.Name] && (best < 0 || node.Height > nodes[best].Height) {
			best = i
		}
	}
	if best < 0 {
		return nil, failure("net.leader: no validator runs")
	}
	for _, v := range byAddress(nodes) {
		if v.Status == "active" || v.Status == "leaving" {
			set = append(set, v.Name)
		}
	}
	return &validatorValue{n, set[uint64(nodes[best].View)%uint64(len(set))]}, nil
}
