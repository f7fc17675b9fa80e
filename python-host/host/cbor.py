"""Deterministic CBOR (RFC 8949 §4.2) of what gas bidding agents exchange with
the chain: maps of text to unsigned integers, bytes and texts. Both directions
are charged as serialising is: a base and a cycle a byte.
"""

from host.costs import table
from host.meter import charge

UINT, BYTES, TEXT, MAP = 0, 2, 3, 5
BIGNUM = 0xC2  # tag 2: an unsigned integer above 2^64-1
MAX_ENTRIES = 64  # of a map


class Malformed(ValueError):
    """What was to be read is no deterministic CBOR of these kinds."""

    __module__ = "cbor"  # the text of the class names it


def head(major, n):
    """The first bytes of a value: its kind and a number in its fewest bytes."""
    if n < 24:
        return bytes((major << 5 | n,))
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << 8 * size:
            return bytes((major << 5 | code,)) + n.to_bytes(size, "big")
    raise ValueError("an integer above 2^64-1 needs a tag")


def value(v):
    if isinstance(v, bytes):
        return head(BYTES, len(v)) + v
    if v < 1 << 64:
        return head(UINT, v)
    raw = v.to_bytes((v.bit_length() + 7) // 8, "big")
    return bytes((BIGNUM,)) + head(BYTES, len(raw)) + raw


def encode(entries):
    """A map; its keys in the order of their encodings."""
    pairs = []
    for k, v in entries.items():
        name = k.encode()
        pairs.append((head(TEXT, len(name)) + name, value(v)))
    pairs.sort()
    whole = head(MAP, len(pairs)) + b"".join(k + v for k, v in pairs)
    charge(table.serialise + len(whole))
    return whole


def decode(data):
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
            raise Malformed("the keys of a map are not sorted, each once")
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
            raise Malformed("it ends within a value")
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
            raise Malformed("a key that is no text")
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
        raise Malformed("a value that is no number, bytes or text")
