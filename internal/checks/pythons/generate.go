package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// head has a value of each type that a program may hold.
const head = `import abc
import base64
import bisect
import collections
import decimal
import functools
import hashlib
import heapq
import hmac
import itertools
import json
import math
import operator
import re
import string
import struct
import dataclasses, enum, typing
from decimal import Decimal as D
class Colour(enum.Enum):
    RED = 1
    BLUE = "b"
class Num(enum.IntEnum):
    ONE = 1
    TWO = 2
class Perm(enum.Flag):
    R = 1
    W = 2
    RW = 3
    X = 8
class Bits(enum.IntFlag):
    A = 1
    C = 4
class Word(enum.StrEnum):
    HELLO = "hello"
    AUTO = enum.auto()
@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: object = 0
@dataclasses.dataclass(frozen=True)
class Cold:
    a: object
    b: list = dataclasses.field(default_factory=list, compare=False)
class Row(typing.NamedTuple):
    a: int
    b: str = "b"
class Pair(typing.NamedTuple):
    l: object
    r: object
class S(str): pass
class I(int): pass
class Odd:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return False
    def __repr__(self): return "Odd"
class Own:
    def __init__(self, n=1): self.n = n
    def __lt__(self, o): return self.n < o.n
    def __len__(self): return self.n
    def __getitem__(self, i): return [1, 2, 3][i]
    def __index__(self): return self.n
    def __int__(self): return self.n
    def __str__(self): return "own"
def gen(n):
    for i in range(n): yield i
`

var values = strings.Split(strings.TrimSpace(`
0
1
-1
7
255
-300
2**31
2**64
-2**70
10**30
True
False
None
...
""
"a"
"Abc def"
"12"
"-7"
" x y "
"1_000"
"0x1f"
"1e5"
"a,b,,c"
"\u00df\u0130\u0149"
"\u0661\u0662"
"\u00b2\u2460"
"\U00011f51"
"\U00031350"
"\ud800"
"line\nnext\r\nlast\x0b\x85"
"tab\tx"
"{}{0}"
"%s %d"
"zZ\u01c5\u03a3\u03c2"
"{\"a\": [1, 2,]}"
"[1, 2"
"{\"a\": 1, \"a\": 2}"
"\"\\ud83d\""
"[NaN]"
"aGVsbG8="
"aGVsbG8"
"a+b*"
"(?P<x>a)|b"
"(a"
"[z-a]"
"\\d+\\w"
"(?<=a|bc)x"
"a{2,1}"
"*a"
b""
b"abc"
b"\x00\xff\x80"
b"12"
bytearray(b"xyz")
[]
[1, 2, 3]
[3, 1, 2]
["b", "a"]
[1, "a"]
[[1], [2, 3]]
[None]
()
(1,)
(1, 2)
("a", 1)
{}
{"a": 1, "b": 2}
{1: "x"}
{(1, 2): [3]}
set()
{1, 2, 3}
{"a"}
frozenset({1, 2})
range(5)
range(10, 0, -3)
range(2**70)
D("1.50")
D("-0")
D("1E+3")
D("NaN")
D("Infinity")
D("sNaN")
D(3) / 7
collections.deque([1, 2, 3], 3)
collections.Counter("abca")
collections.OrderedDict(a=1, b=2)
collections.defaultdict(list, {1: [2]})
collections.defaultdict(int)
Row(1)
Pair(1, "r")
Point(1)
Point(1, [2])
Cold("c")
Point(Odd(1))
Colour.RED
Colour.BLUE
Num.TWO
Perm.R
Perm.R | Perm.X
Perm(0)
Bits.A
Bits(10)
Word.HELLO
Word.AUTO
S("sub")
I(5)
Odd(1)
Own(2)
Own
Odd
Colour
Perm
Bits
Word
Num
Point
Row
S
int
str
list
dict
len
gen(3)
iter([1, 2])
map(str, [1, 2])
zip([1], [2])
lambda *a: a
lambda a: a
(lambda a, b: (a > b) - (a < b))
ValueError("v")
KeyError("k")
ValueError
slice
{1: 2}.items()
{1: 2}.keys()
{1: 2}.values()
re.compile("a(b)?")
re.match("(a)(b)?", "ab")
re.error
struct
"big"
"little"
"utf-8"
"ascii"
"sha256"
"<Hb"
">Q3s"
"x"
"n"
".2f"
">10"
"05d"
",d"
"_x"
"#b"
"+"
"^8s"
"e"
"%"
`), "\n")

var methods = strings.Fields(`
capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii isdecimal isdigit
isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex
rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill maketrans
decode hex fromhex append clear copy extend insert pop remove reverse sort
get items keys popitem setdefault update values fromkeys add difference discard intersection isdisjoint issubset issuperset symmetric_difference union
difference_update intersection_update symmetric_difference_update bit_length bit_count to_bytes from_bytes as_integer_ratio conjugate is_integer
appendleft extendleft popleft rotate elements most_common subtract total move_to_end
as_tuple quantize sqrt ln exp log10 normalize to_integral_value compare copy_abs copy_sign is_nan is_finite adjusted remainder_near scaleb shift
same_quantum fma to_eng_string next_plus logb number_class max min
_asdict _replace _fields group groups groupdict start end span expand search match fullmatch findall finditer sub subn
name value x y a b n args real imag numerator start stop step maxlen pattern flags groupindex __name__ __doc__ send throw close
index count add_note
`)

var functions = strings.Fields(`
abs all any ascii bin bool bytearray bytes callable chr dict divmod enumerate filter format frozenset getattr hasattr hex int isinstance issubclass iter
len list map max min next oct ord pow range repr reversed round set sorted str sum tuple type zip
json.loads json.dumps struct.pack struct.unpack struct.calcsize struct.unpack_from
re.compile re.match re.fullmatch re.search re.findall re.split re.sub re.subn re.escape
base64.b64encode base64.b64decode base64.b32encode base64.b32decode base64.b16encode base64.b16decode base64.urlsafe_b64decode
hashlib.sha256 hashlib.md5 hashlib.new hashlib.blake2b hmac.new hmac.digest hmac.compare_digest
math.gcd math.lcm math.isqrt math.prod math.comb math.perm math.factorial D
functools.partial functools.reduce functools.cache functools.lru_cache functools.cmp_to_key functools.total_ordering functools.wraps
itertools.chain itertools.islice itertools.repeat itertools.groupby itertools.starmap itertools.accumulate itertools.tee itertools.product
itertools.permutations itertools.combinations itertools.combinations_with_replacement itertools.zip_longest itertools.count itertools.cycle
itertools.compress itertools.pairwise itertools.takewhile itertools.dropwhile itertools.filterfalse itertools.chain.from_iterable
operator.add operator.sub operator.mul operator.floordiv operator.mod operator.pow operator.lshift operator.and_ operator.or_ operator.xor
operator.concat operator.eq operator.lt operator.not_ operator.truth operator.index operator.is_ operator.neg operator.invert operator.itemgetter
operator.attrgetter operator.methodcaller operator.contains operator.getitem
collections.deque collections.Counter collections.defaultdict collections.OrderedDict collections.namedtuple string.capwords
dataclasses.asdict dataclasses.astuple dataclasses.fields dataclasses.replace dataclasses.is_dataclass dataclasses.dataclass dataclasses.field
enum.auto enum.unique enum.Enum enum.Flag bisect.bisect bisect.insort bisect.bisect_left heapq.heappush heapq.heappop heapq.heapify heapq.nsmallest
heapq.merge heapq.heappushpop typing.NamedTuple typing.cast typing.TypeVar abc.ABC
Colour Num Perm Bits Word Point Cold Row Pair S I Odd Own ValueError KeyError UnicodeDecodeError StopIteration OSError gen
int.from_bytes int.from_bytes bytes.fromhex str.maketrans dict.fromkeys str.join list.sort str.lower int.bit_length
`)

var binary = strings.Fields(`+ - * // % ** << >> & | ^ == != < <= > >= in is and or / @`)

var templates = strings.Split(strings.TrimSpace(`
class Z(enum.Enum):\n    A = $\n    B = enum.auto()\n    C = $\nv = (list(Z), Z.A.value, len(Z), $ in Z, Z(Z.A.value))
class Z(enum.Enum):\n    A = enum.auto()\n    B = $\n    C = enum.auto()\nv = [(m.name, m.value) for m in Z]
class Z(enum.Flag):\n    A = enum.auto()\n    B = #\n    C = enum.auto()\nv = [(m.name, m.value) for m in Z], list(Z.A | Z.C), ¬Z.A, Z(#)
class Z(enum.IntFlag):\n    A = #\n    B = #\nv = Z(#), ¬Z.A, Z.A | #, Z.A ⊕ Z.B, list(Z), list(Z(#)), -Z.A, Z.A + 1
class Z(enum.IntEnum):\n    A = #\n    B = $\nv = list(Z), Z.A + 1, f"{Z.A:>5}", f"{Z.A}", "%d" % Z.A, sorted(Z), Z(#)
class Z(enum.StrEnum):\n    A = "x"\n    B = enum.auto()\n    C = $\nv = list(Z), Z.A + "y", f"{Z.B:>5}", json.dumps({Z.A: Z.B}), Z.B.upper(), Z($)
class Z(str, enum.Enum):\n    A = $\n    B = "q"\nv = list(Z), str(Z.B), f"{Z.B}", json.dumps([Z.A]), Z("q") is Z.B, Z.B == "q"
class Z(Row, enum.Enum):\n    A = 1, "x"\n    B = 2\nv = list(Z), Z.A.a, Z.B.value
class Base(enum.Enum):\n    def hi(self): return self.name + str(self.value)\nclass Z(Base):\n    A = $\n    class In: pass\nv = Z.A.hi(), len(Z), Z.A in Z
class Z(enum.Enum):\n    def __init__(self, *a): self.got = a\n    A = $\n    B = $, $\nv = Z.A.got, Z.B.got, Z.B.value, Z.A.B
class Z(enum.Enum):\n    §classmethod\n    def _missing_(cls, v): return cls.A if v == $ else None\n    A = 1\nv = Z($)
class Z(enum.Enum):\n    def _generate_next_value_(n, s, c, last): return (n, s, c, last)\n    A = enum.auto()\n    B = enum.auto()\nv = list(Z)
class Z(enum.Enum):\n    _order_ = "A B"\n    _ignore_ = ["t"]\n    t = 5\n    A = $\n    B = $\nv = list(Z)
§enum.unique\nclass Z(enum.Enum):\n    A = $\n    B = $\nv = Z.A == Z.B
§dataclasses.dataclass(order=True)\nclass Z:\n    a: object\n    b: object = $\nv = Z($) == Z($), Z($, $) < Z($), Z($) >= Z($), Z($)
§dataclasses.dataclass(frozen=True)\nclass Z:\n    a: object\n    b: object = dataclasses.field(default=$, repr=False)\nz = Z($)\nv = z, {z: 1}[z], dataclasses.replace(z, a=$), z == z
§dataclasses.dataclass(frozen=True)\nclass Z:\n    a: object\nz = Z($)\nz.a = 5
§dataclasses.dataclass\nclass Z:\n    a: object = $\n    b: list = dataclasses.field(default_factory=list, kw_only=True)\n    def __post_init__(self): self.c = self.a\nv = Z(), Z($).c, Z(b=$), dataclasses.asdict(Z($)), Z() == Z()
§dataclasses.dataclass(eq=False, kw_only=True)\nclass Z:\n    a: object\n    c: typing.ClassVar[int] = 3\nv = Z(a=$) == Z(a=$), Z(a=$), dataclasses.fields(Z), Z($)
§dataclasses.dataclass(unsafe_hash=True)\nclass Z:\n    a: object\nv = {Z(#): 1}, Z(#) in {Z(#): 2}
§dataclasses.dataclass\nclass Z(Point):\n    z: object = $\nv = Z($, $, $), Z(1) == Point(1), Z(1, 2) < Z(1, 3)
match $:\n    case int(): v = "int"\n    case str(): v = "str"\n    case [a, *b]: v = (a, b)\n    case {"a": a, **r}: v = (a, r)\n    case Point(x=x): v = x\n    case Colour.RED: v = "red"\n    case _: v = "none"
match $:\n    case (1 | 2) as q: v = q\n    case Row(a, b): v = a, b\n    case bytes(q): v = q\n    case [[a], *_]: v = a\n    case None: v = 0\n    case w if w: v = "w"
try:\n    v = $.@($)\nexcept (TypeError, ValueError) as e: v = type(e).__name__, e.args, str(e), repr(e)
try:\n    v = ~($)\nexcept Exception as e: print(e)
try:\n    v = ~($, $)\nexcept Exception as e: print("error:", e, f"{e} {e!r}", "%s" % e, [e])
try: raise ExceptionGroup("g", [ValueError(1)])\nexcept* ValueError as e: v = 1
try:\n    raise KeyError($) from ValueError($)\nexcept LookupError as e:\n    e.add_note("n")\n    v = e, e.args
def z(*a, k=$, **m): return a, k, m\nv = z($, *[1, 2], k=$, **{"q": $})
def z(a, /, b, *, c): return a, b, c\nv = z($, b=$, c=$)
def z(a, b): return a\nv = z($)
def z(a): return a\nv = z($, $)
def z(*, q): return q\nv = z(q=1, r=$)
v = [x for x in $], {x: 1 for x in $}, [y for x in [[1], $] for y in x]
v = sorted($, key=lambda q: str(q)), max($, default=$), sum($), list(reversed($))
v = f"{$!r:>10} {$} {$:>5} {$:x}"
v = "{} {!r} {:>5}".format($, $, $)
v = "%s %r %5s %d" % ($, $, $, $)
v = "%x %o %c" % (#, #, #)
v = format($, $)
v = json.loads(json.dumps($, sort_keys=True, indent=#))
v = json.dumps($, separators=(",", ":"), ensure_ascii=False)
v = struct.unpack("<hB", struct.pack("<hB", #, #))
v = struct.pack($, $)
v = re.sub($, "-", $), re.split($, $)
v = [m.span() for m in re.finditer($, $)]
v = int($, #), int($)
v = (#).to_bytes(#, "big"), (#).to_bytes(4, "little", signed=True)
v = D($) + D($), D($) * 3, D($).quantize(D("0.01")), round(D($), 1), D($) == #, D($) // 2, D($) % 3, -D($)
v = D(#) ** 2, divmod(D(#), 7), int(D($)), f"{D($):.3f}", f"{D($):>12,}", str(D($)), D((0, (1, 2), #))
a, b = $\nv = b
a, *b = $\nv = a, b
v = $[#], $[#:], $[::#]
q = $\nq[#] = $\nv = q
q = $\ndel q[#]\nv = q
q = $\nq += $\nv = q
q = $\nq.z = 1\nv = q.z
q = $\ndel q.name\nv = q
v = $ < $, $ == $, $ != $
v = not $, -$, +$
v = ¬$
v = $ if $ else $
v = isinstance($, (int, str, Colour)), isinstance($, $), issubclass($, $)
v = $.@
v = getattr($, "@", $)
v = ~($, $, $)
v = ~($, $)
v = ~($)
v = ~()
v = $.@($)
v = $.@()
v = $.@($, $)
v = list(~($, $))
v = list(~($))
v = $ ^ $
class Z:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == $\n    def __hash__(self): return #\nv = Z(1) == 2, {Z($): 1}, Z(1) in [1, $], Z(3) in {Z(3): 1}
class Z(abc.ABC):\n    §abc.abstractmethod\n    def q(self): pass\n    §abc.abstractmethod\n    def r(self): pass\nv = Z()
class Z:\n    §property\n    def q(self): return $\n    §q.setter\n    def q(self, v): self.w = v\nz = Z()\nz.q = $\nv = z.q, z.w
class Z:\n    §property\n    def q(self): return $\nz = Z()\nz.q = $
class Z(S):\n    def up(self): return self.upper()\nv = Z($).up(), Z("a") + $
class Z(I):\n    pass\nv = Z(#) + #, Z(#) == #, Z(#) // #, f"{Z(#):>4}"
class Z(Exception):\n    def __str__(self): return "mine"\ntry: raise Z($)\nexcept Z as e: v = str(e), repr(e), e.args
z = functools.partial(~, $)\nv = z($)
z = gen(#)\nv = next(z), list(z), next(z, $)
z = iter($)\nv = next(z)
def z(n): return z(n)\nv = z(1)
v = undefined_name
if $: u = 1\nv = u
v = "".join($), ",".join($)
v = b"".join($), bytes($), bytearray($)
v = hash
v = collections.Counter($) - collections.Counter($), collections.Counter($) & collections.Counter($)
v = collections.Counter($).most_common(#), collections.Counter($).total()
q = collections.deque($, #)\nq.appendleft($)\nq.rotate(#)\nv = q
q = collections.OrderedDict($)\nq.move_to_end($)\nv = q
q = dict($)\nq |= $\nv = q | {}, list(q), q.popitem()
q = list($)\nq.sort(key=lambda k: str(k), reverse=True)\nq.insert(#, $)\nv = q, q.index($)
q = set($)\nq |= set($)\nv = sorted(q), q == $, q <= set($), len(q ⊕ set($))
Z = collections.namedtuple($, $)\nv = Z(1, 2), Z._fields
v = Row($, $), Row($)._replace(a=$), Row(a=$), Pair($, $)._asdict(), Row(1) == (1, "b"), Row(1) < Row(2)
v = str($), repr($), ascii($), bool($)
print($, $, sep=$)\nv = 1
with $ as q: v = q
assert $, $
raise $
for q in $: v = q
while $: break\nv = 1
v = (lambda *a, **k: (a, k))(*$, **$)
v = 1 if (w := $) else w
v = type($), type($).__name__
v = str.lower($), list.append($, $), dict.get($, $), int.to_bytes($, $, $)
v = bisect.bisect($, $), heapq.nsmallest(#, $), heapq.nlargest(#, $)
v = math.comb(#, #), math.isqrt(#), math.gcd(#, $), math.factorial(#)
v = base64.b64decode($), base64.b64encode($)
v = $.encode($), $.decode($)
v = list(zip($, $, strict=True))
v = list(map($, $)), list(filter($, $))
v = pow(#, #, #), round(#, -1), divmod(#, #), # // #, # % #
v = chr(#), ord($), hex(#), bin(#), oct(#)
v = range(#, #, #), list(range(#)), $ in range(#), range(#)[#]
`), "\n")

// generator draws programs.
type generator struct{ rand *rand.Rand }

func (g *generator) pickOne(from []string) string { return from[g.rand.IntN(len(from))] }

var numbers = strings.Fields("0 1 2 3 5 -1 -2 8 16 100 -128 1000 2**31 -2**33 10**20")

// drawnProgram is a program: its source, and the text of its body.
type drawnProgram struct {
	source, text string
	deployed     bool // it is judged as a deploy, and does not run
}

// newProgram is a body, after the parts of head that it names.
func (g *generator) newProgram() drawnProgram {
	text := g.newBody()
	var b strings.Builder
	for _, p := range parts {
		if p.names.MatchString(text) {
			b.WriteString(p.text)
		}
	}
	fmt.Fprintf(&b, "def f(p):\n    v = None\n%s    return repr(v).encode(\"utf-8\", \"replace\")\n", text)
	return drawnProgram{source: b.String(), text: text}
}

// part is a statement of head, and the names that it makes.
type part struct {
	text  string
	names *regexp.Regexp
}

// parts are the statements of head, each of which needs only imports.
var parts = splitHead(head)

var (
	imported = regexp.MustCompile(`^import (\w+)`)
	begun    = regexp.MustCompile(`^(?:from decimal import Decimal as|class|def)? ?(\w+)`)
)

func splitHead(head string) (all []part) {
	var decorators string
	for line := range strings.Lines(head) {
		switch {
		case strings.HasPrefix(line, " "):
			all[len(all)-1].text += line
			continue
		case strings.HasPrefix(line, "@"):
			decorators += line
			continue
		}
		if strings.HasPrefix(line, "import dataclasses, ") {
			all = append(all, part{line, regexp.MustCompile("")}) // what the others are made with
			continue
		}
		name := begun.FindStringSubmatch(line)[1]
		if m := imported.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if name == "Row" || name == "Point" {
			name += "|Z"
		}
		all = append(all, part{decorators + line, regexp.MustCompile(`\b(?:` + name + `)\b`)})
		decorators = ""
	}
	return all
}

// newBody is a template with the pieces drawn for it.
func (g *generator) newBody() string {
	template := strings.ReplaceAll(g.pickOne(templates), `\n`, "\n")
	var b strings.Builder
	for _, c := range template {
		switch c {
		case '$':
			b.WriteString(g.newValue())
		case '#':
			b.WriteString("(" + g.pickOne(numbers) + ")")
		case '@':
			b.WriteString(g.pickOne(methods))
		case '~':
			b.WriteString(g.pickOne(functions))
		case '^':
			b.WriteString(g.pickOne(binary))
		default:
			b.WriteRune(c)
		}
	}
	return literals.Replace("    "+strings.ReplaceAll(b.String(), "\n", "\n    ")) + "\n"
}

// literals are the marks of a template other than places to fill.
var literals = strings.NewReplacer("¬", "~", "⊕", "^", "§", "@")

func (g *generator) newValue() string {
	v := g.pickOne(values)
	if strings.HasPrefix(v, "lambda") {
		v = "(" + v + ")"
	}
	if len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') || strings.Contains(v, " | ") || strings.Contains(v, " / ") {
		v = "(" + v + ")"
	}
	return v
}
