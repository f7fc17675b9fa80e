"""The methods of built-in types, each charged for what it reads and makes.

TABLE is what surface lets actors read of a built-in value; what it lacks they
cannot.
"""

import collections
import decimal
import operator
import re
import types

import text
from costs import table
from meter import charge
from ops import SETS, VIEWS, canonical, drain, key, logarithm, mapping, moved, power, source, spread, weigh

MAX_FILL = 1 << 24  # characters that padding may make
CODECS = frozenset("utf-8 utf8 ascii latin-1 latin1 iso-8859-1".split())
TABLE = {}


def entry(types_, names):
    def put(function):
        for t in types_:
            for n in names.split():
                TABLE.setdefault(t, {})[n] = function(n) if function.__name__ == "make" else function
        return function
    return put


def plain(names, types_, cost):
    """Methods that do what they do, for cost(value, args)."""
    for t in types_:
        for n in names.split():
            raw = getattr(t, n, None)
            if raw is None:
                continue
            TABLE.setdefault(t, {})[n] = _plain(raw, cost)


def _plain(raw, cost):
    def method(value, *args, **kwargs):
        charge(cost(value, args))
        return raw(value, *args, **kwargs)
    return method


def one(_value, _args):
    return 1


def length(value, _args):
    return len(value) * table.char


def halves(value, args):
    """A search backwards, or strip, may compare each place with all of its argument."""
    return len(value) * (1 + sum(len(a) for a in args[:1] if hasattr(a, "__len__")) // 16)


def heads(_value, args):
    first = args[0] if args else ()
    if isinstance(first, tuple):
        return len(first) + sum(len(x) for x in first if hasattr(x, "__len__")) // 16
    return 1 + (len(first) if hasattr(first, "__len__") else 0) // 16


def filled(value, args):
    width = operator.index(args[0]) if args else 8
    if width > MAX_FILL:
        raise OverflowError("padding wider than %d" % MAX_FILL)
    return len(value) + max(width, 0)


def tabs(value, args):
    width = operator.index(args[0]) if args else 8
    return len(value) + value.count("\t" if isinstance(value, str) else b"\t") * max(width, 0)


TEXTS = (str, bytes, bytearray)
plain("lower upper casefold capitalize title swapcase split splitlines partition find index count isalnum isalpha "
      "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper removeprefix "
      "removesuffix", TEXTS, length)
plain("rfind rindex rsplit rpartition strip lstrip rstrip", TEXTS, halves)
plain("startswith endswith", TEXTS, heads)
plain("center ljust rjust zfill", TEXTS, filled)
plain("expandtabs", TEXTS, tabs)
plain("hex", TEXTS, lambda v, _: 3 * len(v))
plain("translate", (bytes, bytearray), length)
plain("append clear copy reverse", (bytearray,), lambda v, _: 1 + len(v) // 16)
plain("pop remove insert", (bytearray,), lambda v, _: 1 + len(v) // 16)
plain("append", (list,), lambda v, _: table.list)
plain("pop", (list,), lambda v, a: table.list + (len(v) // 16 if a else 0))
plain("insert reverse copy", (list,), lambda v, _: table.list + len(v) // 16)
plain("clear", (list, set, dict), lambda v, _: 1)
plain("popitem keys values items", (dict,), one)
plain("copy", (dict, set, frozenset), lambda v, _: table.dict * len(v) + 1)
plain("bit_length bit_count conjugate is_integer", (int,), one)
plain("send close", (types.GeneratorType,), one)
plain("append appendleft pop popleft clear", (collections.deque,), one)
plain("rotate reverse copy insert", (collections.deque,), lambda v, _: table.list + len(v))
plain("move_to_end", (collections.OrderedDict,), one)
plain("most_common elements total", (collections.Counter,), lambda v, _: len(v) * (1 + logarithm(len(v))) * 3)
plain("as_tuple adjusted is_nan is_zero is_signed is_finite is_infinite copy_abs copy_negate copy_sign compare normalize "
      "quantize to_integral_value to_integral_exact sqrt scaleb same_quantum max min fma remainder_near canonical",
      (decimal.Decimal,), lambda *_: 40)


@entry(TEXTS, "join")
def join(glue, parts):
    parts = drain(parts)
    total = len(glue) * len(parts)
    for p in parts:
        if isinstance(p, (str, bytes, bytearray)):
            total += len(p)
    charge(table.str + total * table.char)
    return glue.join(parts)


@entry(TEXTS, "replace")
def replace(value, old, new, count=-1):
    charge(table.str + len(value))
    n = value.count(old)
    if count >= 0:
        n = min(n, count)
    charge(max(len(value) + n * (len(new) - len(old)), 0))
    return value.replace(old, new, count)


@entry((str,), "translate")
def translate(value, to):
    if not isinstance(to, dict):
        raise TypeError("translate takes a dict")
    charge(len(value) * (1 + max((len(v) for v in to.values() if isinstance(v, str)), default=0)))
    return value.translate(to)


@entry((str,), "encode")
def encode(value, encoding="utf-8", errors="strict"):
    charge(len(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.encode(encoding, errors)


@entry((bytes, bytearray), "decode")
def decode(value, encoding="utf-8", errors="strict"):
    charge(len(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.decode(encoding, errors)


entry((str,), "format")(text.str_format)


@entry((list, bytearray, collections.deque), "extend extendleft")
def make(name):
    def extend(value, items):
        items = drain(items)
        charge(table.list * len(items))
        return getattr(value, name)(items)
    return extend


@entry((list,), "sort")
def sort(value, *, key=None, reverse=False):
    value[:] = sort_values(value[:], key, reverse)


def sort_values(values, by, reverse):
    """Charged for n·log n comparisons, each as costly as its operands."""
    n = len(values)
    charge(table.sort + n * logarithm(n))
    if by is None:
        weigh_times(values, logarithm(n) + 1)
        values.sort(reverse=bool(reverse))
        return values
    keys = [by(v) for v in values]
    weigh_times(keys, logarithm(n) + 1)
    return [values[i] for i in sorted(range(n), key=keys.__getitem__, reverse=bool(reverse))]


def weigh_times(values, times):
    for t in set(map(type, values)):
        if t is not int and t is not bool:
            for _ in range(times):
                weigh(values)
            return


@entry((list, tuple, collections.deque), "index count remove")
def make(name):
    def search(value, x, *rest):
        weigh(value)
        weigh(x)
        return getattr(value, name)(x, *rest)
    return search


@entry((range,), "index count")
def make(name):
    def search(value, x):
        if type(x) not in (int, bool):
            raise ValueError("not in range")
        return getattr(value, name)(x)
    return search


@entry((dict,), "get setdefault pop")
def make(name):
    def lookup(value, k, *rest):
        charge(table.dict)
        return getattr(value, name)(key(k), *rest)
    return lookup


@entry((dict,), "update")
def update(value, *args, **kwargs):
    for a in args:
        if isinstance(value, collections.Counter):
            a = a if isinstance(a, dict) else drain(a)
        elif not hasattr(a, "keys"):
            a = [tuple(drain(pair)) for pair in drain(a)]
        else:
            a = mapping(a)
        weigh(a)
        charge(table.dict * len(a))
        value.update(a)
    value.update(mapping(kwargs))


@entry((collections.Counter,), "subtract")
def subtract(value, other=()):
    other = other if isinstance(other, dict) else drain(other)
    weigh(other)
    charge(table.dict * len(other))
    value.subtract(other)


@entry((set,), "add discard remove")
def make(name):
    def change(value, x):
        charge(5)
        return getattr(value, name)(key(x))
    return change


@entry((set,), "pop")
def pop(value):
    if len(value) > 1:
        raise TypeError("set.pop takes an element that nodes do not agree on: sort first")
    return value.pop()


@entry((set, frozenset), "update union intersection difference symmetric_difference difference_update "
       "intersection_update symmetric_difference_update issubset issuperset isdisjoint")
def make(name):
    def combine(value, *others):
        charge(5 * (len(value) + 1))
        weigh(value)
        ready = []
        for o in others:
            o = o if isinstance(o, SETS) else drain(o)
            charge(5 * len(o))
            weigh(o)
            ready.append(o)
        return getattr(value, name)(*ready)
    return combine


@entry(VIEWS[:2], "isdisjoint")
def disjoint(value, other):
    other = drain(other)
    charge(table.dict * (len(value) + len(other)))
    weigh(other)
    return value.isdisjoint(other)


@entry((int,), "to_bytes")
def to_bytes(value, length=1, byteorder="big", *, signed=False):
    if length > 1 << 20:
        raise OverflowError("more than 1 MiB for an integer")
    charge(table.str + length)
    return int(value).to_bytes(length, byteorder, signed=signed)


# Attributes that are values, not methods.
PROPERTIES = {
    collections.deque: {"maxlen"}, range: {"start", "stop", "step"},
    int: {"real", "imag", "numerator", "denominator"},
}


FOUND = {}


def find(t, name):
    """How an instance of a type of the host's answers name: "value", a function, or None."""
    found = FOUND.get((t, name))
    if found is None:
        found = search(t, name)
        if found is not None:
            FOUND[t, name] = found
    return found


def search(t, name):
    for base in t.__mro__:
        if name in TABLE.get(base, ()):
            return TABLE[base][name]
        if name in PROPERTIES.get(base, ()):
            return "value"
    return None
