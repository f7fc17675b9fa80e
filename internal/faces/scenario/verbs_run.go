package scenario

import (
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// MaxBlocks bounds what one call may wait for.
const MaxBlocks = 10_000_000

// MaxSpan bounds a wait for a time of the network's clock.
const MaxSpan = time.Hour

// netOf is the network that a call of a verb is about.
func netOf(c *call) *network { return c.ofNetwork() }

// countOr is a count argument as it was given, or otherwise.
func (c *call) countOr(name string, otherwise uint64) uint64 {
	if c.hasArgument(name) {
		return min(argOf[uint64](c, name), MaxBlocks)
	}
	return otherwise
}

// The minimum patience of a run. Two views in a row fit into it that are lost to their
// leaders, with doubled timeouts, and the next block (decision C4).
const (
	patientBlocks = 4
	patientFor    = 3 * time.Second
)

// patientForCalls is the minimum patience of a call. The longest program runs within it
// on a machine with twenty times its load (decision C18).
const patientForCalls = 30 * time.Second

// patienceBlocks is the number of block times without a block after which a run of N blocks
// ends: N, and at least patientBlocks and patientFor.
func (n *network) patienceBlocks(blocks uint64) uint64 {
	return max(blocks, patientBlocks+n.blockTimesIn(patientFor))
}

// blockTimesIn is the number of block times in a span, rounded up.
func (n *network) blockTimesIn(span time.Duration) uint64 {
	return uint64((span + n.blockTime - 1) / n.blockTime)
}

// goOn lets the network make N blocks. It ends earlier when done, or after the
// patience without a block. done is asked at the start, after every block, and after
// each block time without one. It returns the blocks made, and whether done ended it.
func (n *network) goOn(blocks uint64, done func() (bool, error)) (made uint64, ended bool, err error) {
	return n.goOnFor(blocks, n.patienceBlocks(blocks), done)
}

// goOnFor is goOn with a patience in block times.
func (n *network) goOnFor(blocks, patience uint64, done func() (bool, error)) (made uint64, ended bool, err error) {
	start := n.highestFinal()
	at, quiet := start, uint64(0)
	for {
		if ended, err = done(); ended || err != nil {
			return uint64(at - start), ended, err
		}
		if uint64(at-start) >= blocks || quiet >= patience {
			return uint64(at - start), false, nil
		}
		now, err := n.runForBlock(at, n.blockTime)
		if err != nil {
			return uint64(at - start), false, err
		}
		if now > at {
			at, quiet = now, 0
		} else {
			quiet++
		}
	}
}

// goOnUntil lets the network run until a time of its clock, and returns the blocks made.
func (n *network) goOnUntil(end types.Time) (made uint64, err error) {
	start := n.highestFinal()
	at := start
	for left := end.Sub(n.backend.Now()); left > 0; left = end.Sub(n.backend.Now()) {
		if at, err = n.runForBlock(at, left); err != nil {
			break
		}
	}
	return uint64(at - start), err
}

// runForBlock lets the network run for a block, or for a while without one, and checks its
// oracles.
func (n *network) runForBlock(above types.Height, patience time.Duration) (types.Height, error) {
	if stop := n.r.options.Stop; stop != nil && stop.Err() != nil {
		return above, &internal{stop.Err()}
	}
	h, err := n.backend.Next(above, patience)
	if broken := n.backend.Violation(); broken != nil {
		return h, newFailure("%v", broken)
	}
	if err != nil {
		return h, &internal{err}
	}
	return max(h, above), n.resubmitWaiting(h)
}

func neverTrue() (bool, error) { return false, nil }

// conditionOf calls a condition of the script.
func (c *call) conditionOf(condition starlark.Callable) func() (bool, error) {
	return func() (bool, error) {
		was := c.r.options.Pulse.setAlone(true)
		value, err := starlark.Call(c.thread, condition, nil, nil)
		c.r.options.Pulse.setAlone(was)
		if err != nil {
			return false, err
		}
		return bool(value.Truth()), nil
	}
}

func netRun(c *call) (starlark.Value, error) {
	n := netOf(c)
	ends := 0
	for _, name := range []string{"blocks", "until", "time"} {
		if c.hasArgument(name) {
			ends++
		}
	}
	if ends != 1 {
		return nil, newMistake("net.run needs one of blocks = …, until = … and time = …")
	}
	var made uint64
	var err error
	if c.hasArgument("time") {
		span := argOf[time.Duration](c, "time")
		if span <= 0 || span > MaxSpan {
			return nil, newMistake("net.run: time %v is not above 0s and at most %v", span, MaxSpan)
		}
		made, err = n.goOnUntil(n.backend.Now().Add(span))
	} else if c.hasArgument("blocks") {
		blocks := c.countOr("blocks", 0)
		patience := c.countOr("within", n.patienceBlocks(blocks))
		if made, _, err = n.goOnFor(blocks, patience, neverTrue); err == nil && made < blocks {
			n.timeline.Do(n.backend.Now(),
				fmt.Sprintf("%s ended after %d of %d blocks: none came in %d block times", c.title, made, blocks, patience))
		}
	} else {
		within, ended := c.countOr("within", 50), false
		made, ended, err = n.goOn(within, c.conditionOf(argOf[starlark.Callable](c, "until")))
		if err == nil && !ended {
			return nil, newFailure("net.run: until was not true within %d blocks (%s)", within, n.describePosition())
		}
	}
	if err != nil {
		return nil, err
	}
	return starlark.MakeUint64(made), nil
}

// describePosition describes the network's current position, for failures.
func (n *network) describePosition() string {
	text := fmt.Sprintf("the network is at height %d", n.highestFinal())
	for _, node := range n.backend.Nodes() {
		text += fmt.Sprintf(", %s at %d", node.Name, node.Height)
		if !node.Running {
			text += " down"
		}
	}
	return text
}

func netAdvance(c *call) (starlark.Value, error) {
	target := history.Target{Blocks: argOf[uint64](c, "blocks"), To: argOf[types.Height](c, "to"), NextTimer: argOf[bool](c, "to_next_timer")}
	given := 0
	for _, set := range []bool{c.hasArgument("blocks"), c.hasArgument("to"), target.NextTimer} {
		if set {
			given++
		}
	}
	if given != 1 {
		return nil, newMistake("net.advance needs one of blocks = …, to = … and to_next_timer = True")
	}
	return c.travelTo(target)
}

// travelTo advances, and shows what fired on the way.
func (c *call) travelTo(target history.Target) (starlark.Value, error) {
	n := netOf(c)
	receipt, err := n.backend.Advance(target)
	if err != nil {
		return nil, err
	}
	if broken := n.backend.Violation(); broken != nil {
		return nil, newFailure("%v", broken)
	}
	var fired []starlark.Value
	for i := range receipt.Timers {
		if t := &receipt.Timers[i]; t.Status == types.TimerFired {
			fired = append(fired, recordOf("fire", shownFire{t.ID, t.Actor, t.Due, t.At, t.Late()}))
		}
	}
	return &record{kind: "advance", names: []string{"since", "to", "skipped", "fired"}, fields: []starlark.Value{
			starlark.MakeUint64(uint64(receipt.From)), starlark.MakeUint64(uint64(receipt.To)), starlark.MakeUint64(receipt.Skipped),
			frozenList(fired)}},
		nil
}

type shownFire struct {
	ID     types.TimerID `json:"id"`
	Actor  types.Address `json:"actor"`
	Due    types.Height  `json:"due"`
	Height types.Height  `json:"height"`
	Late   uint64        `json:"late"`
}

func netPause(c *call) (starlark.Value, error)  { return starlark.None, netOf(c).backend.Pause() }
func netResume(c *call) (starlark.Value, error) { return starlark.None, netOf(c).backend.Resume() }

func netJoin(c *call) (starlark.Value, error) {
	n, name := netOf(c), argOf[string](c, "name")
	if name == "" {
		name = fmt.Sprintf("v%d", len(n.backend.Nodes()))
	}
	if err := n.backend.Join(name); err != nil {
		return nil, err
	}
	return &validatorValue{n, name}, nil
}

func netLeave(c *call) (starlark.Value, error) {
	return starlark.None, netOf(c).backend.Leave(argOf[string](c, "node"))
}

func netSetParam(c *call) (starlark.Value, error) {
	text, err := paramText(argOf[starlark.Value](c, "value"))
	if err != nil {
		return nil, newMistake("net.set_param: value is %v", err)
	}
	return starlark.None, netOf(c).backend.SetParam(argOf[string](c, "key"), text, argOf[types.Height](c, "at"))
}

func netCancelTimer(c *call) (starlark.Value, error) {
	return starlark.None, netOf(c).backend.CancelTimer(argOf[types.Hash](c, "id"))
}

func netExtendTimer(c *call) (starlark.Value, error) {
	return starlark.None, netOf(c).backend.ExtendTimer(argOf[types.Hash](c, "id"), argOf[types.Height](c, "expires_at"))
}

// netClose is net.close().
func netClose(c *call) (starlark.Value, error) {
	if err := c.r.judgeEnd(); err != nil {
		return nil, err
	}
	if err := c.r.closeReport(nil); err != nil {
		return nil, &internal{err}
	}
	return starlark.None, nil
}
