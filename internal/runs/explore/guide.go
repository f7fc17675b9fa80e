package explore

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/pattern"
)

// meetings counts in how many programs two things came together that the search puts into programs: verbs, kinds of verbs, settings. Each
// meets itself where it comes. Most faults of a chain need two things to meet, and few need more.
type meetings map[[2]string]int

// candidates is how many episodes are drawn for one that is taken: the one that met the rest of its program least.
const candidates = 6

// drawnCalls are the verbs of a drawn line, and the kind that some take.
var drawnCalls = pattern.CompileOnNeed(`\.([a-z_]+)\((?:"([a-z][a-z_ ]*)")?`)

// plainCalls name a node, or end and wait: they do not say what an episode is about.
var plainCalls = []string{"validator", "runner", "run", "restart", "heal", "thaw", "resume"}

// listThings lists what drawn lines have, each once: verbs, also as done to all validators, and verbs with their kinds.
func (n *nodes) listThings(lines []string) (verbs, kinds []string) {
	add := func(all *[]string, thing string) {
		if !slices.Contains(*all, thing) {
			*all = append(*all, thing)
		}
	}
	done := map[string][]string{} // to which validators, by verb
	for _, line := range lines {
		named := validatorsNamed().FindStringSubmatch(line)
		for _, call := range drawnCalls().FindAllStringSubmatch(line, -1) {
			verb, kind := call[1], call[2]
			if slices.Contains(plainCalls, verb) {
				continue
			}
			add(&verbs, verb)
			if kind != "" {
				add(&kinds, verb+" "+kind)
			}
			if named != nil && !slices.Contains(done[verb], named[1]) {
				if done[verb] = append(done[verb], named[1]); len(done[verb]) == len(n.validators) {
					add(&verbs, verb+" of all")
				}
			}
		}
	}
	return verbs, kinds
}

// thingsOf lists all that the search put into a program.
func (n *nodes) thingsOf(p *program) []string {
	var lines []string
	for i := range p.statements[:p.findEnd()] {
		if p.statements[i].drawn {
			lines = append(lines, p.statements[i].text)
		}
	}
	verbs, kinds := n.listThings(lines)
	return slices.Concat(verbs, kinds, p.settings)
}

// addProgram counts the things of a program.
func (m meetings) addProgram(things []string) {
	for i, one := range things {
		for _, other := range things[i:] {
			m[pairOf(one, other)]++
		}
	}
}

// countLeast is how often a thing met what it met least of others, itself included.
func (m meetings) countLeast(thing string, others []string) int {
	least := m[pairOf(thing, thing)]
	for _, other := range others {
		least = min(least, m[pairOf(thing, other)])
	}
	return least
}

// pairOf is the key of two things.
func pairOf(one, other string) [2]string {
	if other < one {
		one, other = other, one
	}
	return [2]string{one, other}
}

// drawRareEpisode draws some episodes, and takes the one with the verb that met the things of the program least. Kinds do not count here:
// they are so many that lies alone would be drawn.
func (d *draws) drawRareEpisode(p *program) (best episode) {
	d.present = d.thingsOf(p)
	fewest := -1
	for range candidates {
		e := d.drawEpisode()
		if d.IntN(4) == 0 {
			e = d.drawOrder(p)
		}
		few := 1 << 30
		verbs, _ := d.listThings(e.lines)
		for _, verb := range verbs {
			few = min(few, d.met.countLeast(verb, d.present))
		}
		if fewest < 0 || few < fewest {
			best, fewest = e, few
		}
	}
	return best
}

// drawRareKind draws, of the kinds of a verb, the one that met the things of the program least.
func (d *draws) drawRareKind(verb string, kinds []string) (best string) {
	fewest := -1
	for _, i := range d.Perm(len(kinds)) {
		if few := d.met.countLeast(verb+" "+kinds[i], d.present); fewest < 0 || few < fewest {
			best, fewest = kinds[i], few
		}
	}
	return best
}
