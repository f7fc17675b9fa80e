package main

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

//go:embed grammar.txt
var grammarText string

// grammar has the alternatives of each name.
var grammar = readGrammar(grammarText)

// kinds are the kinds of values, each before the names of its steps.
var kinds = grammar["kinds"]

func readGrammar(text string) map[string][]string {
	found, name := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if next, ok := strings.CutPrefix(line, "# "); ok {
			name = next
		} else if line != "" && !strings.HasPrefix(line, "//") {
			found[name] = append(found[name], line)
		}
	}
	return found
}

// askedHead is what expressions name, besides what programs do.
const askedHead = head + `UserId = typing.NewType("UserId", int)
T3 = collections.namedtuple("T3", "x y z", defaults=(3,))
@dataclasses.dataclass
class Loose:
    a: int
    b: object = dataclasses.field(default=2, repr=False, compare=False)
    c: object = dataclasses.field(default=3, kw_only=True)
@dataclasses.dataclass
class Slotted:
    __slots__ = ("x", "y")
    x: object
    y: object
def on_contents(base):
    class On(base):
        def __len__(self): return 1
        def __iter__(self): return iter([1])
        def __contains__(self, v): return v == 1
        def __getitem__(self, i): return 1
    return On() == On(), bool(On())
class Grows:
    def __init__(self, n, heap=None): self.n, self.heap = n, heap
    def __lt__(self, o):
        for heap in (self.heap, o.heap):
            if heap is not None: heap.clear()
        return self.n < o.n
    def __repr__(self): return "Grows"
class Index:
    def __init__(self, n, then=lambda: None): self.n, self.then = n, then
    def __index__(self):
        self.then()
        return self.n
class Bytes:
    def __init__(self, made): self.made = made
    def __bytes__(self): return self.made
class Told:
    def __init__(self, text): self.text = text
    def __str__(self): return self.text
    def __repr__(self): return self.text
@typing.runtime_checkable
class Has(typing.Protocol):
    def __len__(self): ...
def matched(q):
    match q:
        case Has(): return "has"
        case _: return "has not"
def emptied(q):
    for v in (b"A", b"B"):
        q.clear()
        yield v
def changing(make, change, n):
    q = []
    q.extend([Index(42, lambda: change(q))] * n)
    return make(q), len(q)
class Even:
    def __eq__(self, o): return o % 2 == 0
class Wrong:
    def __eq__(self, o): raise KeyError("no such")
def bad(n):
    for i in range(n): yield i
    raise ValueError("midway")
def badpairs(n):
    for i in range(n): yield ("k%d" % i, i)
    raise ValueError("midway")
def first(a, *rest): return a
def enumerate_list(v, n): return list(enumerate(v, n))
def match_of(m): return None if m is None else (m.span(), m.group(), m.groups(), m.lastindex, m.pos, m.endpos)
def match_point(v):
    match v:
        case Point(x=a, y=[b]): return (a, b)
        case Point(a, 0): return a
        case Row(a, b): return (a, b)
        case _: return None
`

var askedParts = splitHead(askedHead)

// shown are the texts that a check sees: of a set sorted, of another value its repr, and the type where that hides it.
const shown = `def show(v):
    if isinstance(v, (set, frozenset)):
        return type(v).__name__ + " " + repr(sorted(v))[:400]
    if isinstance(v, (int, str, tuple, dict)):
        return type(v).__name__ + " " + repr(v)[:400]
    return repr(v)[:400]
def failed(e): return "! " + type(e).__name__ + ": " + str(e)[:200]
`

// A sequence is a value and what is asked of it, one after the other.
type sequence struct {
	value string
	steps []string
}

const maxSteps = 6

// newSequence draws a value and some steps.
func (g *generator) newSequence() sequence {
	names := strings.Fields(g.pickOne(kinds))
	c := sequence{value: g.expandText("<"+names[0]+">", 0)}
	for range 1 + g.rand.IntN(maxSteps) {
		steps := g.pickOne(names[1:])
		if g.rand.IntN(8) == 0 && names[0] != "iter" { // of which some never end
			steps = "all"
		}
		c.steps = append(c.steps, g.expandText(g.pickOne(grammar["steps:"+steps]), 0))
	}
	return c
}

var place = regexp.MustCompile(`<[a-z][a-z0-9]*>`)

const maxDepth = 4

// expandText puts alternatives into the places of a text.
func (g *generator) expandText(text string, depth int) string {
	return place.ReplaceAllStringFunc(text, func(name string) string {
		from := grammar[name[1:len(name)-1]]
		if len(from) == 0 {
			return name
		}
		if depth == maxDepth {
			from = from[:1]
		}
		return g.expandText(from[g.rand.IntN(len(from))], depth+1)
	})
}

// functionBody is the body of the function that runs a sequence, and tells see.
func (c sequence) functionBody(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "def c%d(see):\n    try: q = %s\n", n, c.value)
	b.WriteString("    except Exception as e:\n        see(failed(e))\n        return\n    see(\"made\")\n")
	for _, step := range c.steps {
		do := "see(show(" + step + "))"
		if statement, ok := strings.CutPrefix(step, "; "); ok {
			do = statement + "\n        see(\"done\")"
		}
		fmt.Fprintf(&b, "    try:\n        %s\n    except Exception as e: see(failed(e))\n", do)
		b.WriteString("    try: see(show(q))\n    except Exception as e: see(failed(e))\n")
	}
	return b.String()
}

// askedSource is a program that runs sequences and returns what they saw, as JSON.
func askedSource(checks []sequence) string {
	var body, b strings.Builder
	for i, c := range checks {
		body.WriteString(c.functionBody(i))
	}
	b.WriteString("import json\n")
	named := body.String()
	for changed := true; changed; { // parts name parts
		changed = false
		for _, p := range askedParts {
			if p.names.MatchString(named) && !strings.Contains(named, p.text) {
				named += p.text
				changed = true
			}
		}
	}
	for _, p := range askedParts {
		if p.names.MatchString(named) && p.text != "import json\n" {
			b.WriteString(p.text)
		}
	}
	b.WriteString(shown + body.String())
	b.WriteString("def f(p):\n    all = []\n")
	for i := range checks {
		fmt.Fprintf(&b, "    seen = []\n    c%d(seen.append)\n    all.append(seen)\n", i)
	}
	b.WriteString("    return json.dumps(all).encode()\n")
	return b.String()
}

// newSequences are sequences of a seed with n checks or some more: each step is one.
func newSequences(seed uint64, n int) (all []sequence) {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 40))}
	for n > 0 {
		s := g.newSequence()
		all = append(all, s)
		n -= len(s.steps)
	}
	return all
}
