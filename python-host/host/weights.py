"""What a value weighs: the charge of one walk through it and all it contains.

Lengths and sizes are asked of the built-in base, since a class of an actor's
may answer anything.
"""

import operator
from collections import deque
from decimal import Decimal

from host.meter import INT_BITS, NESTING, charge

ATOMS = frozenset((int, bool, str, bytes, type(None), Decimal))
SETS = (set, frozenset)
VIEWS = (type({}.keys()), type({}.items()), type({}.values()))
SIZED = frozenset((list, tuple, str, bytes, bytearray, dict, range) + VIEWS)
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
BASES = (str, tuple, list, dict, bytes, bytearray, set, frozenset, deque)
SMALL = 1 << 256
WALKED = 4  # cycles of entering a container on a walk
FIELDS = 8  # cycles of a dataclass's own comparison or text
MOVED = 16  # bytes moved or compared in bulk for one cycle
HELD = 4  # references, or characters of a text, made in bulk for one cycle: at most 32 bytes


def size(value):
    """The length of a built-in value or of an instance of a class on one; 0 of others."""
    t = type(value)
    if t in SIZED or t is set or t is frozenset or t is deque:
        return len(value)
    for base in BASES:
        if isinstance(value, base):
            return base.__len__(value)
    return 0


def whole(n):
    """An index as an exact int."""
    if type(n) is int:
        return n
    return int.__index__(n if isinstance(n, int) else operator.index(n))


def bits(value):
    """The charge of a big integer: one per 64 bits; refuses the largest."""
    n = int.bit_length(value)
    if n > INT_BITS:
        raise OverflowError("an integer of more than %d bits" % INT_BITS)
    if n > 64:
        charge(n >> 6)


def weigh(value, per=MOVED):
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
            for part in parts(v):
                charge(len(part) + WALKED)
                for x in part:
                    t = type(x)
                    if t not in ATOMS:
                        below.append(x)
                    elif t is str or t is bytes or t is int:
                        weigh_atom(x, per)
        level = below


def weigh_atom(v, per=MOVED):
    t = type(v)
    if t is str or t is bytes:
        if len(v) >= per:
            charge(len(v) // per)
    elif t is int and v.bit_length() > 64:
        charge(v.bit_length() >> 6)


def parts(v):
    """The containers whose elements a comparison, a hash or a text walks."""
    t = type(v)
    if t is list or t is tuple or t is set or t is frozenset or t is deque:
        return (v,)
    if t is dict:
        return (v.keys(), v.values())
    for base in CONTAINERS:
        if isinstance(v, base):
            return (dict.keys(v), dict.values(v)) if base is dict else (Items(base, v),)
    if isinstance(v, BaseException):
        return (v.args,)
    if type(v) in VIEWS:
        return (v,)
    if isinstance(v, (str, bytes, bytearray)):
        charge(size(v) // MOVED)
        return ()
    if isinstance(v, int):
        charge(int.bit_length(v) >> 6)
        return ()
    fields = getattr(type(v), "__dataclass_fields__", None)
    if fields:
        charge(FIELDS)
        values = []
        for f in fields:
            try:
                values.append(object.__getattribute__(v, f))
            except AttributeError:
                pass
        return (values,)
    return ()


class Items:
    """The elements of a container as its built-in base has them."""

    __slots__ = ("base", "held")

    def __init__(self, base, held):
        self.base, self.held = base, held

    def __len__(self):
        return self.base.__len__(self.held)

    def __iter__(self):
        return self.base.__iter__(self.held)
