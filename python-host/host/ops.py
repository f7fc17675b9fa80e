"""What the rewritten code calls for operators, subscripts and iteration.

The rule of this file: charge for what an operation will read or make before
it is done, so that nothing runs or grows beyond what the cycles paid for.
"""

import operator
import sys
from decimal import Decimal

from costs import table
from meter import INT_BITS, NESTING, Crash, charge, lazy, meter, stop
from own import settable

ATOMS = frozenset((int, bool, str, bytes, type(None), Decimal))
SETS = (set, frozenset)
VIEWS = (type({}.keys()), type({}.items()), type({}.values()))
SIZED = frozenset((list, tuple, str, bytes, bytearray, dict, range) + VIEWS)
SMALL = 1 << 256
WALKED = 4  # cycles of entering a container on a walk
MOVED = 16  # bytes or references moved or compared in bulk for one cycle


def bits(value):
    """The charge of a big integer: one per 64 bits; refuses the largest."""
    n = value.bit_length()
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
    if isinstance(v, dict):
        return (v.keys(), v.values())
    if isinstance(v, (list, tuple, set, frozenset)) or type(v).__name__ == "deque":
        return (v,)
    if isinstance(v, BaseException):
        return (v.args,)
    if type(v) in VIEWS:
        return (v,)
    if isinstance(v, (str, bytes, bytearray)):
        charge(len(v) // MOVED)
        return ()
    fields = getattr(type(v), "__dataclass_fields__", None)
    if fields:
        values = []
        for f in fields:
            try:
                values.append(object.__getattribute__(v, f))
            except AttributeError:
                pass
        return (values,)
    return ()


def weighed(value):
    if type(value) not in ATOMS:
        weigh(value)
    else:
        weigh_atom(value)
    return value


def key(value):
    t = type(value)
    if t is int or t is str or t is bytes:
        return value
    if t not in ATOMS:
        weigh(value)
    return value


def moved(value):
    """A change in the middle of a sequence moves what follows."""
    try:
        charge(len(value) // MOVED)
    except TypeError:
        pass
    return value


def canonical(values):
    """The elements of a set in an order that is not the hash's."""
    found = list(values)
    if len(found) < 2:
        return found
    charge(2 * len(found))
    weigh(found)
    if not all(scalar(v) for v in found):
        raise TypeError("a set of such elements has no order that all nodes share: keep a list or a dict")
    try:
        charge(logarithm(len(found)) * len(found))
        return sorted(found)
    except TypeError:
        raise TypeError("a set of mixed elements has no order that all nodes share: keep a list or a dict") from None


def scalar(v):
    t = type(v)
    return t is int or t is str or t is bytes or t is bool or t is tuple and all(map(scalar, v))


def logarithm(n):
    return max(n, 1).bit_length() - 1


def iterate(value):
    """What for and comprehensions walk."""
    t = type(value)
    if t in SIZED:
        return value
    if isinstance(value, SETS):
        return canonical(value)
    return value


def unpack(value):
    if isinstance(value, SETS):
        return canonical(value)
    return value


def spread(value):
    """What *value and a starred target take: charged whole."""
    t = type(value)
    if t in SIZED:
        charge(len(value))
        return value
    return drain(value)


def drain(value):
    """All elements as a list: what is sized is paid for first, what is not
    pays by itself as it goes."""
    if isinstance(value, SETS):
        return canonical(value)
    t = type(value)
    if t in SIZED:
        charge(len(value))
        return list(value)
    if isinstance(value, (list, tuple, dict)):
        charge(len(value))
    return [v for v in value]


def source(value):
    """An iterator over value that pays for each element."""
    return lazy(iter(iterate(value)))


def sequence(value):
    return value if isinstance(value, (bytes, bytearray)) else drain(value)


def mapping(value):
    if isinstance(value, dict):
        charge(len(value) * table.dict)
        return value
    if not hasattr(value, "keys"):
        raise TypeError("** takes a mapping")
    return {k: value[k] for k in value.keys()}


def slice_of(value, low, high, step):
    made = value[low:high:step]
    try:
        charge(len(made) // MOVED + 1)
    except TypeError:
        pass
    return made


def contains(x, y):
    t = type(y)
    if t is range:
        return type(x) in (int, bool) and x in y
    if isinstance(y, (dict, set, frozenset)) or t in VIEWS[:2]:
        charge(table.dict)
        return key(x) in y
    if isinstance(y, (str, bytes, bytearray)):
        charge(len(y) // MOVED + 1)
        return x in y
    if isinstance(y, (list, tuple)) or t is VIEWS[2] or t.__name__ == "deque":
        weigh(y)
        weigh(x)
        return x in y
    if hasattr(t, "__contains__"):
        return x in y
    for element in iterate(y):
        charge(table.arithmetic)
        weigh(x)
        if element is x or element == x:
            return True
    return False


def add(a, b, do=operator.add):
    t = type(a)
    if t is int and type(b) is int:
        r = a + b
        if not -SMALL < r < SMALL:
            bits(r)
        return r
    if t is str or t is bytes:
        if type(b) is t:
            charge((len(a) + len(b)) * table.char)
    elif isinstance(a, (list, tuple, bytearray)):
        if do is operator.iadd and isinstance(a, list):
            b = drain(b)
            charge(len(b) * table.list)
        elif hasattr(b, "__len__"):
            charge(len(a) + len(b))
    elif t.__name__ in ("deque", "Counter"):
        b = drain(b) if t.__name__ == "deque" and do is operator.iadd else b
        charge(table.list * (len(a) + len(b)))
    return do(a, b)


def times(sequence, n):
    if n > 0:
        charge(len(sequence) * n)


def mul(a, b, do=operator.mul):
    if type(a) is int and type(b) is int:
        if -SMALL < a < SMALL and -SMALL < b < SMALL:
            return a * b
        n, m = a.bit_length(), b.bit_length()
        if n + m > INT_BITS + 1:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(1 + (n >> 6) * (m >> 6) // 4 + (n + m >> 6))
        return do(a, b)
    if isinstance(a, int) and isinstance(b, int):
        if a.bit_length() + b.bit_length() > 1024:
            raise OverflowError("enumerations and classes on int multiply up to 1024 bits: use int(…)")
        return do(a, b)
    if hasattr(b, "__index__") and not isinstance(a, int):
        a, b = a, counted(b) if hasattr(a, "__len__") else b
    elif hasattr(a, "__index__") and not isinstance(b, int):
        a = counted(a) if hasattr(b, "__len__") else a
    for s, n in ((a, b), (b, a)):
        if isinstance(n, int) and (isinstance(s, (str, bytes, bytearray, list, tuple)) or type(s).__name__ == "deque"):
            times(s, n)
    return do(a, b)


def counted(n):
    return n if isinstance(n, int) else operator.index(n)


def divide(do):
    def division(a, b, do=do):
        if type(a) is int and type(b) is int:
            if not (-SMALL < a < SMALL):
                n, m = a.bit_length(), b.bit_length()
                charge(1 + (max(n - m, 0) >> 6) * (m >> 6) // 4 + (n >> 6))
        return do(a, b)
    return division


floordiv = divide(operator.floordiv)
divmod_ints = divide(divmod)
_modulo = divide(operator.mod)


def mod(a, b, do=operator.mod):
    if isinstance(a, (str, bytes, bytearray)):
        from text import percent
        return percent(a, b)
    return _modulo(a, b, do)


def div(a, b, do=operator.truediv):
    if isinstance(a, int) and isinstance(b, int):
        raise TypeError("/ makes a float: use // for integers, or decimal.Decimal")
    return do(a, b)


def power(a, b, modulus=None):
    if isinstance(a, int) and isinstance(b, int):
        a, b = int(a), int(b)
        if modulus is not None:
            m, n = max(modulus.bit_length(), a.bit_length()), b.bit_length()
            if m > INT_BITS:
                raise OverflowError("an integer of more than %d bits" % INT_BITS)
            charge(1 + max(n, 1) * (1 + (m >> 6)) * (1 + (m >> 6)) // 2)
            return pow(a, b, modulus)
        if b < 0:
            raise ValueError("a negative power makes a float: use decimal.Decimal")
        size = a.bit_length() * b if a not in (0, 1, -1) else 1
        if size > INT_BITS + a.bit_length():
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(1 + (size >> 6) * (1 + (size >> 6)) // 4)
    elif isinstance(a, Decimal) or isinstance(b, Decimal):
        charge(200)
    return pow(a, b) if modulus is None else pow(a, b, modulus)


def lshift(a, b, do=operator.lshift):
    if isinstance(a, int) and isinstance(b, int):
        if b > INT_BITS or a.bit_length() + b > INT_BITS:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge((a.bit_length() + max(b, 0)) >> 6)
    return do(a, b)


def combined(do):
    """Operators between sets, dicts, views and integers."""
    def combine(a, b, do=do):
        if type(a) is int:
            if a.bit_length() > 64:
                bits(a)
            return do(a, b)
        for v in (a, b):
            if isinstance(v, (dict, set, frozenset)) or type(v) in VIEWS:
                charge(2 * len(v))
                weigh(v)
        return do(a, b)
    return combine


BINARY = {
    "add": add, "sub": combined(operator.sub), "mul": mul, "div": div, "floordiv": floordiv, "mod": mod,
    "pow": lambda a, b, do=None: power(a, b), "lshift": lshift, "rshift": combined(operator.rshift),
    "or": combined(operator.or_), "xor": combined(operator.xor), "and": combined(operator.and_),
}
IN_PLACE = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
    "floordiv": operator.ifloordiv, "mod": operator.imod, "pow": operator.ipow, "lshift": operator.ilshift,
    "rshift": operator.irshift, "or": operator.ior, "xor": operator.ixor, "and": operator.iand,
}


def in_place(name, a, b):
    if name == "or" and isinstance(a, dict) and not isinstance(b, dict):
        b = dict(tuple(drain(pair)) for pair in drain(b))
    return BINARY[name](a, b, IN_PLACE[name])


def in_place_item(name, where, index, value):
    key(index)
    where[index] = in_place(name, where[index], value)


def in_place_attribute(name, where, attribute, value):
    from surface import attr
    settable(where, attribute)
    setattr(where, attribute, in_place(name, attr(where, attribute), value))


def caught():
    """Stands at the head of each handler: what is the environment's is not
    the actor's to catch, and nobody's context may keep it."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, MemoryError) or type(error) is SystemError:
            raise Crash(repr(error))
        error = error.__context__ if error.__context__ is not error else None
    if meter[0] < 0:
        stop()
