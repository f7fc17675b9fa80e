"""The built-in types of actors: their constructors charged before they make."""

from decimal import Decimal

from host import formatting, hashing, methods, sealed, weights
from host.attribute_tables import TABLE
from host.costs import table
from host.meter import INT_BITS, charge
from host.ops import drain, mapping
from host.sealed import Type
from host.weights import SETS, weigh

TEXTS = (str, bytes, bytearray)
MAX_MADE = 1 << 26  # bytes that one constructor may make


def make_int(*args, base=None):
    """int(text[, base]), int(number); text of at most 4,300 digits."""
    charge(table.arithmetic)
    if base is not None:
        args += (base,)
    elif len(args) == 1 and type(args[0]) is int:
        return args[0]
    value = args[0] if args else None
    if type(value) is Decimal and value.is_finite():
        n = max(value.adjusted(), 0)
        charge(n + (n * n >> 8))
    elif isinstance(value, TEXTS):
        size = weights.size(value)
        charge(size)
        if size > 4300 and (len(args) < 2 or args[1] not in (2, 4, 8, 16, 32)) or size > INT_BITS:
            raise ValueError("int of more than 4300 digits")
        charge(size * size >> 8)
    return int(*args)


def make_str(value="", encoding=None, errors="strict"):
    if encoding is not None:
        return methods.decode(value, encoding, errors)
    return formatting.to_str(value)


def byte_maker(kind):
    def make(value=b"", encoding=None, errors="strict"):
        if isinstance(value, str):
            if encoding is None:
                raise TypeError("string argument without an encoding")
            return kind(methods.encode(value, encoding, errors))
        if isinstance(value, int):
            charge(table.str + max(value, 0))
            if value > MAX_MADE:
                raise OverflowError("more than %d bytes" % MAX_MADE)
            return kind(int(value))
        if isinstance(value, (bytes, bytearray)):
            charge(table.str + len(value))
            return kind(value)
        if type(value).__module__ == "actor" and hasattr(type(value), "__bytes__"):
            return kind(type(value).__bytes__(value))
        values = drain(value)
        charge(table.str + len(values))
        return kind(values)
    return make


def make_list(values=()):
    charge(table.list_base)
    made = drain(values)
    charge(len(made))
    return made


def make_tuple(values=()):
    if type(values) is tuple:
        return values
    charge(table.list_base)
    return tuple(drain(values))


def set_maker(kind):
    def make(values=()):
        charge(table.set_base)
        if isinstance(values, SETS):
            charge(5 * len(values))
            weigh(values)
            hashing.charge_lookups(len(values), values)
            return kind(values)
        values = drain(values)
        charge(5 * len(values))
        weigh(values)
        hashing.charge_lookups(0, values)
        return kind(values)
    return make


def make_dict(*args, **kwargs):
    return fill({}, args, kwargs)


def fill(made, args, kwargs):
    charge(table.dict_base + 8 * len(kwargs))
    if len(args) > 1:
        raise TypeError("dict takes at most 1 argument")
    for a in args:
        pairs = mapping(a) if hasattr(a, "keys") else [tuple(drain(p)) for p in drain(a)]
        charge(8 * len(pairs))
        weigh(pairs)
        hashing.charge_lookups(0, pairs if isinstance(pairs, dict) else [p[0] for p in pairs if p])
        made.update(pairs)
    made.update(kwargs)
    return made


def dict_from_keys(keys, value=None):
    keys = drain(keys)
    charge(table.dict_base + 8 * len(keys))
    weigh(keys)
    hashing.charge_lookups(0, keys)
    return dict.fromkeys(keys, value)


def make_range(*args):
    charge(table.arithmetic)
    if any(type(a) is not int or not -weights.SMALL < a < weights.SMALL for a in args):
        args = tuple(map(weights.whole, args))
        low, high, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3] if 1 < len(args) < 4 else (0, 0, 1)
        weights.span(low, high, step, True)
    return range(*args)


def make_bool(value=False):
    charge(table.arithmetic)
    return bool(value)


def int_from_bytes(data, byteorder="big", *, signed=False):
    data = data if isinstance(data, (bytes, bytearray)) else bytes(drain(data))
    charge(table.str + len(data))
    if len(data) * 8 > INT_BITS:
        raise OverflowError("an integer of more than %d bits" % INT_BITS)
    return int.from_bytes(data, byteorder, signed=signed)


def from_hex(kind):
    def fromhex(digits):
        charge(table.str + len(digits))
        return kind.fromhex(digits)
    return fromhex


def make_trans(*args):
    for a in args:
        charge(table.dict * len(a))
    return str.maketrans(*args)


def unbound(t):
    """str.lower and the like, as a function of the value."""
    found = {}
    for name, f in TABLE.get(t, {}).items():
        found[name] = sealed.Function(checked(t, f))
    return found


def checked(t, f):
    def call(value, *args, **kwargs):
        if not isinstance(value, t):
            raise TypeError("a method of %s takes one" % t.__name__)
        return f(value, *args, **kwargs)
    return call


def proxies():
    makers = {
        int: (make_int, {"from_bytes": int_from_bytes}), bool: (make_bool, {}), str: (make_str, {"maketrans": make_trans}),
        bytes: (byte_maker(bytes), {"fromhex": from_hex(bytes)}),
        bytearray: (byte_maker(bytearray), {"fromhex": from_hex(bytearray)}), list: (make_list, {}),
        tuple: (make_tuple, {}), dict: (make_dict, {"fromkeys": dict_from_keys}), set: (set_maker(set), {}),
        frozenset: (set_maker(frozenset), {}), range: (make_range, {}),
    }
    sealed.BASES.update((int, str))
    made = {}
    for t, (make, statics) in makers.items():
        statics = {**unbound(t), **{n: sealed.Function(f) for n, f in statics.items()}}
        made[t.__name__] = Type(t, make, statics)
    return made
