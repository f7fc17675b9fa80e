"""The host's loop: load, drop, costs, inspect, call, advise."""

import gc
import os
import sys
import threading
import traceback
from struct import Struct

import advice
import program
import chain
import check
import costs
import imports
import meter
from outcome import outcome
from wire import U32, U64, Pipe, item, items

CALL = Struct("<BB32s20s20s20sQQQ32sQQ")
STACK = 256 << 20  # bytes: more than DEPTH_IN_ALL frames of any version need
COLLECT_EVERY = 512  # messages
COLLECT_CYCLES = 1_000_000  # of messages: what they left behind in circles is collected, so that no other pays for it
sources = {}  # hash → source or Code; the chain says what to drop
handled = 0
uncollected = 0  # cycles of the messages since the last collection


def code_of(hash):
    found = sources[hash]
    if type(found) is bytes:
        found = sources[hash] = program.load(found, imports.exported)
    return found


def load(frame):
    sources[frame[1:33]] = frame[33:]


def drop(frame):
    sources.pop(frame[1:33], None)


def set_costs(frame):
    costs.install([U64.unpack_from(frame, 1 + 8 * i)[0] for i in range((len(frame) - 1) // 8)])
    for h in list(sources):
        sources.pop(h)
    imports.SHIMS.clear()


def inspect(frame):
    try:
        code = program.load(frame[9:], imports.exported, U64.unpack_from(frame, 1)[0])
    except check.Refusal as e:
        chain.pipe.write(b"N", U64.pack(e.units) + U32.pack(e.line) + item(e.reason.encode("utf-8", "replace")[:4096]))
        return
    found = b"".join(item(n.encode()) + item(d.encode()[:512]) for n, (_, d) in code.handlers.items())
    chain.pipe.write(b"D", U64.pack(code.units) + found)


def call(frame):
    """One message. Answers R: status, output or code and message."""
    global handled, uncollected
    (_, kind, hash, sender, me, owner, height, timestamp, chain_id, tx_hash, cycles, _cells) = CALL.unpack_from(frame)
    handler, payload, *known = items(frame, CALL.size)
    m = chain.Message()
    m.kind, m.sender, m.me, m.owner, m.height = kind, sender, me, owner, height
    m.timestamp, m.chain_id, m.tx_hash = timestamp, chain_id, tx_hash
    if known:
        m.known = dict(zip(known[::2], known[1::2]))
    outer, chain.now = chain.now, m
    saved = meter.begin(cycles)
    try:
        status, found = outcome(code_of, hash, kind, handler.decode("utf-8", "replace"), payload)
        reply = chain.take_effects() + chain.packed(status, found)
    finally:
        uncollected += cycles - max(meter.meter[0], 0)
        meter.end(saved)
        chain.now = outer
    chain.pipe.write(b"R", reply)
    handled += 1
    if (handled % COLLECT_EVERY == 0 or uncollected > COLLECT_CYCLES) and saved[0][1] == 0:
        uncollected = 0
        gc.collect()


HANDLERS = {ord("L"): load, ord("X"): drop, ord("P"): set_costs, ord("I"): inspect, ord("C"): call, ord("V"): advice.answer}
VERSION = b"%d.%d.%d" % sys.version_info[:3]


def serve(kind, frame):
    HANDLERS[kind](frame)


def serve_all(handlers):
    """Serve until the chain is gone."""
    try:
        while True:
            kind, frame = chain.pipe.read()
            handlers[kind](frame)
    except BaseException as e:
        sys.stderr.write("".join(traceback.format_exception(e))[-4000:])
        sys.stderr.flush()
        os._exit(4)


def main(server_bytes, child_bytes):
    """Serve until stdin ends. Standard output is the pipe's alone."""
    import wall
    import zygote
    sink = os.dup(1)
    os.dup2(2, 1)
    wall.only(sink)
    wall.bound_memory(server_bytes, child_bytes)
    sys.setrecursionlimit(50_000)
    sys.set_int_max_str_digits(4300)
    sys.unraisablehook = lambda _: None
    chain.pipe, chain.serve = Pipe(0, sink), serve
    imports.install()
    for name in imports.MAKERS:
        imports.made(name)
    gc.disable()
    gc.collect()
    threading.stack_size(STACK)
    worker = threading.Thread(target=zygote.run, args=(sink,))
    worker.start()
    worker.join()
