"""What a child does before it says that it is there: a message of the host's own.

A child shares its memory with the fork server until it writes to it, and each
page that a message is the first to touch costs it some microseconds. What every
message touches the child makes its own here, while no block waits for it. The
message is always the same one, reaches nobody, and leaves nothing behind.
"""

import mmap

from host import chain, imports, meter, program, protocol, serving, wire

SOURCE = b'''
import pvm_host
from cowboy_sdk import actor, public

@actor
class WarmUp:
    @public
    def run(self, payload):
        n = int(self.storage.get("n", b"0")) + len(payload)
        self.storage["n"] = str(n).encode()
        pvm_host.emit_event("ran", b"%d" % pvm_host.block_height())
        return b"".join([k.encode() for k in sorted({"a": n, "b": [n]})])

    @public
    def spin(self, payload):
        i = 0
        while i < 4000:
            i += 1
'''
CYCLES = 100_000
PAGES = 64  # to which it writes, to measure that
CODE = bytes(32)  # its hash, which no code has


class Nobody:
    """Stands where the pipe does: what is asked has no value."""

    def write(self, kind, maps):
        """Nobody hears it."""

    def read(self):
        return protocol.ANSWER, ANSWER


def number(name, n):
    return wire.name(name) + wire.value(n)


def short(name, raw):
    """Bytes with their length in its shortest form, as the chain writes them."""
    head = bytes((0x40 | len(raw),)) if len(raw) < 24 else bytes((0x58, len(raw)))
    return wire.name(name) + head + raw


def call(handler):
    """The frame of a message."""
    given = {"kind": protocol.KINDS.index("call"), "cycles": CYCLES}
    begins = [short(n, bytes(size)) if size else number(n, given.get(n, 0)) for n, size in protocol.CALL_BEGINS]
    rest = short("handler", handler) + short("payload", b"p")
    return bytes((protocol.CALL,)) + wire.MAPS[len(begins) + 2] + b"".join(begins) + rest


CALL, SPIN = call(b"run"), call(b"spin")
ANSWER = bytes((protocol.ANSWER,)) + wire.MAPS[1] + number("cycles", CYCLES // 2)
prepared = None


def prepare():
    """Compile it, once, in the fork server. That the table of costs may change matters not."""
    global prepared
    prepared = program.load(SOURCE, imports.exported)


def page():
    """How many nanoseconds of CPU time a first write to a page of memory takes here and now."""
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        began = meter.cpu()
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1
        return (meter.cpu() - began) // PAGES


def run():
    """Run it once; a test checks its outcome. Return how many nanoseconds
    of CPU time a thousand cycles of a plain loop take here and now."""
    pipe, chain.pipe = chain.pipe, Nobody()
    serving.sources[CODE] = prepared
    try:
        serving.call(CALL)
        cycles, began = -serving.uncollected, meter.cpu()
        serving.call(SPIN)
        took, cycles = meter.cpu() - began, cycles + serving.uncollected
        serving.uncollected = 0
        return took * 1000 // cycles
    finally:
        del serving.sources[CODE]
        chain.pipe = pipe
