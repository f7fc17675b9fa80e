package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// nodes are those of the explored network.
type nodes struct {
	validators, runners []string
}

// maxLiars is how many validators may lie or forget at once: the network keeps its rules with up to f.
func (n *nodes) maxLiars() int { return (len(n.validators) - 1) / 3 }

// draws makes statements.
type draws struct {
	*rand.Rand
	nodes
	network string
	victim  string // the validator that may lie or forget; "" without any
}

// mostBlocks bounds how long a drawn fault lasts.
const mostBlocks = 8

// drawOne draws a member.
func drawOne[T any](d *draws, of []T) T { return of[d.IntN(len(of))] }

// drawEpisode draws a fault, how long it lasts, and what ends it. Any verb of the table can come, also one that is new there.
func (d *draws) drawEpisode() []statement {
	for {
		v := drawOne(d, fault.Verbs())
		// A host fails on an actor, and a hang lasts real time. A twin may vote beside the first where more than f others
		// are slow to answer (decision C5), which any two faults can make.
		if v.Mends || slices.Contains([]string{"host_fail", "hang", "twin"}, v.Name) {
			continue
		}
		if lines := d.drawVerb(&v); lines != nil {
			var all []statement
			for _, line := range lines {
				all = append(all, statement{line, true})
			}
			return all
		}
	}
}

// drawWait is a statement that runs the network.
func (d *draws) drawWait() string {
	return fmt.Sprintf("%s.run(blocks = %d)", d.network, 1+d.IntN(mostBlocks))
}

// drawVerb draws an episode of a verb; nil where the network has no node for it.
func (d *draws) drawVerb(v *fault.Verb) []string {
	node, kinds := d.drawValidator(v), fault.KindsOf(fault.Validators)
	if v.OfNode() && (!v.Of.Has(fault.Validators) || len(d.runners) > 0 && v.Of.Has(fault.Runners) && d.IntN(3) == 0) {
		if len(d.runners) == 0 {
			return nil
		}
		name := drawOne(d, d.runners)
		node, kinds = fmt.Sprintf("%s.runner(%q)", d.network, name), fault.KindsOf(fault.Runners)
	}
	if v.OfNode() && node == "" {
		return nil
	}
	on := d.network
	if v.OfNode() {
		on = node
	}
	call := func(verb, arguments string) string { return fmt.Sprintf("%s.%s(%s)", on, verb, arguments) }
	begin := func(arguments ...string) string {
		return call(v.Name, strings.Join(append(arguments, "may_be_idle = True"), ", "))
	}
	switch v.Name {
	case "crash", "drop":
		return []string{begin(), d.drawWait(), call("restart", "")}
	case "freeze":
		return []string{begin(), d.drawWait(), call("thaw", "")}
	case "wipe":
		return []string{call("crash", "may_be_idle = True"), begin(), call("restart", ""), d.drawWait()}
	case "partition", "bridge", "link":
		return []string{begin(d.linkArguments(v.Name)...), d.drawWait(), d.network + ".heal()"}
	case "misbehave":
		return []string{begin(fmt.Sprintf("%q", drawOne(d, kinds))), d.drawWait(), call(v.Name, `""`)}
	}
	var began, ended []string
	for _, a := range v.Takes {
		switch a {
		case fault.Node:
		case fault.On:
			ended = append(ended, "False")
		case fault.Delay:
			began, ended = append(began, fmt.Sprintf(`"%dms"`, 50*(1+d.IntN(40)))), append(ended, `0`)
		case fault.Skew:
			began, ended = append(began, fmt.Sprintf(`"%dms"`, 100*(1+d.IntN(9)))), append(ended, `0`)
		case fault.Flapping:
			began = append(began, `"2s"`, `"1s"`, fmt.Sprint(1+d.IntN(3)))
		case fault.Rejoining:
			began = append(began, fmt.Sprint(1+d.IntN(4)))
		case fault.Victim:
			began = append(began, fmt.Sprintf("role = %q", d.drawRole(on)))
		default:
			return nil // an argument that the search cannot make
		}
	}
	lines := []string{begin(began...), d.drawWait()}
	if len(ended) > 0 {
		lines = append(lines, call(v.Name, strings.Join(ended, ", ")))
	}
	return lines
}

// drawValidator draws one for a verb. A verb that makes it lie or forget is only for the victim.
func (d *draws) drawValidator(v *fault.Verb) string {
	name := drawOne(d, d.validators)
	if slices.Contains([]string{"misbehave", "wipe", "disk_fail", "sync_lies", "clock_skew"}, v.Name) {
		if name = d.victim; name == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s.validator(%q)", d.network, name)
}

// drawRole draws a role of a node.
func (d *draws) drawRole(on string) string {
	if strings.Contains(on, ".runner(") {
		return "runner"
	}
	return drawOne(d, []string{"archive", "execution", "consensus", "intake", "gateway"})
}

// linkArguments draws those of a verb of links.
func (d *draws) linkArguments(verb string) []string {
	all := slices.Clone(d.validators)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	list := func(names []string) string { return `["` + strings.Join(names, `", "`) + `"]` }
	if len(all) < 3 {
		return []string{list(all[:1]), list(all[1:])}
	}
	switch cut := 1 + d.IntN(len(all)-2); verb {
	case "partition":
		return []string{"[" + list(all[:cut]) + ", " + list(all[cut:]) + "]"}
	case "bridge":
		return []string{fmt.Sprintf("%q", all[0]), list(all[1 : 1+cut]), list(all[1+cut:])}
	}
	return []string{fmt.Sprintf("%q, %q", all[0], all[1]), fmt.Sprintf(`latency = "%dms"`, 10*d.IntN(100)),
		fmt.Sprintf("loss = %.1f", float64(d.IntN(8))/10)}
}
