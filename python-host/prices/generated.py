"""Programs made from the host's tables: operators, built-in functions, methods and library functions.

Arguments are combined, and a combination is used if a trial with small arguments succeeds."""

import itertools
import json

import child
from handlers import wrap_body
from host import builtin_names, chain, imports, meter, outcome, program, serving, warmup
from host.attribute_tables import TABLE

SMALL, LARGE = 3, 1500  # how large the arguments of a trial and of a program are
MOST = 5  # programs of one function or method
TRIAL_CYCLES = 200_000

SETUP = """\
class Plain: pass
class Other:
    def __eq__(self, other): return False
    def __hash__(self): return 7
    def __lt__(self, other): return True
@dataclasses.dataclass(order=True)
class Record:
    a: int = 1
    b: object = None
Row = collections.namedtuple('Row', ['f%d' % i for i in range(min(N, 200))])
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
class Bits(enum.Flag):
    A = 1
    B = 2
    C = 4
def one(x): return x
def two(x, y): return x
def none(): return 7
"""
VALUES = {  # name → expression, with N for its size
    "int": "(1 << N * 40) - 3", "seven": "7", "negative": "-(1 << N * 40)", "str": "'ab' * N", "wide": "'\\U0001f600x' * N", "word": "'a'",
    "bytes": "b'ab' * N", "bytearray": "bytearray(b'ab' * N)", "list": "list(range(N))", "texts": "['x%d' % i for i in range(N)]",
    "rows": "[(i, [i]) for i in range(N)]", "objects": "[Plain() for i in range(N)]", "others": "[Other() for i in range(N)]",
    "tuple": "tuple(range(N))", "set": "set(range(N))", "frozenset": "frozenset(range(N))", "dict": "{i: str(i) for i in range(N)}",
    "named": "{'k%d' % i: i for i in range(N)}", "range": "range(1 << N * 40)", "short range": "range(N)",
    "deque": "collections.deque(range(N))", "Counter": "collections.Counter(range(N))",
    "OrderedDict": "collections.OrderedDict([(i, i) for i in range(N)])",
    "defaultdict": "collections.defaultdict(int, {i: i for i in range(N)})",
    "Decimal": "decimal.Decimal('1.' + '7' * min(N, 120))", "one": "one", "two": "two", "none": "none", "class": "Plain",
    "instance": "Plain()", "record": "Record(1, list(range(N)))", "Row": "Row(*range(min(N, 200)))",
    "member": "Colour.BLUE", "flags": "Bits.A | Bits.C",
    "None": "None", "types": "(int, str) * N", "union": "int | str | list | dict | None", "keys": "{i: 0 for i in range(N)}.keys()",
    "items": "{i: 0 for i in range(N)}.items()", "values": "{i: 0 for i in range(N)}.values()", "json": "json.dumps(list(range(N)))",
    "pattern": "re.compile('[a-m]+b')", "match": "re.match('(?P<x>a)(b)', 'ab' * N)", "digest": "hashlib.sha256(b'x')",
    "error": "ValueError('x' * N)",
    "type": "int", "generator": "iter(list(range(N)))",
}
PAIRED = "int word list rows dict one type".split()
SKIPPED = {"print", "cowboy_sdk", "pvm_host", "super", "object", "property", "classmethod", "staticmethod"}
FORMS = (
    "-v0", "+v0", "~v0", "not v0", "v0[1]", "v0[7]", "v0[:]", "v0[1:]", "v0[::-1]", "a, *b = v0", "f'{v0}'", "f'{v0!r}'",
    "f'{v0:>9}'", "'%s' % (v0,)", "'%r' % (v0,)", "for x in v0: pass", "one(*v0)", "none(**v0)", "[*v0]", "{*v0}", "{**v0}",
    "(lambda *a: 0)(*v0)", "(lambda **k: 0)(**v0)", "[x for x in v0]", "{x for x in v0}", "{x: 0 for x in v0}", "sorted(v0)",
    "min(v0)", "max(v0)", "sum(v0)", "isinstance(v0, int)", "isinstance(7, v0)", "{v0: 1}", "{v0}", "d = {}; d[v0] = 1",
    "hasattr(v0, 'zzz')", "getattr(v0, 'zzz', 0)", "x = [v0]; x += v0", "x = v0; x += x", "x = v0; x *= 2",
    "del v0[0]; v0.append(1)", "v0[0:1] = [1, 2]", "json.dumps(v0)", "ValueError(v0)", "str(ValueError(v0))", "repr((v0, v0))",
    "v0 == [*v0]", "(v0,) == (v0,)", "[v0] < [v0]", "v0 in [v0]",
)
TYPES = (
    "int str bytes bytearray list tuple dict set frozenset range bool dict.fromkeys int.from_bytes str.maketrans bytes.fromhex").split()
KINDS = (
    "int str bytes bytearray list tuple dict set frozenset range deque Counter OrderedDict defaultdict Decimal keys pattern match").split()
OPERATORS = "+ - * // % ** << >> & | ^ == != < <= in is".split()


def setup_of(names, n):
    """The lines that make the arguments of these names."""
    return "N = %d\n" % n + SETUP + "".join("v%d = %s\n" % (i, VALUES[name]) for i, name in enumerate(names))


def find_succeeding(expressions):
    """Of (expression, names of its arguments), those that a trial with small arguments ends."""
    found = []
    for at in range(0, len(expressions), 40):
        found += run_trial(expressions[at:at + 40])
    return found


def run_trial(expressions):
    """The expressions that succeed. An expression without an end is worth a program."""
    ended = child.run_in_child(lambda: try_expressions(expressions))
    if isinstance(ended, list):
        return [expressions[i] for i in ended]
    half = len(expressions) // 2
    return run_trial(expressions[:half]) + run_trial(expressions[half:]) if half else expressions


def try_expressions(expressions):
    """The numbers of the expressions that succeed; None if one of them has no end."""
    body = "good = []\n"
    for i, (expression, names) in enumerate(expressions):
        body += "".join("v%d = %s\n" % (k, VALUES[name]) for k, name in enumerate(names))
        body += "try:\n    %s\n    good.append(%d)\nexcept Exception: pass\n" % (expression, i)
    body += "return repr(good).encode()"
    code = program.load_source(wrap_body(body, "N = %d\n" % SMALL + SETUP), imports.is_exported)
    about = serving.CALLED.named(serving.CALLED.read(warmup.CALL))
    chain.now = chain.Message(about, "call")
    meter.begin_message(TRIAL_CYCLES)
    ended, fields = outcome.run_message(lambda _: code, b"", "call", "f", b"")
    return json.loads(fields[0]) if ended == "ok" else None


def choose_spread(expressions):
    """At most MOST of those that succeed, spread over all."""
    good = find_succeeding(expressions)
    step = max(len(good) / MOST, 1)
    return [good[int(i * step)] for i in range(min(MOST, len(good)))]


def argument_combinations(most=2):
    yield ()
    for name in VALUES:
        yield (name,)
    if most > 1:
        yield from itertools.product(PAIRED, PAIRED)


def as_program(expression, names):
    label = expression
    for i, name in enumerate(names):
        label = label.replace("v%d" % i, "<%s>" % name)
    return label, setup_of(names, LARGE), expression


def calls_with_arguments(f, first=(), most=2):
    """Each combination comes after the first arguments."""
    for names in argument_combinations(most):
        names = first + names
        yield "%s(%s)" % (f, ", ".join("v%d" % i for i in range(len(names)))), names


def function_names():
    """The names of the functions that libraries and built-ins offer."""
    for name in sorted(builtin_names.plain_names()):
        if name not in SKIPPED:
            yield name
    for name in TYPES:
        yield name
    for module in sorted(imports.MAKERS) + sorted(imports.SOURCES):
        if module.split(".")[0] not in SKIPPED and "." not in module:
            for name in sorted(vars(type(load_library(module)))):
                if not name.startswith("_") and callable(getattr(load_library(module), name)) and name not in ("abc",):
                    yield "%s.%s" % (module, name)


def load_library(module):
    return imports.make_package(module) if module in imports.MAKERS else load_shim(module)


SHIMS = {}


def load_shim(module):
    if module not in SHIMS:
        about = serving.CALLED.named(serving.CALLED.read(warmup.CALL))
        chain.now = chain.Message(about, "call")
        saved = meter.begin_message(TRIAL_CYCLES)
        SHIMS[module] = imports.load_shim(module)
        meter.end_message(saved)
    return SHIMS[module]


def method_names():
    """(type's value, name) of each method of a built-in value."""
    for kind in KINDS:
        names = set()
        for t in type_of(kind).__mro__:
            names |= set(TABLE.get(t, ()))
        for name in sorted(names):
            yield kind, name


def type_of(kind):
    import collections
    import decimal
    import re
    types = {"keys": type({}.keys()), "pattern": re.Pattern, "match": re.Match, "Decimal": decimal.Decimal, "deque": collections.deque,
             "Counter": collections.Counter, "OrderedDict": collections.OrderedDict, "defaultdict": collections.defaultdict}
    return types.get(kind) or getattr(__import__("builtins"), kind)


def call_programs(i, n):
    """Of each n-th function and method from the i-th on."""
    for f in list(function_names())[i::n]:
        for expression, names in choose_spread(list(calls_with_arguments(f))):
            yield as_program(expression, names)
    for kind, name in list(method_names())[i::n]:
        many = [("v0.%s(%s)" % (name, ", ".join("v%d" % (i + 1) for i in range(len(names)))), (kind,) + names)
                for names in itertools.chain([()], ((n,) for n in VALUES), itertools.product(("seven", "word", "str"), repeat=2))]
        for expression, names in choose_spread(many):
            yield as_program(expression, names)


def operation_programs(i, n):
    """Of each n-th operator and form from the i-th on."""
    values = [n for n in VALUES if n != "generator"]
    for o in OPERATORS[i::n]:
        many = [("v0 %s v1" % o, names) for names in itertools.product(values, values)]
        for expression, names in pick_evenly(find_succeeding([m for m in many if is_pair_wanted(*m[1])]), 40):
            yield as_program(expression, names)
    for form in FORMS[i::n]:
        many = [(form, (name,)) for name in values]
        for expression, names in find_succeeding(many):
            yield as_program(expression, names)


def is_pair_wanted(a, b):
    """One of each pair of types, and all with small arguments."""
    return a <= b or "seven" in (a, b) or "word" in (a, b)


def pick_evenly(found, most):
    step = max(len(found) / most, 1)
    return [found[int(i * step)] for i in range(min(most, len(found)))]
