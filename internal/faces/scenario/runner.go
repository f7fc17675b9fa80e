package scenario

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// runnerValue is one registered runner. Its fields are read when they are asked for.
type runnerValue struct {
	n  *network
	at types.Address
}

var _ starlark.HasAttrs = (*runnerValue)(nil)

func (v *runnerValue) String() string {
	if name := v.nodeName(); name != "" {
		return name
	}
	return v.at.String()
}
func (v *runnerValue) Type() string          { return "runner" }
func (v *runnerValue) Freeze()               {}
func (v *runnerValue) Truth() starlark.Bool  { return true }
func (v *runnerValue) Hash() (uint32, error) { return starlark.Bytes(v.at[:]).Hash() }

func (v *runnerValue) AttrNames() []string {
	return append(recordOf("runner", model.Runner{}).names, attributeNames(tables().runner, nil)...)
}

// CompareSameType implements starlark.Comparable.
func (v *runnerValue) CompareSameType(op syntaxToken, other starlark.Value, _ int) (bool, error) {
	return compareForEquality(op, v.at == other.(*runnerValue).at, "runner")
}

// Attr implements starlark.HasAttrs.
func (v *runnerValue) Attr(name string) (starlark.Value, error) {
	if err := v.n.requireOpen(); err != nil {
		return nil, err
	}
	if verb := findVerb(tables().runner, name); verb != nil {
		return v.n.r.bindVerb(verb, v.String(), v), nil
	}
	if !slices.Contains(v.AttrNames(), name) {
		return nil, newMistake("a runner has no %s%s", name, otherVerbs(name, v.AttrNames()))
	}
	switch name { // known also for an unregistered runner, or if no validator runs
	case "name":
		return starlark.String(v.nodeName()), nil
	case "address":
		return addressValue(v.at), nil
	}
	reader, err := v.n.backend.Reader("")
	if err != nil {
		return nil, readableError(v.String(), err)
	}
	shown, err := reader.Runner(v.at)
	if err != nil {
		return nil, &internal{err}
	}
	if shown == nil {
		return nil, newFailure("%s is not registered", v)
	}
	return recordOf("runner", v.n.completeRunner(*shown)).Attr(name)
}

// completeRunner adds facts about a runner that the chain does not know: its name, the
// validators that report it as connected, and its dead letters.
func (n *network) completeRunner(r model.Runner) model.Runner {
	r.Name = (&runnerValue{n, r.Address}).nodeName()
	for _, node := range byAddress(n.backend.Nodes()) {
		at := slices.IndexFunc(node.Runners, func(c answers.Connected) bool { return c.Runner == r.Address })
		if at >= 0 {
			r.Connected = append(r.Connected, node.Validator.Address)
			r.Accepting = r.Accepting && node.Runners[at].Accepting
			if changes := node.Runners[at].Changes; changes != nil { // it says the same to all
				r.Changes = changes
			}
		}
	}
	if count, here := n.backend.RunnerLetters()[r.Address]; here {
		r.DeadLetters = &count
	}
	return r
}

// nodeName returns the name of one of the devnet's own runners, or "".
func (v *runnerValue) nodeName() string {
	for _, known := range v.n.backend.Runners() {
		if known.Address == v.at {
			return known.Name
		}
	}
	return ""
}

// readableError is an error of the backend for the script.
func readableError(title string, err error) error {
	if refused := asRefusal(err); refused != nil {
		return newFailure("%s: %s", title, refused.Message)
	}
	return &internal{err}
}

// requireReady sees that a runner is as a fault's verb needs it: one of the devnet's own,
// that runs. A running one that is to be restarted is dropped first.
func (v *runnerValue) requireReady(c *call, verb *fault.Verb) error {
	name := v.nodeName()
	if name == "" {
		return newMistake("%s: the devnet does not run %s: faults apply only to its own runners, r0, r1, …", c.title, v.at)
	}
	running := v.n.backend.RunnerRuns(name)
	switch {
	case verb.Needs == fault.Running && !running:
		return newFailure("%s: %s does not run", c.title, name)
	case verb == fault.Restart && running:
		_, err := v.n.backend.Do(fault.Order{Verb: fault.Drop, Node: name})
		return explainFaultRefusal(c.title, err)
	}
	return nil
}

// netRunners lists the runners of the registry in its order, deregistered ones too.
func (n *network) netRunners() (starlark.Value, error) {
	v, err := n.backend.Reader("")
	if err != nil {
		return nil, readableError("net.runners", err)
	}
	all, err := v.Runners(answers.RunnerFilter{Limit: MaxListed})
	if err != nil {
		return nil, &internal{err}
	}
	var list []starlark.Value
	for i := range all {
		list = append(list, &runnerValue{n, all[i].Address})
	}
	return frozenList(list), nil
}

func netRunner(c *call) (starlark.Value, error) {
	n, who := netOf(c), argOf[types.Address](c, "name")
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	known, err := v.Runner(who)
	switch {
	case err != nil:
		return nil, err
	case known == nil:
		return nil, newMistake("net.runner: no runner has the address %s", who)
	}
	return &runnerValue{n, who}, nil
}

// netPresence returns P(H), a bool per runner by index; None before block H + 1 is
// final.
func netPresence(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	p, err := v.Presence(argOf[types.Height](c, "height"))
	if err != nil || p == nil {
		return starlark.None, err
	}
	var list []starlark.Value // a free place has no runner, and is False
	for i := range p.Runners {
		for len(list) <= p.Runners[i].Index {
			list = append(list, starlark.False)
		}
		list[p.Runners[i].Index] = starlark.Bool(p.Runners[i].Present)
	}
	return frozenList(list), nil
}

func netJoinRunner(c *call) (starlark.Value, error) {
	n := netOf(c)
	name := argOf[string](c, "name")
	before := n.backend.Runners()
	terms := c.runnerTerms()
	terms.Name = name
	if err := n.backend.JoinRunner(terms); err != nil {
		return nil, err
	}
	for _, r := range n.backend.Runners() {
		if r.Name == name || name == "" && !slices.Contains(before, r) {
			return &runnerValue{n, r.Address}, nil
		}
	}
	return nil, newFailure("net.join_runner: the runner left again")
}

// termArguments are what a runner registers with, and where it differs from the others.
const termArguments = "stake: amount?, rate: rates?, entitlements: texts?, capabilities: texts?, models: texts?, max_concurrent: count?"

// offerArguments are those of them that an update may change.
var offerArguments = strings.TrimPrefix(termArguments, "stake: amount?, ")

// runnerTerms reads termArguments.
func (c *call) runnerTerms() (terms model.RunnerRequest) {
	if c.hasArgument("stake") {
		stake := argOf[types.Wei](c, "stake")
		terms.Stake = &stake
	}
	if c.hasArgument("max_concurrent") {
		most := argOf[uint64](c, "max_concurrent")
		terms.MaxConcurrent = &most
	}
	terms.Rate = argOf[map[string]types.Wei](c, "rate")
	terms.Entitlement = argOf[[]string](c, "entitlements")
	terms.Capability, terms.Model = argOf[[]string](c, "capabilities"), argOf[[]string](c, "models")
	return terms
}

// termsValue is the value that runner(…) returns.
type termsValue struct{ terms model.RunnerRequest }

func (t *termsValue) String() string        { return "runner(…)" }
func (t *termsValue) Type() string          { return "runner terms" }
func (t *termsValue) Freeze()               {}
func (t *termsValue) Truth() starlark.Bool  { return true }
func (t *termsValue) Hash() (uint32, error) { return 0, fmt.Errorf("runner terms cannot be a key") }

func doRunner(c *call) (starlark.Value, error) { return &termsValue{c.runnerTerms()}, nil }

// ownRunner is the name of a runner that the devnet runs, whose owner it is.
func (c *call) ownRunner() (string, error) {
	v := c.on.(*runnerValue)
	if name := v.nodeName(); name != "" {
		return name, nil
	}
	return "", newMistake("%s: the devnet does not run %s; only its owner can do that", c.title, v.at)
}

func runnerOffer(c *call) (starlark.Value, error) {
	name, err := c.ownRunner()
	if err != nil {
		return nil, err
	}
	return starlark.None, c.on.(*runnerValue).n.backend.UpdateRunner(name, c.runnerTerms())
}

func runnerAddStake(c *call) (starlark.Value, error) {
	name, err := c.ownRunner()
	if err != nil {
		return nil, err
	}
	return starlark.None, c.on.(*runnerValue).n.backend.AddStake(name, argOf[types.Wei](c, "amount"))
}

func netLeaveRunner(c *call) (starlark.Value, error) {
	of := &runnerValue{netOf(c), argOf[types.Address](c, "runner")}
	name := of.nodeName()
	if name == "" {
		return nil, newMistake("net.leave_runner: %s does not run here; only its owner can deregister it", of.at)
	}
	return starlark.None, netOf(c).backend.LeaveRunner(name)
}
