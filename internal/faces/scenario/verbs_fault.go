package scenario

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// fault makes a fault and notes where the script did, for the end, when each
// must have had an effect.
func (c *call) fault(make func(Backend) error) (starlark.Value, error) {
	n := c.r.net
	before := len(n.backend.Faults())
	if err := make(n.backend); err != nil {
		return nil, err
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

// once refuses a name that stands twice.
func once(title string, names ...string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return mistake("%s: %s is named twice", title, name)
		}
		seen[name] = true
	}
	return nil
}

func netPartition(c *call) (starlark.Value, error) {
	groups := get[[][]string](c, "groups")
	if err := once(c.title, slices.Concat(groups...)...); err != nil {
		return nil, err
	}
	return c.fault(func(b Backend) error { return b.Partition(groups) })
}

func netBridge(c *call) (starlark.Value, error) {
	node, left, right := get[string](c, "node"), get[[]string](c, "left"), get[[]string](c, "right")
	if err := once(c.title, append(slices.Concat(left, right), node)...); err != nil {
		return nil, err
	}
	return c.fault(func(b Backend) error { return b.Bridge(node, left, right) })
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

func netLink(c *call) (starlark.Value, error) {
	a, b := get[string](c, "a"), get[string](c, "b")
	if a == b {
		return nil, mistake("net.link: %s has no link to itself", a)
	}
	l, err := linkOf(c)
	if err != nil {
		return nil, err
	}
	return c.fault(func(world Backend) error { return world.Link(a, b, l) })
}

func netHeal(c *call) (starlark.Value, error) { return starlark.None, netOf(c).backend.Heal() }

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

func valOf(c *call) *validatorValue { return c.on.(*validatorValue) }

// mark notes whether a validator can be expected to keep up.
func (v *validatorValue) mark(unsound bool) {
	if unsound {
		v.n.unsound[v.name] = true
	} else {
		delete(v.n.unsound, v.name)
	}
}

func (v *validatorValue) running() bool {
	node, _ := v.node()
	return node.Running
}

func valCrash(c *call) (starlark.Value, error) {
	v := valOf(c)
	if !v.running() {
		return nil, failure("%s: %s does not run", c.title, v.name)
	}
	v.mark(false)
	return c.fault(func(b Backend) error { return b.Crash(v.name) })
}

func valRestart(c *call) (starlark.Value, error) {
	v := valOf(c)
	if v.running() {
		if err := v.n.backend.Crash(v.name); err != nil {
			return nil, err
		}
	}
	v.mark(false)
	return starlark.None, v.n.backend.Restart(v.name)
}

func valFreeze(c *call) (starlark.Value, error) {
	v := valOf(c)
	if !v.running() {
		return nil, failure("%s: %s does not run", c.title, v.name)
	}
	v.mark(true)
	return c.fault(func(b Backend) error { return b.Freeze(v.name) })
}

func valThaw(c *call) (starlark.Value, error) {
	v := valOf(c)
	v.mark(false)
	return starlark.None, v.n.backend.Thaw(v.name)
}

func valWipe(c *call) (starlark.Value, error) {
	v := valOf(c)
	if v.running() {
		return nil, mistake("%s: %s runs: crash it first", c.title, v.name)
	}
	return c.fault(func(b Backend) error { return b.Wipe(v.name) })
}

func valDiskFail(c *call) (starlark.Value, error) {
	v, on := valOf(c), !c.has("on") || get[bool](c, "on")
	v.mark(on)
	return c.fault(func(b Backend) error { return b.DiskFail(v.name, on) })
}

func valHostFail(c *call) (starlark.Value, error) {
	v, actor, how := valOf(c), get[types.Address](c, "actor"), get[string](c, "how")
	if err := oneOf(c.title+": how", how, []string{fault.HostCrashes, fault.HostHangs, fault.HostWorks}); err != nil {
		return nil, err
	}
	return c.fault(func(b Backend) error { return b.HostFail(v.name, actor, how) })
}

func valClockSkew(c *call) (starlark.Value, error) {
	return c.fault(func(b Backend) error { return b.ClockSkew(valOf(c).name, get[time.Duration](c, "by")) })
}

// misbehaviours are the words of misbehave.
var misbehaviours = []string{"equivocate", "withhold_votes", "fabricate_presence", "suppress_presence", "bad_state_root", "silent_leader",
	"tamper_body", "withhold_body", "impersonate", "forge", "flood", "passes_over"}

func valMisbehave(c *call) (starlark.Value, error) {
	v, kind := valOf(c), get[string](c, "kind")
	if kind != "" {
		if err := oneOf(c.title+": kind", kind, misbehaviours); err != nil {
			return nil, err
		}
		if kind == "fabricate_presence" || kind == "suppress_presence" {
			return nil, Unable(c.title+`("`+kind+`")`, "presence is not there yet in this version of devnet")
		}
	}
	v.mark(kind != "")
	return c.fault(func(b Backend) error { return b.Misbehave(v.name, kind) })
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
