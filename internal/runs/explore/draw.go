package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
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
	actors  []actorVariable // of the script
	victim  string          // the validator that may lie or forget; "" without any
	focus   string          // the validator that most faults are of: what one fault leaves behind meets the next one there
	// twin: the victim may have a second process, and no other validator and no link has a fault. The second process may vote beside the
	// first where more than f others are slow to answer (decision C5), which any two faults can make.
	twin    bool
	met     meetings // of the search so far
	present []string // the things of the program that is drawn
}

// Limits of what is drawn.
const (
	mostBlocks = 8 // that a fault lasts
	mostMillis = 4000
	mostJoins  = 2 // of validators, in a program
)

// episode is statements that belong together. They come below a statement of the script, whose variables they name.
type episode struct {
	lines []string
	below int // its index in the script
}

// drawOne draws a member.
func drawOne[T any](d *draws, of []T) T { return of[d.IntN(len(of))] }

// drawEpisode draws a fault, how long it lasts, and what ends it. Any verb of the table can come, also one that is new there. Those that
// have many kinds come more often.
func (d *draws) drawEpisode() episode {
	for {
		v := drawOne(d, fault.Verbs())
		if v.Mends || v == fault.Twin && !d.twin {
			continue
		}
		if d.IntN(6) == 0 {
			v = fault.Misbehave
		}
		if e := d.drawVerb(v); e.lines != nil {
			if v.Of.Has(fault.Validators) && d.IntN(5) == 0 && !d.twin && !isForLiars(v) {
				e.lines = d.spreadToAll(e.lines)
			}
			if d.IntN(8) == 0 && len(e.lines) > 2 { // it lasts until the end
				e.lines = e.lines[:len(e.lines)-1]
			}
			return e
		}
	}
}

// spreadToAll makes an episode of one validator one of all, as a cut of power is: each begins, then all wait, and each ends.
func (d *draws) spreadToAll(lines []string) (all []string) {
	for _, line := range lines {
		named := validatorsNamed().FindStringSubmatch(line)
		if named == nil {
			all = append(all, line)
			continue
		}
		for _, name := range d.validators {
			all = append(all, strings.Replace(line, strconv.Quote(named[1]), strconv.Quote(name), 1))
		}
	}
	return all
}

// isForLiars says that a verb makes a validator lie or forget, which only the victim may.
func isForLiars(v *fault.Verb) bool {
	return slices.Contains([]*fault.Verb{fault.Misbehave, fault.Wipe, fault.DiskFail, fault.SyncLies, fault.ClockSkew, fault.Twin}, v)
}

// drawWait is a statement that runs the network: to the end of a block, or for a time that ends amid one.
func (d *draws) drawWait() string {
	if d.IntN(2) == 0 {
		return fmt.Sprintf("%s.run(blocks = %d)", d.network, 1+d.IntN(mostBlocks))
	}
	return fmt.Sprintf("%s.run(time = \"%dms\")", d.network, 1+(d.IntN(mostMillis)>>d.IntN(8)))
}

// drawVerb draws an episode of a verb; one without lines where the network has no node for it.
func (d *draws) drawVerb(v *fault.Verb) (e episode) {
	on, of := d.network, fault.Validators
	switch {
	case !v.OfNode():
		if d.twin {
			return e
		}
	case len(d.runners) > 0 && v.Of.Has(fault.Runners) && (!v.Of.Has(fault.Validators) || d.IntN(3) == 0):
		on, of = fmt.Sprintf("%s.runner(%q)", d.network, drawOne(d, d.runners)), fault.Runners
	case v.Of.Has(fault.Validators):
		if on = d.drawValidator(v); on == "" {
			return e
		}
	default:
		return e
	}
	call := func(verb *fault.Verb, arguments string) string {
		return fmt.Sprintf("%s.%s(%s)", on, verb.Name, arguments)
	}
	begin := func(arguments ...string) string {
		return call(v, strings.Join(append(arguments, "may_be_idle = True"), ", "))
	}
	switch v {
	case fault.Crash, fault.Drop:
		return episode{lines: []string{begin(), d.drawWait(), call(fault.Restart, "")}}
	case fault.Freeze:
		return episode{lines: []string{begin(), d.drawWait(), call(fault.Thaw, "")}}
	case fault.Wipe:
		return episode{lines: []string{call(fault.Crash, "may_be_idle = True"), begin(), call(fault.Restart, ""), d.drawWait()}}
	case fault.CrashAmid:
		instant := d.drawRareKind(v.Name, fault.Instants())
		return episode{lines: []string{begin(fmt.Sprintf("%q, %d", instant, 1+d.IntN(1<<d.IntN(7)))), d.drawWait(), call(fault.Restart, "")}}
	case fault.Partition, fault.Bridge, fault.SetLink:
		return episode{lines: []string{begin(d.linkArguments(v)...), d.drawWait(), d.network + ".heal()"}}
	case fault.Misbehave:
		kind := d.drawRareKind(v.Name, fault.KindsOf(of))
		return episode{lines: []string{begin(fmt.Sprintf("%q", kind)), d.drawWait(), call(v, `""`)}}
	}
	var began, ended []string
	for _, a := range v.Takes {
		switch a {
		case fault.Node:
		case fault.On:
			ended = append(ended, "False")
		case fault.Delay:
			began, ended = append(began, fmt.Sprintf(`"%dms"`, 50*(1+d.IntN(40)))), append(ended, `0`)
			if v == fault.Hang { // it ends by itself
				ended = nil
			}
		case fault.Skew:
			began, ended = append(began, fmt.Sprintf(`"%dms"`, 100*(1+d.IntN(9)))), append(ended, `0`)
		case fault.Flapping:
			began = append(began, `"2s"`, `"1s"`, fmt.Sprint(1+d.IntN(3)))
		case fault.Rejoining:
			began = append(began, fmt.Sprint(1+d.IntN(4)))
			if d.IntN(4) == 0 {
				began = append(began, "new_identity = True")
			}
		case fault.Victim:
			began = append(began, d.drawSubordinate(of))
		case fault.Over:
			if len(d.actors) == 0 {
				return episode{}
			}
			actor := drawOne(d, d.actors)
			e.below = actor.statement
			began = append(began, actor.name, fmt.Sprintf("%q", drawOne(d, []string{fault.HostCrashes, fault.HostHangs, fault.HostCrawls})))
			ended = append(ended, actor.name, fmt.Sprintf("%q", fault.HostWorks))
		case fault.Offers:
			began = append(began, d.drawOffers())
		default:
			return episode{} // an argument that the search cannot make
		}
	}
	e.lines = []string{begin(began...), d.drawWait()}
	if len(ended) > 0 {
		e.lines = append(e.lines, call(v, strings.Join(ended, ", ")))
	}
	return e
}

// drawValidator draws one for a verb. A verb that makes it lie or forget is only for the victim.
func (d *draws) drawValidator(v *fault.Verb) string {
	name := drawOne(d, d.validators)
	if d.IntN(2) == 0 {
		name = d.focus
	}
	if d.twin || isForLiars(v) {
		if name = d.victim; name == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s.validator(%q)", d.network, name)
}

// drawSubordinate draws a role of a node, or a contract.
func (d *draws) drawSubordinate(of fault.Whose) string {
	if of == fault.Validators && d.IntN(4) == 0 {
		return fmt.Sprintf("contract = %q", drawOne(d, types.ContractNames()))
	}
	return fmt.Sprintf("role = %q", drawOne(d, fault.RolesOf(of)))
}

// drawOffers draws what a runner says that it offers from now on, or no more.
func (d *draws) drawOffers() string {
	offers := []string{"custom", "http", "llm", "model:small", fault.PoolPrefix + "eu"}
	return fmt.Sprintf("%s = [%q]", drawOne(d, []string{"add", "remove"}), drawOne(d, offers))
}

// linkArguments draws those of a verb of links.
func (d *draws) linkArguments(verb *fault.Verb) []string {
	all := slices.Clone(d.validators)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	list := func(names []string) string { return `["` + strings.Join(names, `", "`) + `"]` }
	if len(all) < 2 {
		return []string{"[" + list(all) + ", []]"}
	}
	cut := 1 + d.IntN(len(all)-1)
	switch verb {
	case fault.Partition:
		return []string{"[" + list(all[:cut]) + ", " + list(all[cut:]) + "]"}
	case fault.Bridge:
		if cut == len(all)-1 { // all on one side
			return []string{fmt.Sprintf("%q", all[0]), list(all[1:]), "[]"}
		}
		return []string{fmt.Sprintf("%q", all[0]), list(all[1 : 1+cut]), list(all[1+cut:])}
	}
	link := []string{fmt.Sprintf("%q, %q", all[0], all[1])}
	for _, property := range []string{
		fmt.Sprintf(`latency = "%dms"`, 10*d.IntN(100)), fmt.Sprintf(`jitter = "%dms"`, 10*d.IntN(100)),
		fmt.Sprintf("loss = %.1f", float64(1+d.IntN(10))/10), fmt.Sprintf("duplicate = %.1f", float64(1+d.IntN(5))/10),
		fmt.Sprintf("reorder = %.1f", float64(1+d.IntN(5))/10), "one_way = True",
	} {
		if d.IntN(2) == 0 {
			link = append(link, property)
		}
	}
	if len(link) == 1 {
		link = append(link, "loss = 1.0")
	}
	return link
}
