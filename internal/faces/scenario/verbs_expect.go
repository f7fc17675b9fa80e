package scenario

import (
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Terms of check("liveness"): decision C4's longest view is 28 s, and the next
// leader may be one that has to catch up first.
const (
	livenessBound  = 120 * time.Second
	livenessBlocks = 5
)

// messageSuffix is a message of the script, or nothing.
func (c *call) messageSuffix() string {
	if message := argOf[string](c, "message"); message != "" {
		return ": " + message
	}
	return ""
}

func doExpect(c *call) (starlark.Value, error) {
	if !argOf[starlark.Value](c, "condition").Truth() {
		return nil, newFailure("expect: not true%s", c.messageSuffix())
	}
	return starlark.None, nil
}

func doExpectEq(c *call) (starlark.Value, error) {
	got, want := argOf[starlark.Value](c, "got"), argOf[starlark.Value](c, "want")
	same, err := starlark.Equal(got, want)
	if err != nil {
		return nil, newMistake("expect_eq: %v", err)
	}
	if !same {
		return nil, newFailure("expect_eq: got %s, and wanted %s%s", showValue(got), showValue(want), c.messageSuffix())
	}
	return starlark.None, nil
}

// scriptNetwork is the script's network, for functions that need it.
func (c *call) scriptNetwork() (*network, error) {
	if c.r.net == nil {
		return nil, newMistake("%s needs a network: call network(…) first", c.title)
	}
	return c.r.net, nil
}

func doEventually(c *call) (starlark.Value, error) {
	n, err := c.scriptNetwork()
	if err != nil {
		return nil, err
	}
	within := c.countOr("within", 50)
	made, ended, err := n.goOn(within, c.conditionOf(argOf[starlark.Callable](c, "condition")))
	if err == nil && !ended {
		err = newFailure("eventually: not true within %d blocks%s (%s)", within, c.messageSuffix(), n.describePosition())
	}
	if err != nil {
		return nil, err
	}
	return starlark.MakeUint64(made), nil
}

func doAlways(c *call) (starlark.Value, error) {
	n, err := c.scriptNetwork()
	if err != nil {
		return nil, err
	}
	holds := c.conditionOf(argOf[starlark.Callable](c, "condition"))
	made, broken, err := n.goOn(c.countOr("blocks", 20), func() (bool, error) {
		ok, err := holds()
		return !ok, err
	})
	if err == nil && broken {
		err = newFailure("always: no longer true after %d blocks%s (%s)", made, c.messageSuffix(), n.describePosition())
	}
	if err != nil {
		return nil, err
	}
	return starlark.MakeUint64(made), nil
}

func doSometimes(c *call) (starlark.Value, error) {
	name, now := argOf[string](c, "name"), bool(argOf[starlark.Value](c, "condition").Truth())
	for i := range c.r.report.Sometimes {
		if s := &c.r.report.Sometimes[i]; s.Name == name {
			s.True = s.True || now
			return starlark.None, nil
		}
	}
	c.r.report.Sometimes = append(c.r.report.Sometimes, Sometimes{name, now})
	return starlark.None, nil
}

// ownChecks are judged here.
var ownChecks = []string{"queues", "liveness"}

func doCheck(c *call) (starlark.Value, error) {
	n, err := c.scriptNetwork()
	if err != nil {
		return nil, err
	}
	asked := argOf[[]string](c, "oracles")
	for _, name := range asked {
		if err := oneOf("check: an oracle", name, slices.Concat(Oracles, OraclesOfRunners, ownChecks)); err != nil {
			return nil, err
		}
	}
	every := len(asked) == 0
	if every { // liveness before the oracles, which judge the blocks that it makes
		asked = slices.Concat(ownChecks, Oracles, OraclesOfRunners)
	}
	for _, name := range asked {
		if err := n.judgeBy(name, every); err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}

// judgeBy runs one of the checks that check(…) names. An oracle may have nothing to judge
// only if every one is asked.
func (n *network) judgeBy(name string, every bool) error {
	switch name {
	case "queues":
		return n.checkQueues()
	case "liveness":
		return n.checkLiveness()
	}
	wrong := n.backend.Check(name)
	var nothing *nothingJudged
	if wrong == nil || every && errors.As(wrong, &nothing) {
		return nil
	}
	return newFailure("check: %v", wrong)
}

func (n *network) checkQueues() error {
	for _, q := range n.backend.Queues() {
		if q.Length > q.Limit {
			return newFailure("check: queues: %s of %s holds %d, and its limit is %d", q.Name, q.Node, q.Length, q.Limit)
		}
	}
	return nil
}

// checkLiveness runs the network until every sound validator has finalized some
// more blocks.
func (n *network) checkLiveness() error {
	at := n.highestFinal()
	goal, deadline := at+livenessBlocks, n.backend.Now().Add(livenessBound)
	for {
		behind := n.validatorsBehind(goal)
		if len(behind) == 0 {
			return nil
		}
		if n.backend.Now() >= deadline {
			return newFailure("check: liveness: %s did not finalize height %d within %v (%s)", strings.Join(behind, ", "), goal, livenessBound,
				n.describePosition())
		}
		var err error
		if at, err = n.runForBlock(at, n.blockTime); err != nil {
			return err
		}
	}
}

// validatorsBehind lists the sound validators that have not finalized a height. A sound
// validator runs, is in the set, and had no order to misbehave, freeze or lose its
// disk.
func (n *network) validatorsBehind(h types.Height) (names []string) {
	sound := 0
	for _, node := range n.backend.Nodes() {
		if node.Running && node.Status != "left" && !n.unsound[node.Name] {
			sound++
			if node.Height < h {
				names = append(names, node.Name)
			}
		}
	}
	if sound == 0 {
		return []string{"no validator runs, and so the network"}
	}
	return names
}

func doRandom(c *call) (starlark.Value, error) {
	n, err := c.scriptNetwork()
	if err != nil {
		return nil, err
	}
	below := argOf[uint64](c, "below")
	if below == 0 {
		return nil, newMistake("random: below is 1 or more")
	}
	return starlark.MakeUint64(n.random.Uint64N(below)), nil
}

func doBE8(c *call) (starlark.Value, error) {
	return starlark.Bytes(binary.BigEndian.AppendUint64(nil, argOf[uint64](c, "number"))), nil
}

func doHex(c *call) (starlark.Value, error) {
	return starlark.String(types.Bytes(argOf[[]byte](c, "data")).String()), nil
}

func doCBY(c *call) (starlark.Value, error) {
	return starlark.String(inCBY(new(big.Int).Set(argOf[types.Wei](c, "amount").Big()))), nil
}

func byAddress(nodes []answers.Node) []answers.Node {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b answers.Node) int { return a.Validator.Address.Compare(b.Validator.Address) })
	return nodes
}
