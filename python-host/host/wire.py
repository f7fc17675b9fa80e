"""Frames between the chain and this host, on stdin and stdout.

A frame is a u32 of its length (little endian), a u8 of its type and items. An
item is a u32 of its length and its bytes; length 0xffffffff means no value.
The Go side, internal/environment/pyhost, documents the conversation.
"""

import os
from struct import Struct

U32 = Struct("<I")
U64 = Struct("<Q")
NONE = 0xFFFFFFFF
NO_VALUE = U32.pack(NONE)
MAX_FRAME = 64 << 20


class Pipe:
    """The two ends, and a buffer of what was read beyond a frame."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.buffer = b""

    def forget(self):
        """What was read beyond a frame is another's, who has the pipe now."""
        self.buffer = b""

    def more(self, n):
        while len(self.buffer) < n:
            chunk = os.read(self.source, max(65536, n - len(self.buffer)))
            if not chunk:
                os._exit(0)  # the parent is gone
            self.buffer = self.buffer + chunk if self.buffer else chunk

    def read(self):
        """The next frame: (type, items' bytes)."""
        self.more(4)
        n = U32.unpack_from(self.buffer)[0]
        if n == 0 or n > MAX_FRAME:
            os._exit(3)
        if len(self.buffer) < n + 4:
            if n > 65536:
                parts, have = [self.buffer], len(self.buffer)
                while have < n + 4:
                    chunk = os.read(self.source, n + 4 - have)
                    if not chunk:
                        os._exit(0)
                    parts.append(chunk)
                    have += len(chunk)
                self.buffer = b"".join(parts)
            else:
                self.more(n + 4)
        frame = self.buffer[4:n + 4]
        self.buffer = self.buffer[n + 4:]
        return frame[0], frame

    def write(self, kind, payload):
        data = U32.pack(len(payload) + 1) + kind + payload
        sent = os.write(self.sink, data)
        while sent < len(data):
            sent += os.write(self.sink, data[sent:])


def item(value):
    if value is None:
        return NO_VALUE
    return U32.pack(len(value)) + value


def items(frame, at=1):
    """All items of a frame from at."""
    found, unpack, end = [], U32.unpack_from, len(frame)
    while at < end:
        n = unpack(frame, at)[0]
        at += 4
        if n == NONE:
            found.append(None)
            continue
        found.append(frame[at:at + n])
        at += n
    return found
