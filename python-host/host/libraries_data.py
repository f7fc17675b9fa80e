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
from host.attribute_tables import show_attributes
from host.costs import table
from host.hashing import charge_lookups
from host.meter import INT_BITS, NESTING, charge
from host.ops import drain_value
from host.sealed import Type
from host.weights import charge_bits, parts_of, size_of, weigh_value, exact_index

TRAILING = "Illegal trailing comma"
AFTER_COMMA = re.compile(r",[ \t\n\r]*")
MAX_PACKED = 1 << 20  # bytes of one struct
MAX_DIGITS = 1000  # of a Decimal's text and exponent
MAX_COEFFICIENT = 128  # digits that a Decimal keeps; operations round to 28, but read them all
HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512",
          "blake2b", "blake2s")


def charge_json(size):
    charge(table.serialise + size)


def _no_float(text):
    raise ValueError("%s is a float: JSON numbers are integers here" % text[:40])


def read_digits(text):
    charge(len(text) * len(text) >> 8)
    return int(text)


def _loads(s, *, object_pairs_hook=None, object_hook=None):
    data = exact.plain_value(s)
    if type(data) is not str:
        if type(data) not in (bytes, bytearray):
            raise TypeError("the JSON object must be str, bytes or bytearray, not %s" % type(data).__name__)
        data = data.decode()
    charge_json(len(data))
    if brackets.nests_deeper(data, NESTING):
        raise ValueError("JSON nested deeper than %d levels" % NESTING)
    charge(2 * (data.count(",") + data.count(":")))

    def make_members(pairs):
        charge(table.call)
        charge_lookups(0, [k for k, _ in pairs])
        if object_pairs_hook is not None:
            return object_pairs_hook(pairs)
        return dict(pairs) if object_hook is None else object_hook(dict(pairs))
    try:
        return json.loads(data, parse_float=_no_float, parse_constant=_no_float, parse_int=read_digits, object_pairs_hook=make_members)
    except json.JSONDecodeError as e:
        known = e
    at = known.pos
    if known.msg.startswith(TRAILING):
        at = AFTER_COMMA.match(known.doc, at).end()  # 3.13 has another place for a comma before the end
    raise json.JSONDecodeError("this is not JSON", known.doc, at)


def _dumps(obj, *, sort_keys=False, separators=None, indent=None, ensure_ascii=True, default=None):
    value = obj
    weigh_value(value)
    indent = exact.plain_value(indent)
    if indent is not None and not (type(indent) is int and 0 <= indent <= 16):
        raise ValueError("indent is 0 to 16")
    if separators is not None:
        separators = tuple(exact.require_text(s, "a separator") for s in separators)
        if len(separators) != 2:
            raise ValueError("separators are two texts: between items, and after a key")
    between, named = map(len, separators or (", " if indent is None else ",", ": "))
    laid, deepest = _lay_out(value, indent, between, named, 0)

    def encode_fallback(v):
        nonlocal laid
        found = default(v)
        weigh_value(found)
        laid += _lay_out(found, indent, between, named, deepest)[0]
        return found
    made = json.dumps(value, sort_keys=sort_keys, separators=separators, indent=indent, ensure_ascii=ensure_ascii,
                      allow_nan=False, default=encode_fallback if default is not None else None)
    charge_json(max(len(made) - laid, 0))
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
                charge(size_of(v))
            elif isinstance(v, int) and int.bit_length(v) > 64:
                charge((int.bit_length(v) >> 4) ** 2 >> 4)
            else:
                before, walked = len(inner), parts_of(v)
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


def check_layout(layout):
    layout = layout.decode("latin-1") if isinstance(layout, bytes) else exact.require_text(layout, "a format")
    charge(len(layout))
    if layout[:1] not in ("<", ">", "!", "="):
        raise struct.error("a format begins with <, >, ! or =: native sizes differ between machines")
    if set(layout) & set("fdeFDP"):
        raise struct.error("a format without floats")
    size = _sized(layout)
    if size > MAX_PACKED:
        raise struct.error("more than %d bytes" % MAX_PACKED)
    charge_json(size)
    return layout


def reword_errors(f, kinds, words):
    """f, whose errors of these kinds have our words."""
    def call_through(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except kinds as e:
            raised = type(e)
        raise raised(words)
    call_through.__name__ = f.__name__
    return call_through


def _pack(layout, /, *values):
    return _packed(check_layout(layout), *values)


def _unpack(layout, data, /):
    return _unpacked(check_layout(layout), data)


def _unpack_from(layout, /, buffer, offset=0):
    return _unpacked_from(check_layout(layout), buffer, offset)


def _calcsize(layout, /):
    return _sized(check_layout(layout))


_packed = reword_errors(struct.pack, struct.error, "the values do not fit the format")
_unpacked = reword_errors(struct.unpack, struct.error, "the bytes do not fit the format")
_unpacked_from = reword_errors(struct.unpack_from, struct.error, "the bytes do not fit the format")
_sized = reword_errors(struct.calcsize, struct.error, "a format that struct does not have")


def struct_names():
    return {"pack": _pack, "unpack": _unpack, "unpack_from": _unpack_from, "calcsize": _calcsize, "error": struct.error}


def base64_names():
    names = {}
    for n in ("b64encode b64decode standard_b64encode standard_b64decode urlsafe_b64encode urlsafe_b64decode b32encode "
              "b32decode b16encode b16decode").split():
        names[n] = make_base64(getattr(base64, n))
    return names


def make_base64(f):
    coded = reword_errors(f, ValueError, "the text is not of %s" % f.__name__.replace("decode", ""))

    def code_bytes(s, *args, **kwargs):
        data = exact.plain_value(s)
        if type(data) not in (str, bytes, bytearray):
            raise TypeError("only bytes can be coded, or text when decoding, not %s" % type(data).__name__)
        charge_json(2 * len(data))
        return coded(data, *args, **kwargs)
    code_bytes.__name__ = f.__name__
    return code_bytes


class Digest(sealed.Sealed):
    """A hash object: 6 cycles a 32-byte word, as keccak256."""

    __slots__ = ("_host_hash",)

    def __init__(self, made):
        object.__setattr__(self, "_host_hash", made)

    def update(self, data):
        count_words(data)
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


show_attributes(Digest, "update digest hexdigest copy name digest_size")


def count_words(data):
    if type(data) not in (bytes, bytearray):
        raise TypeError("only bytes can be hashed, not %s" % type(data).__name__)
    charge(table.keccak_word * (1 + (len(data) + 31) // 32))


def make_hash(name):
    def make_digest(data=b"", /):
        count_words(data)
        return Digest(getattr(hashlib, name)(data))
    make_digest.python_name = name if name.startswith("blake") else "openssl_" + name  # as CPython names it where OpenSSL is
    return make_digest


def _new(name, data=b""):
    name = exact.require_text(name, "the name of a hash")
    if name not in HASHES:
        raise ValueError("no such hash: %s" % ", ".join(HASHES))
    return make_hash(name)(data)


_new.python_name = "__hash_new"
MAKERS = {make_hash(name): name for name in HASHES}  # hashlib's functions, which hmac takes too


def hashlib_names():
    return {**{n: f for f, n in MAKERS.items()}, "new": _new}


def _digest_name(digestmod):
    name = MAKERS.get(digestmod) if type(digestmod) is types.FunctionType else None
    name = name or exact.require_text(digestmod, "the name of a hash")
    if name not in HASHES:
        raise ValueError("no such hash: %s" % ", ".join(HASHES))
    return name


def _hmac_new(key, msg=b"", digestmod=""):
    count_words(key)
    count_words(msg or b"")
    return Digest(hmac.new(key, msg, _digest_name(digestmod)))


def _hmac_digest(key, msg, digest):
    count_words(key)
    count_words(msg)
    return hmac.digest(key, msg, _digest_name(digest))


def compare_digests(a, b, /):
    a, b = exact.plain_value(a), exact.plain_value(b)
    if type(a) not in (str, bytes, bytearray) or type(b) not in (str, bytes, bytearray):
        raise TypeError("compare_digest takes two bytes or two texts")
    charge(1 + (len(a) + len(b)) // 16)
    return hmac.compare_digest(a, b)


def hmac_names():
    return {"new": _hmac_new, "digest": _hmac_digest, "compare_digest": compare_digests}


def make_integer_function(f):
    def call_through(*values):
        for v in map(exact_index, values):
            charge_bits(v)
            charge(1 + (v.bit_length() >> 6) ** 2)
        return f(*map(exact_index, values))
    call_through.__name__ = f.__name__
    return call_through


def _lcm(*values):
    charge(table.call * len(values))
    result = 1
    for v in map(exact_index, values):
        _gcd(result, v)
        result = ops.mul(result, v) // (math.gcd(result, v) or 1)
    return abs(result)


_gcd = make_integer_function(math.gcd)


def make_counting_function(f, size):
    def call_through(*values):
        values = [exact_index(v) for v in values]
        n = max(size(*values), 0)
        if n > INT_BITS:
            raise OverflowError("an integer of more than %d bits" % INT_BITS)
        charge(5 + n + (n >> 6) ** 2)
        return f(*values)
    call_through.__name__ = f.__name__
    return call_through


def _choose_bits(n, k=None):
    k = n if k is None else k
    return min(k, n) * max(n, 1).bit_length() if n >= 0 else 0


def _comb_bits(n, k):
    return max(min(k, n - k), 0) * max(n, 1).bit_length()


def _prod(values, /, *, start=1):
    values = drain_value(values)
    charge(len(values))
    for v in values:
        start = ops.mul(start, v)
    return start


def math_names():
    return {
        "gcd": _gcd, "lcm": _lcm, "isqrt": make_integer_function(math.isqrt), "prod": _prod,
        "comb": make_counting_function(math.comb, _comb_bits), "perm": make_counting_function(math.perm, _choose_bits),
        "factorial": make_counting_function(math.factorial, lambda n: n * max(n, 1).bit_length()),
    }


CONTEXT = decimal.Context(prec=28, Emax=MAX_DIGITS, Emin=-MAX_DIGITS, rounding=decimal.ROUND_HALF_EVEN, capitals=1,
                          clamp=0, flags=[], traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow,
                                                    decimal.Underflow, decimal.Clamped])  # by Python's own exponents these fit


def begin_decimal():
    """Every message that imports decimal begins in the same context."""
    decimal.setcontext(CONTEXT.copy())
    meter.account.decimals = True


def _decimal(value="0", context=None):
    value = exact.plain_value(value)
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
            weigh_value(value)
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
