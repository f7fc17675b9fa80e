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
from host.hashing import charge_lookup, charge_lookups, charge_rebuild, rebuild_if_shrunk
from host.meter import charge, iterator
from host.ops import (
    at_once, check_mapping, compare_elements, drain_until_error, drain_value, drained_pairs, has_own_equality, in_range, logarithm,
    put_each,
)
from host.weights import HELD, ITEMS, KEYS, SETS, as_decimal, size_of, charge_span, weigh_value, exact_index

MAX_FILL = 1 << 24  # characters that padding may make
CODECS = frozenset("utf-8 utf8 ascii latin-1 latin1 iso-8859-1".split())


def add_entry(types_, names):
    """Over a method of these types, under each of these names."""
    def put_entry(function):
        for t in types_:
            for n in names.split():
                TABLE.setdefault(t, {})[n] = function
        return function
    return put_entry


def add_entries(types_, names):
    """Over a function that makes the method of a name, given the name."""
    def put_entries(make):
        for t in types_:
            for n in names.split():
                if hasattr(t, n):
                    TABLE.setdefault(t, {})[n] = make(n)
        return make
    return put_entries


HEIRS = {dict: (collections.OrderedDict, collections.Counter, collections.defaultdict)}  # types of the libraries on built-in ones


def add_plain(names, types_, cost):
    """Methods that do what they do, for cost(value, args). An heir that has its own has its own entry: a base's method
    on an instance of it would break it."""
    for t in types_:
        for n in names.split():
            raw = getattr(t, n, None)
            if raw is None:
                continue
            TABLE.setdefault(t, {})[n] = make_plain(raw, cost)
            for heir in HEIRS.get(t, ()):
                own = getattr(heir, n)
                if own is not raw:
                    TABLE.setdefault(heir, {})[n] = make_plain(own, cost)


def make_plain(raw, cost):
    def call_plain(value, /, *args, **kwargs):
        charge(cost(value, args))
        return raw(value, *args, **kwargs)
    call_plain.raw = raw
    return call_plain


def add_sized(names, types_, cost):
    """Methods given a width: it is made a number once, before it is charged for."""
    for t in types_:
        for n in names.split():
            TABLE.setdefault(t, {})[n] = make_sized(getattr(t, n), cost)


def make_sized(raw, cost):
    def call_sized(value, /, *args, **kwargs):
        if kwargs:
            args += tuple(kwargs.values())
        args = tuple(a if isinstance(a, (str, bytes, bytearray)) else exact_index(a) for a in args)
        charge(cost(value, args))
        return raw(value, *args)
    call_sized.raw = raw
    return call_sized


def price_one(_value, _args):
    return 1


def price_two(_value, _args):
    return 2


def price_length(value, _args):
    return size_of(value) * table.char


def price_search(value, args):
    """A search backwards, or strip, may compare each place with all of its argument."""
    return size_of(value) * (1 + sum(map(size_of, args[:1])) // 16)


def price_prefixes(_value, args):
    first = args[0] if args else ()
    if isinstance(first, tuple):
        return size_of(first) + sum(map(size_of, tuple.__iter__(first))) // 16
    return 3 + size_of(first) // 16


def price_filled(value, args):
    width = exact_index(args[0]) if args else 8
    if width > MAX_FILL:
        raise OverflowError("padding wider than %d" % MAX_FILL)
    return size_of(value) + max(width, 0)


def price_tabs(value, args):
    width = exact_index(args[0]) if args else 8
    tabs = str.count(value, "\t") if isinstance(value, str) else value.count(b"\t")
    return size_of(value) + tabs * max(width, 0)


TEXTS = (str, bytes, bytearray)
add_plain("lower upper casefold capitalize title swapcase split splitlines partition find index count isalnum isalpha "
          "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper removeprefix "
          "removesuffix", TEXTS, price_length)
add_plain("rfind rindex rsplit rpartition strip lstrip rstrip", TEXTS, price_search)
add_plain("startswith endswith", TEXTS, price_prefixes)
add_sized("center ljust rjust zfill", TEXTS, price_filled)
add_sized("expandtabs", TEXTS, price_tabs)
add_plain("hex", TEXTS, lambda v, _: 3 * size_of(v))
add_plain("translate", (bytes, bytearray), price_length)
add_plain("append clear copy reverse", (bytearray,), lambda v, _: 1 + len(v) // 16)
add_plain("pop remove insert", (bytearray,), lambda v, _: 1 + len(v) // 16)
add_plain("append", (list,), lambda v, _: table.list)
add_plain("pop", (list,), lambda v, a: table.list + (len(v) // 16 if a else 0))
add_plain("insert reverse copy", (list,), lambda v, _: table.list + len(v) // HELD)
add_plain("clear", (list, set, dict), price_two)
add_plain("keys values items", (dict,), price_two)
add_plain("copy", (dict, set, frozenset), lambda v, _: table.dict * len(v) + 1 + (charge_lookups(0, v) or 0))
add_plain("bit_length bit_count conjugate", (int,), lambda v, _: 1 + (int.bit_length(v) >> 4))
add_plain("send close", (types.GeneratorType,), price_one)
TABLE[iterator] = {}
add_plain("append appendleft pop popleft clear", (collections.deque,), price_two)
add_plain("rotate reverse copy insert", (collections.deque,), lambda v, _: table.list + len(v))
add_plain("most_common elements total", (collections.Counter,), lambda v, _: 30 + len(v) * (1 + logarithm(len(v))) * 3)
add_plain("as_tuple adjusted is_nan is_zero is_signed is_finite is_infinite copy_abs copy_negate copy_sign compare normalize "
          "quantize to_integral_value to_integral_exact sqrt scaleb same_quantum max min fma remainder_near canonical",
          (decimal.Decimal,), lambda _, args: 40 + sum(as_decimal(int.bit_length(a)) for a in args if isinstance(a, int)))


@add_entry(TEXTS, "join")
def join(glue, parts, /):
    if type(glue) is bytearray:
        with memoryview(glue):  # it may not change its size meanwhile
            parts = drain_value(parts)
    else:
        parts = drain_value(parts)
    total = size_of(glue) * len(parts) + len(parts)
    for p in parts:
        if isinstance(p, (str, bytes, bytearray)):
            total += size_of(p)
    charge(table.str + total * table.char)
    return glue.join(parts)


@add_entry(TEXTS, "replace")
def replace(value, old, new, count=-1, /):
    kind = str if isinstance(value, str) else type(value)
    charge(table.str + size_of(value))
    n, count = kind.count(value, old), exact_index(count)
    if count >= 0:
        n = min(n, count)
    charge(max(size_of(value) + n * (size_of(new) - size_of(old)), 0))
    return kind.replace(value, old, new, count)


@add_entry((str,), "translate")
def translate(value, to, /):
    if not isinstance(to, dict):
        raise TypeError("translate takes a dict")
    charge(len(to) + size_of(value) * (2 + max(map(size_of, dict.values(to)), default=0)))
    charge_lookups(len(to), to)
    return str.translate(value, to)


@add_entry((str,), "encode")
def encode(value, /, encoding="utf-8", errors="strict"):
    charge(size_of(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.encode(encoding, errors)


@add_entry((bytes, bytearray), "decode")
def decode(value, /, encoding="utf-8", errors="strict"):
    charge(size_of(value) * table.char)
    if encoding.lower() not in CODECS or errors not in ("strict", "ignore", "replace"):
        raise LookupError("encodings are utf-8, ascii and latin-1; errors strict, ignore and replace")
    return value.decode(encoding, errors)


add_entry((str,), "format")(formatting.str_format)


@add_entries((list, bytearray, collections.deque), "extend extendleft")
def make_extending(name):
    def extend_value(value, items, /):
        if type(value) is not bytearray and not at_once(items):
            return put_each(value.append if name == "extend" else value.appendleft, items)
        items = drain_value(items)
        charge(table.list * len(items))
        return getattr(value, name)(items)
    return extend_value


@add_entry((list,), "sort")
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
                weigh_value(values)
            return


SOUGHT = 3  # cycles of looking for a value, besides walking it and all that it is compared with


@add_entries((list, tuple, collections.deque), "index count remove")
def make_searching(name):
    def search_value(value, x, /, *rest):
        charge(SOUGHT)
        weigh_value(value)
        weigh_value(x)
        try:
            return getattr(value, name)(x, *rest)
        except ValueError as e:
            if actor_code.is_code(e):
                raise
        kind = "tuple" if isinstance(value, tuple) else type(value).__name__
        raise ValueError("%s.%s(x): x not in %s" % (kind, name, kind))  # Python's would print x its way
    return search_value


@add_entries((range,), "index count")
def searching_range(name):
    def search_range(value, x, /):
        n = in_range(x)
        if n is None:
            charge(SOUGHT)
            at = compare_elements(value, x) if has_own_equality(x) else ()
            if name == "count":
                return sum(map(bool, at))
            for i, same in enumerate(at):
                if same:
                    return i
            raise ValueError("not in range")
        x = n
        charge_span(value.start, max(value.stop, x), value.step, True)
        return getattr(value, name)(x)
    return search_range


@add_entry((dict,), "get")
def get(value, k, default=None, /):
    charge(table.dict)
    charge_lookup(len(value), k)
    return value.get(k, default)


@add_entry((dict,), "setdefault")
def set_default(value, k, default=None, /):
    charge(table.dict)
    charge_lookup(len(value), k)
    return value.setdefault(k, default)


@add_entry((dict,), "pop")
def take(value, k, /, *rest):
    charge(table.dict)
    charge_lookup(len(value), k)
    found = value.pop(k, *rest)
    rebuild_if_shrunk(value)
    return found


@add_entry((dict,), "popitem")
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


@add_entry((collections.OrderedDict,), "popitem")
def take_end(value, /, last=True):
    charge(table.dict)
    for k in reversed(value) if last else value:
        charge_lookup(len(value), k)
        break
    found = value.popitem(last)
    rebuild_if_shrunk(value)
    return found


@add_entry((collections.OrderedDict,), "move_to_end")
def move_to_end(value, /, key, last=True):
    charge(table.dict)
    charge_lookup(len(value), key)
    value.move_to_end(key, last)


@add_entry((dict,), "update")
def update(value, /, *args, **kwargs):
    charge(2)
    if len(args) > 1:
        raise TypeError("update takes at most 1 argument, besides names")
    for a in args:
        error = None
        if isinstance(value, collections.Counter):
            a = () if a is None else a
            a, error = (a, None) if isinstance(a, dict) else drain_until_error(a)
        elif not hasattr(a, "keys"):
            a, error = drained_pairs(a)
        else:
            a = check_mapping(a)
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
    weigh_value(a)
    charge(table.dict * len(a))
    if isinstance(value, collections.Counter):
        charge(COUNTED * (4 + len(a)))
    pairs = type(a) is list and not isinstance(value, collections.Counter)
    charge_lookups(len(value), [p[0] for p in a if p] if pairs else a)


@add_entry((collections.Counter,), "subtract")
def subtract(value, iterable=None, /, **kwargs):
    charge(4)
    given, error = (iterable, None) if isinstance(iterable, dict) else drain_until_error(() if iterable is None else iterable)
    for other in (given, kwargs):
        if other:  # Python looks long at what it subtracts, be it empty
            put_all(value, other)
            value.subtract(other)
        if error is not None:
            raise error


@add_entries((set,), "add discard remove")
def make_changing(name):
    def change_value(value, x, /):
        charge(5)
        charge_lookup(len(value), x)
        found = getattr(value, name)(x)
        if name != "add":
            rebuild_if_shrunk(value)
        return found
    return change_value


@add_entry((set,), "pop")
def pop(value, /):
    if len(value) > 1:
        raise TypeError("set.pop takes an element that nodes do not agree on: sort first")
    if not value:
        raise KeyError("nothing is in it")
    return value.pop()


@add_entries((set, frozenset), "update union intersection difference symmetric_difference difference_update "
             "intersection_update symmetric_difference_update issubset issuperset isdisjoint")
def make_combining(name):
    def combine_values(value, /, *others):
        charge(5 * (len(value) + 1))
        weigh_value(value)
        ready, error = [], None
        for o in others:
            if error is not None:
                break
            o, error = (o, None) if isinstance(o, SETS) else drain_until_error(o)
            if error is not None and name not in ("update", "difference_update"):
                raise error  # these take all before they change anything
            charge(5 * len(o))
            weigh_value(o)
            n = max(len(value), len(o))
            charge_lookups(n, value)
            charge_lookups(n, o)
            ready.append(o)
        found = getattr(value, name)(*ready)
        if name.endswith("_update"):
            charge_rebuild(value)
        if error is not None:
            raise error
        return found
    return combine_values


@add_entry(KEYS + ITEMS, "isdisjoint")
def is_disjoint(value, other, /):
    other = drain_value(other)
    charge(table.dict * (len(value) + len(other)))
    weigh_value(other)
    charge_lookups(len(value), other)
    return value.isdisjoint(other)


@add_entry((int,), "to_bytes")
def to_bytes(value, /, length=1, byteorder="big", *, signed=False):
    length = exact_index(length)
    if length > 1 << 20:
        raise OverflowError("more than 1 MiB for an integer")
    charge(table.str + max(length, 0))
    return exact_index(value).to_bytes(length, byteorder, signed=signed)
