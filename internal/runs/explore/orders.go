package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// orderStatements make what scripts order besides faults. NET is the network, COUNT how many validators it began with, NAME a runner or the
// variable of an actor. Where there is nothing to do it with, a statement does nothing.
var orderStatements = []struct {
	text  string
	needs need
}{
	{"NET.pause()\nNET.run(time = \"700ms\")\nNET.resume()", nothing},
	{"NET.mine(2)", nothing},
	{"NET.advance(blocks = 5)", nothing},
	{"NET.set_param(\"chain.block_time_ms\", 500)", nothing},
	{"NET.set_param(\"chain.block_time_ms\", 1500)", nothing},
	{"NET.set_param(\"cip3.min_basefee\", 7)", nothing},
	{"NET.set_param(\"cip3.min_basefee\", 2000)", nothing},
	{"NET.set_param(\"cip1.priority_floor\", 3)", nothing},
	{"NET.set_param(\"cip1.tie_break\", \"age\")", nothing},
	{"NET.set_param(\"cip5.max_cycles_per_fire\", 300000)", nothing},
	{"NET.transfer(\"bob\", \"7 wei\")", nothing},
	{"for t in NET.timers(status = \"pending\")[:1]:\n    NET.cancel_timer(t)", nothing},
	{"for t in [t for t in NET.timers(status = \"pending\") if t.expires_at][:1]:\n    NET.extend_timer(t, t.expires_at + 5)", nothing},
	{"NET.set_balance(\"bob\", \"3 CBY\")", nothing},
	{"NET.set_balance(NAME, \"0.001 CBY\")", anActor},
	{"NET.set_balance(NAME, \"1000 CBY\")", anActor},
	{"NET.join_validator()", aPlace},
	{"for v in [v for v in NET.validators if v.status == \"active\"][COUNT:][:1]:\n    NET.leave_validator(v)", nothing},
	{"NET.runner(NAME).add_stake(\"1 CBY\")", aRunner},
	{"NET.runner(NAME).offer(max_concurrent = 1)", aRunner},
	{"NET.runner(NAME).offer(rate = {\"compute_second\": \"5 wei\"})", aRunner},
	{"NET.leave_runner(NAME)", aRunner},
	{"NET.join_runner()", aRunner},
	{"for j in [j for j in NET.jobs() if j.status not in [\"Completed\", \"Failed\"]][:1]:\n    j.cancel()", aRunner},
}

// need is what an order needs of the network.
type need int

// What orders need.
const (
	nothing need = iota
	anActor      // a variable of the script
	aRunner
	aPlace // for one more validator
)

// settingsDrawn are arguments of the network that the search adds: parameters of genesis that scripts seldom state.
var settingsDrawn = []string{`"chain.epoch_blocks": 3`, `"chain.epoch_blocks": 5`, `"chain.epoch_blocks": 8`, `"cip3.min_basefee": 1000`,
	`"cip5.max_ttl_blocks": 10`, `"cip1.policy": "fifo"`, `"cip1.policy": "gba"`}

// drawSettings draws parameters of a network.
func (d *draws) drawSettings() (all []string) {
	for range 1 + d.IntN(2) {
		all = append(all, drawOne(d, settingsDrawn))
	}
	return all
}

// drawOrder draws an order and a wait after it, or has a statement of the script come once more.
func (d *draws) drawOrder(p *program) episode {
	if again := p.drawRepeatable(d); again >= 0 && d.IntN(2) == 0 {
		e := episode{lines: []string{p.statements[again].text, d.drawWait()}, below: p.statements[again].ordinal}
		if d.IntN(3) == 0 && !strings.Contains(p.statements[again].text, ".run(") { // all of it in one block
			e.lines = []string{d.network + ".pause()", e.lines[0], d.network + ".resume()", e.lines[1]}
		}
		return e
	}
	for {
		o := drawOne(d, orderStatements)
		name, below := "", 0
		switch o.needs {
		case anActor:
			if len(d.actors) == 0 {
				continue
			}
			actor := drawOne(d, d.actors)
			name, below = actor.name, actor.statement
		case aRunner:
			if len(d.runners) == 0 {
				continue
			}
			name = fmt.Sprintf("%q", drawOne(d, d.runners))
		case aPlace:
			if p.countText("join_validator") >= mostJoins {
				continue
			}
		}
		text := strings.NewReplacer("NET", d.network, "COUNT", strconv.Itoa(len(d.validators)), "NAME", name).Replace(o.text)
		return episode{lines: append(splitTopLevel(text), d.drawWait()), below: below}
	}
}

// splitTopLevel splits a text into its statements: a line that is indented belongs to the one before.
func splitTopLevel(text string) (all []string) {
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, " ") && len(all) > 0 {
			all[len(all)-1] += "\n" + line
			continue
		}
		all = append(all, line)
	}
	return all
}

// drawRepeatable draws a statement of the script that can come once more, by its index; -1 without one.
func (p *program) drawRepeatable(d *draws) int {
	var all []int
	for i := range p.statements {
		if p.statements[i].repeatable {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return drawOne(d, all)
}

// countText counts the statements that have a text in them.
func (p *program) countText(text string) (n int) {
	for i := range p.statements {
		n += strings.Count(p.statements[i].text, text)
	}
	return n
}
