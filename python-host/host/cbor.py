"""Deterministic CBOR (RFC 8949 §4.2), for two purposes. Gas bidding agents exchange maps of
text to unsigned integers, bytes and texts with the chain. Jobs, their outcomes and the records
of continuations have more kinds. Both directions are charged as serialising is: a base, and one
cycle per byte.
"""

from host.costs import table
from host.meter import charge

UINT, NEGATIVE, BYTES, TEXT, ARRAY, MAP = 0, 1, 2, 3, 4, 5
BIGNUM, NEGATIVE_BIGNUM = 0xC2, 0xC3  # tags 2 and 3: an integer above 2^64-1, or below -2^64
SIMPLE = {b"\xf6": None, b"\xf4": False, b"\xf5": True}
MAX_ENTRIES = 64  # of a map that an agent is given
EACH = 2  # cycles per value in addition to its bytes: our own, the table has none
READ = 6  # the same of a value, and of a key, that Whole reads
MAX_DEPTH = 16  # of lists and dictionaries in one another
KINDS = frozenset((type(None), bool, int, bytes, str, list, dict))


class Malformed(ValueError):
    """The data is not deterministic CBOR of these kinds."""

    __module__ = "cbor"  # the text of the class names it


def encode_head(major, n):
    """The first bytes of a value: its kind and a number in its fewest bytes."""
    if n < 24:
        return bytes((major << 5 | n,))
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << 8 * size:
            return bytes((major << 5 | code,)) + n.to_bytes(size, "big")
    raise ValueError("an integer above 2^64-1 needs a tag")


def encode_value(v):
    if isinstance(v, bytes):
        return encode_head(BYTES, len(v)) + v
    if v < 1 << 64:
        return encode_head(UINT, v)
    raw = v.to_bytes((v.bit_length() + 7) // 8, "big")
    return bytes((BIGNUM,)) + encode_head(BYTES, len(raw)) + raw


def encode_map(entries):
    """A map; its keys in the order of their encodings."""
    pairs = []
    for k, v in entries.items():
        name = k.encode()
        pairs.append((encode_head(TEXT, len(name)) + name, encode_value(v)))
    pairs.sort()
    whole = encode_head(MAP, len(pairs)) + b"".join(k + v for k, v in pairs)
    charge(table.serialise + len(whole))
    return whole


def decode_map(data):
    """The map that data is, as a dictionary."""
    charge(table.serialise + len(data))
    reader = Reader(data)
    major, n = reader.head()
    if major != MAP or n > MAX_ENTRIES:
        raise Malformed("not a map of at most %d entries" % MAX_ENTRIES)
    found, last = {}, b""
    for _ in range(n):
        start = reader.at
        key = reader.text()
        if data[start:reader.at] <= last:
            raise Malformed("the keys of a map are not sorted, or repeat")
        last = data[start:reader.at]
        found[key] = reader.value()
    if reader.at != len(data):
        raise Malformed("something follows the map")
    return found


class Reader:
    __slots__ = ("data", "at")

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Malformed("unexpected end within a value")
        self.at += n
        return self.data[self.at - n:self.at]

    def head(self):
        first = self.take(1)[0]
        major, code = first >> 5, first & 31
        if code < 24:
            return major, code
        if code > 27:
            raise Malformed("a length that is not definite")
        size = 1 << (code - 24)
        n = int.from_bytes(self.take(size), "big")
        if n < (24 if size == 1 else 1 << 4 * size):
            raise Malformed("a number in more bytes than it needs")
        return major, n

    def text(self):
        major, n = self.head()
        if major != TEXT:
            raise Malformed("a key that is not a text")
        return self.raw_text(n)

    def raw_text(self, n):
        try:
            return self.take(n).decode()
        except UnicodeDecodeError:
            raise Malformed("a text that is not UTF-8") from None

    def value(self):
        if self.data[self.at:self.at + 1] == bytes((BIGNUM,)):
            self.at += 1
            major, n = self.head()
            raw = self.take(n)
            if major != BYTES or not 8 < n <= 32 or raw[0] == 0:
                raise Malformed("a big number that is not in its fewest bytes")
            return int.from_bytes(raw, "big")
        major, n = self.head()
        if major == UINT:
            return n
        if major == BYTES:
            return self.take(n)
        if major == TEXT:
            return self.raw_text(n)
        raise Malformed("a value other than a number, bytes or text")


def wrong_kind(what, v):
    raise TypeError("%s may contain only None, bool, int, bytes, str, list and dict, not %s" % (what, type(v).__name__))


class Writer:
    """The encoding of values of exactly these kinds, charged as it grows."""

    __slots__ = ("parts", "left", "what", "limit")

    def __init__(self, what, limit):
        self.parts, self.what = [], what
        self.limit = self.left = limit

    def put(self, raw):
        charge(EACH + len(raw))
        self.left -= len(raw)
        if self.left < 0:
            raise ValueError("%s is more than %d bytes" % (self.what, self.limit))
        self.parts.append(raw)

    def add(self, v, depth=0):
        t = type(v)
        if v is None:
            self.put(b"\xf6")
        elif t is bool:
            self.put(b"\xf5" if v else b"\xf4")
        elif t is int:
            self.number(v)
        elif t is bytes:
            self.text(BYTES, v)
        elif t is str:
            self.text(TEXT, v.encode())
        elif depth == MAX_DEPTH:
            raise ValueError("%s is nested deeper than %d levels" % (self.what, MAX_DEPTH))
        elif t is list:
            self.put(encode_head(ARRAY, len(v)))
            for x in v:
                self.add(x, depth + 1)
        elif t is dict:
            self.map(v, depth + 1)
        else:
            wrong_kind(self.what, v)

    def text(self, major, raw):
        self.put(encode_head(major, len(raw)))
        self.put(raw)

    def number(self, v):
        below = v < 0
        n = ~v if below else v
        if n < 1 << 64:
            self.put(encode_head(NEGATIVE if below else UINT, n))
            return
        self.put(bytes((NEGATIVE_BIGNUM if below else BIGNUM,)))
        self.text(BYTES, n.to_bytes((n.bit_length() + 7) // 8, "big"))

    def map(self, v, depth):
        charge(2 * EACH)
        self.put(encode_head(MAP, len(v)))
        keys = []
        for k in v:
            if type(k) is not str:
                raise TypeError("a key in %s is a str, not %s" % (self.what, type(k).__name__))
            charge(EACH + len(k))
            raw = k.encode()
            keys.append((encode_head(TEXT, len(raw)) + raw, k))
        for raw, k in sorted(keys):
            self.put(raw)
            self.add(v[k], depth)


def pack_value(v, what, limit):
    """v in at most limit bytes; errors call it what."""
    charge(table.serialise)
    writer = Writer(what, limit)
    writer.add(v)
    return b"".join(writer.parts)


def unpack_value(data):
    """The value that packed made data of, or that the chain did."""
    charge(table.serialise + len(data))
    reader = Whole(data)
    found = reader.value()
    if reader.at != len(data):
        raise Malformed("something follows the value")
    return found


class Whole(Reader):
    """Reads all of the kinds. The host or the chain wrote its input."""

    __slots__ = ("depth",)

    def __init__(self, data):
        super().__init__(data)
        self.depth = 0

    def value(self):
        charge(READ)
        first = self.data[self.at:self.at + 1]
        if first in SIMPLE:
            self.at += 1
            return SIMPLE[first]
        if first in (b"\xc2", b"\xc3"):
            self.at += 1
            n = int.from_bytes(self.take(self.head()[1]), "big")
            return n if first == b"\xc2" else ~n
        major, n = self.head()
        if major == UINT:
            return n
        if major == NEGATIVE:
            return ~n
        if major == BYTES:
            return self.take(n)
        if major == TEXT:
            return self.raw_text(n)
        if major not in (ARRAY, MAP) or self.depth == MAX_DEPTH or n > len(self.data):
            raise Malformed("a value of another kind")
        self.depth += 1
        found = [self.value() for _ in range(n)] if major == ARRAY else {self.key(): self.value() for _ in range(n)}
        self.depth -= 1
        return found

    def key(self):
        charge(READ)
        return self.text()
