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
		o.Node = argOf[string](c, "node")
		return nil
	}},
	fault.Kind: {signature: "kind: text", read: readKind},
	fault.Over: {signature: "actor: party, how: text", read: func(c *call, v *fault.Verb, o *fault.Order) error {
		o.Actor, o.How = argOf[types.Address](c, "actor"), argOf[string](c, "how")
		return oneOf(c.title+": how", o.How, v.Words)
	}},
	fault.On: {signature: "on: bool = True", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.On = !c.hasArgument("on") || argOf[bool](c, "on")
		return nil
	}},
	fault.Skew: {signature: "by: duration", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Skew = argOf[time.Duration](c, "by")
		return nil
	}},
	fault.Groups: {signature: "groups: groups", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Groups = argOf[[][]string](c, "groups")
		return nil
	}},
	fault.Sides: {signature: "left: nodes, right: nodes", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Left, o.Right = argOf[[]string](c, "left"), argOf[[]string](c, "right")
		return nil
	}},
	fault.Ends: {signature: "a: node, b: node", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.A, o.B = argOf[string](c, "a"), argOf[string](c, "b")
		return nil
	}},
	fault.Delay: {signature: "delay: duration", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Delay = argOf[time.Duration](c, "delay")
		return nil
	}},
	fault.Flapping: {signature: "up: duration, down: duration, times: count", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Up, o.Down, o.Times = argOf[time.Duration](c, "up"), argOf[time.Duration](c, "down"), int(min(argOf[uint64](c, "times"), 1<<30))
		return nil
	}},
	fault.Rejoining: {signature: "after_blocks: count, new_identity: bool = False", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.AfterBlocks, o.NewIdentity = argOf[uint64](c, "after_blocks"), argOf[bool](c, "new_identity")
		return nil
	}},
	fault.Offers: {named: true, signature: "add: texts?, remove: texts?", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		if c.hasArgument("add") {
			o.Add = argOf[[]string](c, "add")
		}
		if c.hasArgument("remove") {
			o.Remove = argOf[[]string](c, "remove")
		}
		return nil
	}},
	fault.Victim: {named: true, signature: "role: text?, contract: text?", read: func(c *call, _ *fault.Verb, o *fault.Order) error {
		o.Role, o.Contract = argOf[string](c, "role"), argOf[string](c, "contract")
		return nil
	}},
	fault.Amid: {signature: "instant: text, nth: count = 1", read: func(c *call, v *fault.Verb, o *fault.Order) error {
		o.Instant, o.Times = argOf[string](c, "instant"), int(min(c.countOr("nth", 1), 1<<30))
		return oneOf(c.title+": instant", o.Instant, v.Words)
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
	if o.Kind = argOf[string](c, "kind"); o.Kind == "" {
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
	nodeName() string
	// requireReady sees that it is as a verb needs it.
	requireReady(*call, *fault.Verb) error
}

// faultVerbs returns the verbs in the table of faults for a kind of node, or
// without one, for links.
func faultVerbs(of fault.Whose) (verbs []*verb) {
	for _, v := range fault.Verbs() {
		if v.OfNode() != (of != 0) || v.OfNode() && !v.Of.Has(of) {
			continue
		}
		one := newVerb(signatureOf(v), v.ScriptOf(of), func(c *call) (starlark.Value, error) { return c.orderFault(v) })
		one.fault = v
		verbs = append(verbs, one)
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

// orderFault orders a fault and notes where the script did, for the end, when each
// must have had an effect.
func (c *call) orderFault(v *fault.Verb) (starlark.Value, error) {
	o, err := c.newOrder(v)
	if err != nil {
		return nil, err
	}
	n := c.ofNetwork()
	before := len(n.backend.Faults())
	if _, err := n.backend.Do(o); err != nil {
		return nil, explainFaultRefusal(c.title, err)
	}
	at := c.r.sources.innermostPosition(c.thread.CallStack())
	for i := before; i < len(n.backend.Faults()); i++ {
		for len(c.r.places) <= i {
			c.r.places = append(c.r.places, Position{})
		}
		c.r.places[i] = at
		c.r.allowed[i] = argOf[bool](c, "may_be_idle")
	}
	return starlark.None, nil
}

// newOrder is what a call of a fault's verb orders, of a validator that is as the
// verb needs it.
func (c *call) newOrder(v *fault.Verb) (fault.Order, error) {
	o := fault.Order{Verb: v}
	of, isNode := c.on.(nodeOf)
	for _, a := range v.Takes {
		if isNode && a == fault.Node {
			o.Node = of.nodeName()
			continue
		}
		if err := faultArguments[a].read(c, v, &o); err != nil {
			return o, err
		}
	}
	if err := o.Check(); err != nil {
		return o, explainFaultRefusal(c.title, err)
	}
	if !isNode {
		return o, nil
	}
	if err := of.requireReady(c, v); err != nil {
		return o, err
	}
	if of, validator := of.(*validatorValue); validator && v.Unsound != nil {
		of.markUnsound(v.Unsound(&o))
	}
	return o, nil
}

// requireReady sees that a validator is as a verb needs it. A running one that is to be
// restarted is crashed first.
func (v *validatorValue) requireReady(c *call, verb *fault.Verb) error {
	switch {
	case verb.Needs == fault.Running && !v.isRunning():
		return newFailure("%s: %s does not run", c.title, v.called)
	case verb.Needs == fault.Down && v.isRunning():
		return newMistake("%s: %s runs: crash it first", c.title, v.called)
	case verb == fault.Restart && v.isRunning():
		_, err := v.n.backend.Do(fault.Order{Verb: fault.Crash, Node: v.called})
		return explainFaultRefusal(c.title, err)
	}
	return nil
}

// explainFaultRefusal makes why a fault was not made the script's to read.
func explainFaultRefusal(title string, err error) error {
	if err == nil || asRefusal(err) != nil {
		return err
	}
	return newMistake("%s: %v", title, err)
}

// linkOf reads the properties of a link.
func linkOf(c *call) (fault.Link, error) {
	l := fault.Link{Latency: argOf[time.Duration](c, "latency"), Jitter: argOf[time.Duration](c, "jitter"), Loss: argOf[float64](c, "loss"),
		Duplicate: argOf[float64](c, "duplicate"), Reorder: argOf[float64](c, "reorder"),
		Bandwidth: int64(min(argOf[uint64](c, "bandwidth"), 1<<62)), OneWay: argOf[bool](c, "one_way")}
	if err := l.Check(); err != nil {
		return l, newMistake("%s: %v", c.title, err)
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
	return frozenList(list), nil
}

type shownFault struct {
	Verb   string `json:"verb"`
	Detail string `json:"detail"`
	Did    string `json:"did"`
	Idle   bool   `json:"idle"`
	Ended  bool   `json:"ended"`
}

// markUnsound notes whether a validator can be expected to keep up.
func (v *validatorValue) markUnsound(unsound bool) {
	if unsound {
		v.n.unsound[v.called] = true
	} else {
		delete(v.n.unsound, v.called)
	}
}

func (v *validatorValue) isRunning() bool {
	node, _ := v.nodeOf()
	return node.Running
}

func netValidator(c *call) (starlark.Value, error) {
	n, who := netOf(c), argOf[types.Address](c, "name")
	for _, node := range n.backend.Nodes() {
		if node.Validator.Address == who {
			return &validatorValue{n, node.Name}, nil
		}
	}
	return nil, newMistake("net.validator: no validator has the address %s", who)
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
		return nil, newFailure("net.leader: no validator runs")
	}
	for _, v := range byAddress(nodes) {
		if v.Status == "active" || v.Status == "leaving" {
			set = append(set, v.Name)
		}
	}
	return &validatorValue{n, set[uint64(nodes[best].View)%uint64(len(set))]}, nil
}
