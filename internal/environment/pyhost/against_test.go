package pyhost

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// compared is a piece of an actor's code and what it is asked. Each question is an
// expression; CPython says its value, or the type of its error.
type compared struct {
	name, setup string
	asks        []string
}

// source is a module whose handler f answers all questions, one a line.
func (c compared) source() string {
	var out strings.Builder
	out.WriteString("import collections, dataclasses, decimal, enum, functools, heapq, itertools, json, math, operator, re, typing\n")
	out.WriteString(c.setup + "\ndef f(payload):\n    out = []\n")
	for _, ask := range c.asks {
		fmt.Fprintf(&out, "    try: out.append(repr(%s))\n    except Exception as e: out.append(type(e).__name__)\n", ask)
	}
	out.WriteString("    return '\\n'.join(out).encode()\n")
	return out.String()
}

// ofCPython is what a plain interpreter answers.
func ofCPython(t *testing.T, source string) []string {
	t.Helper()
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	cmd := exec.Command(python.path, "-I", "-S", "-B", "-c",
		"import sys\nspace = {'__name__': 'actor'}\nexec(sys.stdin.read(), space)\nsys.stdout.buffer.write(space['f'](b''))")
	cmd.Stdin = strings.NewReader(source)
	var problems strings.Builder
	cmd.Stderr = &problems
	told, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, problems.String(), source)
	}
	return strings.Split(string(told), "\n")
}

// answersOfHost is what the metered host answers.
func (w *world) answersOfHost(t *testing.T, source string) []string {
	t.Helper()
	m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(91, source), Handler: "f", Owner: owner}
	out, _, err := w.handle(m, plenty)
	if err != nil || out.Status != types.StatusOK {
		t.Fatalf("%v %v %v\n%s", out.Status, out.Fault, err, source)
	}
	return strings.Split(string(out.Output), "\n")
}

// agrees fails for each question that the host and CPython answer differently.
func (w *world) agrees(t *testing.T, cases []compared) {
	t.Helper()
	for _, c := range cases {
		source := c.source()
		wanted, told := ofCPython(t, source), w.answersOfHost(t, source)
		for i, ask := range c.asks {
			if told[i] != wanted[i] {
				t.Errorf("%s: %s is %s, and of CPython %s", c.name, ask, told[i], wanted[i])
			}
		}
	}
}

// A built-in type's method serves no library's type that has that method too. The
// nodes of an OrderedDict outlived dict.clear, and the next walk had no end.
func TestC22AnHeirHasItsOwnMethods(t *testing.T) {
	const ordered = "from collections import Counter, OrderedDict, defaultdict\n" +
		"def cleared():\n    d = OrderedDict(a=1, b=2, c=3)\n    d.clear()\n    d['a'] = 9\n    return d\n" +
		"def moved(last=True):\n    d = OrderedDict(a=1, b=2, c=3)\n    d.move_to_end('b', last=last)\n    return d\n" +
		"def popped(**k):\n    d = OrderedDict(a=1, b=2)\n    return d.popitem(**k), list(d)\n"
	openWorld(t).agrees(t, []compared{
		{"an OrderedDict that was cleared", ordered, []string{
			"list(cleared())", "len(cleared())", "cleared() == OrderedDict(a=9)", "list(reversed(cleared()))",
			"list(cleared().items())", "dict(cleared())", "cleared().pop('a')", "list(OrderedDict(cleared()))",
			"list(cleared().copy())"}},
		{"an OrderedDict whose entries moved", ordered, []string{
			"list(moved())", "list(moved().items())", "list(moved().values())", "list(moved().keys())", "moved().keys()",
			"moved().items()", "moved().values()", "dict(zip(moved(), moved().values()))", "list(moved(False))",
			"list(moved(False).items())",
			"[k for k in moved().keys()]", "sorted(moved().items())", "('b', 2) in moved().items()", "2 in moved().values()",
			"len(moved().keys())", "moved().keys() & {'a'}", "moved().keys() == {'a', 'b', 'c'}", "list(reversed(moved().items()))",
			"max(moved().values())", "[*moved().items()]", "list(moved().copy())", "moved() == moved(False)"}},
		{"the ends of an OrderedDict", ordered, []string{"popped()", "popped(last=False)", "popped(last=True)",
			"OrderedDict().popitem()"}},
		{"copies", ordered, []string{
			"type(Counter('aab').copy()).__name__", "Counter('aab').copy()['z']", "Counter('aab').copy().most_common(1)",
			"type(defaultdict(int).copy()).__name__", "defaultdict(int, a=1).copy()['z']", "type(OrderedDict(a=1).copy()).__name__",
			"OrderedDict(a=1, b=2).copy() == OrderedDict(b=2, a=1)", "type({} | OrderedDict(a=1)).__name__",
			"type(OrderedDict(a=1) | {}).__name__", "type(Counter('a') | Counter('b')).__name__"}},
	})
}

// Methods of a base that would break an heir are refused.
func TestC22ABasesMethodDoesNotTakeAnHeir(t *testing.T) {
	const source = "from collections import OrderedDict\ndef f(payload):\n    d = OrderedDict(a=1)\n    dict.clear(d)\n"
	w := openWorld(t)
	m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(91, source), Handler: "f", Owner: owner}
	out, _, err := w.handle(m, plenty)
	if err != nil || out.Status != types.StatusReverted || !strings.Contains(out.Fault.Message, "value.clear(") {
		t.Errorf("%v %v %v", out.Status, out.Fault, err)
	}
}

// heirs prints each library's type on a type of the tables, with a method that it
// overrides, where the tables have the base's. An entry of one type's method has that
// as raw. A second argument is an entry that is left out.
const heirs = `
import sys
sys.path.insert(0, sys.argv[1])
import collections
from host import attribute_tables, builtin_names, enums, imports, methods, sealed, weights
imports.install_imports()
builtin_names.make_namespace()
if len(sys.argv) > 2:
    del attribute_tables.TABLE[collections.OrderedDict][sys.argv[2]]
row = collections.namedtuple("Row", "a")
def below(t):
    for cls in type.__subclasses__(t):
        yield cls
        yield from below(cls)
ours = [row, bool, *methods.HEIRS[dict], *weights.VIEWS, *below(enums.Enum), sealed.Text, sealed.Integer]
if len(ours) < 16:
    print("only", ours)
for base, table in list(attribute_tables.TABLE.items()):
    for heir in ours:
        if heir is base or not issubclass(heir, base):
            continue
        for name in table:
            entry = attribute_tables.find_attribute(heir, name)
            raw = getattr(entry, "raw", None)
            own = getattr(heir, name, None)
            if own is not getattr(base, name, None) and raw is not None and raw is not own:
                print(heir.__name__, name)
`

// Each method that a library's type overrides has a separate entry.
func TestC22NoHeirIsServedByItsBase(t *testing.T) {
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	for entry, wanted := range map[string]string{"": "", "clear": "OrderedDict clear\n"} {
		args := []string{"-I", "-S", "-B", "-c", heirs, "../../../python-host"}
		if entry != "" {
			args = append(args, entry)
		}
		told, err := exec.Command(python.path, args...).CombinedOutput()
		if err != nil || string(told) != wanted {
			t.Errorf("%v: without %q the base's method serves %q, not %q", err, entry, told, wanted)
		}
	}
}

// An allowed operation gives CPython's value, or an error that says what to do: never a
// third thing.
func TestAnAllowedOperationGivesCPythonsValue(t *testing.T) {
	const text = "import re\ndef tried(f, *a, **k):\n    try: return f(*a, **k)\n    except Exception as e: return type(e).__name__\n"
	const kinds = "from decimal import Decimal\nfrom enum import Enum, IntEnum, auto\nfrom typing import NewType\n" +
		"U = NewType('U', int)\nclass Level(IntEnum):\n    LOW = 1\n    HIGH = 3\nclass Own(int): pass\n" +
		"class Side(Enum):\n    BUY = BID = auto()\n    SELL = auto()\n"
	const cached = "import functools\ndef calls(values, **terms):\n    seen = []\n    @functools.lru_cache(**terms)\n    def g(x):\n" +
		"        seen.append(x)\n        return x\n    for v in values: g(v)\n    return seen\n" +
		"def named():\n    def g():\n        'about g'\n    @functools.wraps(g)\n    def w(): pass\n    return w.__name__, w.__doc__\n"
	const merged = "import heapq, itertools\ndef first(n, it): return [v for v, _ in zip(it, range(n))]\n"
	const names = "from collections import Counter, defaultdict\nfrom functools import partial\ndef given(**k): return k\n" +
		"def updated(d, *a, **k):\n    d.update(*a, **k)\n    return dict(d)\n" +
		"def less(c, *a, **k):\n    c.subtract(*a, **k)\n    return dict(c)\n"
	openWorld(t).agrees(t, []compared{
		{"flags by position", text, []string{
			"bool(re.search('hello', 'SAY HELLO', re.I))", "bool(re.match('a', 'A', re.I))",
			"bool(re.fullmatch('a.', 'A\\n', re.I | re.S))",
			"re.findall('a', 'aA', re.I)", "[m.group() for m in re.finditer('a', 'aA', re.I)]", "re.sub('a', 'x', 'aAa', 0, re.I)",
			"re.split('a', 'xAyaz', 1, re.I)", "re.subn('a', 'x', 'aA', flags=re.I)", "re.compile('b').findall('abab', 2)",
			"re.compile('b').search('abab', 2).start()", "re.compile('a').match(string='a').span()",
			"bool(re.search('a', string='xa'))",
			"tried(re.match, re.compile('a'), 'a', re.I)", "tried(re.sub, 'x', '\\\\8', 'y')", "re.sub('(x)', '\\\\1\\\\1', 'ax')"}},
		{"names of types", kinds, []string{"U(5) == 5", "U(5) in [5]", "bool(U(0))", "{5: 1}.get(U(5))", "type(U(5)).__name__"}},
		{"ranges", kinds, []string{
			"Level.HIGH in range(1, 4)", "Level.HIGH in range(4, 9)", "Decimal(2) in range(3)", "Decimal('2.5') in range(3)",
			"Decimal('1E+9') in range(3)", "Decimal('NaN') in range(3)", "Own(2) in range(3)", "True in range(3)", "'a' in range(3)",
			"None in range(3)", "range(5).index(Level.HIGH)", "range(3).count('a')", "range(3).count(Own(1))",
			"range(1, 9, 2).index(3)"}},
		{"one auto of two names", kinds, []string{"Side.SELL.value", "Side.BID is Side.BUY", "len(list(Side))"}},
		{"bounded caches", cached, []string{
			"calls([1, 2, 1], maxsize=1)", "calls([1, 1], maxsize=0)", "calls([1, 2, 3, 1], maxsize=2)",
			"calls([1, 2, 1, 3, 1], maxsize=2)",
			"calls([1, True], typed=True)", "calls([1, True])", "calls([1, 1], maxsize=None)", "named()"}},
		{"merged", merged, []string{
			"list(heapq.merge([3, 1], [2]))", "first(4, heapq.merge(itertools.count(), itertools.count(1)))", "list(heapq.merge())",
			"list(heapq.merge([3, 1], [2, 1], reverse=True))", "list(heapq.merge(['bb', 'a'], ['c'], key=len))",
			"list(heapq.merge([(1, 'a')], [(1, 'b')], key=lambda v: v[0]))"}},
		{"names that are the host's own", names, []string{
			"updated({}, value=3)", "Counter(value=1)", "'{template}'.format(template=1)", "dict(defaultdict(int, factory=3))",
			"partial(given, f=1)()", "less(Counter(a=2), a=1)", "less(Counter(a=2), 'a', a=1)", "updated(Counter(a=1), a=1, value=2)",
			"dict(self=1, f=2)", "partial(given)(self=1)"}},
		{"texts", kinds, []string{
			"str(Decimal('97000.25'))", "f\"{Decimal('1.50')}\"", "'{}'.format(Decimal('1E+3'))",
			"str(ValueError(Decimal('0.5')))", "repr(Decimal('1.5'))", "[Decimal('1.5')]", "ascii('\\n')", "ascii('\\xe9\\u200b\\\\')",
			"'%a' % 'a\\n'", "f\"{'é'!a}\"", "str(b'abc', errors='replace')", "str(b'abc', 'utf8')", "str(object=5)"}},
	})
}

// A call that CPython refuses is refused, and what an operation does before it fails stays done.
func TestAnAllowedOperationDoesWhatCPythonsDoes(t *testing.T) {
	const tried = "import bisect, collections, dataclasses, decimal, itertools\nfrom collections import Counter, OrderedDict, deque\n" +
		"from decimal import Decimal\nfrom typing import NamedTuple\n" +
		"def tried(f, *a, **k):\n    try: return f(*a, **k)\n    except Exception as e: return type(e).__name__\n"
	const midway = tried + "def bad(n):\n    for i in range(n): yield i\n    raise ValueError('midway')\n" +
		"def pairs(n):\n    for i in range(n): yield str(i), i\n    raise ValueError('midway')\n" +
		"def after(q, name, *a):\n    return tried(getattr(q, name), *a), q\n" +
		"def added(q, items):\n    try: q += items\n    except ValueError: pass\n    return q\n" +
		"def united(q, items):\n    try: q |= items\n    except (ValueError, AttributeError): pass\n    return q\n" +
		"def watching():\n    q = [5]\n    q.extend(len(q) for _ in range(3))\n    return q\n"
	const walked = tried + "def grown(q, put):\n    seen = []\n    for v in q:\n        seen.append(v)\n        put(q, v)\n    return seen\n" +
		"def resumed(it):\n    return [tried(next, it) for _ in range(4)]\n" +
		"def copied(s):\n    return sorted([v for v in s if s.discard(99) is None])\n"
	const sorts = tried + "def by(q, key, **k):\n    return tried(q.sort, key=key, **k), q\n" +
		"def seen(q):\n    found = []\n    q.sort(key=lambda v: found.append(list(q)) or v)\n    return found, q\n" +
		"def grown(q):\n    return by(q, lambda v: q.append(1) or v)\n"
	const kept = tried + "class Row(NamedTuple):\n    a: object\n    b: object = 2\n@dataclasses.dataclass\nclass P:\n    x: object\n" +
		"    y: list = dataclasses.field(default_factory=list, repr=False, compare=False)\n    z: int = 3\n" +
		"def apart(v):\n    p = P(v)\n    return dataclasses.asdict(p)['x'] is not p.x\n"
	openWorld(t).agrees(t, []compared{
		{"what fails midway", midway, []string{
			"after([1], 'extend', bad(2))", "after(deque([1], 2), 'extend', bad(2))", "after(deque([1]), 'extendleft', bad(2))",
			"added([1], bad(2))", "added(deque([1]), bad(2))", "watching()", "after({'a': 1}, 'update', pairs(2))",
			"after({'a': 1}, 'update', [('b', 2), 5])", "united({'a': 1}, pairs(1))", "after(Counter('a'), 'update', bad(2))",
			"after(Counter('a'), 'subtract', bad(2))", "sorted(after({7}, 'update', bad(2))[1])",
			"sorted(after({7, 1}, 'difference_update', bad(2))[1])",
			"sorted(after({7, 1}, 'intersection_update', bad(2))[1])", "after(bytearray(b'a'), 'extend', bad(2))",
			"united(Counter('a'), ['b'])",
			"united(Counter('a'), {'b': 1})", "sorted(after({7}, 'update', {8}, bad(1))[1])", "tried(Counter, None)"}},
		{"what changes while it is walked", walked, []string{
			"tried(grown, {1, 2}, lambda q, v: q.add(v + 9))", "tried(grown, {1, 2}, lambda q, v: q.discard(v))",
			"tried(grown, {1}, lambda q, v: q.clear())",
			"tried(grown, {1, 2}, lambda q, v: q.add(1))", "tried(grown, {1: 2}, lambda q, v: q.pop(v))",
			"grown([1, 2], lambda q, v: q.append(1) if len(q) < 5 else 0)",
			"tried(grown, deque([1, 2]), lambda q, v: q.append(v))", "copied({1, 2})", "resumed(map(int, ['x', '1', 'y', '2']))",
			"resumed(map(lambda v: 1 // v, [0, 1]))", "tried(lambda: map(int, []).close())", "tried(lambda: zip().send(None))",
			"(v for v in [1]).close()", "hasattr(iter([]), 'send')", "hasattr([], 'extendleft')", "hasattr(frozenset(), 'update')"}},
		{"sorting", sorts, []string{
			"seen([2, 1])", "grown([2, 1])", "by([2, 0, 1], lambda v: 1 // v)", "by([3, 'a', 1], None)", "by([3, 'a', 1], lambda v: v)",
			"by([1, 3, 2], lambda v: -v, reverse=True)", "by([(1, 'b'), (1, 'a')], lambda v: v[0], reverse=True)",
			"sorted('cab', key=lambda v: v, reverse=1)"}},
		{"dataclasses", kept, []string{
			"[(f.name, f.init, f.repr, f.compare, f.kw_only, f.hash) for f in dataclasses.fields(P)]",
			"[f.default is dataclasses.MISSING for f in dataclasses.fields(P(1))]",
			"[f.default_factory is list for f in dataclasses.fields(P)]",
			"dataclasses.fields(P)[2].default", "dataclasses.asdict(P(Row(P(1))))", "dataclasses.astuple(P(Row(P(1))))",
			"dataclasses.asdict(P({P: 1}))['x'] == {P: 1}",
			"dataclasses.asdict(P(OrderedDict(a=P(2))))['x'] == {'a': {'x': 2, 'y': [], 'z': 3}}",
			"dataclasses.asdict(P(deque([[1]], 3)))",
			"apart([1])", "apart({1})", "apart(deque())", "apart(bytearray(b'a'))", "tried(dataclasses.fields, 5)"}},
		{"arguments", tried, []string{
			"tried(itertools.combinations, [1])", "list(itertools.permutations([1, 2]))", "tried(lambda: int(base=10))",
			"tried(lambda: '%%' % 5)",
			"tried(lambda: '%%' % ())", "'abc' % [1]", "tried(lambda: 'abc' % 'x')", "tried(lambda: b'%% %s' % b'x')",
			"tried(lambda: b'% %s' % b'x')",
			"tried('{} {1}'.format, 1, 2)", "tried('{0} {}'.format, 1, 2)", "tried(bytes, 3, 'utf8')",
			"tried(bytes, b'a', 'utf8')", "tried(max, [1], foo=2)",
			"tried(max, 1, 2, default=3)", "tried(max)", "tried(getattr, 1, 'real', 2, 3)", "tried(lambda: abs(value=1))",
			"tried(lambda: len(value=[]))",
			"round(number=15, ndigits=-1)", "pow(base=2, exp=3)", "tried(bisect.bisect, {1: 2}, 1)",
			"bisect.bisect([1, 2, 3], 2, 0, -1)",
			"bisect.bisect_left([1, 2, 3], 2, hi=-1)", "tried(bisect.bisect, [1, 2], 1, -1)",
			"list(itertools.compress(data=[1, 2], selectors=[0, 1]))",
			"list(itertools.zip_longest([1], [], fillvalue=0))", "list(itertools.repeat(1, times=2))",
			"str(Counter(a='x', b='y'))", "str(Counter(a=1, b=Decimal(2)))"}},
	})
}

// A result that the exponents here do not hold is refused: it was rounded to nothing.
func TestADecimalOfASmallExponentIsRefused(t *testing.T) {
	const setup = "from decimal import Decimal as D\n"
	asks := []string{"D('1E-900') * D('1E-900')", "D('0E-900') * D('0E-900')"}
	for i, told := range openWorld(t).answersOfHost(t, compared{"", setup, asks}.source()) {
		if told != "Underflow" && told != "Clamped" {
			t.Errorf("%s is %s", asks[i], told)
		}
	}
}

// What an error says to people names no inside of the host.
func TestWordsNameWhatTheAuthorCalled(t *testing.T) {
	w := openWorld(t)
	for ask, said := range map[string]string{
		"hashlib.blake2b(b'a', digest_size=8)": "blake2b() got an unexpected keyword argument",
		"str(10**4300)":                        "an integer of more than 4300 digits has no text",
		"[].index()":                           "index() missing 1 required positional argument",
		"{}.popitem(1)":                        "popitem() takes 1 positional argument",
		"re.findall(1)":                        "findall() missing 1 required positional argument",
	} {
		source := "import hashlib, re\ndef f(payload):\n    " + ask + "\n"
		m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(93, source), Handler: "f", Owner: owner}
		out, _, err := w.handle(m, plenty)
		if err != nil || out.Fault == nil || !strings.Contains(out.Fault.Message, said) || strings.Contains(out.Fault.Message,
			"locals") {
			t.Errorf("%s: %v %v", ask, out.Fault, err)
		}
	}
}

// An operation without the value of CPython is refused.
func TestAnAllowedOperationIsRefusedLoudly(t *testing.T) {
	w := openWorld(t)
	const setup = "from typing import Any, List, Protocol, runtime_checkable\n@runtime_checkable\nclass Named(Protocol):\n" +
		"    def name(self): ...\nclass Dog:\n    def name(self): return 'd'\nclass Cat(Named):\n    def name(self): return 'c'\n"
	asks := []string{"isinstance(Dog(), Named)", "isinstance(Dog(), (int, Named))", "Named()", "Any()", "List()"}
	for i, told := range w.answersOfHost(t, compared{"", setup, asks}.source()) {
		if told != "TypeError" {
			t.Errorf("%s is %s", asks[i], told)
		}
	}
	if told := w.answersOfHost(t, compared{"", setup, []string{"Cat().name()"}}.source()); told[0] != "'c'" {
		t.Errorf("a class on a Protocol answers %s", told)
	}
}

// A Map has no length to be true by, and neither List nor Map is equal to anything by chance.
func TestStateIsNotComparedAsAWhole(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(92, "from cowboy_sdk import List, Map, actor, public\n@actor\nclass A:\n    l: List[int]\n    m: Map[str, int]\n"+
		"    @public\n    def f(self, payload):\n        out = []\n"+
		"        for ask in (lambda: bool(self.m), lambda: self.m == {}, lambda: self.l == [], lambda: self.l != []):\n"+
		"            try: out.append(repr(ask()))\n            except TypeError: out.append('refused')\n"+
		"        return ' '.join(out).encode()\n")
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "f", Owner: owner}
	out, _, err := w.handle(m, plenty)
	if err != nil || string(out.Output) != "refused refused refused refused" {
		t.Errorf("%s %v %v", out.Output, out.Fault, err)
	}
}

// A refusal of a default says what the author wrote.
func TestARefusedDefaultIsNamedAsItIsWritten(t *testing.T) {
	w := openWorld(t)
	for annotation, said := range map[string]string{
		"list[int] = [1]":           "list[…] as an attribute is a List, which begins empty",
		"List[int] = [1]":           "a List begins empty",
		"dict[str, int] = {'a': 1}": "dict[…] as an attribute is a Map, which begins empty",
		"Map[str, int] = {'a': 1}":  "a Map begins empty",
	} {
		source := "from cowboy_sdk import List, Map, actor, public\n@actor\nclass A:\n    names: " + annotation +
			"\n    @public\n    def f(self) -> int:\n        return 1\n"
		_, err := w.session.Inspect(program.Code{Hash: types.Keccak([]byte(source)), Source: []byte(source)})
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v, want %q", annotation, err, said)
		}
	}
}
