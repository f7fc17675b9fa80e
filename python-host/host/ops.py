"""Operators, subscripts and iteration of rewritten code.

The rule of this file: charge for an operation's reads and results before it is done. So nothing
runs or grows beyond the cycles that were paid.
"""

import operator
import sys
import types
from collections import Counter, deque
from decimal import Decimal

from host import enums, hashing, sealed
from host.actor_code import check_settable
from host.attributes import get_attribute
from host.costs import table
from host.formatting import format_percent
from host.hashing import charge_lookup, charge_lookups, charge_rebuild
from host.meter import ELEMENT, INT_BITS, Crash, charge, lazy_iterator, meter, end_slice
from host.weights import (
    ATOMS, BASES, HELD, ITEMS, KEYS, LEAST, MOVED, SETS, SIZED, SMALL, VALUES, VIEWS, as_decimal, charge_bits, charge_span, size_of,
    weigh_value,
    walk_length, weigh_atom, exact_index, is_wide)


def charge_comparison(value):
    """Charges a comparison: sets and dicts by looking up each element."""
    t = type(value)
    if t is int:
        if not LEAST < value < SMALL:
            weigh_atom(value)
        return value
    if t in ATOMS:
        weigh_atom(value)
        return value
    weigh_value(value)
    if isinstance(value, SETS) or isinstance(value, dict):
        charge_lookups(hashing.table_size(value), value)
    elif t in VIEWS:
        charge_lookups(len(value), value)
    return value


def charge_key(value):
    """A key or an element of an unknown table."""
    t = type(value)
    if t is not str and t is not bytes:
        weigh_value(value)
    return value


def charge_move(value):
    """A change in the middle of a sequence moves what follows."""
    if isinstance(value, dict):
        raise TypeError("a dict has no slices")  # 3.12 hashes a slice, 3.11 does not
    charge(size_of(value) // HELD)
    return value


def sort_elements(values):
    """The elements of a set in an order that is not the hash's."""
    found = list(values)
    if len(found) < 2:
        return found
    charge(2 * len(found))
    weigh_value(found)
    if not all(is_scalar(v) for v in found):
        raise TypeError("a set of such elements has no order that all nodes share: keep a list or a dict")
    try:
        charge(logarithm(len(found)) * len(found))
        return sorted(found)
    except TypeError:
        raise TypeError("a set of mixed elements has no order that all nodes share: keep a list or a dict") from None


def is_scalar(v):
    t = type(v)
    return t is int or t is str or t is bytes or t is bool or t is tuple and all(map(is_scalar, v))


def logarithm(n):
    return max(n, 1).bit_length() - 1


def iterate_value(value):
    """The iterable that for and comprehensions walk."""
    t = type(value)
    if t in SIZED:
        return lazy_iterator(iter(value), ELEMENT + price_wide_element(value)) if t is range and is_wide(value) else value
    if isinstance(value, SETS):
        return walk_set(value) if t is set and value else sort_elements(value)
    return value


def walk_set(value):
    """The elements of a set, which may not grow or shrink meanwhile."""
    return check_unchanged(value, len(value), sort_elements(value))


def check_unchanged(value, n, elements):
    for v in elements:
        yield v
        if len(value) != n:
            raise RuntimeError("Set changed size during iteration")


def price_wide_element(r):
    """The cycles of one element of a range whose ends are wide."""
    return 1 + (max(r.start.bit_length(), r.stop.bit_length(), r.step.bit_length()) >> 6)


def unpack_value(value):
    if isinstance(value, SETS):
        return sort_elements(value)
    if isinstance(value, enums.Flag):
        charge(FLAGS)
    return iterate_value(value) if type(value) is range else value


def spread_value(value):
    """The elements that *value and a starred target take: charged whole."""
    t = type(value)
    if t in SIZED:
        charge(walk_length(value) * (price_wide_element(value) if t is range and is_wide(value) else 1))
        return value
    return drain_value(value)


def drain_value(value):
    """All elements as a list: what is sized is paid for first, what is not
    pays by itself as it goes."""
    if isinstance(value, SETS):
        return sort_elements(value)
    t = type(value)
    if t in SIZED:
        charge(walk_length(value) * (price_wide_element(value) if t is range and is_wide(value) else 1))
        return list(value)
    if isinstance(value, enums.Flag):
        charge(FLAGS)
    charge(size_of(value))
    return [v for v in value]


def drain_until_error(value):
    """What drain has, and the error that ended it early, or None. Python takes elements one by one, so that those before an
    error have their effect."""
    if at_once(value):
        return drain_value(value), None
    charge(size_of(value))
    found = []
    try:
        for v in value:
            found.append(v)
    except Exception as e:
        return found, e
    return found, None


def drained_pairs(value):
    """The pairs of what a dict is updated with, and the error that ended them early, or None."""
    found, error = drain_until_error(value)
    pairs = []
    try:
        for pair in found:
            pairs.append(tuple(drain_value(pair)))
    except Exception as e:
        return pairs, e
    return pairs, error


def at_once(value):
    """Whether the elements of an iterable are there before they are asked for."""
    return isinstance(value, SETS) or type(value) in SIZED or type(value) is deque


def put_each(put, values):
    """Puts elements one by one, as Python extends a list: an error midway leaves those before it."""
    charge(size_of(values))
    n = 0
    try:
        for v in values:
            put(v)
            n += 1
    except Exception:
        charge(n * table.list)
        raise
    charge(n * table.list)


def charged_source(value):
    """An iterator over value that pays for each element, and for its own memory."""
    return lazy_iterator(iter(iterate_value(value)))


def check_sequence(value):
    return value if isinstance(value, (bytes, bytearray)) else drain_value(value)


def check_mapping(value, merged=1):
    """The mapping that ** takes, one of merged in a literal."""
    if isinstance(value, dict):
        charge(dict.__len__(value) * table.dict)
        for _ in range(merged):
            charge_lookups(0, value)
        return value
    if not hasattr(value, "keys"):
        raise TypeError("** takes a mapping")
    return {k: value[k] for k in drain_value(value.keys())}


SLICED = 4  # cycles of a slice, besides what it holds


def slice_of(value, low, high, step):
    """value[low:high:step], charged for its result before that is made."""
    n = size_of(value)
    for bound in (low, high, step):
        if type(bound) is int and not LEAST < bound < SMALL:
            weigh_atom(bound)
    if isinstance(value, dict):
        raise TypeError("a dict has no slices")  # 3.12 hashes a slice, 3.11 does not
    if type(value) is deque:
        raise TypeError("a deque has no slices")
    if n:
        made = len(range(*slice(low, high, step).indices(n)))
        charge(made // (MOVED if isinstance(value, (bytes, bytearray)) else HELD) + SLICED)
    else:
        charge(SLICED)
        if type(value) is range:
            charge_span(value.start, value.stop, value.step, True)
    return value[low:high:step]


def in_range(x):
    """The integer that a value equals, which may be an element of a range; None of any other value."""
    t = type(x)
    if t is int or t is bool:
        return x
    if isinstance(x, int):
        return int.__index__(x)
    if t is Decimal and x.is_finite() and abs(x.adjusted()) < RANGED and x == x.to_integral_value():
        charge(DECIMAL + RANGED)
        return int(x)
    return None


def has_own_equality(x):
    """Whether an object of an actor's says itself what it equals, so that an element of a range is looked for one by one."""
    t = type(x)
    return t.__module__ == "actor" and t.__eq__ is not object.__eq__


def compare_elements(r, x):
    """For each element of a range, whether x equals it."""
    for element in iterate_value(r):
        charge(table.arithmetic + ELEMENT)
        yield element == x


RANGED = 128  # digits of a Decimal that is looked for in a range


def contains_value(x, y):
    t = type(y)
    if t is range:
        found = in_range(x)
        if found is None:
            return has_own_equality(x) and any(compare_elements(y, x))
        x = found
        charge_span(y.start, max(y.stop, x), y.step, True)
        return x in y
    if isinstance(y, (dict, set, frozenset)) or t in KEYS + ITEMS:
        charge(table.dict)
        charge_lookup(len(y), x)
        return x in y
    if isinstance(y, (str, bytes, bytearray)):
        charge(size_of(y) // MOVED + 2)
        return x in y
    if isinstance(y, (list, tuple)) or t in VALUES or t is deque:
        weigh_value(y)
        weigh_value(x)
        return x in y
    if hasattr(t, "__contains__"):
        if isinstance(y, (enums.Flag, enums.EnumType)):
            charge(FLAGS)
        return x in y
    for element in iterate_value(y):
        charge(table.arithmetic)
        weigh_value(x)
        if element is x or element == x:
            return True
    return False


DECIMAL = 6  # cycles of an operation on Decimals in addition to its statement's
FLAGS = 150  # cycles of an operation on flags: the library's own Python


def charge_numbers(a, b):
    """Charges for a and b if they are numbers; returns whether both are integers."""
    if isinstance(a, int) and isinstance(b, int):
        n = max(int.bit_length(a), int.bit_length(b))
        if n > 64:
            charge(n >> 5)
        if isinstance(a, enums.Flag):
            charge(FLAGS)
        return True
    if type(a) is Decimal or type(b) is Decimal:
        charge(DECIMAL)
        if isinstance(a, int) or isinstance(b, int):
            charge(as_decimal(int.bit_length(a if isinstance(a, int) else b)))
    elif isinstance(a, enums.Flag):
        charge(FLAGS)
    return False


def charge_total(a, r):
    """Charges r, a sum of a or a difference: big integers may end as a small one."""
    charge_bits(r)
    n = int.bit_length(a) - int.bit_length(r)
    if n > 64:
        charge(n >> 6)


def add(a, b, do=operator.add):
    t = type(a)
    if t is int and type(b) is int:
        r = a + b
        if not (LEAST < r < SMALL and LEAST < a < SMALL):
            charge_total(a, r)
        return r
    if t is str or t is bytes:
        if type(b) is t:
            charge((len(a) + len(b)) * table.char)
    elif isinstance(a, (str, bytes)):
        charge(size_of(a) + size_of(b))
    elif isinstance(a, (list, tuple, bytearray)):
        if do is operator.iadd and isinstance(a, list):
            if not at_once(b):
                put_each(a.append, b)
                return a
            b = drain_value(b)
            charge(len(b) * table.list)
        else:
            charge(size_of(a) + size_of(b))
    elif t is deque:
        if do is operator.iadd:
            charge(table.list * len(a))
            if not at_once(b):
                put_each(a.append, b)
                return a
            b = drain_value(b)
            charge(table.list * len(b))
            return do(a, b)
        charge(table.list * (len(a) + size_of(b)))
    elif t is Counter:
        charge_repetition(a, b)
    else:
        charge_numbers(a, b)
    return do(a, b)


COUNTED = 12  # cycles per element of Counter's work in Python


def charge_repetition(a, b):
    charge(COUNTED * (size_of(a) + size_of(b)))
    charge_lookups(size_of(a), a)
    if isinstance(b, dict):
        charge_lookups(size_of(a), b)


def subtract(a, b, do=operator.sub):
    if type(a) is int and type(b) is int:
        r = a - b
        if not (LEAST < r < SMALL and LEAST < a < SMALL):
            charge_total(a, r)
        return r
    return combined_sub(a, b, do)


def repeat_sequence(sequence, n):
    if n > 0:
        charge(size_of(sequence) * n)


def mul(a, b, do=operator.mul):
    if type(a) is int and type(b) is int:
        if LEAST < a < SMALL and LEAST < b < SMALL:
            return a * b
        n, m = a.bit_length(), b.bit_length()
        if n + m > INT_BITS + 1:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(1 + (n >> 6) * (m >> 6) // 4 + (n + m >> 5))
        return do(a, b)
    if isinstance(a, int) and isinstance(b, int):
        if int.bit_length(a) + int.bit_length(b) > 1024:
            raise OverflowError("enumerations and classes on int multiply up to 1024 bits: use int(…)")
        return do(a, b)
    if isinstance(a, BASES) and hasattr(type(b), "__index__"):
        b = exact_index(b)
        repeat_sequence(a, b)
    elif isinstance(b, BASES) and hasattr(type(a), "__index__"):
        a = exact_index(a)
        repeat_sequence(b, a)
    else:
        charge_numbers(a, b)
    return do(a, b)


def make_division(do):
    def divide_values(a, b, do=do):
        if type(a) is int and type(b) is int:
            if not LEAST < a < SMALL:
                n, m = a.bit_length(), b.bit_length()
                charge(1 + (max(n - m, 0) >> 6) * (m >> 6) // 4 + (n >> 3))
            elif not LEAST < b < SMALL:
                charge(b.bit_length() >> 6)
        elif isinstance(a, int) and isinstance(b, int):
            n, m = int.bit_length(a), int.bit_length(b)
            charge(1 + (max(n - m, 0) >> 6) * (m >> 6) // 4 + (n + m >> 3))
        else:
            charge_numbers(a, b)
        return do(a, b)
    return divide_values


floordiv = make_division(operator.floordiv)
divmod_ints = make_division(divmod)
_modulo = make_division(operator.mod)


def mod(a, b, do=operator.mod):
    if isinstance(a, (str, bytes, bytearray)):
        return format_percent(a, b)
    return _modulo(a, b, do)


def div(a, b, do=operator.truediv):
    if isinstance(a, int) and isinstance(b, int):
        raise TypeError("/ makes a float: use // for integers, or decimal.Decimal")
    charge_numbers(a, b)
    return do(a, b)


INVERTED = 30  # cycles of an inverse by a modulus, in addition to those of a power
WHOLE_POWER, POWER = 250, 1400  # cycles of a Decimal to the power of an integer, and of a Decimal


def power(a, b, modulus=None):
    if isinstance(a, int) and isinstance(b, int):
        a, b = exact_index(a), exact_index(b)
        if modulus is not None:
            if not isinstance(modulus, int):
                raise TypeError("pow of integers takes an integer as modulus")
            modulus = exact_index(modulus)
            m, n = max(modulus.bit_length(), a.bit_length()), b.bit_length()
            if m > INT_BITS:
                raise OverflowError("an integer of more than %d bits" % INT_BITS)
            charge(1 + max(n, 1) * (1 + (m >> 6)) * (1 + (m >> 6)) // 2 + (INVERTED if b < 0 else 0))
            return pow(a, b, modulus)
        if b < 0:
            raise ValueError("a negative power makes a float: use decimal.Decimal")
        size = a.bit_length() * b if a not in (0, 1, -1) else 1
        if size > INT_BITS + a.bit_length():
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(2 + (size >> 6) * (1 + (size >> 6)) // 4)
    elif isinstance(a, Decimal) or isinstance(b, Decimal):
        charge(WHOLE_POWER if isinstance(b, int) else POWER)
        charge_numbers(a, b)
    return pow(a, b) if modulus is None else pow(a, b, modulus)


def lshift(a, b, do=operator.lshift):
    if isinstance(a, int) and isinstance(b, int):
        n, by = int.bit_length(a), exact_index(b)
        if by > INT_BITS or n + by > INT_BITS:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(1 + (n + max(by, 0) >> 6))
    return do(a, b)


HASHED = (dict, set, frozenset) + VIEWS
TYPES = (type, types.UnionType)  # what | makes unions of


def paid_keys(values):
    """values, whose hashes are paid for."""
    weigh_value(values)
    charge_lookups(0, values)
    return values


def make_combination(do, shrinks=False):
    """Operators between sets, dicts, views and integers."""
    def combine_values(a, b, do=do):
        if type(a) is int and type(b) is int and LEAST < a < SMALL and LEAST < b < SMALL:
            return do(a, b)
        if charge_numbers(a, b):
            return do(a, b)
        if isinstance(a, KEYS + ITEMS) or isinstance(b, KEYS + ITEMS):  # these take whatever can be walked, in C
            a, b = (v if isinstance(v, HASHED) else frozenset(paid_keys(drain_value(v))) for v in (a, b))
        tables = [v for v in (a, b) if isinstance(v, HASHED)]
        for v in tables:
            charge(2 * len(v))
            weigh_value(v)
        if type(a) is Counter:
            charge_repetition(a, b)
        elif tables:
            n = max(map(len, tables))
            for v in tables:
                charge_lookups(n, v)
        elif isinstance(a, TYPES) or isinstance(b, TYPES):
            sealed.unite_paid(a, b)
        made = do(a, b)
        if made is a and type(a) is set:
            charge_rebuild(a)
        return made
    return combine_values


def make_unary(do):
    def apply_unary(a, do=do):
        if type(a) is Counter:
            charge_repetition(a, ())
        elif type(a) is not int:
            charge_numbers(a, 0)
        elif not LEAST < a < SMALL:
            charge(a.bit_length() >> 5)
        return do(a)
    return apply_unary


negative, positive, inverted, absolute = map(make_unary, (operator.neg, operator.pos, operator.invert, abs))
combined_sub = make_combination(operator.sub)


BINARY = {
    "add": add, "sub": subtract, "mul": mul, "div": div, "floordiv": floordiv, "mod": mod,
    "pow": lambda a, b, do=None: power(a, b), "lshift": lshift, "rshift": make_combination(operator.rshift),
    "or": make_combination(operator.or_), "xor": make_combination(operator.xor), "and": make_combination(operator.and_),
}
IN_PLACE = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
    "floordiv": operator.ifloordiv, "mod": operator.imod, "pow": operator.ipow, "lshift": operator.ilshift,
    "rshift": operator.irshift, "or": operator.ior, "xor": operator.ixor, "and": operator.iand,
}


def in_place(name, a, b):
    if name != "or" or not isinstance(a, dict) or isinstance(b, dict) or type(a) is Counter:
        return BINARY[name](a, b, IN_PLACE[name])
    if hasattr(b, "keys"):
        return BINARY[name](a, check_mapping(b), IN_PLACE[name])
    pairs, error = drained_pairs(b)
    made = BINARY[name](a, hashing.dict_of(pairs), IN_PLACE[name])
    if error is not None:
        raise error
    return made


def in_place_item(name, where, index, value):
    hashing.set_item(in_place(name, hashing.get_item(where, index), value), where, index)


def in_place_attribute(name, where, attribute, value):
    check_settable(where, attribute)
    setattr(where, attribute, in_place(name, get_attribute(where, attribute), value))


CAUGHT = 8  # cycles of finding the block that catches an error


def check_caught():
    """The first statement of each except block: an actor may not catch errors of the
    environment, and no context may keep them."""
    error = sys.exc_info()[1]
    if error is not None:
        cut_context(error)
    meter[0] -= CAUGHT
    if meter[0] < 0:
        end_slice()


def cut_context(error):
    """Cuts an error off the errors in whose handling it was raised, once they are known to come
    from the actor. No actor reads them, and Python walks all of them at each raise."""
    before = error
    while before is not None:
        if isinstance(before, MemoryError) or type(before) is SystemError:
            raise Crash(repr(before))
        before = before.__context__
    error.__context__ = None


def prepare_error(error):
    """The error that raise gets. The error being handled is cut off those in whose handling it was raised."""
    within = sys.exc_info()[1]
    if within is not None and within.__context__ is not None:
        cut_context(within)
    return error


# The names that rewritten code calls, besides those of the meter; no source can spell them.
NAMES = {
    "$at": hashing.get_item, "$put": hashing.set_item, "$delete": hashing.delete_item, "$target": hashing.target_container,
    "$set_of": hashing.set_of, "$dict_of": hashing.dict_of, "$neg": negative, "$pos": positive, "$invert": inverted,
    "$raising": prepare_error, "$sub": subtract, "$iadd": operator.iadd, "$isub": operator.isub, "$imul": operator.imul,
}
