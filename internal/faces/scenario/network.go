package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// network is the value of network(…).
type network struct {
	r         *runtime
	backend   Backend
	timeline  *Timeline
	unread    *unread
	seed      uint64
	blockTime time.Duration
	random    *rand.Rand
	actors    []*actorValue
	waiting   []*outstanding
	unsound   map[string]bool      // frozen, misbehaving or without a disk, by the script's doing
	snapshots map[string]*snapshot // by name; looked up, and listed sorted
	closed    bool
	last      types.Height // that height showed last
}

var _ starlark.HasAttrs = (*network)(nil)

func (n *network) String() string {
	return fmt.Sprintf("network(%s, height %d)", n.backend.Name(), n.highestFinal())
}
func (n *network) Type() string          { return "network" }
func (n *network) Freeze()               {}
func (n *network) Truth() starlark.Bool  { return true }
func (n *network) Hash() (uint32, error) { return 0, fmt.Errorf("a network cannot be a key") }
func (n *network) AttrNames() []string {
	return attributeNames(tables().network, tables().networkFields)
}

// requireOpen refuses requests to a closed network.
func (n *network) requireOpen() error {
	if n.closed {
		return newMistake("net.close() closed this network; read from it before that")
	}
	return nil
}

// Attr implements starlark.HasAttrs.
func (n *network) Attr(name string) (starlark.Value, error) {
	if err := n.requireOpen(); err != nil {
		return nil, err
	}
	if v := findVerb(tables().network, name); v != nil {
		return n.r.bindVerb(v, "net", n), nil
	}
	switch name {
	case "height":
		return starlark.MakeUint64(uint64(n.highestFinal())), nil
	case "validators":
		var list []starlark.Value
		for _, node := range n.backend.Nodes() {
			list = append(list, &validatorValue{n, node.Name})
		}
		return frozenList(list), nil
	case "runners":
		return n.netRunners()
	case "basefee":
		v, err := n.backend.Reader("")
		if err != nil {
			return nil, err
		}
		head := v.Head()
		return recordOf("basefee", model.BaseFee{Height: head.Height + 1, BaseFeeCycle: head.NextBaseFeeCycle,
			BaseFeeCell: head.NextBaseFeeCell, BaseFeeLaneTimer: head.NextBaseFeeLane}), nil
	case "params":
		return n.readParams()
	case "time_ms":
		return starlark.MakeInt64(int64(n.backend.Now().Millis())), nil
	case "seed":
		return starlark.MakeUint64(n.seed), nil
	case "backend":
		return starlark.String(n.backend.Name()), nil
	case "digest":
		digest, err := n.backend.Digest()
		return starlark.Bytes(digest[:]), err
	}
	return nil, newMistake("a network has no %s%s", name, otherVerbs(name, n.AttrNames()))
}

func otherVerbs(name string, known []string) string {
	if near := suggestNames(name, known); near != "" {
		return near
	}
	return "; docs/SCENARIOS.md lists its verbs: " + strings.Join(known, ", ")
}

func (n *network) readParams() (starlark.Value, error) {
	v, err := n.backend.Reader("")
	if err != nil {
		return nil, err
	}
	list, err := v.Params()
	if err != nil {
		return nil, &internal{err}
	}
	d := starlark.NewDict(len(list))
	for _, p := range list {
		if err := d.SetKey(starlark.String(p.Key), starlark.String(p.Value)); err != nil {
			return nil, err
		}
	}
	d.Freeze()
	return d, nil
}

// highestFinal returns the highest final height, 0 if no validator runs.
func (n *network) highestFinal() types.Height {
	if v, err := n.backend.Reader(""); err == nil {
		n.last = v.Head().Height
	}
	return n.last // the last known height, if no validator runs
}

// doNetwork is network(…).
func doNetwork(c *call) (starlark.Value, error) {
	r := c.r
	if r.net != nil {
		return nil, newMistake("a script has one network at a time: end the one before with net.close()")
	}
	config, err := r.readConfig(c)
	if err != nil {
		return nil, err
	}
	config.Timeline = &Timeline{}
	r.options.Pulse.Follow(config.Timeline)
	backend, err := r.options.Open(config)
	if err != nil {
		return nil, err
	}
	n := &network{r: r, backend: backend, timeline: config.Timeline, unread: newUnread(), seed: config.Seed, blockTime: config.BlockTime,
		unsound: map[string]bool{}, snapshots: map[string]*snapshot{},
		random: rand.New(rand.NewPCG(config.Seed, 0x5ce4a210))}
	if n.blockTime <= 0 {
		n.blockTime = time.Second // for patience; blocks come as fast as they can
	}
	r.net = n
	r.report.Seed, r.report.Backend = n.seed, backend.Name()
	return n, nil
}

// readConfig reads the arguments of network(…), and judges those that need no network.
func (r *runtime) readConfig(c *call) (config Config, err error) {
	config = Config{Seed: argOf[uint64](c, "seed"), Validators: 4, Runners: int(min(argOf[runners](c, "runners").count, 1<<20)),
		Terms: argOf[runners](c, "runners").terms, Params: map[string]string{}, Link: argOf[fault.Link](c, "link"),
		BlockTime: DefaultBlockTime, Trace: r.options.Trace, Snapshots: r.sources.snapshots}
	if r.options.Seed != nil {
		config.Seed = *r.options.Seed
	}
	if c.hasArgument("validators") {
		config.Validators = int(min(argOf[uint64](c, "validators"), 1<<20))
	}
	if config.Validators < 1 || config.Validators > MaxValidators {
		return config, newMistake("network: validators is 1 to %d, and got %d", MaxValidators, config.Validators)
	}
	if config.Runners > MaxRunners {
		return config, newMistake("network: runners is 0 to %d, and got %d", MaxRunners, config.Runners)
	}
	for key, value := range argOf[map[string]string](c, "params") { // order: a map to a map
		config.Params[key] = value
	}
	if config.Strategy, err = roles.ParseStrategy(argOf[string](c, "supervision")); err != nil {
		return config, newMistake("network: supervision %v", err)
	}
	if c.hasArgument("policy") {
		config.Params["cip1.policy"] = argOf[string](c, "policy")
	}
	if err := config.readBlockTime(c); err != nil {
		return config, err
	}
	if pace := r.options.Pace; pace != nil {
		config.BlockTime, config.Auto = pace.BlockTime, pace.Auto
	} else {
		r.keepBlockTime(&config)
	}
	p := params.Defaults()
	if err := p.Apply(params.Overrides(config.Params)); err != nil {
		return config, newMistake("network: %v", err)
	}
	for i, terms := range config.Terms {
		if terms.Stake != nil && terms.Stake.Less(p.MinStake) {
			return config, newMistake("network: runner %d has a stake of %s, and cip2.min_stake is %s", i, inCBY(terms.Stake.Big()),
				inCBY(p.MinStake.Big()))
		}
	}
	return config, nil
}

// keepBlockTime gives a network the block time that its world keeps, where the script's is shorter.
// A network without time between blocks makes them as fast as it can anyway.
func (r *runtime) keepBlockTime(config *Config) {
	if r.options.Least == nil || config.Auto || config.BlockTime <= 0 {
		return
	}
	least := r.options.Least(config.Validators)
	if config.BlockTime >= least {
		return
	}
	if out := r.options.Out; out != nil {
		fmt.Fprintf(out, "%d validators keep no block time of %v here: it is %v, and --block-time sets another\n", config.Validators,
			config.BlockTime, least)
	}
	config.BlockTime = least
}

// MaxValidators and MaxRunners bound a script's network.
const (
	MaxValidators = 100
	MaxRunners    = 10_000
)

func (config *Config) readBlockTime(c *call) error {
	if !c.hasArgument("block_time") {
		return nil
	}
	pace, err := ParsePace(argOf[string](c, "block_time"))
	if err != nil {
		return newMistake("network: block_time is %v", err)
	}
	config.BlockTime, config.Auto = pace.BlockTime, pace.Auto
	return nil
}

// validatorValue is one validator. Its fields are read when they are asked for.
type validatorValue struct {
	n      *network
	called string
}

var _ starlark.HasAttrs = (*validatorValue)(nil)

func (v *validatorValue) String() string        { return v.called }
func (v *validatorValue) nodeName() string      { return v.called }
func (v *validatorValue) Type() string          { return "validator" }
func (v *validatorValue) Freeze()               {}
func (v *validatorValue) Truth() starlark.Bool  { return true }
func (v *validatorValue) Hash() (uint32, error) { return starlark.String(v.called).Hash() }

func (v *validatorValue) AttrNames() []string {
	return append(slices.Clone(v.fieldRecord().names), attributeNames(tables().validator, nil)...)
}

// CompareSameType implements starlark.Comparable.
func (v *validatorValue) CompareSameType(op syntaxToken, other starlark.Value, _ int) (bool, error) {
	return compareForEquality(op, v.called == other.(*validatorValue).called, "validator")
}

// Attr implements starlark.HasAttrs.
func (v *validatorValue) Attr(name string) (starlark.Value, error) {
	if err := v.n.requireOpen(); err != nil {
		return nil, err
	}
	if verb := findVerb(tables().validator, name); verb != nil {
		return v.n.r.bindVerb(verb, v.called, v), nil
	}
	fields := v.fieldRecord()
	if i := slices.Index(fields.names, name); i >= 0 {
		return fields.fields[i], nil
	}
	return nil, newMistake("a validator has no %s%s", name, otherVerbs(name, v.AttrNames()))
}

func (v *validatorValue) nodeOf() (answers.Node, int) {
	for i, node := range byAddress(v.n.backend.Nodes()) {
		if node.Name == v.called {
			return node, i
		}
	}
	return answers.Node{Name: v.called, Status: "left"}, -1
}

func (v *validatorValue) fieldRecord() *record {
	node, index := v.nodeOf()
	return recordOf("validator", answers.ShowValidator(index, node))
}

func (v *validatorValue) addressOf() types.Address {
	node, _ := v.nodeOf()
	return node.Validator.Address
}
