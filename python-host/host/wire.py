"""Frames between the chain and this host, on stdin and stdout.

A frame is a u32 of its length (little endian), a u8 of its type and CBOR maps (RFC 8949), one
after the other. protocol defines their names and fields; the Go side,
internal/environment/pyhost, documents the conversation. Numbers are written in eight bytes and
lengths in four, which is faster than the fewest, and read in any.
"""

import os
from collections import namedtuple
from struct import Struct

from host import protocol
from host.protocol import MAX_FRAME

LENGTH = Struct("<I")  # of a frame
HEAD = Struct("<IB")  # and its type
NUMBER = Struct(">BQ")
BYTES = Struct(">BI")
NUMBER64, BYTES32, BIG, NULL, MAP = 0x1B, 0x5A, b"\xc2", 0xF6, 0xA0  # the first bytes of values
SHORT, LONG = 0x40, 0x58  # of bytes whose length is in it, and of others


class Pipe:
    """The two ends, and a buffer of the bytes that were read beyond a frame."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.buffer = b""

    def forget(self):
        """The bytes beyond a frame belong to another process, which has the pipe now."""
        self.buffer = b""

    def skip(self, before, drawn):
        """Read up to a token, and send it back: drawn() is the one before, or the new one."""
        token = drawn()
        while token == before or token not in self.buffer:
            self.buffer = self.buffer[-len(token):] + self.some(65536)
            token = drawn()
        self.buffer = self.buffer[self.buffer.index(token) + len(token):]
        os.write(self.sink, token)

    def some(self, most):
        chunk = os.read(self.source, most)
        if not chunk:
            os._exit(0)  # the parent is gone
        return chunk

    def read(self):
        """The next frame: (type, frame); its maps begin at 1."""
        data = self.buffer or self.some(65536)
        while len(data) < 4:
            data += self.some(65536)
        n = LENGTH.unpack_from(data)[0]
        end = n + 4
        if n == 0 or n > MAX_FRAME:
            os._exit(3)
        if len(data) < end:
            parts, have = [data], len(data)
            while have < end:
                parts.append(self.some(max(65536, end - have)))
                have += len(parts[-1])
            data = b"".join(parts)
        frame = data[4:end]
        self.buffer = data[end:]
        return frame[0], frame

    def write(self, kind, maps):
        data = HEAD.pack(len(maps) + 1, kind) + maps
        sent = os.write(self.sink, data)
        while sent < len(data):
            sent += os.write(self.sink, data[sent:])


MAPS = [bytes((MAP | n,)) for n in range(24)]  # the head of a map of n entries


def encode_name(text):
    """A name as a text."""
    raw = text.encode()
    return (bytes((0x60 | len(raw),)) if len(raw) < 24 else bytes((0x78, len(raw)))) + raw


FORMS = {**protocol.REQUESTS, **protocol.EFFECTS, **protocol.ENDS, **protocol.TOLD}
NAMES = {n: encode_name(n) for form in FORMS.values() for n in form}
NAMES_OF_BYTES = {n: raw + bytes((BYTES32,)) for n, raw in NAMES.items()}  # with the first byte of their value


def read_value(v):
    """An unsigned number or bytes."""
    if type(v) is bytes:
        return BYTES.pack(BYTES32, len(v)) + v
    if v < 1 << 64:
        return NUMBER.pack(NUMBER64, v)
    raw = v.to_bytes((v.bit_length() + 7) // 8, "big")
    return BIG + BYTES.pack(BYTES32, len(raw)) + raw


def read_record(**fields):
    """A map of names to numbers and bytes."""
    return MAPS[len(fields)] + b"".join([NAMES[n] + read_value(v) for n, v in fields.items()])


class Beginning:
    """The fields that every map of a kind begins with, the first of its frame. They have the
    same names, order and sizes, so that all are read at once."""

    def __init__(self, fields):
        layout = ">2x"  # the type of the frame, and the head of the map
        for n, size in fields:
            layout += "%dx" % (len(n) + (3 if size > 23 else 2)) + ("%ds" % size if size else "Q")
        held = Struct(layout)
        self.read, self.size, self.count = held.unpack_from, held.size, MAP + len(fields)
        self.named = namedtuple("Beginning", [n for n, _ in fields])._make

    def rest(self, frame):
        """The other entries."""
        return read_entries(frame, self.size, frame[1] - self.count)


def read_entries(frame, at=2, n=None):
    """Entries of a map, the first of its frame unless said: names, as bytes, to numbers and
    bytes. The chain's maps are well formed, and their names shorter than 24 bytes."""
    found = {}
    for _ in range(frame[1] - MAP if n is None else n):
        end = at + 1 + (frame[at] & 31)
        key = frame[at + 1:end]
        first = frame[end]
        at = end + 1
        n = first & 31
        if n > 23:
            if n == 24:
                n = frame[at]
                at += 1
            else:
                end = at + (1 << n - 24)
                n = int.from_bytes(frame[at:end], "big")
                at = end
        if first < 0x40:
            found[key] = n
        else:
            found[key] = frame[at:at + n]
            at += n
    return found


def read_pairs(raw, at):
    """The map of bytes to bytes or nothing that begins at at."""
    found, n, at = {}, raw[at] & 31, at + 1
    for _ in range(n):
        key, at = read_piece(raw, at)
        found[key], at = read_piece(raw, at)
    return found


def read_piece(raw, at):
    """Bytes or nothing, and where they end."""
    first = raw[at]
    at += 1
    if first < LONG:
        end = at + first - SHORT
        return raw[at:end], end
    if first == NULL:
        return None, at
    size = 1 << first - LONG
    end = at + size + int.from_bytes(raw[at:at + size], "big")
    return raw[at + size:end], end
