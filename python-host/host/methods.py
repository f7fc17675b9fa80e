"""The methods of built-in types, each charged for the values it reads and makes.

They fill attribute_tables.TABLE: actors cannot read other attributes of a built-in value.
"""

import collections
import decimal
import functools
import types

from host import actor_code, formatting
from host.attribute_tables import TABLE
from host.costs import table
from host.hashing import charge_lookup, charge_lookups, rebuild, rebuild_if_shrunk
from host.meter import charge, iterator
from host.ops import at_once, compares, drain, drained, drained_pairs, equals, in_range, logarithm, mapping, put_each
from host.weights import HELD, ITEMS, KEYS, SETS, as_decimal, size, span, weigh, whole

MAX_FILL = 1 << 24  # characters that padding may make
CODECS = frozenset("utf-8 utf8 ascii latin-1 latin1 iso-8859-1".split())


def entry(types_, names):
    """Over a method of these types, under each of these names."""
    def put(function):
        for t in types_:
            for n in names.split():
                TABLE.setdefault(t, {})[n] = function
        return function
    return put


def entries(types_, names):
    """Over a function that makes the method of a name, given the name."""
    def put(make):
        for t in types_:
            for n in names.split():
                if hasattr(t, n):
                    TABLE.setdefault(t, {})[n] = make(n)
        return make
    return put


HEIRS = {dict: (collections.OrderedDict, collections.Counter, collections.defaultdict)}  # types of the libraries on built-in ones


def plain(names, types_, cost):
    """Methods that do what they do, for cost(value, args). An heir that has its own has its own entry: a base's method
    on an instance of it would break it."""
    for t in types_:
        for n in names.split():
            raw = getattr(t, n, None)
            if raw is None:
                continue
            TABLE.setdefault(t, {})[n] = _plain(raw, cost)
            for heir in HEIRS.get(t, ()):
                own = getattr(heir, n)
                if own is not raw:
                    TABLE.setdefault(heir, {})[n] = _plain(own, cost)


def _plain(raw, cost):
    def method(value, /, *args, **kwargs):
        charge(cost(value, args))
        return raw(value, *args, **kwargs)
    method.raw = raw
    return method


def sized(names, types_, cost):
    """Methods given a width: it is made a number once, before it is charged for."""
    for t in types_:
        for n in names.split():
            TABLE.setdefault(t, {})[n] = _sized(getattr(t, n), cost)


def _sized(raw, cost):
    def method(value, /, *args, **kwargs):
        if kwargs:
            args += tuple(kwargs.values())
        args = tuple(a if isinstance(a, (str, bytes, bytearray)) else whole(a) for a in args)
        charge(cost(value, args))
        return raw(value, *args)
    method.raw = raw
    return method


def one(_value, _args):
    return 1


def two(_value, _args):
    return 2


def length(value, _args):
    return size(value) * table.char


def halves(value, args):
    """A search backwards, or strip, may compare each place with all of its argument."""
    return size(value) * (1 + sum(map(size, args[:1])) // 16)


def heads(_value, args):
    first = args[0] if args else ()
    if isinstance(first, tuple):
        return size(first) + sum(map(size, tuple.__iter__(first))) // 16
    return 3 + size(first) // 16


def filled(value, args):
    width = whole(args[0]) if args else 8
    if width > MAX_FILL:
        raise OverflowError("padding wider than %d" % MAX_FILL)
    return size(value) + max(width, 0)


def tabs(value, args):
    width = whole(args[0]) if args else 8
    tabs = str.count(value, "\t") if isinstance(value, str) else value.count(b"\t")
    return size(value) + tabs * max(width, 0)


TEXTS = (str, bytes, bytearray)
plain("lower upper casefold capitalize title swapcase split splitlines partition find index count isalnum isalpha "
      "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper removeprefix "
      "removesuffix", TEXTS, length)
plain("rfind rindex rsplit rpartition strip lstrip rstrip", TEXTS, halves)
plain("startswith endswith", TEXTS, heads)
sized("center ljust rjust zfill", TEXTS, filled)
sized("expandtabs", TEXTS, tabs)
plain("hex", TEXTS, lambda v, _: 3 * size(v))
plain("translate", (bytes, bytearray), length)
plain("append clear copy reverse", (bytearray,), lambda v, _: 1 + len(v) // 16)
plain("pop remove insert", (bytearray,), lambda v, _: 1 + len(v) // 16)
plain("append", (list,), lambda v, _: table.list)
plain("pop", (list,), lambda v, a: table.list + (len(v) // 16 if a else 0))
plain("insert reverse copy", (list,), lambda v, _: table.list + len(v) // HELD)
plain("clear", (list, set, dict), two)
plain("keys values items", (dict,), two)
plain("copy", (dict, set, frozenset), lambda v, _: table.dict * len(v) + 1 + (charge_lookups(0, v) or 0))
plain("bit_length bit_count conjugate", (int,), lambda v, _: 1 + (int.bit_length(v) >> 4))
plain("send close", (types.GeneratorType,), one)
TABLE[iterator] = {}
plain("append appendleft pop popleft clear", (collections.deque,), two)
plain("rotate reverse copy insert", (collections.deque,), lambda v, _: table.list + len(v))
plain("most_common elements total", (collections.Counter,), lambda v, _: 30 + len(v) * (1 + logarithm(len(v))) * 3)
plain("as_tuple adjusted is_nan is_zero is_signed is_finite is_infinite copy_abs copy_negate copy_sign compare normalize "
      "quantize to_integral_value to_integral_exact sqrt scaleb same_quantum max min fma remainder_near canonical",
      (decimal.Decimal,), lambda _, args: 40 + sum(as_decimal(int.bit_length(a)) for a in args if isinstance(a, int)))


@entry(TEXTS, "join")
def join(glue, parts, /):
    if type(glue) is bytearray:
        with memoryview(glue):  # it may not change its size meanwhile
            parts = drain(parts)
    else:
        parts = drain(parts)
    total = size(glue) * len(parts) + len(parts)
    for p in parts:
        if isinstance(p, (str, bytes, bytearray)):
            total += size(p)
    charge(table.str + total * table.char)
    return glue.join(parts)


@entry(TEXTS, "replace")
def replace(value, old, new, count=-1, /):
    kind = str if isinstance(value, str) else type(value)
    charge(table.str + size(value))
    n, count = kind.count(value, old), whole(count)
    if count >= 0:
        n = min(n, count)
    charge(max(size(value) + n * (size(new) - size(old)), 0))
    return kind.replace(value, old, new, count)


@entry((str,), "translate")
def translate(value, to, /):
    if not isinstance(to, dict):
        raise TypeError("translate takes a dict")
    charge(len(to) + size(value) * (2 + max(map(size, dict.values(to)), default=0)))
    charge_lookups(len(to), to)
    return str.translate(value, to)


@entry((str,), "encode")
def encode(value, /, encoding="utf-8", errors="strict"):
    charge(size(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.encode(encoding, errors)


@entry((bytes, bytearray), "decode")
def decode(value, /, encoding="utf-8", errors="strict"):
    charge(size(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.decode(encoding, errors)


entry((str,), "format")(formatting.str_format)


@entries((list, bytearray, collections.deque), "extend extendleft")
def extending(name):
    def extend(value, items, /):
        if type(value) is not bytearray and not at_once(items):
            return put_each(value.append if name == "extend" else value.appendleft, items)
        items = drain(items)
        charge(table.list * len(items))
        return getattr(value, name)(items)
    return extend


@entry((list,), "sort")
def sort(value, /, *, key=None, reverse=False):
    sort_values(value, key, reverse)


def sort_values(values, by, reverse):
    """Sorts a list. Charged for n·log n comparisons, each as costly as its operands."""
    if not isinstance(reverse, int):
        raise TypeError("reverse is True or False")  # 3.12 takes any value for one of them
    n = len(values)
    charge(table.sort + n * logarithm(n))
    if by is None:
        weigh_times(values, logarithm(n) + 1)
        values.sort(reverse=bool(reverse))
        return values
    charge(n * table.call)
    keys, changed = keys_of(values, by)
    weigh_times(keys, logarithm(n) + 1)
    values.sort(key=functools.partial(next, iter(keys)), reverse=bool(reverse))
    if changed:
        raise ValueError("list modified during sort")
    return values


def keys_of(values, by):
    """The keys of a list's elements, and whether the list was changed meanwhile: as in Python, by sees it empty."""
    kept = values[:]
    values.clear()
    try:
        keys = [by(v) for v in kept]
        changed = bool(values)
    finally:
        values[:] = kept
    return keys, changed


def weigh_times(values, times):
    for t in set(map(type, values)):
        if t is not int and t is not bool:
            for _ in range(times):
                weigh(values)
            return


SOUGHT = 3  # cycles of looking for a value, besides walking it and all that it is compared with


@entries((list, tuple, collections.deque), "index count remove")
def searching(name):
    def search(value, x, /, *rest):
        charge(SOUGHT)
        weigh(value)
        weigh(x)
        try:
            return getattr(value, name)(x, *rest)
        except ValueError as e:
            if actor_code.is_code(e):
                raise
        kind = "tuple" if isinstance(value, tuple) else type(value).__name__
        raise ValueError("%s.%s(x): x not in %s" % (kind, name, kind))  # Python's would print x its way
    return search


@entries((range,), "index count")
def searching_range(name):
    def search(value, x, /):
        n = in_range(x)
        if n is None:
            charge(SOUGHT)
            at = equals(value, x) if compares(x) else ()
            if name == "count":
                return sum(map(bool, at))
            for i, same in enumerate(at):
                if same:
                    return i
            raise ValueError("not in range")
        x = n
        span(value.start, max(value.stop, x), value.step, True)
        return getattr(value, name)(x)
    return search


@entry((dict,), "get")
def get(value, k, default=None, /):
    charge(table.dict)
    charge_lookup(len(value), k)
    return value.get(k, default)


@entry((dict,), "setdefault")
def set_default(value, k, default=None, /):
    charge(table.dict)
    charge_lookup(len(value), k)
    return value.setdefault(k, default)


@entry((dict,), "pop")
def take(value, k, /, *rest):
    charge(table.dict)
    charge_lookup(len(value), k)
    found = value.pop(k, *rest)
    rebuild_if_shrunk(value)
    return found


@entry((dict,), "popitem")
def take_last(value, /):
    charge(table.dict)
    if not value:
        raise KeyError("nothing is in it")
    for k in reversed(value):
        charge_lookup(len(value), k)
        break
    found = value.popitem()
    rebuild_if_shrunk(value)
    return found


@entry((collections.OrderedDict,), "popitem")
def take_end(value, /, last=True):
    charge(table.dict)
    for k in reversed(value) if last else value:
        charge_lookup(len(value), k)
        break
    found = value.popitem(last)
    rebuild_if_shrunk(value)
    return found


@entry((collections.OrderedDict,), "move_to_end")
def move_to_end(value, /, key, last=True):
    charge(table.dict)
    charge_lookup(len(value), key)
    value.move_to_end(key, last)


@entry((dict,), "update")
def update(value, /, *args, **kwargs):
    charge(2)
    if len(args) > 1:
        raise TypeError("update takes at most 1 argument, besides names")
    for a in args:
        error = None
        if isinstance(value, collections.Counter):
            a = () if a is None else a
            a, error = (a, None) if isinstance(a, dict) else drained(a)
        elif not hasattr(a, "keys"):
            a, error = drained_pairs(a)
        else:
            a = mapping(a)
        put_all(value, a)
        value.update(a)
        if error is not None:
            raise error
    put_all(value, kwargs)
    value.update(kwargs)


COUNTED = 12  # cycles per element of Counter's work in Python


def put_all(value, a):
    """Charges for putting all of a, a mapping or pairs or what is counted, into value."""
    if not a:
        return
    weigh(a)
    charge(table.dict * len(a))
    if isinstance(value, collections.Counter):
        charge(COUNTED * (4 + len(a)))
    pairs = type(a) is list and not isinstance(value, collections.Counter)
    charge_lookups(len(value), [p[0] for p in a if p] if pairs else a)


@entry((collections.Counter,), "subtract")
def subtract(value, iterable=None, /, **kwargs):
    charge(4)
    given, error = (iterable, None) if isinstance(iterable, dict) else drained(() if iterable is None else iterable)
    for other in (given, kwargs):
        if other:  # Python looks long at what it subtracts, be it empty
            put_all(value, other)
            value.subtract(other)
        if error is not None:
            raise error


@entries((set,), "add discard remove")
def changing(name):
    def change(value, x, /):
        charge(5)
        charge_lookup(len(value), x)
        found = getattr(value, name)(x)
        if name != "add":
            rebuild_if_shrunk(value)
        return found
    return change


@entry((set,), "pop")
def pop(value, /):
    if len(value) > 1:
        raise TypeError("set.pop takes an element that nodes do not agree on: sort first")
    if not value:
        raise KeyError("nothing is in it")
    return value.pop()


@entries((set, frozenset), "update union intersection difference symmetric_difference difference_update "
         "intersection_update symmetric_difference_update issubset issuperset isdisjoint")
def combining(name):
    def combine(value, /, *others):
        charge(5 * (len(value) + 1))
        weigh(value)
        ready, error = [], None
        for o in others:
            if error is not None:
                break
            o, error = (o, None) if isinstance(o, SETS) else drained(o)
            if error is not None and name not in ("update", "difference_update"):
                raise error  # these take all before they change anything
            charge(5 * len(o))
            weigh(o)
            n = max(len(value), len(o))
            charge_lookups(n, value)
            charge_lookups(n, o)
            ready.append(o)
        found = getattr(value, name)(*ready)
        if name.endswith("_update"):
            rebuild(value)
        if error is not None:
            raise error
        return found
    return combine


@entry(KEYS + ITEMS, "isdisjoint")
def disjoint(value, other, /):
    other = drain(other)
    charge(table.dict * (len(value) + len(other)))
    weigh(other)
    charge_lookups(len(value), other)
    return value.isdisjoint(other)


@entry((int,), "to_bytes")
def to_bytes(value, /, length=1, byteorder="big", *, signed=False):
    length = whole(length)
    if length > 1 << 20:
        raise OverflowError("more than 1 MiB for an integer")
    charge(table.str + max(length, 0))
    return whole(value).to_bytes(length, byteorder, signed=signed)
