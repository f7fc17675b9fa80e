"""The libraries that read and write data: json, struct, base64, hashlib, hmac,
math and decimal. re is in patterns, heapq and bisect are in shims."""

import base64
import decimal
import hashlib
import hmac
import json
import math
import re
import struct
import types

from host import actor_code, brackets, exact, meter, ops, sealed
from host.attribute_tables import lists
from host.costs import table
from host.hashing import charge_lookups
from host.meter import INT_BITS, NESTING, charge
from host.ops import drain
from host.sealed import Type
from host.weights import bits, parts, size, weigh, whole

TRAILING = "Illegal trailing comma"
AFTER_COMMA = re.compile(r",[ \t\n\r]*")
MAX_PACKED = 1 << 20  # bytes of one struct
MAX_DIGITS = 1000  # of a Decimal's text and exponent
MAX_COEFFICIENT = 128  # digits that a Decimal keeps; operations round to 28, but read them all
HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
          "blake2b", "blake2s")


def serialised(size):
    charge(table.serialise + size)


def _no_float(text):
    raise ValueError("%s is a float: JSON numbers are integers here" % text[:40])


def _digits(text):
    charge(len(text) * len(text) >> 8)
    return int(text)


def _loads(s, *, object_pairs_hook=None, object_hook=None):
    data = exact.plain(s)
    if type(data) is not str:
        if type(data) not in (bytes, bytearray):
            raise TypeError("the JSON object must be str, bytes or bytearray, not %s" % type(data).__name__)
        data = data.decode()
    serialised(len(data))
    if brackets.nests_deeper(data, NESTING):
        raise ValueError("JSON nested deeper than %d levels" % NESTING)
    charge(2 * (data.count(",") + data.count(":")))

    def members(pairs):
        charge(table.call)
        charge_lookups(0, [k for k, _ in pairs])
        if object_pairs_hook is not None:
            return object_pairs_hook(pairs)
        return dict(pairs) if object_hook is None else object_hook(dict(pairs))
    try:
        return json.loads(data, parse_float=_no_float, parse_constant=_no_float, parse_int=_digits, object_pairs_hook=members)
    except json.JSONDecodeError as e:
        known = e
    at = known.pos
    if known.msg.startswith(TRAILING):
        at = AFTER_COMMA.match(known.doc, at).end()  # 3.13 has another place for a comma before the end
    raise json.JSONDecodeError("this is not JSON", known.doc, at)


def _dumps(obj, *, sort_keys=False, separators=None, indent=None, ensure_ascii=True, default=None):
    value = obj
    weigh(value)
    indent = exact.plain(indent)
    if indent is not None and not (type(indent) is int and 0 <= indent <= 16):
        raise ValueError("indent is 0 to 16")
    if separators is not None:
        separators = tuple(exact.string(s, "a separator") for s in separators)
        if len(separators) != 2:
            raise ValueError("separators are two texts: between items, and after a key")
    between, named = map(len, separators or (", " if indent is None else ",", ": "))
    laid, deepest = _lay_out(value, indent, between, named, 0)

    def fallback(v):
        nonlocal laid
        found = default(v)
        weigh(found)
        laid += _lay_out(found, indent, between, named, deepest)[0]
        return found
    made = json.dumps(value, sort_keys=sort_keys, separators=separators, indent=indent, ensure_ascii=ensure_ascii,
                      allow_nan=False, default=fallback if default is not None else None)
    serialised(max(len(made) - laid, 0))
    return made


def _lay_out(value, indent, between, named, depth):
    """Charges the characters of all texts in a value at a depth, and those between its parts, before they are made.

    Returns how many of them are between parts, and the depth below the deepest part.
    """
    laid, level = 0, [value]
    while level:
        inner = []
        for v in level:
            if isinstance(v, str):
                charge(size(v))
            elif isinstance(v, int) and int.bit_length(v) > 64:
                charge((int.bit_length(v) >> 4) ** 2 >> 4)
            else:
                before, walked = len(inner), parts(v)
                for part in walked:
                    inner += part
                count = len(inner) - before
                if count:
                    pairs = count >> 1 if len(walked) == 2 else 0
                    count -= pairs
                    gaps = (count - 1) * between + pairs * named
                    if indent is not None:
                        gaps += count * (1 + indent * (depth + 1)) + 1 + indent * depth
                    charge(gaps)
                    laid += gaps
        level = inner
        depth += 1
    return laid, depth


actor_code.BASES.update((json.JSONDecodeError, struct.error))


def json_names():
    return {"loads": _loads, "dumps": _dumps, "JSONDecodeError": json.JSONDecodeError}


def _format(layout):
    layout = layout.decode("latin-1") if isinstance(layout, bytes) else exact.string(layout, "a format")
    charge(len(layout))
    if layout[:1] not in ("<", ">", "!", "="):
        raise struct.error("a format begins with <, >, ! or =: native sizes differ between machines")
    if set(layout) & set("fdeFDP"):
        raise struct.error("a format without floats")
    size = _sized(layout)
    if size > MAX_PACKED:
        raise struct.error("more than %d bytes" % MAX_PACKED)
    serialised(size)
    return layout


def worded(f, kinds, words):
    """f, whose errors of these kinds have our words."""
    def call(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except kinds as e:
            raised = type(e)
        raise raised(words)
    call.__name__ = f.__name__
    return call


def _pack(layout, /, *values):
    return _packed(_format(layout), *values)


def _unpack(layout, data, /):
    return _unpacked(_format(layout), data)


def _unpack_from(layout, /, buffer, offset=0):
    return _unpacked_from(_format(layout), buffer, offset)


def _calcsize(layout, /):
    return _sized(_format(layout))


_packed = worded(struct.pack, struct.error, "the values do not fit the format")
_unpacked = worded(struct.unpack, struct.error, "the bytes do not fit the format")
_unpacked_from = worded(struct.unpack_from, struct.error, "the bytes do not fit the format")
_sized = worded(struct.calcsize, struct.error, "a format that struct does not have")


def struct_names():
    return {"pack": _pack, "unpack": _unpack, "unpack_from": _unpack_from, "calcsize": _calcsize, "error": struct.error}


def base64_names():
    names = {}
    for n in ("b64encode b64decode standard_b64encode standard_b64decode urlsafe_b64encode urlsafe_b64decode b32encode "
              "b32decode b16encode b16decode").split():
        names[n] = _coded(getattr(base64, n))
    return names


def _coded(f):
    coded = worded(f, ValueError, "the text is not of %s" % f.__name__.replace("decode", ""))

    def code(s, *args, **kwargs):
        data = exact.plain(s)
        if type(data) not in (str, bytes, bytearray):
            raise TypeError("only bytes can be coded, or text when decoding, not %s" % type(data).__name__)
        serialised(2 * len(data))
        return coded(data, *args, **kwargs)
    code.__name__ = f.__name__
    return code


class Digest(sealed.Sealed):
    """A hash object: 6 cycles a 32-byte word, as keccak256."""

    __slots__ = ("_host_hash",)

    def __init__(self, made):
        object.__setattr__(self, "_host_hash", made)

    def update(self, data):
        words(data)
        self._host_hash.update(data)

    def digest(self):
        charge(table.call)
        return self._host_hash.digest()

    def hexdigest(self):
        charge(table.call)
        return self._host_hash.hexdigest()

    def copy(self):
        charge(4 * table.call)
        return Digest(self._host_hash.copy())

    name = property(lambda self: self._host_hash.name)
    digest_size = property(lambda self: self._host_hash.digest_size)


lists(Digest, "update digest hexdigest copy name digest_size")


def words(data):
    if type(data) not in (bytes, bytearray):
        raise TypeError("only bytes can be hashed, not %s" % type(data).__name__)
    charge(table.keccak_word * (1 + (len(data) + 31) // 32))


def _hash(name):
    def make(data=b"", /):
        words(data)
        return Digest(getattr(hashlib, name)(data))
    make.__name__ = name
    return make


def _new(name, data=b""):
    name = exact.string(name, "the name of a hash")
    if name not in HASHES:
        raise ValueError("no such hash: %s" % ", ".join(HASHES))
    return _hash(name)(data)


def hashlib_names():
    return {**{n: _hash(n) for n in HASHES}, "new": _new}


def _digest_name(digestmod):
    name = digestmod.__name__ if type(digestmod) is types.FunctionType else exact.string(digestmod, "the name of a hash")
    if name not in HASHES:
        raise ValueError("no such hash: %s" % ", ".join(HASHES))
    return name


def _hmac_new(key, msg=b"", digestmod=""):
    words(key)
    words(msg or b"")
    return Digest(hmac.new(key, msg, _digest_name(digestmod)))


def _hmac_digest(key, msg, digest):
    words(key)
    words(msg)
    return hmac.digest(key, msg, _digest_name(digest))


def _same(a, b, /):
    a, b = exact.plain(a), exact.plain(b)
    if type(a) not in (str, bytes, bytearray) or type(b) not in (str, bytes, bytearray):
        raise TypeError("compare_digest takes two bytes or two texts")
    charge(1 + (len(a) + len(b)) // 16)
    return hmac.compare_digest(a, b)


def hmac_names():
    return {"new": _hmac_new, "digest": _hmac_digest, "compare_digest": _same}


def _integers(f):
    def call(*values):
        for v in map(whole, values):
            bits(v)
            charge(1 + (v.bit_length() >> 6) ** 2)
        return f(*map(whole, values))
    call.__name__ = f.__name__
    return call


def _lcm(*values):
    charge(table.call * len(values))
    result = 1
    for v in map(whole, values):
        _gcd(result, v)
        result = ops.mul(result, v) // (math.gcd(result, v) or 1)
    return abs(result)


_gcd = _integers(math.gcd)


def _counted(f, size):
    def call(*values):
        values = [whole(v) for v in values]
        n = max(size(*values), 0)
        if n > INT_BITS:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(5 + n + (n >> 6) ** 2)
        return f(*values)
    call.__name__ = f.__name__
    return call


def _choose_bits(n, k=None):
    k = n if k is None else k
    return min(k, n) * max(n, 1).bit_length() if n >= 0 else 0


def _comb_bits(n, k):
    return max(min(k, n - k), 0) * max(n, 1).bit_length()


def _prod(values, /, *, start=1):
    values = drain(values)
    charge(len(values))
    for v in values:
        start = ops.mul(start, v)
    return start


def math_names():
    return {
        "gcd": _gcd, "lcm": _lcm, "isqrt": _integers(math.isqrt), "prod": _prod,
        "comb": _counted(math.comb, _comb_bits), "perm": _counted(math.perm, _choose_bits),
        "factorial": _counted(math.factorial, lambda n: n * max(n, 1).bit_length()),
    }


CONTEXT = decimal.Context(prec=28, Emax=MAX_DIGITS, Emin=-MAX_DIGITS, rounding=decimal.ROUND_HALF_EVEN, capitals=1,
                          clamp=0, flags=[], traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow,
                                                   decimal.Underflow, decimal.Clamped])  # by Python's own exponents these fit


def begin_decimal():
    """Every message that imports decimal begins in the same context."""
    decimal.setcontext(CONTEXT.copy())
    meter.account.decimals = True


def _decimal(value="0", context=None):
    value = exact.plain(value)
    if context is not None:
        raise TypeError("decimal contexts are fixed: 28 digits, half even")
    if isinstance(value, str):
        charge(table.str + len(value))
        if len(value) > MAX_DIGITS:
            raise ValueError("a Decimal of more than %d digits" % MAX_DIGITS)
    elif isinstance(value, int):
        if value.bit_length() > 3 * MAX_DIGITS:
            raise ValueError("a Decimal of more than %d digits" % MAX_DIGITS)
        charge(table.str + value.bit_length() // 8)
    else:
        charge(table.str)
        if isinstance(value, tuple):
            weigh(value)
            if len(value) == 3 and hasattr(value[1], "__len__") and len(value[1]) > MAX_DIGITS:
                raise ValueError("a Decimal of more than %d digits" % MAX_DIGITS)
    made = decimal.Decimal(value)
    if made.is_finite() and abs(made.adjusted()) > MAX_DIGITS or made.is_nan() and len(str(made)) > 8:
        raise ValueError("a Decimal with an exponent beyond %d" % MAX_DIGITS)
    if made.is_finite() and len(made.as_tuple().digits) > MAX_COEFFICIENT:
        raise ValueError("a Decimal of more than %d digits" % MAX_COEFFICIENT)
    if made.is_finite() and not -2 * MAX_DIGITS <= made.as_tuple().exponent <= MAX_DIGITS:
        raise ValueError("a Decimal with an exponent beyond %d" % MAX_DIGITS)
    return made


def decimal_names():
    names = {n: getattr(decimal, n) for n in dir(decimal) if n.startswith("ROUND_")}
    for n in ("InvalidOperation", "DivisionByZero", "Overflow", "DecimalException"):
        names[n] = getattr(decimal, n)
        actor_code.BASES.add(names[n])
    names["Decimal"] = Type(decimal.Decimal, _decimal)
    return names
