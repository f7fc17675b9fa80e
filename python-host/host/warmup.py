"""Work of a child before it reports that it is ready: a message of the host's own.

A child shares its memory with the fork server until it writes to it, and each page that a
message is the first to touch costs it some microseconds. The child copies the pages that every
message touches here, while no block waits for it. The messages are always the same, reach no
chain, and leave no trace. One is to a typed handler, which touches some 300 pages more. A child
whose fork server has met no typed code makes it before its first message to such code.

The fork server serves the first of them some times at its start. CPython specialises code that
ran a few times, and each child begins with that.
"""

import gc
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
        while i < 1000:
            i += 1
'''
TYPED = b'''
from dataclasses import dataclass
from cowboy_sdk import Address, Amount, List, Map, actor, emit, public

@dataclass
class Paid:
    who: Address
    paid: Amount
    note: str | None = None

@dataclass
class Ran:
    who: Address
    members: int

@actor
class Typed:
    price: Amount = 5
    members: List[Address]
    log: Map[Address, Paid]

    @public
    def run(self, who: Address, amount: Amount, note: str | None = None) -> list[Paid]:
        if amount < self.price:
            raise ValueError("the price is %d" % self.price)
        self.members.append(who)
        self.log[who] = Paid(who, amount, note)
        emit(Ran(who, len(self.members)))
        return [self.log[who] for who in self.members]
'''
GIVEN = b'{"amount":"5","who":"0x%s"}' % (b"00" * 20)
CYCLES = 100_000
PAGES = 16  # to which it writes, to measure that
TIMES = 20  # messages after which CPython has specialised the code that they run
MEASURED = 16  # children, of which one measures the machine: a measure takes as long as a short session
SPINS, COLD_SPINS = 24, 6  # messages of a measure, of which the first specialise the loop
CODE, TYPED_CODE = bytes(32), bytes(31) + bytes((1,))  # their hashes, which no code has


class Nobody:
    """A pipe without another end: its answers have no value."""

    def write(self, kind, maps):
        """Discards the effect."""

    def read(self):
        return protocol.ANSWER, ANSWER


def encode_number(name, n):
    return wire.encode_name(name) + wire.read_value(n)


def encode_bytes(name, raw):
    """Bytes with their length in its shortest form, as the chain writes them."""
    head = bytes((0x40 | len(raw),)) if len(raw) < 24 else bytes((0x58, len(raw)))
    return wire.encode_name(name) + head + raw


def make_call_frame(handler, payload=b"p", code=CODE):
    """The frame of a message."""
    given = {"kind": protocol.KINDS.index("call"), "cycles": CYCLES}
    begins = [encode_bytes(n, code if n == "code" else bytes(size)) if size else encode_number(n, given.get(n, 0))
              for n, size in protocol.CALL_BEGINS]
    rest = encode_bytes("handler", handler) + encode_bytes("payload", payload)
    return bytes((protocol.CALL,)) + wire.MAPS[len(begins) + 2] + b"".join(begins) + rest


CALL, SPIN, CALL_TYPED = make_call_frame(b"run"), make_call_frame(b"spin"), make_call_frame(b"run", GIVEN, TYPED_CODE)
ANSWER = bytes((protocol.ANSWER,)) + wire.MAPS[1] + encode_number("cycles", CYCLES // 2)
prepared = prepared_typed = None
met_typed = False  # typed code: the children begin with the typed message


def prepare_warmup():
    """Compile it, once, in the fork server. That the table of costs may change matters not."""
    global prepared, prepared_typed
    prepared = program.load_source(SOURCE, imports.is_exported)
    prepared_typed = program.load_source(TYPED, imports.is_exported)


def time_page(clock=meter.cpu):
    """How many nanoseconds of CPU time a first write to a page of memory takes here and now."""
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        began = clock()
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1
        return (clock() - began) // PAGES


def note_running(code):
    """Notes, in the fork server, what its children will run."""
    global met_typed
    met_typed = met_typed or code.schema.typed


def specialise_code():
    """In the fork server: run what the children run until CPython has specialised it."""
    serve_alone(CODE, prepared, *[CALL] * TIMES)
    gc.collect()


def serve_alone(code, prepared, *frames):
    """Serve messages of the host's own, whatever message is under way. Return the cycles that each took, and the time."""
    pipe, chain.pipe = chain.pipe, Nobody()
    before, took = serving.uncollected, []
    serving.sources[code] = prepared
    try:
        for frame in frames:
            serving.uncollected, began = 0, meter.cpu()
            serving.call_handler(frame)
            took.append((serving.uncollected, meter.cpu() - began))
        return took
    finally:
        del serving.sources[code]
        chain.pipe, serving.uncollected = pipe, before


def run_typed():
    """The typed message, once a child."""
    serving.before_typed = None
    serve_alone(TYPED_CODE, prepared_typed, CALL_TYPED)


def run_warmup():
    """Run it once; a test checks its outcome."""
    if met_typed:
        run_typed()
    else:
        serving.before_typed = run_typed
    serve_alone(CODE, prepared, CALL)


def time_loop():
    """How many nanoseconds of CPU time a thousand cycles of a plain loop take here and now, once it is specialised."""
    spins = serve_alone(CODE, prepared, *[SPIN] * SPINS)[COLD_SPINS:]
    return min(took * 1000 // cycles for cycles, took in spins)
