"""The built-in types of actors: their constructors charged before they make."""

from decimal import Decimal

from host import formatting, hashing, methods, sealed, weights
from host.attribute_tables import TABLE
from host.costs import table
from host.meter import INT_BITS, charge
from host.ops import DECIMAL, drain_value, drained_pairs, check_mapping
from host.sealed import Type
from host.weights import SETS, weigh_value

TEXTS = (str, bytes, bytearray)
BYTES = (bytes, bytearray)
MAX_MADE = 1 << 26  # bytes that one constructor may make


def make_int(*args, base=None):
    """int(text[, base]), int(number); text of at most 4,300 digits."""
    charge(table.arithmetic)
    if base is not None:
        if not args:
            raise TypeError("int with a base takes a text")
        args += (base,)
    elif len(args) == 1 and type(args[0]) is int:
        return args[0]
    value = args[0] if args else None
    if type(value) is Decimal and value.is_finite():
        n = max(value.adjusted(), 0)
        charge(DECIMAL + n + (n * n >> 8))
    elif isinstance(value, TEXTS):
        size = weights.size_of(value)
        charge(size)
        if size > 4300 and (len(args) < 2 or args[1] not in (2, 4, 8, 16, 32)) or size > INT_BITS:
            raise ValueError("int of more than 4300 digits")
        charge(size * size >> 8)
    return int(*args)


def make_str(object="", encoding=None, errors=None):
    if encoding is None and errors is None:
        return formatting.to_str(object)
    if not isinstance(object, (bytes, bytearray)):
        raise TypeError("decoding to str: need bytes, %s found" % type(object).__name__)
    return methods.decode(object, "utf-8" if encoding is None else encoding, "strict" if errors is None else errors)


def byte_maker(kind):
    def make_bytes(source=b"", encoding=None, errors=None):
        value = source
        if isinstance(value, str):
            if encoding is None:
                raise TypeError("string argument without an encoding")
            return kind(methods.encode(value, encoding, "strict" if errors is None else errors))
        if encoding is not None or errors is not None:
            raise TypeError("an encoding without a text")
        if isinstance(value, int):
            charge(table.str + max(value, 0))
            if value > MAX_MADE:
                raise OverflowError("more than %d bytes" % MAX_MADE)
            return kind(int(value))
        if isinstance(value, (bytes, bytearray)):
            charge(table.str + len(value))
            return kind(value)
        if kind is bytes and says_bytes(value):
            return own_bytes(value)
        if hasattr(type(value), "__index__"):
            try:
                return make_bytes(weights.exact_index(value))
            except TypeError:
                if not hasattr(type(value), "__iter__") and not hasattr(type(value), "__getitem__"):
                    raise
        values = bytes_of(value) if type(value) is list else drain_value(value)
        charge(table.str + len(values))
        return kind(values)
    return make_bytes


def says_bytes(value):
    """Whether an object of an actor's says itself what its bytes are."""
    return type(value).__module__ == "actor" and hasattr(type(value), "__bytes__")


def own_bytes(value):
    made = type(value).__bytes__(value)
    if not isinstance(made, bytes):
        raise TypeError("__bytes__ gives bytes, not %s" % type(made).__name__)
    return made


def bytes_of(values):
    """The bytes of a list. An element that stands for a number may change the list, which is walked as it is then."""
    if set(map(type, values)) <= {int}:
        return drain_value(values)
    found = []
    for v in values:
        charge(1)
        n = weights.exact_index(v)
        found.append(n)
        if not 0 <= n < 256:
            break
    return found


def make_list(values=(), /):
    charge(table.list_base)
    made = drain_value(values)
    charge(len(made))
    return made


def make_tuple(values=(), /):
    if type(values) is tuple:
        return values
    charge(table.list_base)
    return tuple(drain_value(values))


def set_maker(kind):
    def make_set(values=(), /):
        charge(table.set_base)
        if isinstance(values, SETS):
            charge(5 * len(values))
            weigh_value(values)
            hashing.charge_lookups(len(values), values)
            return kind(values)
        values = drain_value(values)
        charge(5 * len(values))
        weigh_value(values)
        hashing.charge_lookups(0, values)
        return kind(values)
    return make_set


def make_dict(*args, **kwargs):
    return fill_dict({}, args, kwargs)


def fill_dict(made, args, kwargs):
    charge(table.dict_base + 8 * len(kwargs))
    if len(args) > 1:
        raise TypeError("dict takes at most 1 argument")
    for a in args:
        pairs, error = (check_mapping(a), None) if hasattr(a, "keys") else drained_pairs(a)
        charge(8 * len(pairs))
        weigh_value(pairs)
        hashing.charge_lookups(0, pairs if isinstance(pairs, dict) else [p[0] for p in pairs if p])
        made.update(pairs)
        if error is not None:
            raise error
    made.update(kwargs)
    return made


def dict_from_keys(keys, value=None, /):
    keys = drain_value(keys)
    charge(table.dict_base + 8 * len(keys))
    weigh_value(keys)
    hashing.charge_lookups(0, keys)
    return dict.fromkeys(keys, value)


def make_range(*args):
    charge(table.list)
    if any(type(a) is not int or not weights.LEAST < a < weights.SMALL for a in args):
        args = tuple(map(weights.exact_index, args))
        low, high, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3] if 1 < len(args) < 4 else (0, 0, 1)
        weights.charge_span(low, high, step, True)
    return range(*args)


def make_bool(value=False, /):
    charge(table.arithmetic)
    return bool(value)


def int_from_bytes(bytes, byteorder="big", *, signed=False):
    if isinstance(bytes, str):
        raise TypeError("cannot convert 'str' object to bytes")
    data = own_bytes(bytes) if says_bytes(bytes) else bytes if isinstance(bytes, BYTES) else BYTES[0](drain_value(bytes))
    charge(table.str + len(data))
    if len(data) * 8 > INT_BITS:
        raise OverflowError("an integer of more than %d bits" % INT_BITS)
    return int.from_bytes(data, byteorder, signed=signed)


def from_hex(kind):
    def fromhex(digits, /):
        charge(table.str + len(digits))
        return kind.fromhex(digits)
    return fromhex


def make_trans(*args):
    for a in args:
        charge(table.dict * len(a))
    return str.maketrans(*args)


def unbound_method(t):
    """str.lower and the like, as a function of the value."""
    found = {}
    for name, f in TABLE.get(t, {}).items():
        found[name] = sealed.Function(check_receiver(t, name, f), name)
    return found


def check_receiver(t, name, f):
    def call_through(value, /, *args, **kwargs):
        if not isinstance(value, t):
            raise TypeError("a method of %s takes one" % t.__name__)
        kind = type(value)
        if kind is not t and overrides_method(kind, t, name):
            raise TypeError("%s.%s would break a value of %s: call its own, as in value.%s(…)" % (t.__name__, name, kind.__name__, name))
        return f(value, *args, **kwargs)
    return call_through


def overrides_method(kind, base, name):
    """Whether a type of the libraries has its own method of this name."""
    heir = next((h for h in methods.HEIRS.get(base, ()) if issubclass(kind, h)), None)
    return heir is not None and getattr(heir, name) is not getattr(base, name)


def make_proxies():
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
        statics = {**unbound_method(t), **{n: sealed.Function(f, n) for n, f in statics.items()}}
        made[t.__name__] = Type(t, make, statics)
    return made
