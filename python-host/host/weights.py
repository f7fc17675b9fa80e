"""The weight of a value: the charge of one walk through it and all it contains.

Lengths and sizes come from the built-in base, since a class of an actor's may answer anything.
"""

import operator
import sys
from collections import OrderedDict, deque
from decimal import Decimal

from host import meter
from host.meter import INT_BITS, NESTING, charge

PLAIN = {}  # classes whose instances have only what their actor gave them (actor_code)
ATOMS = frozenset((int, bool, str, bytes, type(None), Decimal))
SETS = (set, frozenset)
KEYS, ITEMS, VALUES = (tuple(type(getattr(d, n)()) for d in ({}, OrderedDict())) for n in ("keys", "items", "values"))  # views
VIEWS = KEYS + ITEMS + VALUES
SIZED = frozenset((list, tuple, str, bytes, bytearray, dict, range) + VIEWS)
HOLDING = SIZED - {range} | {set, frozenset, deque}
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
BASES = (str, tuple, list, dict, bytes, bytearray, set, frozenset, deque)
LEAST, SMALL = -1 << 256, 1 << 256  # what lies between has a charge of none: one comparison tells
WALKED = 5  # cycles of entering a container or an actor's object on a walk
LOOKED_AT = 24  # cycles of finding out which of the host's other types a value on a walk has
FIELDS = 8  # cycles of a dataclass's own comparison or text, besides one a field
ELSEWHERE = 24  # cycles of a field that an instance does not hold itself
MOVED = 16  # bytes moved or compared in bulk for one cycle
arguments_of = BaseException.args.__get__  # of an error, as a program may read them: words.arguments
HELD = 4  # references, or characters of a text, made in bulk for one cycle: at most 32 bytes


def size_of(value):
    """The length of a built-in value or of an instance of a class on one; 0 of others, and of a range, which holds no elements."""
    t = type(value)
    if t in HOLDING:
        return len(value)
    if t is range:
        return 0
    for base in BASES:
        if isinstance(value, base):
            return base.__len__(value)
    return 0


def exact_index(n):
    """An index as an exact int."""
    if type(n) is int:
        return n
    return int.__index__(n if isinstance(n, int) else operator.index(n))


def charge_bits(value):
    """The charge of a big integer: one per 64 bits; refuses the largest."""
    n = int.bit_length(value)
    if n > INT_BITS:
        raise OverflowError("an integer of more than %d bits" % INT_BITS)
    if n > 64:
        charge(n >> 6)


def weigh_value(value, per=MOVED):
    """Charges for one walk through value and all it contains; per characters
    or bytes of a text cost one cycle."""
    if type(value) in ATOMS:
        weigh_atom(value, per)
        return
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > NESTING:
            raise ValueError("values nested deeper than %d levels" % NESTING)
        below = []
        for v in level:
            for part in parts_of(v):
                charge(len(part) + WALKED)
                for x in part:
                    t = type(x)
                    if t not in ATOMS:
                        below.append(x)
                    elif t is int:
                        if x.bit_length() > 64:
                            weigh_atom(x, per)
                    elif (t is str or t is bytes) and len(x) >= per:
                        charge(len(x) // per)
        level = below


def weigh_atom(v, per=MOVED):
    t = type(v)
    if t is str or t is bytes:
        if len(v) >= per:
            charge(len(v) // per)
    elif t is int and v.bit_length() > 64:
        n = v.bit_length()
        charge(n >> 6)
        a = meter.account
        if n > a.largest:
            a.largest = n
        if a.decimals:
            charge(as_decimal(n))


def as_decimal(n):
    """The cycles of making a Decimal of an integer of n bits."""
    return (n >> 6) ** 2 // 4


def parts_of(v):
    """The containers whose elements a comparison, a hash or a text walks."""
    t = type(v)
    if t is list or t is tuple or t is set or t is frozenset or t is deque:
        return (v,)
    if t is dict:
        return (v.keys(), v.values())
    if t in PLAIN:
        charge(WALKED)
        return held_fields(v, t)
    charge(LOOKED_AT)
    if t is range:
        return ((v.start, v.stop, v.step),)
    for base in CONTAINERS:
        if isinstance(v, base):
            return (dict.keys(v), dict.values(v)) if base is dict else (Items(base, v),)
    if isinstance(v, BaseException):
        return (arguments_of(v),)
    if type(v) in VIEWS:
        return (v,)
    if isinstance(v, (str, bytes, bytearray)):
        charge(size_of(v) // MOVED)
        return ()
    if isinstance(v, int):
        charge(int.bit_length(v) >> 6)
        return ()
    return held_fields(v, t)


def held_fields(v, t):
    """The fields of a dataclass."""
    fields = getattr(t, "__dataclass_fields__", None)
    if not fields:
        return ()
    charge(FIELDS + len(fields))
    try:
        own = object.__getattribute__(v, "__dict__")
        return ([own[f] for f in fields],)
    except (AttributeError, KeyError):
        return (fields_elsewhere(v, fields),)


def fields_elsewhere(v, fields):
    """The fields of an instance that has some of them in slots, in its class, or not at all."""
    charge(ELSEWHERE * len(fields))
    values = []
    for f in fields:
        try:
            values.append(object.__getattribute__(v, f))
        except AttributeError:
            pass
    return values


def walk_length(value):
    """The elements of a value of a type of SIZED that is walked whole."""
    try:
        return len(value)
    except OverflowError:
        raise OverflowError("a range of more than %d elements is not walked whole" % sys.maxsize) from None


def is_wide(r):
    """Whether an end of a range is not a small number, so that its elements are not."""
    return not (LEAST < r.start < SMALL and LEAST < r.stop < SMALL and LEAST < r.step < SMALL)


def charge_span(start, stop, step, divided=False):
    """Charges for arithmetic with the ends of a range, and for a division of its length by its step."""
    n, m = max(start.bit_length(), stop.bit_length()), step.bit_length()
    if n > 64 or m > 64:
        charge((n + m >> 8) + ((max(n - m, 0) >> 6) * (m >> 6) // 4 + (n + m >> 3) if divided else 0))


class Items:
    """The elements of a container as in its built-in base."""

    __slots__ = ("base", "held")

    def __init__(self, base, held):
        self.base, self.held = base, held

    def __len__(self):
        return self.base.__len__(self.held)

    def __iter__(self):
        return self.base.__iter__(self.held)
